"""Processes that share a port: one that was asked has others answer, over sockets in a folder that they share.

1. A client of Socket.IO that polls sends each request on any connection, and any process may get it, but one of them
   holds the line. Its number stands in the id of the line, and the request is passed on to it. A WebSocket is not: a
   client that cannot change over goes on polling.
2. Whoever asks for figures reaches one process, and is told those of all.

Whatever is passed on goes through the guard there as well.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs

import orjson
from starlette.types import Receive, Scope, Send

from fabula.ports.errors import BackendError
from fabula.server.error_codes import error_payload

Headers = Iterable[tuple[bytes, bytes]]

SECONDS_TO_POLL: Final = 60.0
SECONDS_TO_TELL: Final = 3.0
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

    def open_socket(self) -> socket.socket:
        """Where the other processes of this port reach this one."""
        path = self.socket_of(self.own)
        path.unlink(missing_ok=True)
        own = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        own.bind(str(path))
        own.listen(128)
        return own

    async def ask_others(self, path: str, headers: Headers) -> dict[int, bytes]:
        """What the others answer to a question, by their numbers; who does not answer soon, or refuses, is left out."""
        others = await asyncio.to_thread(self._others)
        answers = await asyncio.gather(*(self._answer_of(other, path, headers) for other in others))
        return {other: body for other, (status, _, body) in zip(others, answers, strict=True) if status == 200}

    def _others(self) -> list[int]:
        return sorted({int(one.stem) for one in self.folder.glob("*.sock") if one.stem.isdecimal()} - {self.own})

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
        """Has the holder answer a request, for as long as the client waits."""
        body = await whole_body(receive)
        if body is None:
            return
        path = f"{scope['path']}?{scope['query_string'].decode('latin-1')}"
        asked = self._answer_of(
            holder, path, scope["headers"], method=scope["method"], body=body, patience_s=SECONDS_TO_POLL
        )
        answering, leaving = asyncio.ensure_future(asked), asyncio.ensure_future(_leave(receive))
        try:
            await asyncio.wait([answering, leaving], return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                return
            status, headers, answer = answering.result()
        finally:
            # Otherwise whoever asks and leaves, again and again, would take a file in both processes for a minute each.
            answering.cancel()
            leaving.cancel()
            await asyncio.wait([answering, leaving])
        headers = [*headers, (b"content-length", str(len(answer)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": answer})

    async def _answer_of(
        self,
        number: int,
        path: str,
        headers: Headers,
        *,
        method: str = "GET",
        body: bytes = b"",
        patience_s: float = SECONDS_TO_TELL,
    ) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
        import aiohttp
        from yarl import URL

        connector = aiohttp.UnixConnector(path=str(self.socket_of(number)))
        timeout = aiohttp.ClientTimeout(total=patience_s)
        sent = [
            (name.decode("latin-1"), value.decode("latin-1"))
            for name, value in headers
            if name.lower() not in _OF_THE_CONNECTION
        ]
        try:
            async with (
                aiohttp.ClientSession(connector=connector, timeout=timeout, auto_decompress=False) as http,
                http.request(method, URL(f"http://sibling{path}", encoded=True), data=body, headers=sent) as answer,
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


async def _leave(receive: Receive) -> None:
    """Returns when the client is gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def whole_body(receive: Receive) -> bytes | None:
    """The body of a request, which the guard has bounded; None if the client left before it was whole."""
    parts: list[bytes] = []
    message = await receive()
    while message["type"] == "http.request":
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(parts)
        message = await receive()
    return None
