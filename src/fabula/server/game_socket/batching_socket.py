"""Sockets on which messages leave together: all that wait for a game are one write.

With five NPCs speaking in a game, several pieces are at hand at once, and writing costs more than any of them does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from starlette.websockets import WebSocket, WebSocketDisconnect
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import InvalidState
from websockets.http11 import Request

_EXTENSION = "fabula.gathered"
_GONE = 1006


class Sending(Protocol):
    """How texts leave. `send_at_once` does not wait: it answers False, and sends nothing, when it would have to."""

    async def send_texts(self, texts: Sequence[str]) -> None: ...

    def send_at_once(self, texts: Sequence[str]) -> bool: ...


class BatchingWebSocket(WebSocketsSansIOProtocol):
    """The server's socket protocol, which can also send several texts at once."""

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        scope = getattr(self, "scope", None)
        if scope is not None:
            scope["extensions"][_EXTENSION] = self

    async def send_texts(self, texts: Sequence[str]) -> None:
        """Sends texts in their order; raises WebSocketDisconnect when nobody is there any more."""
        await self.writable.wait()
        if not self._sent(texts):
            raise WebSocketDisconnect(_GONE)

    def send_at_once(self, texts: Sequence[str]) -> bool:
        return self.writable.is_set() and self._sent(texts)

    def _sent(self, texts: Sequence[str]) -> bool:
        if self.disconnected or self.close_sent:
            return False
        try:
            for text in texts:
                self.conn.send_text(text.encode())
        except InvalidState:
            return False
        self.transport.write(b"".join(self.conn.data_to_send()))
        return True


class OneByOne:
    """Texts on the socket of any other server."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket

    async def send_texts(self, texts: Sequence[str]) -> None:
        for text in texts:
            await self._socket.send_text(text)

    def send_at_once(self, texts: Sequence[str]) -> bool:
        return False


def sending_on(socket: WebSocket) -> Sending:
    """How texts are sent on a socket: together where its server knows how, otherwise one by one."""
    gathered: Sending | None = socket.scope.get("extensions", {}).get(_EXTENSION)
    return gathered or OneByOne(socket)
