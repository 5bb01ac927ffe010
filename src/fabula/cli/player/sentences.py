"""Sentences of the house as they read in a terminal; pure."""

from __future__ import annotations

from typing import assert_never

from fabula.ports.errors import FabulaError
from fabula.story.error_values import ErrorValue, Hint
from fabula.story.values import Json


def for_terminal(error: FabulaError | ErrorValue) -> str:
    """What went wrong, and the command that helps."""
    return error.message if error.hint is None else f"{error.message} {_command_for(error.hint)}"


def _command_for(hint: Hint) -> str:
    match hint:
        case Hint.BACKTRACK:
            return "Go back to an earlier turn with /backtrack."
        case Hint.LIST_BRANCHES:
            return "/branches shows the turns of this play."
        case Hint.RETRY_TURN:
            return "/retry says it again."
        case _:
            assert_never(hint)


def model_failure(error: ErrorValue) -> str | None:
    """One plain sentence for a turn that failed because of its model; None when it failed for another reason."""
    cause = error.data.get("cause", error.name)
    return _MODEL_FAILURES.get(cause) if isinstance(cause, str) else None


_MODEL_FAILURES = {
    "model": "The model failed.",
    "model_unreachable": "The model does not answer.",
    "model_busy": "The model is too busy to answer.",
    "model_denied": "The model does not let us in: its key or its name is wrong.",
    "model_refused": "The model refuses to answer this.",
    "model_cut_off": "The model broke off in the middle of its answer.",
    "model_unusable": "The model answered with something that cannot be used.",
}


def counted(number: int, noun: str) -> str:
    """A number of things: 1 turn, 2 turns."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def shortened(text: str, most: int = 160) -> str:
    """A text on one line, cut where it gets long."""
    line = " ".join(text.split())
    return line if len(line) < most else f"{line[: most - 1]}…"


def plain(value: Json) -> str:
    """The value of a variable, as people say it."""
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
