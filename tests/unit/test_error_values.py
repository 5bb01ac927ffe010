"""Errors as values: what old versions stored is read, names are raised again, and each door words the hints."""

from __future__ import annotations

import pytest

from fabula.cli.player.sentences import for_terminal
from fabula.ports.errors import BackendError, Conflict, NotFound, StreamError, error_from
from fabula.ports.stored import read_stored
from fabula.server.error_codes import error_code, error_payload
from fabula.story.error_values import ErrorValue, Hint, stored_error


@pytest.mark.parametrize(
    ("code", "name"),
    [(50001, "backend"), (50002, "stream"), (40404, "not_found"), (-32603, "internal"), (7, "backend")],
)
def test_an_error_that_an_old_version_stored_is_shown_with_the_code_it_had(code: int, name: str) -> None:
    error = stored_error(read_stored("error", {"code": code, "message": "The model is away."}))
    assert error == ErrorValue(name=name, message="The model is away.")
    assert error_payload(error) == {"code": code if code != 7 else 50001, "message": "The model is away."}


def test_what_is_stored_is_read_again_whole() -> None:
    error = ErrorValue(name="cancelled", message="No.", hint=Hint.RETRY_TURN, data={"step": "narrator"})
    assert stored_error(error.as_json()) == error


def test_an_error_with_an_unknown_name_is_still_an_error() -> None:
    strange = stored_error({"name": "moon_phase", "message": "Not now.", "hint": "wait"})
    assert strange == ErrorValue(name="moon_phase", message="Not now.") and error_code(strange.name) == 50001
    assert type(error_from(strange)) is BackendError
    assert stored_error({}).message


def test_an_error_is_raised_again_as_what_it_was() -> None:
    for error in (Conflict("Busy.", active_turn_id="t"), StreamError("Gone."), NotFound("No.", hint=Hint.BACKTRACK)):
        again = error_from(error.value())
        assert (type(again), again.message, again.hint, again.data) == (
            type(error),
            error.message,
            error.hint,
            error.data,
        )


@pytest.mark.parametrize("hint", Hint)
def test_each_door_words_a_hint_for_its_own_users(hint: Hint) -> None:
    error = Conflict("That cannot be.", hint=hint)
    assert "session." in str(error_payload(error)["message"]) and "/" not in str(error_payload(error)["message"])
    assert "/" in for_terminal(error) and "session." not in for_terminal(error)
