"""The session feed: `GET /sessions/{session_id}/feed` tells what happens to a session, as server-sent events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import orjson
from fastapi import APIRouter, Request, Response
from starlette.types import Receive, Scope, Send

from fabula.actions.house import House
from fabula.actions.turns.watch_feed import Told, watch_feed
from fabula.ports.errors import FabulaError
from fabula.ports.meters import STREAMS_OPEN, Meters
from fabula.server.access import actor_of
from fabula.server.json_answers import error_response
from fabula.server.stream.sse import HEADERS, KEEP_ALIVE_S, STILL_HERE, event, left
from fabula.story.events import event_json, plain


def feed_routes(house: House) -> APIRouter:
    """`GET /sessions/{session_id}/feed?seat=&name=` with `Last-Event-ID`."""
    router = APIRouter()

    @router.get("/sessions/{session_id}/feed")
    async def feed(session_id: str, request: Request, seat: str = "", name: str = "") -> Response:
        try:
            last_seen = request.headers.get("last-event-id", "")
            told = await watch_feed(house, actor_of(request.scope), session_id, last_seen, seat=seat, name=name)
        except FabulaError as error:
            return error_response(error)
        return FeedStream(told, meters=house.meters)

    return router


class FeedStream(Response):
    """Events as they happen, until the feed ends or the client leaves; a comment keeps quiet lines open."""

    media_type = "text/event-stream"

    def __init__(self, told: AsyncGenerator[Told, None], *, meters: Meters) -> None:
        super().__init__(headers=HEADERS)
        del self.headers["content-length"]
        self._told, self._meters = told, meters

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        self._meters.add(STREAMS_OPEN)
        tasks = [asyncio.ensure_future(one) for one in (self._speak(send), left(receive), _keep_alive(send))]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if tasks[0].done():
                await tasks[0]
        finally:
            self._meters.add(STREAMS_OPEN, amount=-1)
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            await self._told.aclose()

    async def _speak(self, send: Send) -> None:
        async for told in self._told:
            data = orjson.dumps(event_json(told.event), default=plain)
            await send(
                {"type": "http.response.body", "body": event("message", data, id=told.id or None), "more_body": True}
            )
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _keep_alive(send: Send) -> None:
    while True:
        await asyncio.sleep(KEEP_ALIVE_S)
        await send({"type": "http.response.body", "body": STILL_HERE, "more_body": True})
