"""Methods that can be watched: with `stream` true they answer as a stream, events of progress and then the result.

1. `event: message` with `{message_type: "stream", request_id, sequence, frame: {type: "event", body: {type:
   "progress", done, total, label}}}`, as often as there is something to tell;
2. `event: result` with the JSON-RPC response, result or error, exactly as it would be without the stream.

What is refused before any work was done is answered as plain JSON. Who leaves does not stop the work, which is held
and run apart from the request.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from starlette.responses import Response, StreamingResponse

from fabula.actions.house import House
from fabula.actions.views import Command, View
from fabula.ports.actors import Actor
from fabula.ports.errors import StreamError
from fabula.ports.progress import TellProgress
from fabula.server.json_answers import json_response
from fabula.server.rpc.dispatch import Prepared, answer, refusal
from fabula.server.rpc.method import Call, Method, method
from fabula.server.stream.envelope import Envelope
from fabula.server.stream.sse import HEADERS, KEEP_ALIVE_S, STILL_HERE, event
from fabula.story.events import Progress

C = TypeVar("C", bound=Command, contravariant=True)


class WatchedAction(Protocol[C]):
    async def __call__(self, house: House, actor: Actor, command: C, progress: TellProgress = ..., /) -> View: ...


@dataclass(frozen=True, kw_only=True)
class ProgressMethod(Method):
    """A method whose work can be watched."""

    watched: Callable[[House, Actor, Any, TellProgress], Awaitable[View]]


def progress_method(name: str, command: type[C], action: WatchedAction[C], result: type[View]) -> ProgressMethod:
    """A method that is an action which tells its progress; its command has a field `stream`."""
    plain = method(name, command, action, result)
    return ProgressMethod(**vars(plain), watched=action)


def is_watched(prepared: Prepared) -> bool:
    """Whether the caller asked to see the progress."""
    return isinstance(prepared.method, ProgressMethod) and getattr(prepared.command, "stream", False) is True


async def progress_response(house: House, prepared: Prepared) -> Response:
    """The stream of a piece of work; plain JSON when it ends before it told anything."""
    watching = _Watching(prepared)
    watching.start(house)
    first = await watching.told.get()
    if isinstance(first, bytes):
        return json_response(first)
    return StreamingResponse(watching.events(first), media_type="text/event-stream", headers=HEADERS)


class _Watching:
    """One request and what its work told so far, last its response."""

    def __init__(self, prepared: Prepared) -> None:
        self.told: asyncio.Queue[Progress | bytes] = asyncio.Queue()
        self._prepared = prepared
        self._answering: asyncio.Task[None] | None = None

    def start(self, house: House) -> None:
        self._answering = asyncio.create_task(self._answer(house))

    async def _answer(self, house: House) -> None:
        watched = self._prepared.method
        assert isinstance(watched, ProgressMethod)

        async def handle(house: House, given: Any, call: Call) -> View:
            return await watched.watched(house, call.actor, given, self._tell)

        response = refusal(self._prepared.request, StreamError("The server stopped before the work was done."))
        try:
            response = await answer(house, replace(self._prepared, method=replace(watched, handler=handle)))
        finally:
            self.told.put_nowait(response)

    def _tell(self, event: Progress) -> None:
        self.told.put_nowait(event)

    async def events(self, told: Progress | bytes) -> AsyncIterator[bytes]:
        """What was told, and on to the result; a comment keeps quiet lines open."""
        envelope, sequence = Envelope(request_id=self._prepared.request.id), 0
        while not isinstance(told, bytes):
            yield event("message", envelope.message(sequence, told))
            sequence += 1
            while (more := await self._next()) is None:
                yield STILL_HERE
            told = more
        yield event("result", told)

    async def _next(self) -> Progress | bytes | None:
        try:
            return await asyncio.wait_for(self.told.get(), KEEP_ALIVE_S)
        except TimeoutError:
            return None
