"""TerminalWriter: text that arrives in pieces is wrapped as if it had come at once, and never commands the terminal."""

from __future__ import annotations

import io
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from fabula.cli.player.teller import Telling
from fabula.cli.player.terminal_writer import IN_A_PIPE, TerminalWriter
from fabula.ports.errors import BackendError
from fabula.ports.models import ModelUnreachable
from fabula.story.events import (
    ActorActionComplete,
    ActorCompleted,
    ActorDialogueDelta,
    ActorStarted,
    ActorThoughtDelta,
    AgentDegraded,
    Completed,
    DirectorCompleted,
    Failed,
    NarratorCompleted,
    NarratorStarted,
    NarratorTextDelta,
    SessionCharacterCreated,
    SessionCharacterEnteredScene,
    StoryEnded,
    TurnEvent,
)
from fabula.story.plans import DirectorResult, ResponsePlan
from fabula.story.plays import GuestOnStage
from fabula.story.state import Snapshot, WorldState
from fabula.story.turn_results import ActorResponse, NarratorResponse

SNAPSHOT = Snapshot(story_id="s", player_description="", world_state=WorldState(current_node="gate"))
MOVED = DirectorResult(previous_node_id="road", current_node_id="gate", transitioned=True, response_plan=ResponsePlan())
NARRATED = NarratorResponse(text="Rain falls.", raw_output="")
ACTED = ActorResponse(speaker_id="mara", speaker_name="Mara", segments=[], raw_output="")


def written(*pieces: str) -> str:
    out = io.StringIO()
    writer = TerminalWriter(Console(file=out, highlight=False, soft_wrap=True, markup=False))
    writer.begin()
    for piece in pieces:
        writer.more(piece)
    writer.end()
    return out.getvalue()


@given(st.text(max_size=400), st.lists(st.integers(0, 400), max_size=8))
def test_pieces_make_the_same_page_as_the_whole(text: str, cuts: list[int]) -> None:
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    pieces = [text[start:end] for start, end in pairwise(places)]
    assert written(*pieces).split() == written(text).split()


@given(st.lists(st.text("abcdefgh", min_size=1, max_size=20), max_size=80))
def test_no_line_is_wider_than_the_page_and_no_word_is_cut(words: list[str]) -> None:
    page = written(" ".join(words))
    assert page.split() == words
    assert all(len(line) <= IN_A_PIPE for line in page.splitlines())


@given(st.text(max_size=200))
def test_what_a_story_says_cannot_command_the_terminal(text: str) -> None:
    page = written(f"\x1b[2J{text}\x07\r\x9b31m")
    assert not set(page) & {"\x1b", "\x07", "\r", "\x9b", "\x00", "\x08"}


def test_markup_in_what_users_wrote_is_shown_as_it_is() -> None:
    assert written("[bold]not bold[/bold]") == "[bold]not bold[/bold]\n"


def told(*events: TurnEvent) -> str:
    out = io.StringIO()
    writer = TerminalWriter(Console(file=out, highlight=False, soft_wrap=True, markup=False))
    telling = Telling(writer, names={"mara": "Mara"}, titles={"gate": "The Gate"})
    for event in events:
        telling.frame(event)
    telling.frame(Completed(result={}))
    return out.getvalue()


def test_a_turn_is_told_as_paragraphs() -> None:
    page = told(
        DirectorCompleted(result=MOVED, snapshot=SNAPSHOT),
        NarratorStarted(beat_index=0, purpose="DescribeTransition"),
        NarratorTextDelta(beat_index=0, purpose="DescribeTransition", delta="Rain fa"),
        NarratorTextDelta(beat_index=0, purpose="DescribeTransition", delta="lls."),
        NarratorCompleted(beat_index=0, purpose="DescribeTransition", response=NARRATED),
        ActorStarted(beat_index=1, speaker_id="mara", purpose="ReactToPlayer"),
        ActorThoughtDelta(beat_index=1, speaker_id="mara", delta="Not this one."),
        ActorActionComplete(beat_index=1, speaker_id="mara", text="Mara frowns."),
        ActorDialogueDelta(beat_index=1, speaker_id="mara", delta="Who "),
        ActorDialogueDelta(beat_index=1, speaker_id="mara", delta="goes?"),
        ActorCompleted(beat_index=1, speaker_id="mara", purpose="ReactToPlayer", response=ACTED),
    )
    assert page == "\n  * The Gate *\n\nRain falls.\n\nMara frowns.\nMara: “Who goes?”\n"


def test_a_failed_turn_says_how_to_try_again() -> None:
    out = io.StringIO()
    telling = Telling(TerminalWriter(Console(file=out, soft_wrap=True)), names={}, titles={})
    telling.frame(Failed(error=BackendError("The disk is full.").value()))
    assert out.getvalue() == "The disk is full. (/retry says it again.)\n"


def test_a_model_that_failed_is_told_plainly_with_the_ways_on() -> None:
    out = io.StringIO()
    telling = Telling(TerminalWriter(Console(file=out, soft_wrap=True)), names={}, titles={})
    telling.frame(Failed(error=ModelUnreachable("No answer from 127.0.0.1.").value()))
    lines = out.getvalue().splitlines()
    assert lines[:2] == ["The model does not answer. Your words are kept.", "  No answer from 127.0.0.1."]
    assert [line.split()[0] for line in lines[2:]] == ["/retry", "/understudy", "/model"]


def test_guests_and_repairs_are_mentioned() -> None:
    guest = GuestOnStage(
        session_character_id="g1",
        display_name="A Stranger",
        personality="",
        style="",
        system_prompt="",
        created_at_ms=1,
        updated_at_ms=1,
        in_scene=False,
    )
    page = told(
        SessionCharacterCreated(session_character=guest, snapshot=SNAPSHOT),
        SessionCharacterEnteredScene(session_character_id="g1", snapshot=SNAPSHOT),
        AgentDegraded(agent="director", reason="no JSON"),
        StoryEnded(node_id="gate", title="The Gate"),
    )
    assert "A Stranger enters." in page
    assert "The model could not be understood here; the story goes on by its own rules." in page
    assert "director" not in page
    assert "THE END" in page
