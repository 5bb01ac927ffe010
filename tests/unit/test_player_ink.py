"""Ink plays at the terminal: what a line means, what is shown of a turn, and when a hint helps."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from fabula.cli.player.ink_files import title_in
from fabula.cli.player.ink_lines import meant
from fabula.cli.player.ink_teller import InkTelling, awaited
from fabula.cli.player.lines import MOST, typed_number
from fabula.cli.player.sentences import counted, for_terminal
from fabula.cli.player.terminal_writer import TerminalWriter
from fabula.ports.errors import Conflict
from fabula.ports.models import ModelUnreachable
from fabula.story.error_values import Hint
from fabula.story.events import (
    AgentOutcome,
    AgentReplyDelta,
    Completed,
    Failed,
    InkText,
    Started,
    TurnFrame,
    TurnStarted,
)

CHOICES = [{"index": place, "text": text} for place, text in enumerate(["Talk", "Go  home", "talk", "2"])]


def test_a_choice_is_meant_by_its_number_or_by_its_words() -> None:
    assert [getattr(meant(line, CHOICES), "choice", None) for line in ("1", "4", "go home", "2")] == [0, 3, 1, 1]
    said = meant("Hello.", [])
    assert not isinstance(said, str) and (said.player_input, said.choice) == ("Hello.", None)


def test_words_that_choose_nothing_or_too_much_are_answered_with_numbers() -> None:
    assert meant("TALK", CHOICES) == "That stands there more than once: type 1 or 3."
    assert meant("Sing", CHOICES) == "Type the number of a choice, 1 to 4."
    assert meant("", CHOICES[:1]) == "Type 1: it is the only choice."
    assert meant("Go", [{"text": "Go"}] * 3) == "That stands there more than once: type 1, 2 or 3."


@pytest.mark.parametrize(
    ("line", "number"), [("7", 7), ("0", 0), ("٣", 3), ("9" * 5000, MOST), ("-1", None), ("²", None), ("", None)]
)
def test_a_number_is_read_however_long_it_is(line: str, number: int | None) -> None:
    assert typed_number(line) == number


def test_sentences_name_the_terminals_own_commands_and_count_well() -> None:
    ended = Conflict("The story has ended.", hint=Hint.BACKTRACK)
    assert for_terminal(ended) == "The story has ended. Go back to an earlier turn with /backtrack."
    assert [counted(number, "turn") for number in (0, 1, 2)] == ["0 turns", "1 turn", "2 turns"]


def test_a_title_is_found_among_the_tags_at_the_top() -> None:
    assert title_in(["author: Fabula", "Title : The Inn: Part 2"]) == "The Inn: Part 2"
    assert title_in(["title:", "titles: none"]) == ""


def told(*frames: TurnFrame, stopped: bool = False) -> str:
    out = io.StringIO()
    telling = InkTelling(TerminalWriter(Console(file=out, highlight=False, soft_wrap=True, markup=False)))
    for frame in frames:
        telling.frame(frame)
    if stopped:
        telling.stopped()
    return out.getvalue()


def test_a_turn_is_told_with_who_speaks_and_then_what_happens() -> None:
    page = told(
        Started(),
        TurnStarted(next_turn_index=1, player_input="Hello."),
        AgentReplyDelta(character="Cook", delta="Well "),
        AgentReplyDelta(character="Cook", delta="met."),
        AgentOutcome(outcome="BRIDGE_AND_CONTINUE", reply="Well met.", reason="", bridge_text="She turns."),
        InkText(text="The door opens.", tags=()),
        Completed(result={}),
    )
    assert page == "\nCook: “Well met.”\n\nShe turns.\n\nThe door opens.\n"


def test_a_free_moment_is_told_without_quotes() -> None:
    page = told(AgentReplyDelta(character="", delta="Nothing stirs."), Completed(result={}))
    assert page == "\nNothing stirs.\n"


def test_a_turn_that_is_stopped_in_the_middle_closes_its_quotes() -> None:
    page = told(AgentReplyDelta(character="Cook", delta="Well"), stopped=True)
    assert page == "\nCook: “Well”\nStopped. Your words are kept: /retry says them again.\n"


def test_a_failed_turn_says_how_to_try_again() -> None:
    page = told(Failed(error=ModelUnreachable("The model did not answer.").value()))
    assert page == (
        "The model does not answer. Your words are kept.\n"
        "  The model did not answer.\n"
        "  /retry            asks again.\n"
        "  /understudy       plays this turn without a model.\n"
        "  /model [NAME]     takes another model for this play.\n"
    )


def test_everything_that_a_story_waits_for_has_its_sentence() -> None:
    asked = [
        {"kind": "choice"},
        {"kind": "text", "placeholder": "Your name?"},
        {"kind": "text", "placeholder": ""},
        {"kind": "agent", "character": "Cook"},
        {"kind": "continue"},
        None,
    ]
    assert [awaited({"input": one}) for one in asked] == [
        "The story waits for a choice.",
        "The story waits for words: Your name?",
        "The story waits for words.",
        "The story waits for your words to Cook.",
        "The story waits for what you do, in your own words.",
        "",
    ]
