"""How the door says no: a status, and the error payload that every other route answers with."""

from __future__ import annotations

from dataclasses import dataclass

import orjson
from starlette.types import Scope, Send

from fabula.ports.errors import Denied, FabulaError, InvalidRequest, TokenNeeded
from fabula.server.error_codes import error_payload

_POLICY_VIOLATION = 1008
_Headers = list[tuple[bytes, bytes]]


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """Why a request is not let in."""

    status: int
    error: FabulaError

    def body(self) -> bytes:
        return orjson.dumps(error_payload(self.error))

    def headers(self) -> _Headers:
        challenge = [(b"www-authenticate", b'Bearer realm="fabula"')] if self.status == 401 else []
        length = str(len(self.body())).encode()
        return [(b"content-type", b"application/json"), (b"content-length", length), *challenge]


def strange_host(host: str) -> Refusal:
    sentence = (
        f"This server is not addressed as '{host[:100]}'. Add that name to the setting allowed_hosts if it is yours."
    )
    return Refusal(status=403, error=Denied(sentence))


def strange_origin(origin: str) -> Refusal:
    sentence = f"Pages of '{origin[:100]}' may not call this server. Add that origin to the setting allowed_origins."
    return Refusal(status=403, error=Denied(sentence))


def token_needed() -> Refusal:
    sentence = "Send an access token as 'Authorization: Bearer ...'. `fabula token create` on the server makes one."
    return Refusal(status=401, error=TokenNeeded(sentence))


def token_unknown() -> Refusal:
    sentence = "This access token is unknown or revoked. `fabula token list` on the server shows those that work."
    return Refusal(status=401, error=TokenNeeded(sentence))


def too_large(limit: int) -> Refusal:
    mib = limit / (1024 * 1024)
    return Refusal(status=413, error=InvalidRequest(f"The request body is larger than {mib:g} MiB. Send less at once."))


async def refuse(refusal: Refusal, scope: Scope, send: Send) -> None:
    """Answers with the refusal; a WebSocket gets the same JSON where the server can send it before accepting."""
    if scope["type"] == "http":
        await _respond("http.response", refusal, send)
    elif "websocket.http.response" in scope.get("extensions", {}):
        await _respond("websocket.http.response", refusal, send)
    else:
        await send({"type": "websocket.close", "code": _POLICY_VIOLATION, "reason": refusal.error.message[:120]})


async def _respond(kind: str, refusal: Refusal, send: Send) -> None:
    await send({"type": f"{kind}.start", "status": refusal.status, "headers": refusal.headers()})
    await send({"type": f"{kind}.body", "body": refusal.body()})
