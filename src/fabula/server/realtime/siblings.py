"""Server processes that share a port: a request of Socket.IO that reached the wrong one is passed on to the right one.

A client that polls sends each request on any connection, and any process may get it, but one of them holds the line.
Its number stands in the id of the line. Each process listens on a socket of its own in a folder that they share;
whoever is passed on goes through the guard there as well. A WebSocket is not passed on: a client that cannot change
over goes on polling.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs

import orjson
from starlette.types import Receive, Scope, Send

from fabula.ports.errors import BackendError
from fabula.server.error_codes import error_payload

SECONDS_TO_POLL: Final = 60.0
_OF_THE_CONNECTION: Final = frozenset({b"connection", b"keep-alive", b"transfer-encoding", b"te", b"upgrade"})
_WRITTEN_HERE: Final = (b"content-length", b"access-control-", b"vary", b"date")
_LONGEST_NUMBER: Final = 4


@dataclass(frozen=True, kw_only=True)
class Siblings:
    """`own` is the number of this process; the socket of process 3 is `3.sock` in `folder`."""

    own: int
    folder: Path

    def socket_of(self, number: int) -> Path:
        return self.folder / f"{number}.sock"

    def mark(self, line_id: str) -> str:
        """The id of a line that this process holds."""
        return f"{self.own}.{line_id}"

    def holder(self, scope: Scope) -> int | None:
        """The process that holds the line of a request; None if it is this one, or there is no line yet."""
        named = parse_qs(scope.get("query_string", b"").decode("latin-1")[:2000]).get("sid", [""])[0]
        number, separator, _ = named.partition(".")
        if not separator or not number.isdecimal() or len(number) > _LONGEST_NUMBER or int(number) == self.own:
            return None
        return int(number)

    async def pass_on(self, holder: int, scope: Scope, receive: Receive, send: Send) -> None:
        """Has the holder answer a request."""
        status, headers, body = await self._answer_of(holder, scope, await whole_body(receive))
        headers = [*headers, (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _answer_of(self, holder: int, scope: Scope, body: bytes) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
        import aiohttp
        from yarl import URL

        connector = aiohttp.UnixConnector(path=str(self.socket_of(holder)))
        timeout = aiohttp.ClientTimeout(total=SECONDS_TO_POLL)
        address = URL(f"http://sibling{scope['path']}?{scope['query_string'].decode('latin-1')}", encoded=True)
        headers = [
            (name.decode("latin-1"), value.decode("latin-1"))
            for name, value in scope["headers"]
            if name.lower() not in _OF_THE_CONNECTION
        ]
        try:
            async with (
                aiohttp.ClientSession(connector=connector, timeout=timeout, auto_decompress=False) as http,
                http.request(scope["method"], address, data=body, headers=headers) as answer,
            ):
                kept = [pair for name, value in answer.headers.items() if (pair := _kept(name, value)) is not None]
                return answer.status, kept, await answer.read()
        except (aiohttp.ClientError, OSError, ValueError):
            # The process that held the line is gone: the client makes a new one.
            gone = BackendError("The server process of this connection has ended. Connect again.")
            return 400, [(b"content-type", b"application/json")], orjson.dumps(error_payload(gone))


def _kept(name: str, value: str) -> tuple[bytes, bytes] | None:
    """A header of the answer, unless this process writes it anew."""
    plain = name.lower().encode("latin-1")
    if plain in _OF_THE_CONNECTION or plain.startswith(_WRITTEN_HERE):
        return None
    return plain, value.encode("latin-1")


async def whole_body(receive: Receive) -> bytes:
    """The body of a request; the guard has bounded it."""
    body, message = b"", await receive()
    while message["type"] == "http.request":
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
        message = await receive()
    return body
