"""Events: every one can be written, read back, and described; text that comes quickly is told together."""

from __future__ import annotations

import asyncio
from typing import Any, get_args

import orjson
import pytest

from fabula.adapters.bus.shared import gather_s_for
from fabula.formats.json_bounds import DEEPEST
from fabula.loops.turns.stage import GATHER_S, Stage, gather_s
from fabula.server.stream.envelope import frame_json
from fabula.story import events as told
from fabula.story.checks import Check, Modifier, Resolution, RollView
from fabula.story.error_values import ErrorValue, Hint
from fabula.story.events import (
    Completed,
    Failed,
    NarratorStarted,
    NarratorTextDelta,
    Started,
    Told,
    TurnFrame,
    decode_event,
    encode_event,
    event_json,
    event_weight,
)
from fabula.story.plans import DirectorResult, ResponsePlan
from fabula.story.plays import GuestOnStage
from fabula.story.relations import Deltas
from fabula.story.state import MemoryEntry, SetState, Snapshot, StateUpdate, WorldState
from fabula.story.turn_results import ActorResponse, NarratorResponse, Segment
from fabula.wiring import read_told

SNAPSHOT = Snapshot(story_id="s", player_description="", world_state=WorldState(current_node="gate"), turn_index=1)
GUEST = GuestOnStage(
    session_character_id="cook",
    display_name="Cook",
    personality="",
    style="",
    system_prompt="",
    created_at_ms=1,
    updated_at_ms=1,
    in_scene=False,
)
RESULT = DirectorResult(
    previous_node_id="gate", current_node_id="yard", transitioned=True, response_plan=ResponsePlan()
)
HELP = Modifier(source="help", value=1)
RESOLUTION = Resolution(
    check=Check(check_id="c", act="risk", deed="I climb.", stat="cool", modifiers=[HELP]),
    roll=RollView(formula="2d6", total=9),
    target=7,
    margin=2,
    level="partial",
)
NARRATION = {"beat_index": 0, "purpose": "DescribeScene"}
ACTING = {"beat_index": 1, "speaker_id": "cook"}
EXAMPLES: dict[type[Any], dict[str, Any]] = {
    told.TurnStarted: {"next_turn_index": 1, "player_input": "Hi."},
    told.PlayerInputRecorded: {
        "entry": MemoryEntry(speaker_id="player", speaker_name="Ann", kind="player_input", text="Hi."),
        "snapshot": SNAPSHOT,
    },
    told.KeeperApplied: {"phase": "after_player_input", "update": StateUpdate(), "snapshot": SNAPSHOT},
    told.StateOpRefused: {"op": SetState(key="lamp", value=[1, None]), "reason": "no such variable"},
    told.CheckAsked: {"check_id": "c", "actor": "player", "stat": "cool", "target": 7, "modifiers": (HELP,)},
    told.IntentJudged: {
        "rule": "technology",
        "result": "analog",
        "sentence": "There are no phones here.",
        "lead": "Send a rider.",
    },
    told.WishLeft: {"sentence": "No model tells this."},
    told.SceneCompleted: {"scene_id": "scene-0", "title": "The Gate", "outcome": "left", "summary": "Mara opened."},
    told.ChangeStaged: {"change_id": "c1", "sentence": "Mara is dead."},
    told.ThreadChanged: {"thread_id": "t", "title": "Who cut the pier?", "status": "open", "why": "It was set up."},
    told.ConflictChanged: {
        "conflict_id": "c",
        "title": "The well",
        "phase": "rising",
        "intensity": 0.4,
        "why": "It is dry.",
    },
    told.WorldAdvanced: {
        "minutes": 50,
        "events": (told.OffScreenEvent(clock_id="ferries", event="The ferries come.", minute=40, where="bridge"),),
    },
    told.CheckResolved: {"check_id": "c", "resolution": RESOLUTION, "sentence": "Cool: 9 against 7, partial."},
    told.Flashback: {"character_id": "cook", "character_name": "Cook", "text": "Fire.", "emotion": "fear"},
    told.SocialBeat: {
        "character_id": "cook",
        "towards": "player",
        "surface": "joy",
        "inner": "fear",
        "deltas": Deltas(trust=0.1),
        "reason": "thanks",
    },
    told.DirectorCompleted: {"result": RESULT, "snapshot": SNAPSHOT},
    told.SessionCharacterCreated: {"session_character": GUEST, "snapshot": SNAPSHOT},
    told.SessionCharacterEnteredScene: {"session_character_id": "cook", "snapshot": SNAPSHOT},
    told.SessionCharacterLeftScene: {"session_character_id": "cook", "snapshot": SNAPSHOT},
    told.NarratorStarted: NARRATION,
    told.NarratorTextDelta: {**NARRATION, "delta": "Rain."},
    told.NarratorCompleted: {**NARRATION, "response": NarratorResponse(text="Rain.", raw_output="Rain.")},
    told.ActorStarted: {**ACTING, "purpose": "ReactToPlayer"},
    told.ActorThoughtDelta: {**ACTING, "delta": "Hm."},
    told.ActorActionComplete: {**ACTING, "text": "nods"},
    told.ActorDialogueDelta: {**ACTING, "delta": "Yes."},
    told.ActorCompleted: {
        **ACTING,
        "purpose": "ReactToPlayer",
        "response": ActorResponse(
            speaker_id="cook", speaker_name="Cook", segments=[Segment(kind="dialogue", text="Yes.")], raw_output=""
        ),
    },
    told.AgentDegraded: {"agent": "keeper", "reason": "no JSON"},
    told.StoryEnded: {"node_id": "gate", "title": "The Gate"},
    told.AgentReplyDelta: {"character": "Cook", "delta": "Well"},
    told.AgentOutcome: {"outcome": "NEEDS_INPUT", "reply": "Hm.", "reason": "", "guidance": "Ask."},
    told.InkText: {"text": "Rain.", "tags": ("context",)},
    told.GeneratedText: {"text": "Rain."},
    told.InkChoices: {"choices": ({"index": 0, "text": "Go", "tags": []},)},
    told.InkInputRequested: {"kind": "agent", "character": "Cook"},
    told.Progress: {"done": 1, "total": 2, "label": "Building"},
    told.Started: {},
    told.Completed: {"result": {"turn_index": 1, "snapshot": {"turn_index": 1}}},
    told.Failed: {"error": ErrorValue(name="conflict", message="No.", hint=Hint.BACKTRACK, data={"turn": 1})},
}


