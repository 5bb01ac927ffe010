"""Every error that may reach a user, in one tree; each has a name and a sentence that says what is wrong.

FabulaError          internal         a mistake in Fabula itself
├── InvalidRequest   invalid_request  the request is understood but may not be done like this
│   └── LineCrossed  line_crossed     the words cross a line of the table; data.line names it, nothing was played
├── InvalidParams    invalid_params   the parameters do not decode; data.errors names fields
├── NotFound         not_found        the thing named is not there
├── Conflict         conflict         it clashes with what is there (duplicate, in use, busy, over budget)
│   ├── InUse        in_use           something still refers to it; data.users names them
│   └── PlayMoved    play_moved       the play does not stand where it was expected; data.head_turn_id
├── TooMany          too_many         the caller asks too often; data.retry_after_s says when to come back
├── TokenNeeded      token_needed     no valid access token was sent
├── Denied           denied           the caller's role may not do this
├── BackendError     backend          a model, store or generation failed
│   ├── ModelError   model            see fabula.ports.models
│   ├── StoreError   store            the data folder or database cannot be used as it is
│   │   ├── StoreAway  store_away    the database does not answer just now; data.retry_after_s says when to try again
│   │   └── WriteConflict  write_conflict  two changes got in each other's way; nothing was changed, trying again helps
│   └── Interrupted  interrupted      the work was interrupted and could not be taken up again
└── StreamError      stream           a stream broke
    ├── Cancelled    cancelled        the work was cancelled
    └── TakenOver    taken_over       another process goes on with the work

The sentence names no method or command: a `hint` says what to do next, and each door words it for its users.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from fabula.story.error_values import ErrorValue, Hint
from fabula.story.values import Json, JsonObject


class FabulaError(Exception):
    """Something that a user can understand and act on."""

    name: ClassVar[str] = "internal"

    def __init__(self, message: str, *, hint: Hint | None = None, **data: Json) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.data: JsonObject = data

    def value(self) -> ErrorValue:
        """The error as a value, to be stored or told."""
        return ErrorValue(name=self.name, message=self.message, hint=self.hint, data=self.data)


class InvalidRequest(FabulaError):
    name = "invalid_request"


class LineCrossed(InvalidRequest):
    """Raised when a player's words cross a line of the table or its world: nothing was rolled, told or kept."""

    name = "line_crossed"


class InvalidParams(FabulaError):
    name = "invalid_params"


class NotFound(FabulaError):
    name = "not_found"


class Conflict(FabulaError):
    name = "conflict"


class InUse(Conflict):
    """Raised when something that others refer to is removed."""

    name = "in_use"


class PlayMoved(Conflict):
    """Raised when a turn is begun at a place where the play does not stand any more."""

    name = "play_moved"


class TooMany(FabulaError):
    """Raised over a rate limit; nothing was done."""

    name = "too_many"


class TokenNeeded(FabulaError):
    name = "token_needed"


class Denied(FabulaError):
    name = "denied"


class BackendError(FabulaError):
    name = "backend"


class StoreError(BackendError):
    """The data folder or database cannot be used as it is."""

    name = "store"


class StoreAway(StoreError):
    """The database does not answer just now. What was asked for may have been done: a request with a key may be sent
    again."""

    name = "store_away"

    def __init__(self, message: str) -> None:
        super().__init__(message, retry_after_s=1)


class Interrupted(BackendError):
    name = "interrupted"


class WriteConflict(StoreError):
    """Two changes got in each other's way; nothing was changed, trying again helps."""

    name = "write_conflict"


class StreamError(FabulaError):
    name = "stream"


class Cancelled(StreamError):
    name = "cancelled"


class TakenOver(StreamError):
    name = "taken_over"


def error_from(value: ErrorValue) -> FabulaError:
    """The error that a value tells of, to be raised again; one of a name that is not known here is a BackendError."""
    kind = next((one for one in _under(FabulaError) if one.name == value.name), BackendError)
    error = kind(value.message, hint=value.hint)
    error.data = value.data
    return error


def _under(error: type[FabulaError]) -> Iterator[type[FabulaError]]:
    for child in error.__subclasses__():
        yield child
        yield from _under(child)
