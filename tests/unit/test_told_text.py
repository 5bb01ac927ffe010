"""The text of a turn: pieces as they come, and the same whole from its result."""

from __future__ import annotations

from fabula.story.events import (
    ActorActionComplete,
    ActorDialogueDelta,
    ActorStarted,
    ActorThoughtDelta,
    AgentOutcome,
    AgentReplyDelta,
    InkText,
    NarratorStarted,
    NarratorTextDelta,
    Started,
    Told,
)
from fabula.story.told_text import TextFlow, text_of_result
from fabula.story.values import Json


def told(*events: Told) -> tuple[list[str], str]:
    flow = TextFlow()
    pieces = [piece.text for event in events if (piece := flow.take(event)) is not None]
    assert "".join(pieces) == flow.text
    return pieces, flow.text


def narrated(text: str) -> NarratorTextDelta:
    return NarratorTextDelta(beat_index=0, purpose="DescribeResult", delta=text)


def said(text: str) -> ActorDialogueDelta:
    return ActorDialogueDelta(beat_index=1, speaker_id="mara", delta=text)


SCENE: tuple[Told, ...] = (
    Started(),
    NarratorStarted(beat_index=0, purpose="DescribeResult"),
    narrated("  The gate"),
    narrated(" creaks. "),
    narrated("\n"),
    ActorStarted(beat_index=1, speaker_id="mara", purpose="ReactToPlayer"),
    ActorThoughtDelta(beat_index=1, speaker_id="mara", delta="Who is it?"),
    said("Who "),
    said("goes there? "),
    ActorActionComplete(beat_index=1, speaker_id="mara", text="lifts a lamp"),
)


def test_parts_stand_in_paragraphs_and_space_at_their_ends_is_not_told() -> None:
    pieces, text = told(*SCENE)
    assert text == "The gate creaks.\n\nWho goes there?\n\nlifts a lamp"
    assert pieces == ["The gate", " creaks.", "\n\nWho", " goes there?", "\n\nlifts a lamp"]


def test_a_turn_that_is_told_anew_begins_anew() -> None:
    flow = TextFlow()
    for event in (*SCENE, Started(), narrated("The gate")):
        flow.take(event)
    assert flow.text == "The gate"


def test_the_result_has_the_same_text_without_thoughts() -> None:
    beats: Json = [
        {"type": "narrator", "response": {"text": "The gate creaks."}},
        {
            "type": "actor",
            "response": {
                "segments": [
                    {"kind": "thought", "text": "Who is it?"},
                    {"kind": "dialogue", "text": "Who goes there?"},
                    {"kind": "action", "text": "lifts a lamp"},
                ]
            },
        },
    ]
    assert text_of_result({"completed_beats": beats}) == told(*SCENE)[1]


def test_a_talk_and_lines_of_ink_are_parts_too() -> None:
    outcome = AgentOutcome(outcome="BRIDGE_AND_CONTINUE", reply="Come in.", reason="", bridge_text="The door opens.")
    pieces, text = told(
        AgentReplyDelta(character="Mara", delta="Come "),
        AgentReplyDelta(character="Mara", delta="in."),
        outcome,
        InkText(text="It is warm.\n", tags=()),
    )
    spoken: Json = {"reply": "Come in.", "bridge_text": "The door opens."}
    lines: Json = [{"text": "It is warm.\n", "tags": []}]
    assert text == text_of_result({"ink": {"lines": lines, "outcome": spoken}}) and len(pieces) == 4
    assert text_of_result({"ink": {"lines": "broken"}}) == text_of_result({"completed_beats": None}) == ""
