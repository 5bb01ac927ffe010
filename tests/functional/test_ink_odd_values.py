"""Odd values in Ink plays over HTTP: numbers and characters that nothing can keep, words that nobody sees, ids that
mean two things. A turn ends well all the same, and nothing is told that should not be."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.ink_live import GATE, begin, of_type, outcome, play, told
from tests.knot_theatre import at_the_guard, decide, decision, say, says, theatre
from tests.live import Client, bodies, live_server, sse

from fabula.settings import Settings
from fabula.testing.model_script import Pace, Say
from fabula.testing.model_server import ModelServer
from fabula.wiring import _ModelStorage, open_house

FILLER = "Hm. Say that again?"


def weighed(weights: str, reply: str = '"Aye."') -> Say:
    """An answer spelled by hand: some of what JSON can say, Python would not write."""
    return Say(text=f'{{"weights": {weights}, "reply": {reply}}}')


LARGE = {
    "two that add up to infinity": ('{"NEEDS_INPUT": 1e308, "INVALID_INPUT": 1e308}', "INVALID_INPUT"),
    "one beside a small one": ('{"DIRECT_CONTINUE": 3, "NEEDS_INPUT": 1.7e308}', "NEEDS_INPUT"),
    "the smallest there is": ('{"NEEDS_INPUT": 5e-324}', "NEEDS_INPUT"),
}


@pytest.mark.parametrize("weights", LARGE)
async def test_weights_of_any_size_are_a_decision(tmp_path: Path, weights: str) -> None:
    spelled, way = LARGE[weights]
    async with theatre(tmp_path, [weighed(spelled)]) as (client, _):
        came = await say(client, await at_the_guard(client), "Hello.")
        assert (came["outcome"], came["reply"]) == (way, "Aye.")


DIGITS = "".join(str(digit) for digit in Random(7).choices(range(1, 10), k=5_000))
"""Not the same digit again and again: an answer that goes round in circles is ended before anybody reads it."""

UNUSABLE = {
    "a weight beyond every float": weighed(f'{{"NEEDS_INPUT": 1{"0" * 400}}}'),
    "a weight of thousands of digits": weighed(f'{{"NEEDS_INPUT": {DIGITS}}}'),
    "an infinite weight": weighed('{"NEEDS_INPUT": 1e999}'),
    "a weight that is no number": weighed('{"NEEDS_INPUT": NaN}'),
    "a weight beyond 64 bits": weighed('{"NEEDS_INPUT": 18446744073709551616}'),
    "half a character": weighed('{"NEEDS_INPUT": 1}', '"Aye \\ud83d."'),
    "half a character in a name": weighed('{"NEEDS_INPUT": 1, "\\udc00": 1}'),
    "a nest of two hundred lists": weighed("[" * 200 + "]" * 200),
    "a reply that nobody sees": weighed('{"NEEDS_INPUT": 1}', '"\\u200b \\u200b\\ufeff"'),
    "a reply of control characters": weighed('{"NEEDS_INPUT": 1}', '"\\u0007\\n"'),
}


@pytest.mark.parametrize("answer", UNUSABLE)
async def test_what_cannot_be_used_is_repaired_once_then_filled_in_character(tmp_path: Path, answer: str) -> None:
    odd = UNUSABLE[answer]
    async with theatre(tmp_path, [odd, odd, says("NEEDS_INPUT", "Aye."), odd]) as (client, model):
        session = await at_the_guard(client)
        frames = await play(client, session, player_input="Hello.")
        assert outcome(frames)["reply"] == FILLER and of_type(frames, "agent_degraded")
        assert len(model.requests) == 2, "it was asked for once more"
        assert (await say(client, session, "And now?"))["reply"] == "Aye."


@pytest.mark.parametrize("answer", UNUSABLE)
async def test_a_repaired_answer_is_told(tmp_path: Path, answer: str) -> None:
    async with theatre(tmp_path, [UNUSABLE[answer], says("NEEDS_INPUT", "Aye.")]) as (client, _):
        assert (await say(client, await at_the_guard(client), "Hello."))["reply"] == "Aye."


async def test_a_reply_that_is_seen_keeps_its_unseen_characters(tmp_path: Path) -> None:
    family = "\N{MAN}\N{ZERO WIDTH JOINER}\N{WOMAN}"
    async with theatre(tmp_path, [says("NEEDS_INPUT", family)]) as (client, _):
        assert (await say(client, await at_the_guard(client), "Hello."))["reply"] == family


async def test_half_a_character_that_stays_alone_is_told_as_a_sign_for_one(tmp_path: Path) -> None:
    source = '* [On]\n- {generate("rain")}\n-> END'
    async with theatre(tmp_path, [Say(text="Rain \ud83d falls.")]) as (client, model):
        session, _ = await begin(client, source)
        assert told(await play(client, session, choice=0)) == ["Rain \ufffd falls."] and len(model.requests) == 1


async def test_an_answer_that_cannot_be_kept_fails_no_call_and_takes_no_other_with_it(tmp_path: Path) -> None:
    async with open_house(Settings(data_dir=tmp_path, samples=False)) as house:
        memo = _ModelStorage(house.store, house.clock, game_key="")
        answers: dict[str, Any] = {"a": "Aye.", "b": 10**30, "c": "\ud83d", "d": "Nay."}
        await asyncio.gather(*(memo.put(key, {"structured": value}) for key, value in answers.items()))
        kept = {key: await memo.get(key) for key in answers}
        assert kept == {"a": {"structured": "Aye."}, "b": None, "c": None, "d": {"structured": "Nay."}}


ENDLESS = "VAR up = 1.0\nVAR down = 1.0\nVAR none = 1.0\n"
GROWS = "~ up = POW(10.0, 60)\n~ down = 0.0 - up\n~ none = up / up\nSo it is: {up}, {down}, {none}.\n"
AFTER = {"up": "Infinity", "down": "-Infinity", "none": "NaN"}
INFINITE = {
    "in the opening": (f"{ENDLESS}{GROWS}+ [On]\n- On.\n+ [End]\n- -> END\n", 0, 2),
    "behind a choice": (f"{ENDLESS}+ [On]\n- {GROWS}+ [End]\n- -> END\n", 1, 1),
    "in the target of a talk": (
        f"{ENDLESS}+ [On]\n- -> agent(-> cook, -> yard)\n== cook\nSoup.\n-> DONE\n== yard\n{GROWS}+ [End]\n- -> END\n",
        2,
        1,
    ),
}


async def move_on(client: Client, session: str) -> list[dict[str, Any]]:
    waiting = (await client.call("session.get", session))["ink"]["input"]["kind"]
    return await play(client, session, **({"choice": 0} if waiting == "choice" else {"player_input": "Onward."}))


async def variables(client: Client, session: str) -> dict[str, Any]:
    custom: dict[str, Any] = (await client.call("session.get", session))["snapshot"]["world_state"]["custom"]
    return custom


@pytest.mark.parametrize("place", INFINITE)
async def test_a_variable_without_end_is_shown_as_ink_prints_it_and_the_play_goes_on(
    tmp_path: Path, place: str
) -> None:
    source, turns, rest = INFINITE[place]
    async with theatre(tmp_path, [says("DIRECT_CONTINUE", "")]) as (client, _):
        session, started = await begin(client, source)
        lines = [one["text"] for one in started["ink"]["lines"]]
        for _ in range(turns):
            lines = told(await move_on(client, session))
        assert lines == ["So it is: Infinity, -Infinity, NaN."]
        assert await variables(client, session) == AFTER
    async with live_server(tmp_path) as client:
        assert await variables(client, session) == AFTER
        for _ in range(rest):
            frames = await move_on(client, session)
            assert frames[-1]["type"] == "completed"
        assert of_type(frames, "story_ended")


async def play_as(client: Client, session: str, id: str, **params: Any) -> None:
    """Plays a turn under a JSON-RPC id of one's own."""
    body = {**client.request("session.run_turn", session, **params), "id": id}
    frames = [event["data"]["frame"] for event in sse((await client.http.post("/rpc", json=body)).text)[1:]]
    assert frames[-1]["type"] == "completed"


