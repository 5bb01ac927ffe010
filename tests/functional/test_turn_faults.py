"""Whatever a model does wrong, a turn is repaired, degraded and says so, or failed whole: never half."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from tests.live import bodies
from tests.mass import crossed
from tests.scripted import PACES, Theatre, theatre

from fabula.agents.presets.templates import PromptRole
from fabula.testing.model_script import (
    Behaviour,
    CutMidStream,
    Endless,
    ErrorInStream,
    Fail,
    Garbage,
    Pace,
    Refuse,
    Say,
    Silence,
    say_json,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")

# A busy machine is slow: only who waits for a deadline has a short one.
NEAR_S, FAR_S = 5.0, 60.0
STAGES: list[tuple[str, PromptRole, int, str]] = [
    ("ensemble", "keeper", 0, "keeper_after_player_input"),
    ("ensemble", "director", 0, "director"),
    ("ensemble", "narrator", 0, "narrator"),
    ("ensemble", "actor", 0, "actor"),
    ("ensemble", "keeper", 1, "keeper_after_turn_outputs"),
    ("swift", "swift", 0, "narrator"),
]
FATAL: dict[str, Behaviour] = {
    "a wrong key": Fail(status=401, message="Incorrect API key provided: sk-troupe"),
    "a server that stays broken": Fail(status=500),
    "a server that stays busy": Fail(status=429, retry_after="0"),
    "a line that is cut": CutMidStream(),
    "a stream that ends without a finish": CutMidStream(politely=True),
    "an error in the stream": ErrorInStream(),
    "a refusal by the filter": Refuse(by_filter=True),
}
WRITTEN_ONLY: dict[str, Behaviour] = {
    "a token without end": Endless(),
    "a tale without end": Endless(varied=True),
    "nothing at all": Silence(),
    "a refusal": Refuse(),
    "bytes that are no JSON": Garbage(),
}
HEALED: dict[str, Behaviour] = {
    "a short hiccup": Fail(status=503),
    "a moment of rest": Fail(status=429, retry_after="0.1"),
    "silence, once": Silence(),
    "a slow first word": Say(text="", pace=Pace(first_token_ms=400)),
}
WRITERS: list[tuple[str, PromptRole]] = [("ensemble", "narrator"), ("ensemble", "actor"), ("swift", "swift")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Theatre]:
    async with theatre(tmp_path_factory.mktemp("faults"), turn_deadline_s=FAR_S) as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def hasty(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Theatre]:
    """A theatre whose turns may not take long."""
    async with theatre(tmp_path_factory.mktemp("hasty"), turn_deadline_s=NEAR_S) as opened:
        yield opened


@pytest_asyncio.fixture(loop_scope="module")
async def house(stage: Theatre) -> AsyncIterator[Theatre]:
    stage.troupe.forgive()
    yield stage


async def standing(house: Theatre, session_id: str) -> dict[str, Any]:
    """Everything of a session that a failed turn must leave alone."""
    session = await house.client.call("session.get", session_id)
    session.pop("updated_at_ms")
    return session


async def failed_whole(house: Theatre, session_id: str, words: str = "I knock at the gate.") -> dict[str, Any]:
    """Plays a turn that must fail, checks that nothing is left of it but the words, and that they can be replayed."""
    before = await standing(house, session_id)
    frames = await house.client.turn(session_id, words)
    assert frames[-1]["type"] == "failed" and frames[-1]["error"]["message"]
    assert "sk-troupe" not in str(frames)
    assert await standing(house, session_id) == before
    house.troupe.forgive()
    again = await house.client.turn(session_id, "", method="session.retry_turn")
    assert again[-1]["type"] == "completed" and again[-1]["response"]["result"]["player_input"] == words
    after = await standing(house, session_id)
    assert after["turn_index"] == before["turn_index"] + 1
    assert [one["text"] for one in after["history"] if one["kind"] == "player_input"] == [words]
    return dict(frames[-1]["error"])


@crossed("asked, fault", STAGES, FATAL)
async def test_a_call_that_fails_fails_the_turn_whole_and_names_its_step(
    house: Theatre, asked: tuple[str, PromptRole, int, str], fault: str
) -> None:
    pace, role, skipped, step = asked
    session_id = await house.session(pace)
    house.troupe.misbehave(role, *[None] * skipped, *[FATAL[fault]] * 8)
    error = await failed_whole(house, session_id)
    assert error["data"]["step"] == step and error["code"] == 50001
    assert error["data"]["cause"].startswith("model") and step not in error["message"]


@crossed("writer, fault", WRITERS, WRITTEN_ONLY)
async def test_an_answer_that_is_no_text_fails_the_turn_whole(
    house: Theatre, writer: tuple[str, PromptRole], fault: str
) -> None:
    pace, role = writer
    session_id = await house.session(pace)
    house.troupe.misbehave(role, *[WRITTEN_ONLY[fault]] * 8)
    await failed_whole(house, session_id)


@crossed("asked, fault", [*WRITERS, ("ensemble", "director"), ("ensemble", "keeper")], HEALED)
async def test_what_passes_is_waited_for_and_nobody_notices(
    house: Theatre, asked: tuple[str, PromptRole], fault: str
) -> None:
    pace, role = asked
    session_id = await house.session(pace)
    house.troupe.misbehave(role, HEALED[fault])
    frames = await house.client.turn(session_id, "I knock at the gate.")
    assert frames[-1]["type"] == "completed"
    assert not [body for body in bodies(frames) if body["type"] == "agent_degraded"]


@pytest.mark.parametrize(
    ("pace", "role", "step"), [(pace, role, step) for pace, role, skip, step in STAGES if not skip]
)
async def test_a_model_that_never_answers_fails_the_turn_at_its_deadline(
    hasty: Theatre, pace: str, role: PromptRole, step: str
) -> None:
    session_id = await hasty.session(pace)
    left = hasty.models.cancelled
    hasty.troupe.misbehave(role, *[Say(text="late", pace=Pace(first_token_ms=60_000))] * 8)
    error = await failed_whole(hasty, session_id)
    assert error["data"]["step"] == step and "in time" in error["message"]
    assert hasty.models.cancelled > left


UNUSABLE_PLANS: dict[str, tuple[Behaviour | str, str]] = {
    "garbage": ("I think Mara should speak next, don't you?", "no JSON"),
    "cut JSON": ('{"role_actions": [], "beats": [{"type": "Narr', "could not be used"),
    "a wrong schema": (say_json({"beats": "none"}), "beats"),
    "an empty plan": (say_json({"role_actions": [], "beats": []}), "no beats"),
    "an unknown speaker": (
        say_json({"beats": [{"type": "Actor", "speaker_id": "bob", "purpose": "ReactToPlayer"}]}),
        "'bob' cannot speak",
    ),
    "a stranger who leaves": (
        say_json(
            {
                "role_actions": [{"type": "leave_scene", "session_character_id": "bob"}],
                "beats": [{"type": "Narrator", "purpose": "DescribeScene"}],
            }
        ),
        "'bob' cannot leave",
    ),
    "a guest with the id of a character": (
        say_json(
            {
                "role_actions": [
                    {
                        "type": "create_and_enter",
                        "session_character_id": "mara",
                        "display_name": "Mara",
                        "personality": "",
                        "style": "",
                        "system_prompt": "",
                    }
                ],
                "beats": [{"type": "Narrator", "purpose": "DescribeScene"}],
            }
        ),
        "'mara' is a character of the story",
    ),
    "a token without end": (Endless(), ""),
    "a refusal": (Refuse(), ""),
}


@pytest.mark.parametrize("fault", UNUSABLE_PLANS)
async def test_an_unusable_plan_is_repaired_once_and_then_replaced_which_is_told(house: Theatre, fault: str) -> None:
    plan, named = UNUSABLE_PLANS[fault]
    session_id = await house.session()
    house.troupe.misbehave("director", *[plan] * 8)
    frames = await house.client.turn(session_id, "I knock at the gate.")
    told = [body for body in bodies(frames) if body["type"] == "agent_degraded"]
    if frames[-1]["type"] == "completed":
        assert [body["agent"] for body in told] == ["director"] and named in told[0]["reason"]
        speakers = [beat.get("speaker_id") for beat in frames[-1]["response"]["result"]["completed_beats"]]
        assert speakers == ["mara"]
    else:
        assert not named and frames[-1]["error"]["data"]["step"] == "director"
    house.troupe.forgive()
    house.troupe.misbehave("director", plan)
    repaired = await house.client.turn(await house.session(), "I knock at the gate.")
    if named:
        assert repaired[-1]["type"] == "completed"
        assert not [body for body in bodies(repaired) if body["type"] == "agent_degraded"]


@pytest.mark.parametrize("nonsense", ["nothing changed, I believe", '{"ops": "all"}', '{"ops": [{"type": "Explode"}]}'])
async def test_an_unusable_update_changes_nothing_and_is_told(house: Theatre, nonsense: str) -> None:
    session_id = await house.session()
    house.troupe.misbehave("keeper", *[nonsense] * 4)
    frames = await house.client.turn(session_id, "Go on.")
    assert frames[-1]["type"] == "completed"
    assert {body["agent"] for body in bodies(frames) if body["type"] == "agent_degraded"} == {"keeper"}
    snapshot = (await standing(house, session_id))["snapshot"]
    assert snapshot["world_state"]["custom"] == {"gate_open": False} and snapshot["turn_index"] == 1


REFUSED_OPS: list[dict[str, Any]] = [
    {"type": "SetState", "key": "gate_open", "value": "wide"},
    {"type": "SetCharacterState", "character": "bob", "key": "trust", "value": 1},
    {"type": "SetCharacterState", "character": "mara", "key": "trust", "value": "much"},
    {"type": "AddActiveCharacter", "character": "bob"},
]


@crossed("pace, op", PACES, REFUSED_OPS)
async def test_an_operation_that_does_not_fit_is_refused_by_name_and_the_others_are_done(
    house: Theatre, pace: str, op: dict[str, Any]
) -> None:
    session_id = await house.session(pace)
    good: dict[str, Any] = {"type": "SetCharacterState", "character": "mara", "key": "trust", "value": 3}
    update = say_json({"ops": [op, good]})
    house.troupe.misbehave("keeper", update)
    house.troupe.misbehave("swift", f"<narration>It rains.</narration><update>{update.text}</update>")
    frames = await house.client.turn(session_id, "I knock.")
    assert frames[-1]["type"] == "completed"
    refused = [body for body in bodies(frames) if body["type"] == "state_op_refused"]
    assert [body["op"] for body in refused] == [op] and refused[0]["reason"]
    world = (await standing(house, session_id))["snapshot"]["world_state"]
    assert world["character_state"] == {"mara": {"trust": 3}} and world["custom"] == {"gate_open": False}


@pytest.mark.parametrize("pace", PACES)
async def test_moving_the_story_on_is_not_a_models_to_do_and_is_told(house: Theatre, pace: str) -> None:
    session_id = await house.session(pace)
    update = say_json({"ops": [{"type": "SetCurrentNode", "node_id": "garden"}]})
    house.troupe.misbehave("keeper", update, update)
    house.troupe.misbehave("swift", f"<narration>It rains.</narration><update>{update.text}</update>")
    frames = await house.client.turn(session_id, "I knock.")
    assert frames[-1]["type"] == "completed"
    told = [body for body in bodies(frames) if body["type"] == "agent_degraded"]
    assert told and ("current node" in told[0]["reason"] or "SetCurrentNode" in told[0]["reason"])
    assert (await standing(house, session_id))["snapshot"]["world_state"]["current_node"] == "gate"


TANGLES = [
    "Just words, with no tag at all.",
    "<dialogue>Never <action>closed",
    "<thought>Hm.<dialogue>Who goes there?</dialogue></thought>",
    "<dialogue who='mara'>Who goes there?</dialogue></dialogue></action>",
    "<script>alert(1)</script><dialogue>Who <b>goes</b> there?</dialogue>",
    "<dial",
]


@crossed("pace, tangle", PACES, TANGLES)
async def test_tangled_tags_become_plain_lines_and_no_markup_is_told(house: Theatre, pace: str, tangle: str) -> None:
    session_id = await house.session(pace)
    house.troupe.misbehave("actor", tangle)
    house.troupe.misbehave("swift", tangle)
    frames = await house.client.turn(session_id, "I knock.")
    assert frames[-1]["type"] == "completed"
    lines = [one["text"] for one in (await standing(house, session_id))["history"][1:]]
    deltas = [body["delta"] for body in bodies(frames) if "delta" in body]
    for text in [*lines, *deltas]:
        assert not any(tag in text for tag in ("<dialogue", "<action", "<thought", "</", "<narration", "<update"))
    assert all(line.strip() for line in lines)


async def test_an_unknown_voice_is_told_by_the_narrator_and_an_unclosed_update_does_not_leak(house: Theatre) -> None:
    session_id = await house.session("swift")
    said = '<dialogue who="bob">Nobody knows me.</dialogue><update>{"ops": [{"type": "SetState", "key": "gate_open"'
    house.troupe.misbehave("swift", said)
    frames = await house.client.turn(session_id, "I knock.")
    assert frames[-1]["type"] == "completed"
    history = (await standing(house, session_id))["history"]
    assert [(one["kind"], one["text"]) for one in history[1:]] == [("narration", "Nobody knows me.")]
    assert [body["agent"] for body in bodies(frames) if body["type"] == "agent_degraded"] == ["keeper"]
