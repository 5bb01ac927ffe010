"""A request as the Socket.IO library reads it.

The library's own translation makes a class for every request. A class is a circle of references, and this one holds
all that belongs to its request: a minute of handshakes, which anybody may make, was half a gigabyte that only the
collector could free, and everybody waited for seconds while it did.
"""

from __future__ import annotations

from typing import Any

from starlette.types import Receive, Scope, Send


class _Body:
    """The body of a request, which was read whole before."""

    def __init__(self, body: bytes) -> None:
        self._left = body

    async def read(self, length: int | None = None) -> bytes:
        size = len(self._left) if length is None else length
        taken, self._left = self._left[:size], self._left[size:]
        return taken


async def request_environ(scope: Scope, receive: Receive, send: Send) -> dict[str, Any]:
    """What the library asks of a request: its method, address, headers and body, and how it is answered."""
    message = await receive()
    body = message.get("body", b"")
    environ: dict[str, Any] = {
        "REQUEST_METHOD": scope.get("method", "GET"),
        "PATH_INFO": scope["path"],
        "QUERY_STRING": scope.get("query_string", b"").decode("utf-8", "replace"),
        "wsgi.input": _Body(body),
        "wsgi.url_scheme": "http",
        "asgi.receive": receive,
        "asgi.send": send,
        "asgi.scope": scope,
    }
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1").upper().replace("-", "_"), raw_value.decode("latin-1")
        before = environ.get(f"HTTP_{name}")
        environ[f"HTTP_{name}"] = value if before is None else f"{before},{value}"
    return {**environ, "CONTENT_LENGTH": str(len(body))}