async def said(client: Client, session: str, words: str) -> int:
    history = (await client.call("session.get", session))["history"]
    return [one["text"] for one in history].count(words)


async def test_a_choice_whose_request_is_named_like_a_message_is_not_its_answer(tmp_path: Path) -> None:
    async with theatre(tmp_path, [says("NEEDS_INPUT", "Aye.")]) as (client, _):
        session, _ = await begin(client)
        # One with a control character, which could spell the name that a decision has inside, is refused at the door.
        named = {"jsonrpc": "2.0", "id": "\x1fdecision:zz", "method": "session.run_turn", "params": {"choice": 1}}
        refused = await client.http.post("/rpc", json={**named, "session_id": session})
        assert refused.status_code == 400
        await play_as(client, session, "decision:zz", choice=1)
        answers = [await decide(client, session, "zz", "Hello.") for _ in range(2)]
        assert answers[0].status_code == 200 and answers[0].json()["reply"] == "Aye."
        assert answers[1].json() == answers[0].json() and await said(client, session, "Hello.") == 1


async def test_other_words_under_a_request_that_is_named_like_a_message_are_not_its_answer(tmp_path: Path) -> None:
    async with theatre(tmp_path, [says("NEEDS_INPUT", "First."), says("NEEDS_INPUT", "Second.")]) as (client, _):
        session = await at_the_guard(client)
        await play_as(client, session, "decision:zz", player_input="Good evening.")
        assert (await decide(client, session, "zz", "Hello.")).json()["reply"] == "Second."


async def test_a_message_that_was_kept_under_its_old_name_is_still_answered(tmp_path: Path) -> None:
    async with theatre(tmp_path, [says("NEEDS_INPUT", "First."), says("NEEDS_INPUT", "Second.")]) as (client, model):
        session = await at_the_guard(client)
        # A decision was once kept under a name that any request may have.
        await play_as(client, session, "decision:zz", player_input="Hello.")
        answer = await decide(client, session, "zz", "Hello.")
        assert (answer.json()["reply"], answer.json()["turn_index"]) == ("First.", 2) and len(model.requests) == 1


