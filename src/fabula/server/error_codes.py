"""How doors of the protocol word errors: a name becomes a code of JSON-RPC and a status of HTTP, a hint a method.

Below the server nobody knows a code or a method; here is the one table of each. Two errors only the protocol has:

ParseError      parse_error       the body is not JSON
MethodNotFound  method_not_found  there is no such method; `rpc.discover` lists them all
"""

from __future__ import annotations

from typing import Final, assert_never

from fabula.ports.errors import FabulaError, StoreAway
from fabula.story.error_values import ErrorValue, Hint
from fabula.story.values import JsonObject

INTERNAL: Final = -32603
STORE_AWAY: Final = "Just now the store does not answer. Try again in a moment."

CODES: Final = {
    "parse_error": -32700,
    "invalid_request": -32600,
    "line_crossed": -32600,
    "method_not_found": -32601,
    "invalid_params": -32602,
    "internal": INTERNAL,
    "token_needed": 40101,
    "denied": 40303,
    "not_found": 40404,
    "conflict": 40909,
    "in_use": 40909,
    "play_moved": 40909,
    "too_many": 42929,
    "backend": 50001,
    "model": 50001,
    "model_unreachable": 50001,
    "model_busy": 50001,
    "model_denied": 50001,
    "model_refused": 50001,
    "model_cut_off": 50001,
    "model_unusable": 50001,
    "store": 50001,
    "store_away": 50001,
    "write_conflict": 50001,
    "interrupted": 50001,
    "stream": 50002,
    "cancelled": 50002,
    "taken_over": 50002,
}
_STATUSES: Final = {
    -32700: 400,
    -32600: 400,
    -32602: 400,
    -32601: 404,
    40101: 401,
    40303: 403,
    40404: 404,
    40909: 409,
    42929: 429,
}


class ParseError(FabulaError):
    """The body is not JSON."""

    name = "parse_error"


class MethodNotFound(FabulaError):
    """There is no such method."""

    name = "method_not_found"


INSIDE: Final = FabulaError("Something went wrong inside the server. Its log has the details.")


def error_code(name: str) -> int:
    """The code of an error; one that only a newer version knows is some failure behind the door."""
    return CODES.get(name, CODES["backend"])


def http_status(error: FabulaError) -> int:
    """The status where a refusal has one."""
    if isinstance(error, StoreAway):
        return 503
    return _STATUSES.get(error_code(error.name), 500)


def retry_headers(error: FabulaError) -> dict[str, str]:
    """`Retry-After`, where a refusal says when to come back."""
    seconds = error.data.get("retry_after_s")
    return {"retry-after": str(seconds)} if isinstance(seconds, int) else {}


def sentence(error: FabulaError | ErrorValue) -> str:
    """The message, and the method that helps."""
    if error.name == StoreAway.name:
        # Its own sentence tells an operator where the store is.
        return STORE_AWAY
    return error.message if error.hint is None else f"{error.message} {_method_for(error.hint)}"


def error_payload(error: FabulaError | ErrorValue) -> JsonObject:
    """`{code, message, data?}`"""
    payload: JsonObject = {"code": error_code(error.name), "message": sentence(error)}
    return {**payload, "data": error.data} if error.data else payload


def _method_for(hint: Hint) -> str:
    match hint:
        case Hint.BACKTRACK:
            return "Go back to an earlier turn with session.backtrack."
        case Hint.LIST_BRANCHES:
            return "session.branches lists the turns of this play."
        case Hint.RETRY_TURN:
            return "session.retry_turn plays its words again."
        case _:
            assert_never(hint)
