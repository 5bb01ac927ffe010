"""Who has the floor: random interleavings break no promise, and the rules hold one by one."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from tests.floor_world import live_one_life
from tests.mass import Mass

from fabula.loops.npc.floor import LONGEST_QUEUE, Floor
from fabula.loops.npc.signals import (
    Addressed,
    Begin,
    CancelAsked,
    Effect,
    Happening,
    Notice,
    PieceCame,
    ReplyEnded,
    ResultCame,
    Settle,
    StateArrived,
    StateOverdue,
    Stop,
    Tell,
    ToolsAnswered,
    TurnReady,
)
from fabula.server.game_socket.wire import written
from fabula.story.npc import GameEvent, NpcState, PlayedTag, ToolResult, ToolSpec


@pytest.mark.parametrize("first", range(0, 2000, 250))
def test_no_interleaving_breaks_a_promise(first: int, mass: Mass) -> None:
    interruptions = 0
    for seed in range(first, first + mass(250)):
        try:
            interruptions += live_one_life(seed).interruptions
        except AssertionError as broken:
            raise AssertionError(f"seed {seed}: {broken}") from broken
    assert interruptions > mass(100)


class Talk:
    """A floor and what it says, told step by step."""

    def __init__(self, state: NpcState | None = None) -> None:
        numbers = itertools.count(1)
        self.floor = Floor("mara", new_id=lambda kind: f"{kind}{next(numbers)}")
        self.state = state or NpcState()
        self.effects: list[Effect] = []

    def tell(self, happening: Happening) -> list[Effect]:
        effects = self.floor.handle(happening)
        self.effects += effects
        return effects

    def begin(self, text: str = "Hello.", **event: Any) -> str:
        self.tell(Addressed(event=GameEvent(text=text, event_id=f"e-{text}", **event)))
        return self.answer()

    def answer(self, last_says: tuple[str, ...] = ()) -> str:
        [*_, begin] = self.tell(StateArrived(request_id="", state=self.state))
        assert isinstance(begin, Begin)
        self.tell(TurnReady(turn_id=begin.turn_id, model="m", last_says=last_says))
        return begin.turn_id

    def frames(self) -> list[dict[str, Any]]:
        return [{**written(effect.event)} for effect in self.effects if isinstance(effect, Tell)]

    def types(self) -> list[str]:
        return [frame["type"].removeprefix("agent_") for frame in self.frames()]


def test_a_turn_asks_for_the_state_starts_streams_and_finishes() -> None:
    talk = Talk()
    turn = talk.begin()
    talk.tell(PieceCame(turn_id=turn, text="<say>Good "))
    talk.tell(PieceCame(turn_id=turn, text="day.</say>"))
    talk.tell(ReplyEnded(turn_id=turn))
    assert talk.types() == [
        "get_agent_state",
        "turn_started",
        "tag_open",
        "tag_chunk",
        "tag_chunk",
        "tag_close",
        "turn_finished",
    ]
    assert talk.frames()[-2]["text"] == "Good day."


def test_a_newer_event_stops_the_model_before_the_game_hears_of_it() -> None:
    talk = Talk()
    turn = talk.begin()
    talk.tell(PieceCame(turn_id=turn, text="<say>Good "))
    effects = talk.tell(Addressed(event=GameEvent(event_id="e2", text="Wait!")))
    kinds = [type(effect).__name__ for effect in effects]
    assert kinds.index("Stop") < kinds.index("Tell")
    interrupted = next(frame for frame in talk.frames() if frame["type"] == "agent_turn_interrupted")
    assert (interrupted["reason"], interrupted["by_event_id"], interrupted["open_tag_id"]) == (
        "newer_event",
        "e2",
        f"{turn}.0",
    )
    assert talk.tell(PieceCame(turn_id=turn, text="late")) == []


def test_before_anything_started_the_newer_event_replaces_the_older_one() -> None:
    talk = Talk()
    talk.tell(Addressed(event=GameEvent(event_id="e1", text="One")))
    talk.tell(Addressed(event=GameEvent(event_id="e2", text="Two")))
    talk.answer()
    assert talk.types() == ["get_agent_state", "get_agent_state", "turn_started"]
    assert talk.frames()[-1]["event_id"] == "e2"


def test_events_that_do_not_interrupt_wait_their_turn_and_the_seventeenth_is_refused() -> None:
    talk = Talk()
    turn = talk.begin()
    for number in range(LONGEST_QUEUE + 1):
        talk.tell(Addressed(event=GameEvent(event_id=f"q{number}", text="x", interrupt=False)))
    assert talk.frames()[-1]["code"] == "busy"
    talk.tell(ReplyEnded(turn_id=turn))
    talk.answer()
    assert talk.frames()[-1]["event_id"] == "q0"


def test_without_a_state_the_last_one_serves_and_without_any_it_is_a_timeout() -> None:
    talk = Talk()
    talk.tell(Addressed(event=GameEvent(text="Hello.")))
    talk.tell(StateOverdue(request_id=talk.frames()[-1]["request_id"]))
    assert talk.frames()[-1]["code"] == "agent_state_timeout"
    talk.tell(StateArrived(request_id="unasked", state=NpcState()))
    talk.tell(Addressed(event=GameEvent(text="Hello.")))
    [begin] = talk.tell(StateOverdue(request_id=talk.frames()[-1]["request_id"]))
    assert isinstance(begin, Begin)


def test_an_old_line_is_asked_for_again_once_and_then_the_npc_stays_silent() -> None:
    talk = Talk()
    talk.tell(Addressed(event=GameEvent(text="Hello.")))
    turn = talk.answer(last_says=("The bridge is out, friend.",))
    effects = talk.tell(PieceCame(turn_id=turn, text="<say>The bridge is out, friend!</say>"))
    assert [type(effect) for effect in effects] == [Stop, Begin]
    effects = talk.tell(PieceCame(turn_id=turn, attempt=2, text="<say>The bridge is out friend</say>"))
    assert isinstance(effects[0], Stop)
    assert [frame.get("tag") for frame in talk.frames() if frame["type"] == "agent_tag_open"] == ["silence"]
    assert talk.types()[-1] == "turn_finished"


def test_a_new_line_that_begins_like_an_old_one_flows_as_soon_as_it_differs() -> None:
    talk = Talk()
    talk.tell(Addressed(event=GameEvent(text="Hello.")))
    turn = talk.answer(last_says=("The bridge is out, friend.",))
    talk.tell(PieceCame(turn_id=turn, text="<say>The bridge "))
    assert "tag_open" not in talk.types()
    talk.tell(PieceCame(turn_id=turn, text="holds"))
    assert [frame["text"] for frame in talk.frames() if frame["type"] == "agent_tag_chunk"] == ["The bridge holds"]


def test_a_result_while_the_turn_still_speaks_ends_it_and_is_kept() -> None:
    talk = Talk()
    turn = talk.begin()
    talk.tell(PieceCame(turn_id=turn, text="<say>Good day"))
    effects = talk.tell(ResultCame(turn_id=turn, status="interrupted", tags=(PlayedTag(text="Good"),)))
    assert [type(effect) for effect in effects] == [Stop, Tell, Settle]


def test_tool_results_are_noticed_once_and_go_on_when_asked_to() -> None:
    talk = Talk(NpcState(tools=[ToolSpec(name="open")]))
    turn = talk.begin()
    talk.tell(PieceCame(turn_id=turn, text='<tool name="open">{"door": "<b>"}</tool>'))
    [opened] = [frame for frame in talk.frames() if frame["type"] == "agent_tag_open"]
    assert (opened["tag"], opened["attrs"]) == ("tool", {"name": "open"})
    talk.tell(ReplyEnded(turn_id=turn))
    result = ToolResult(call_id=opened["tag_id"], name="open", ok=True, result={"open": True})
    assert [type(one) for one in talk.tell(ToolsAnswered(turn_id=turn, results=(result,), goes_on=False))] == [Notice]
    assert talk.tell(ToolsAnswered(turn_id=turn, results=(result,), goes_on=False)) == []
    more = ToolResult(call_id="other", name="look", ok=False, error="too dark")
    talk.tell(ToolsAnswered(turn_id=turn, results=(more,), goes_on=True))
    assert talk.types()[-1] == "get_agent_state"
    talk.tell(ToolsAnswered(turn_id="nobody", results=(), goes_on=True))
    assert talk.frames()[-1]["code"] == "unknown_turn"


def test_tool_results_that_found_too_many_waiting_are_heard_when_they_are_sent_again() -> None:
    talk = Talk()
    turn = talk.begin()
    for _ in range(LONGEST_QUEUE):
        talk.tell(Addressed(event=GameEvent(text="Hm.", interrupt=False)))
    results = ToolsAnswered(turn_id=turn, results=(ToolResult(call_id="c", name="look", ok=True),), goes_on=True)
    talk.tell(results)
    assert talk.frames()[-1]["code"] == "busy"
    talk.tell(ReplyEnded(turn_id=turn))
    assert talk.tell(results) == [] and talk.floor.waiting == LONGEST_QUEUE


def test_a_cancel_of_another_turn_is_refused_and_of_this_one_obeyed() -> None:
    talk = Talk()
    turn = talk.begin()
    talk.tell(CancelAsked(turn_id="other"))
    assert talk.frames()[-1]["code"] == "unknown_turn"
    talk.tell(CancelAsked(turn_id=turn))
    assert talk.frames()[-1]["reason"] == "client_cancel"
    talk.tell(CancelAsked())
    assert talk.frames()[-1]["code"] == "unknown_turn"