@pytest.mark.parametrize("kind", get_args(Told), ids=lambda kind: kind.__name__)
def test_what_is_read_in_another_process_is_what_was_told(kind: type[Any]) -> None:
    event = kind(**EXAMPLES[kind])
    assert decode_event(encode_event(event)) == event


@pytest.mark.parametrize("kind", get_args(Told), ids=lambda kind: kind.__name__)
def test_every_event_weighs_as_much_as_what_it_carries(kind: type[Any]) -> None:
    large = {"snapshot": SNAPSHOT.model_copy(update={"player_description": "x" * 100_000})}
    event = kind(**{**EXAMPLES[kind], **(large if "snapshot" in EXAMPLES[kind] else {})})
    assert event_weight(event) > len(encode_event(event))


def test_an_event_with_half_a_surrogate_pair_has_a_weight() -> None:
    assert event_weight(told.StoryEnded(node_id="gate", title="x" * 5_000 + "\ud800")) > 5_000


@pytest.mark.parametrize("data", [b"", b"{}", b'{"type":"nothing"}', b'{"type":"turn_started","player_input":1}'])
def test_bytes_that_are_no_event_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError):
        decode_event(data)


@pytest.mark.parametrize("kind", get_args(Told), ids=lambda kind: kind.__name__)
def test_an_event_is_named_as_its_class_is_and_says_what_it_means(kind: type[Any]) -> None:
    name = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in kind.__name__)[1:]
    assert kind(**EXAMPLES[kind]).type == name
    assert kind.__doc__ and "(" not in kind.__doc__[:5]


def test_what_does_not_apply_is_left_out_of_what_clients_read() -> None:
    assert event_json(told.StoryEnded()) == {"type": "story_ended"}
    asked = event_json(told.InkInputRequested(kind="text", placeholder=""))
    assert asked == {"type": "ink_input_requested", "kind": "text", "placeholder": ""}


