"""How the door says no: a status, and the error payload that every other route answers with."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import orjson
from starlette.types import Scope, Send

from fabula.ports.errors import BackendError, Denied, FabulaError, InvalidRequest, TokenNeeded, TooMany
from fabula.ports.throttle import Throttle
from fabula.server.error_codes import error_payload, retry_headers

log = logging.getLogger("fabula.access")

RPC_PATH: Final = "/rpc"
LINES_A_MINUTE: Final = 20
_POLICY_VIOLATION = 1008
_Headers = list[tuple[bytes, bytes]]


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """Why a request is not let in."""

    status: int
    error: FabulaError

    def body(self, path: str) -> bytes:
        """The error; where JSON-RPC is spoken, in an envelope of it that answers to no id."""
        error = error_payload(self.error)
        return orjson.dumps({"jsonrpc": "2.0", "id": None, "error": error} if path == RPC_PATH else error)

    def headers(self, body: bytes) -> _Headers:
        challenge = [(b"www-authenticate", b'Bearer realm="fabula"')] if self.status == 401 else []
        length = str(len(body)).encode()
        later = [(name.encode(), value.encode()) for name, value in retry_headers(self.error).items()]
        return [(b"content-type", b"application/json"), (b"content-length", length), *challenge, *later]


def strange_host(host: str) -> Refusal:
    sentence = (
        f"This server is not addressed as '{host[:100]}'. Add that name to the setting allowed_hosts if it is yours."
    )
    return Refusal(status=403, error=Denied(sentence))


def strange_origin(origin: str) -> Refusal:
    sentence = f"Pages of '{origin[:100]}' may not call this server. Add that origin to the setting allowed_origins."
    return Refusal(status=403, error=Denied(sentence))


def forwarded() -> Refusal:
    sentence = (
        "This request came through a proxy, and this server asks for no tokens. Set require_tokens, or behind_proxy "
        "if everybody who reaches the proxy may do everything."
    )
    return Refusal(status=403, error=Denied(sentence))


def token_needed() -> Refusal:
    sentence = "Send an access token as 'Authorization: Bearer ...'. `fabula token create` on the server makes one."
    return Refusal(status=401, error=TokenNeeded(sentence))


def token_unknown() -> Refusal:
    sentence = "This access token is unknown or revoked. `fabula token list` on the server shows those that work."
    return Refusal(status=401, error=TokenNeeded(sentence))


def too_large(limit: int) -> Refusal:
    most = f"{limit / 1024 / 1024:g} MiB" if limit >= 1024 * 1024 else f"{limit // 1024} KiB"
    return Refusal(status=413, error=InvalidRequest(f"The request body is larger than {most}. Send less at once."))


def too_many_open(most: int) -> Refusal:
    sentence = f"This access token has {most} requests open already. Wait for their answers, or close some of them."
    return Refusal(status=429, error=TooMany(sentence, retry_after_s=1))


def unread_answers() -> Refusal:
    sentence = "Other large answers to this access token wait to be read. Read them first, then ask again."
    return Refusal(status=429, error=TooMany(sentence, retry_after_s=1))


def full_hands() -> Refusal:
    sentence = "The server is taking in other large requests. Send this one again in a moment."
    return Refusal(status=503, error=BackendError(sentence))


async def refuse(refusal: Refusal, scope: Scope, send: Send) -> None:
    """Answers with the refusal; a WebSocket gets the same JSON where the server can send it before accepting."""
    if scope["type"] == "http":
        await _respond("http.response", refusal, scope, send)
    elif "websocket.http.response" in scope.get("extensions", {}):
        await _respond("websocket.http.response", refusal, scope, send)
    else:
        await send({"type": "websocket.close", "code": _POLICY_VIOLATION, "reason": refusal.error.message[:120]})


async def _respond(kind: str, refusal: Refusal, scope: Scope, send: Send) -> None:
    body = refusal.body(scope["path"])
    await send({"type": f"{kind}.start", "status": refusal.status, "headers": refusal.headers(body)})
    await send({"type": f"{kind}.body", "body": body})


class RefusalLog:
    """Tells the operator whom the door refused: a few lines a minute, so that nobody fills the log by knocking."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._lines = Throttle(monotonic, LINES_A_MINUTE)

    def tell(self, refusal: Refusal, scope: Scope) -> None:
        if passed_over := self._lines.take_passed_over():
            log.warning("more requests were refused", extra={"facts": {"count": passed_over}})
        if not self._lines.allows():
            return
        facts = {"status": refusal.status, "path": plain(scope["path"][:100]), "why": plain(refusal.error.message)}
        log.warning("a request was refused", extra={"facts": facts})


def plain(text: str) -> str:
    """Text from outside that cannot begin a new line in any reader of the log."""
    return text.encode("ascii", "backslashreplace").decode()
