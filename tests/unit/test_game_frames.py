"""Frames of games: whatever arrives becomes a message or a problem, and what games really send is understood."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from fabula.server.game_socket.connection import game_name
from fabula.server.game_socket.pace import Pace
from fabula.server.game_socket.wire import (
    CLIENT_MESSAGES,
    AgentStateSnapshot,
    InteractionEvent,
    NotificationEvent,
    ToolResults,
    for_npcs,
    is_problem,
    read_frame,
)
from fabula.story.npc_events import NoticeCame

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=20,
)
FIELDS = ["agent_id", "turn_id", "spec", "world", "tags", "tools", "results", "continue", "payload", "client", "text"]


@given(st.text() | st.binary())
def test_any_text_is_a_message_or_a_problem(raw: str | bytes) -> None:
    assert read_frame(raw) is not None


@given(st.sampled_from([*CLIENT_MESSAGES]), st.dictionaries(st.sampled_from(FIELDS), ANY_JSON))
def test_any_fields_of_any_message_are_a_message_or_a_problem_with_a_sentence(
    kind: str, fields: dict[str, object]
) -> None:
    found = read_frame(json.dumps({**fields, "type": kind}))
    if is_problem(found):
        assert found["message"].endswith(".") and json.dumps(found)
    else:
        assert found.type == kind


def test_fields_may_stand_in_payload_and_those_beside_it_win() -> None:
    found = read_frame('{"type": "interaction_event", "agent_id": "a", "payload": {"agent_id": "b", "text": "Hi"}}')
    assert isinstance(found, InteractionEvent)
    assert (found.agent_id, found.text, found.interrupt) == ("a", "Hi", True)


def test_numbers_names_nulls_and_single_things_are_forgiven() -> None:
    spec = {"name": 7, "goals": "rest", "mood": None, "relationships": {"name": "Orr"}, "unknown": 1}
    found = read_frame(json.dumps({"type": "agent_state_snapshot", "agent_id": 12, "spec": spec, "world": None}))
    assert isinstance(found, AgentStateSnapshot)
    assert (found.agent_id, found.spec.name, found.spec.goals) == ("12", "7", ["rest"])
    assert found.spec.relationships[0].name == "Orr"


def test_continue_and_everybody_are_understood() -> None:
    results = read_frame('{"type": "tool_results", "agent_id": "a", "turn_id": "t", "continue": true}')
    assert isinstance(results, ToolResults) and results.continue_
    for everybody in ('"*"', '["*"]'):
        notice = read_frame(
            f'{{"type": "notification_event", "agent_ids": {everybody}, "event_type": "e", "text": "t"}}'
        )
        assert isinstance(notice, NotificationEvent) and "*" in notice.agent_ids
        meant = for_npcs(notice)
        assert isinstance(meant, NoticeCame) and meant.agent_ids == ("*",)


def test_a_notice_for_nobody_is_a_problem() -> None:
    notice = read_frame('{"type": "notification_event", "event_type": "e", "text": "t"}')
    assert isinstance(notice, NotificationEvent)
    nobody = for_npcs(notice)
    assert is_problem(nobody) and nobody["code"] == "missing_field" and nobody["details"] == {"field": "agent_id"}


def test_the_game_is_what_the_client_calls_it() -> None:
    assert game_name("  my-game \n") == "my-game"
    assert game_name({"name": "n", "game": "g"}) == "g"
    assert game_name({"version": 3}) == game_name(None) == game_name("\x00") == ""


def test_a_burst_of_sixty_frames_passes_and_then_sixty_a_second() -> None:
    now = [0.0]
    pace = Pace(lambda: now[0])
    assert [pace.allows() for _ in range(61)] == [True] * 60 + [False]
    assert pace.complains() and not pace.complains()
    now[0] = 0.5
    assert sum(pace.allows() for _ in range(60)) == 30
