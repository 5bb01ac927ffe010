"""HEAD requests: answered like GET, without the body. Monitors and download tools ask this way."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send


def answer_heads(app: ASGIApp) -> ASGIApp:
    """The app, which answers HEAD wherever it answers GET."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "HEAD":
            head = _Head(send)
            await app({**scope, "method": "GET"}, head.receive, head.send)
        else:
            await app(scope, receive, send)

    return answer


class _Head:
    """Ends the answer after its headers. A stream, which would go on for long, is told that nobody reads it."""

    def __init__(self, send: Send) -> None:
        self._send = send

    async def receive(self) -> Message:
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            await self._send(message)
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})
