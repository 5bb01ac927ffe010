"""A table's limits are kept: in what players say, and in what is told, whoever tells it."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.game_client import game
from tests.live import Client, RpcFailed, bodies, gate_story, live_server, until_audited
from tests.scripted import PACES, theatre

from fabula.actions.library.packaged_worlds import check_packaged_world
from fabula.language.terms import MOST_LETTERS
from fabula.loops.guardrails import CheckedText, Guardrails
from fabula.ports.errors import InvalidRequest
from fabula.ports.threads import SHORT_TEXTS
from fabula.rules.guardrails import LINE_MARK, PROHIBITED_MARK, Outcome
from fabula.story.caps import Beyond, Caps, TechnologyCap
from fabula.story.directives import Directive
from fabula.story.session_zero import SessionZero
from fabula.story.worlds import World
from fabula.testing.model_script import say_json


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    async with live_server(tmp_path) as client:
        yield client


async def started(client: Client, story: str, **more: Any) -> str:
    return str((await client.call("story.start_session", story_id=story, **more))["session_id"])


async def lines(client: Client, session: str) -> list[tuple[str, str]]:
    found = (await client.call("session_message.list", session))["messages"]
    return [(line["kind"], line["text"]) for line in found]


async def test_words_that_cross_a_line_are_not_played_and_stand_in_the_audit(client: Client) -> None:
    session = await started(client, await gate_story(client), rules="d20")
    await client.call("boundary.update", session, lines=["spiders"])
    with pytest.raises(RpcFailed, match="does not want 'spiders'"):
        await client.turn(session, "I throw a spider at Mara.")
    assert await lines(client, session) == []
    (noted,) = await until_audited(client, about=session)
    assert (noted["why"], noted["what"]) == ("boundary", "input: lines")
    await client.turn(session, "I throw a stone at Mara.")
    assert await lines(client, session) != []


def many() -> dict[str, list[str]]:
    """Categories that have a few letters too many together, and none of them by itself."""
    return {f"c{number}": ["x" * 100] * (MOST_LETTERS // 1_000) for number in range(10)}


async def test_categories_have_a_bound_together_at_every_road(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client, game(str(client.http.base_url).rstrip("/")) as connected:
        session = await started(client, await gate_story(client))
        await client.call("world.create", world_id="salt", display_name="Salt")
        for play, world_id in ((session, ""), (None, "salt")):
            await client.call("boundary.update", play, world_id=world_id, categories={"bugs": ["beetle"]})
            with pytest.raises(RpcFailed, match="10000 letters together"):
                await client.call("boundary.update", play, world_id=world_id, categories=many())
        await connected.send("hello", protocol=1, client="smithy", boundaries={"categories": many()})
        refused = await connected.next("error")
        assert refused["code"] == "too_large" and "10000 letters together" in refused["message"]


async def test_nobody_who_writes_waits_while_a_long_text_is_held_against_lines(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    looking, others_wrote, waited = threading.Event(), threading.Event(), list[bool]()
    judge_input = Guardrails.judge_input

    def slowly(self: Guardrails, words: str) -> Outcome:
        if len(words) > SHORT_TEXTS:
            looking.set()
            waited.append(others_wrote.wait(60))
        return judge_input(self, words)

    monkeypatch.setattr(Guardrails, "judge_input", slowly)
    story = await gate_story(client)
    session, other = await started(client, story), await started(client, story)
    await client.call("boundary.update", session, lines=["spiders"])
    long = " ".join(f"word{number}" for number in range(400))
    describing = asyncio.create_task(client.call("session.update_player_description", session, player_description=long))
    await asyncio.to_thread(looking.wait, 60)
    await client.call("boundary.update", other, lines=["rats"])
    others_wrote.set()
    await describing
    # Once: what was looked through before is not looked through again where it is written.
    assert waited == [True]
    assert (await client.call("session.get", session))["snapshot"]["player_description"] == long


async def test_long_texts_are_held_against_lines_beside_the_event_loop(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = set[int]()
    judge_input = Guardrails.judge_input

    def noted(self: Guardrails, words: str) -> Outcome:
        if len(words) > SHORT_TEXTS:
            threads.add(threading.get_ident())
        return judge_input(self, words)

    monkeypatch.setattr(Guardrails, "judge_input", noted)
    session = await started(client, await gate_story(client))
    await client.call("boundary.update", session, lines=["spiders"])
    long = " ".join(f"word{number}" for number in range(400))
    await client.turn(session, long)
    await client.call("session.update_player_description", session, player_description=long)
    guest = {"display_name": "G", "personality": "", "style": "", "system_prompt": f"{long} A spider."}
    with pytest.raises(RpcFailed, match="does not want 'spiders'"):
        await client.call("session_character.create", session, **guest)
    assert threads and threading.get_ident() not in threads


async def test_long_answers_of_a_model_are_held_against_lines_beside_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = set[int]()
    cut = Guardrails.cut

    def noted(self: Guardrails, text: str) -> CheckedText:
        if len(text) > SHORT_TEXTS:
            threads.add(threading.get_ident())
        return cut(self, text)

    monkeypatch.setattr(Guardrails, "cut", noted)
    told = " ".join(f"It was {number}." for number in range(400))
    updates = {"ops": [{"type": "SetState", "key": "note", "value": told}]}
    guest = {"type": "create_and_enter", "session_character_id": "g", "display_name": "G", "personality": told}
    plan = {
        "role_actions": [{**guest, "style": "", "system_prompt": ""}],
        "beats": [{"type": "Narrator", "purpose": "DescribeScene"}],
    }
    async with theatre(tmp_path) as house:
        for pace in PACES:
            session = await house.session(pace)
            await house.client.call("boundary.update", session, lines=["spiders"])
            house.troupe.misbehave("swift", f"<narration>{told}</narration><update>{json.dumps(updates)}</update>")
            house.troupe.misbehave("keeper", json.dumps(updates), json.dumps(updates))
            house.troupe.misbehave("director", json.dumps(plan))
            await house.client.turn(session, "I wait.")
    assert threads and threading.get_ident() not in threads


async def test_words_that_a_world_looks_for_have_a_bound_together(client: Client) -> None:
    large = {"technology": {"beyond": [{"words": ["x" * 80] * 60}] * 3}}
    await client.call("world.create", world_id="salt", display_name="Salt")
    for call in ("world.create", "world.update"):
        with pytest.raises(RpcFailed, match="words of caps may have 10000 letters together"):
            await client.call(call, world_id="salt" if call == "world.update" else "w", display_name="W", caps=large)
    small = {"technology": {"level": "stone", "beyond": [], "allowed": ["wheel"]}, "magic": None}
    assert (await client.call("world.update", world_id="salt", caps=small))["caps"] == small
    phrases = [[f"{row}-{number:02} {'x' * 94}" for number in range(20)] for row in range(6)]
    for row in phrases[:5]:
        await client.call("directive.create", world_id="salt", kind="prohibit", phrases=row)
    with pytest.raises(RpcFailed, match="phrases of directives may have 10000 letters together"):
        await client.call("directive.create", world_id="salt", kind="prohibit", phrases=phrases[5])


def test_a_package_brings_no_world_that_has_more_to_look_for() -> None:
    beyond = Beyond(words=["x" * 80] * 60)
    directives = [
        Directive(directive_id=str(one), kind="prohibit", phrases=[f"{one} {two} {'x' * 90}" for two in range(20)])
        for one in range(10)
    ]
    worlds = [
        World(world_id="w", display_name="W", session_zero=SessionZero(categories=many())),
        World(world_id="w", display_name="W", caps=Caps(technology=TechnologyCap(beyond=[beyond] * 3))),
        World(world_id="w", display_name="W", directives=directives),
    ]
    for world in worlds:
        with pytest.raises(InvalidRequest, match="10000 letters together"):
            check_packaged_world(world)


async def test_boundaries_count_from_the_next_turn_and_going_back_restores_them(client: Client) -> None:
    session = await started(client, await gate_story(client))
    await client.turn(session, "Hello, spider friend.")
    await client.call("boundary.update", session, lines=["spiders"], rating="teen")
    await client.turn(session, "Hello, Mara.")
    await client.call("session.backtrack", session, turns=1)
    counts = (await client.call("boundary.get", session))["counts"]
    assert "spiders" in counts["lines"] and "gore" in counts["lines"] and counts["rating"] == "teen"
    await client.call("session.backtrack", session, turns=1)
    assert (await client.call("boundary.get", session))["counts"]["lines"] == []
    await client.turn(session, "Hello, spider friend.")


async def test_words_that_are_told_again_after_a_line_was_drawn_fail_and_nothing_is_told(client: Client) -> None:
    session = await started(client, await gate_story(client))
    await client.turn(session, "Hello, spider friend.")
    before = await lines(client, session)
    await client.call("boundary.update", session, lines=["spiders"])
    await client.call("session.backtrack", session, turns=1)
    await client.call("boundary.update", session, lines=["spiders"])
    with pytest.raises(RpcFailed, match="'spiders'"):
        await client.turn(session, "Hello, spider friend.")
    assert before and await lines(client, session) == []


async def test_what_a_world_rules_out_is_kept_at_its_tables_with_its_history(client: Client) -> None:
    await client.call("world.create", world_id="salt", display_name="Salt")
    await client.call("boundary.update", world_id="salt", lines=["fire"])
    await client.call("boundary.update", world_id="salt", lines=["fire", "fog"])
    shown = await client.call("boundary.get", world_id="salt")
    assert [one["boundaries"]["lines"] for one in shown["before"]] == [[], ["fire"]]
    story = await gate_story(client)
    await client.call("story.update", story_id=story, world_id="salt")
    session = await started(client, story)
    with pytest.raises(RpcFailed, match="'fog'"):
        await client.turn(session, "I walk into the fog.")
    await client.call("boundary.update", session, lines=[])
    assert (await client.call("boundary.get", session))["counts"]["lines"] == ["fire", "fog"]


PLAN: Any = {"role_actions": [], "beats": [{"type": "Narrator", "purpose": "DescribeResult"}]}
ACTS: Any = {"role_actions": [], "beats": [{"type": "Actor", "speaker_id": "mara", "purpose": "ReactToPlayer"}]}


@pytest.mark.parametrize(
    ("pace", "role", "plan", "said"),
    [
        ("swift", "swift", PLAN, "<narration>{}</narration>"),
        ("swift", "swift", PLAN, '<dialogue who="mara">{}</dialogue>'),
        ("ensemble", "narrator", PLAN, "{}"),
        ("ensemble", "actor", ACTS, "<dialogue>{}</dialogue>"),
    ],
)
async def test_a_telling_that_crosses_a_line_is_asked_for_once_more_and_then_cut(
    tmp_path: Path, pace: str, role: Any, plan: Any, said: str
) -> None:
    async with theatre(tmp_path) as house:
        client = house.client
        session = await started(client, house.story_id, api_group_id="troupe", preset_id=pace)
        await client.call("boundary.update", session, lines=["spiders"])
        house.troupe.misbehave("director", say_json(plan))
        house.troupe.misbehave(role, said.format("Rain falls. A spider drops down. Birds sing."))
        house.troupe.misbehave(role, said.format("The gate is wet. Spiders again. Night."))
        frames = await client.turn(session, "I look at the gate.")
        told = " ".join(text for kind, text in await lines(client, session) if kind != "player_input")
        assert " ".join(told.split()) == f"Rain falls. The gate is wet. {LINE_MARK} Night."
        assert "pider" not in str(bodies(frames)), "not in a delta, nor in the result"
        prompts = [str(request.body["messages"]) for request in house.models.requests]
        assert sum("wrote of what must not happen here: spiders" in prompt for prompt in prompts) == 1
        noted = await until_audited(client, about=session)
        assert {(one["why"], one["what"]) for one in noted} == {("boundary", "output: lines: spiders")}
        turn_id = frames[-1]["response"]["result"]["turn_id"]
        verdicts = (await client.call("session.explain_turn", session, turn_id=turn_id))["verdicts"]
        assert {one["result"] for one in verdicts} == {"cut"}


async def test_a_phrase_that_a_directive_forbids_is_asked_for_once_more_and_then_cut(tmp_path: Path) -> None:
    async with theatre(tmp_path) as house:
        client = house.client
        session = await started(client, house.story_id, api_group_id="troupe", preset_id="ensemble")
        await client.call("directive.create", session, kind="prohibit", phrases=["dear reader"], **{"for": "narrator"})
        house.troupe.misbehave("director", say_json(PLAN))
        house.troupe.misbehave("narrator", "Rain falls. And now, dear reader, look. Birds sing.")
        house.troupe.misbehave("narrator", "The reader of signs is dear. Dear readers, look. Night.")
        await client.turn(session, "I look at the gate.")
        told = " ".join(text for kind, text in await lines(client, session) if kind != "player_input")
        assert " ".join(told.split()) == f"Rain falls. The reader of signs is dear. {PROHIBITED_MARK} Night."
        noted = await until_audited(client, about=session)
        assert {one["what"] for one in noted} == {"output: prohibitions: dear reader"}
