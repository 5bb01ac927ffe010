"""TerminalWriter: text that arrives in pieces is wrapped as if it had come at once, and never commands the terminal."""

from __future__ import annotations

import io
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from fabula.cli.player.teller import Telling
from fabula.cli.player.terminal_writer import IN_A_PIPE, TerminalWriter


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


def told(*bodies: dict[str, object]) -> str:
    out = io.StringIO()
    writer = TerminalWriter(Console(file=out, highlight=False, soft_wrap=True, markup=False))
    telling = Telling(writer, names={"mara": "Mara"}, titles={"gate": "The Gate"})
    for body in bodies:
        telling.frame({"type": "event", "body": body})
    telling.frame({"type": "completed"})
    return out.getvalue()


def test_a_turn_is_told_as_paragraphs() -> None:
    moved = {"transitioned": True, "current_node_id": "gate"}
    page = told(
        {"type": "director_completed", "result": moved},
        {"type": "narrator_started"},
        {"type": "narrator_text_delta", "delta": "Rain fa"},
        {"type": "narrator_text_delta", "delta": "lls."},
        {"type": "narrator_completed"},
        {"type": "actor_started", "speaker_id": "mara"},
        {"type": "actor_thought_delta", "delta": "Not this one."},
        {"type": "actor_action_complete", "text": "Mara frowns."},
        {"type": "actor_dialogue_delta", "delta": "Who "},
        {"type": "actor_dialogue_delta", "delta": "goes?"},
        {"type": "actor_completed"},
    )
    assert page == "\n  * The Gate *\n\nRain falls.\n\nMara frowns.\nMara: “Who goes?”\n"


def test_a_failed_turn_says_how_to_try_again() -> None:
    out = io.StringIO()
    telling = Telling(TerminalWriter(Console(file=out, soft_wrap=True)), names={}, titles={})
    telling.frame({"type": "failed", "error": {"message": "The model did not answer."}})
    assert out.getvalue() == "The model did not answer. (/retry says it again.)\n"


def test_guests_and_repairs_are_mentioned() -> None:
    guest = {"session_character_id": "g1", "display_name": "A Stranger"}
    page = told(
        {"type": "session_character_created", "session_character": guest},
        {"type": "session_character_entered_scene", "session_character_id": "g1"},
        {"type": "agent_degraded", "agent": "director", "reason": "no JSON"},
        {"type": "story_ended", "node_id": "gate", "title": "The Gate"},
    )
    assert "A Stranger enters." in page
    assert "The director could not be understood" in page
    assert "THE END" in page
