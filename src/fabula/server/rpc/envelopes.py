"""Envelopes of JSON-RPC 2.0: from bytes to a request, from a result or an error back to bytes."""

from __future__ import annotations

from dataclasses import dataclass

import orjson

from fabula.formats.json_bounds import bounds_problem, nul_problem
from fabula.ports.errors import FabulaError, InvalidRequest
from fabula.server.error_codes import ParseError
from fabula.story.field_bounds import LONGEST_ID
from fabula.story.values import Json, JsonObject


@dataclass(frozen=True, kw_only=True)
class Request:
    """A well-formed request of so many bytes; its params are not decoded yet."""

    id: str
    method: str
    params: JsonObject
    session_id: str | None
    size: int = 0


@dataclass(frozen=True, kw_only=True)
class Malformed:
    """Bytes that are no request: what is wrong, and the id if there was one."""

    error: FabulaError
    id: str | None = None


def read_request(body: bytes) -> Request | Malformed:
    """Makes a request of bytes, or says why they are none."""
    if (problem := bounds_problem(body)) is not None:
        return Malformed(error=InvalidRequest(problem))
    try:
        raw: Json = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        return Malformed(error=ParseError(f"The body is not JSON: {error}."))
    if not isinstance(raw, dict):
        return Malformed(error=InvalidRequest("Send one JSON-RPC request object; batches are not taken."))
    id = raw.get("id")
    known_id = id if isinstance(id, str) and len(id) <= LONGEST_ID else None
    problem = _problem(raw) or nul_problem(body)
    if problem is not None:
        return Malformed(error=InvalidRequest(problem), id=known_id)
    params, session_id = raw.get("params"), raw.get("session_id")
    return Request(
        id=known_id or "",
        method=str(raw["method"]),
        params=params if isinstance(params, dict) else {},
        session_id=session_id if isinstance(session_id, str) else None,
        size=len(body),
    )


def _problem(raw: JsonObject) -> str | None:
    if raw.get("jsonrpc") != "2.0":
        return '`jsonrpc` must be "2.0".'
    id, session_id = raw.get("id"), raw.get("session_id")
    if not isinstance(id, str):
        return "`id` must be a string."
    # Every frame of a turn repeats it.
    if len(id) > LONGEST_ID or any(letter < " " for letter in id):
        return f"`id` must be one line of at most {LONGEST_ID} characters."
    if not isinstance(raw.get("method"), str):
        return "`method` must be a string."
    if not isinstance(session_id, (str, type(None))):
        return "`session_id` must be a string."
    if session_id is not None and len(session_id) > LONGEST_ID:
        return f"`session_id` may have {LONGEST_ID} characters."
    if "params" in raw and not isinstance(raw["params"], dict):
        return "`params` must be an object."
    return None


def write_result(request: Request, result: JsonObject, *, session_id: str | None = None) -> bytes:
    """A response that carries a result."""
    return orjson.dumps({**_head(request.id, session_id or request.session_id), "result": result})


def write_error(id: str | None, error: JsonObject, *, session_id: str | None = None) -> bytes:
    """A response that carries an error; bare when there is no id to answer to."""
    return orjson.dumps(error if id is None else {**_head(id, session_id), "error": error})


def _head(id: str, session_id: str | None) -> JsonObject:
    head: JsonObject = {"jsonrpc": "2.0", "id": id}
    return head if session_id is None else {**head, "session_id": session_id}