def test_a_failed_turn_names_the_code_and_the_method_that_helps() -> None:
    frame = frame_json(Failed(error=ErrorValue(name="cancelled", message="Cancelled.", hint=Hint.RETRY_TURN)))
    sentence = "Cancelled. session.retry_turn plays its words again."
    assert frame == {"type": "failed", "error": {"code": 50002, "message": sentence}}


class Listener:
    """A sender that remembers what was sent."""

    def __init__(self) -> None:
        self.sent: list[TurnFrame] = []

    @property
    def next_sequence(self) -> int:
        return len(self.sent)

    def send(self, event: TurnFrame, *, last: bool = False) -> None:
        self.sent.append(event)

    async def flush(self) -> None: ...

    async def close(self) -> None: ...

    def deltas(self) -> list[tuple[int, str]]:
        return [(one.beat_index, one.delta) for one in self.sent if isinstance(one, NarratorTextDelta)]


def piece(text: str, beat: int = 0) -> NarratorTextDelta:
    return NarratorTextDelta(beat_index=beat, purpose="DescribeScene", delta=text)


async def test_the_first_piece_is_told_at_once_and_what_follows_quickly_together() -> None:
    heard = Listener()
    stage = Stage(heard)
    for text in ("One ", "two ", "", "three "):
        stage.tell(piece(text))
    assert heard.deltas() == [(0, "One ")]
    while len(heard.deltas()) < 2:
        await asyncio.sleep(GATHER_S)
    assert heard.deltas() == [(0, "One "), (0, "two three ")]
    await asyncio.sleep(2 * GATHER_S)
    stage.tell(piece("four"))
    assert heard.deltas()[-1] == (0, "four")


def test_a_few_turns_are_told_piece_by_piece_and_many_in_longer_ones() -> None:
    assert [gather_s(calls) for calls in (1, 7, 10, 50, 1000)] == [0.0, 0.0, 0.02, 0.1, 0.1]


def test_other_servers_are_told_more_at_once_where_many_streams_are_open() -> None:
    assert [gather_s_for(streams, least=0.02) for streams in (0, 1, 20, 50, 100, 5000)] == [
        0.02,
        0.02,
        0.02,
        0.05,
        0.1,
        0.1,
    ]


async def test_text_of_another_place_is_never_joined_and_order_stays() -> None:
    heard = Listener()
    stage = Stage(heard)
    stage.start()
    for event in (piece("a"), piece("b"), piece("c", beat=1), piece("d", beat=1)):
        stage.tell(event)
    stage.tell(NarratorStarted(beat_index=2, purpose="DescribeScene"))
    stage.tell(piece("e", beat=2))
    stage.tell(piece("f", beat=2))
    stage.complete({})
    assert heard.deltas() == [(0, "a"), (0, "b"), (1, "c"), (1, "d"), (2, "e"), (2, "f")]
    assert heard.sent[0] == Started() and heard.sent[-1] == Completed(result={}) and stage.ended


def test_every_event_is_as_small_as_it_can_be() -> None:
    assert [kind for kind in get_args(Told) if hasattr(kind(**EXAMPLES[kind]), "__dict__")] == []
    assert orjson.dumps(piece("x")) == (
        b'{"type":"narrator_text_delta","beat_index":0,"purpose":"DescribeScene","delta":"x"}'
    )


def nested(levels: int) -> bytes:
    return b'{"type":"completed","result":{"x":' + b"[" * levels + b"]" * levels + b"}}"


def test_an_event_of_another_server_is_held_to_the_bounds_of_requests_before_it_is_decoded() -> None:
    with pytest.raises(ValueError, match="More than"):
        read_told(b'{"type":"completed","result":{"x":[' + b"[]," * 200_000 + b"0]}}")
    with pytest.raises(ValueError, match="deeper"):
        read_told(nested(1_000))


def test_the_largest_state_that_a_request_can_bring_about_is_read_from_another_server() -> None:
    wide = Completed(result={"state": {f"n{number}": "\U0001f409" * 1_000 for number in range(500)}})
    assert read_told(encode_event(wide)) == wide
    assert isinstance(read_told(nested(DEEPEST + 10)), Completed)