def slowly(reply: str) -> Say:
    return Say(text=json.dumps(decision("NEEDS_INPUT", reply)), pace=Pace(first_token_ms=1_500))


async def cancelled(client: Client, model: ModelServer, session: str, id: str, words: str) -> None:
    """A message whose turn is cancelled while the character thinks."""
    message = asyncio.create_task(decide(client, session, id, words))
    while not model.requests:
        await asyncio.sleep(0.01)
    await client.call("session.cancel_turn", session)
    assert (await message).status_code == 500


async def test_words_that_a_retry_committed_are_not_said_again_under_their_id(tmp_path: Path) -> None:
    script = [slowly("Never heard."), says("NEEDS_INPUT", "First."), says("NEEDS_INPUT", "Second.")]
    async with theatre(tmp_path, script) as (client, model):
        session = await at_the_guard(client)
        await cancelled(client, model, session, "m1", "Hello.")
        frames = await client.turn(session, "", method="session.retry_turn")
        answer = (await decide(client, session, "m1", "Hello.")).json()
        assert answer["reply"] == outcome(frames)["reply"] == "First."
        assert answer["turn_id"] == frames[-1]["response"]["result"]["turn_id"]
        await say(client, session, "And now?")
        assert (await decide(client, session, "m1", "Hello.")).json() == answer, "also when the talk went on"
        assert await said(client, session, "Hello.") == 1 and len(model.requests) == 3


async def test_a_message_waits_for_the_retry_that_says_its_words(tmp_path: Path) -> None:
    async with theatre(tmp_path, [slowly("Never heard."), slowly("First.")]) as (client, model):
        session = await at_the_guard(client)
        await cancelled(client, model, session, "m1", "Hello.")
        retry = asyncio.create_task(client.turn(session, "", method="session.retry_turn"))
        while len(model.requests) < 2:
            await asyncio.sleep(0.01)
        assert (await decide(client, session, "m1", "Hello.")).json()["reply"] == "First."
        assert outcome(await retry)["reply"] == "First." and await said(client, session, "Hello.") == 1


async def test_a_cancelled_message_may_be_sent_again_and_another_id_is_another_message(tmp_path: Path) -> None:
    script = [slowly("Never heard."), says("NEEDS_INPUT", "Other."), says("NEEDS_INPUT", "Again.")]
    async with theatre(tmp_path, script) as (client, model):
        session = await at_the_guard(client)
        await cancelled(client, model, session, "m1", "Hello.")
        assert (await decide(client, session, "m2", "Hello.")).json()["reply"] == "Other."
        assert (await decide(client, session, "m1", "Hello.")).json()["reply"] == "Again."


WRITTEN = {
    "a context line": ('{generate("one")} # context\nShown.', ["Shown."], []),
    "a variable": ('~ v = generate("one")\nShown.', ["Shown."], []),
    "a shown line": ('It says: {generate("one")} So.\nShown.', ["It says: Aye. So.", "Shown."], ["Aye."]),
    "a variable that is shown later": ('~ v = generate("one")\nShown.\n{v}', ["Shown.", "Aye."], ["Aye."]),
    "a context line beside a shown one": (
        '{generate("one")} # context\n{generate("two")}\nShown.',
        ["Nay.", "Shown."],
        ["Nay."],
    ),
    "a choice": ('~ v = generate("one")\nShown.\n* [{v}] -> DONE', ["Shown."], ["Aye."]),
}


@pytest.mark.parametrize("place", WRITTEN)
async def test_a_generated_text_is_told_when_a_reader_sees_it(tmp_path: Path, place: str) -> None:
    passage, lines, texts = WRITTEN[place]
    async with theatre(tmp_path, [Say(text="Aye."), Say(text="Nay.")]) as (client, _):
        session, _ = await begin(client, f'VAR v = ""\n* [On]\n- {passage}\n+ [End]\n- -> END\n')
        frames = await play(client, session, choice=0)
        assert told(frames) == lines
        assert [one["text"] for one in of_type(frames, "generated_text")] == texts


async def test_a_generated_text_is_told_just_before_its_line(tmp_path: Path) -> None:
    async with theatre(tmp_path, [Say(text="Aye.")]) as (client, _):
        session, _ = await begin(client, '* [On]\n- First.\nIt says: {generate("one")}\n-> END\n')
        types = [one["type"] for one in bodies(await play(client, session, choice=0))]
        assert types == ["turn_started", "ink_text", "generated_text", "ink_text", "story_ended"]


async def test_the_story_of_the_gate_is_told_as_ever(tmp_path: Path) -> None:
    source = GATE.replace("The guard lifts", '{generate("light")} The guard lifts')
    async with theatre(tmp_path, [says("DIRECT_CONTINUE", ""), Say(text="Light.")]) as (client, _):
        frames = await play(client, await at_the_guard(client, source), player_input="Please.")
        assert told(frames)[0].startswith("Light. The guard lifts") and of_type(frames, "generated_text")
