"""Answers that are kept: their key, their stored shape, and one flight for callers who ask the same at once."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Coroutine
from dataclasses import replace

from fabula.ports.models import CUT_OFF, ModelCutOff, ModelReply, ModelRequest, Piece, Usage
from fabula.story.values import JsonObject

ASKED_VERSION = 1
"""Part of every key: another number would make all kept answers unfindable."""


def memo_key(request: ModelRequest, fingerprint: str) -> str:
    """The name of an answer: seed, model, and everything of the prompt that shapes it. No key of an api is in it."""
    asked = {
        "version": ASKED_VERSION,
        "seed": request.seed,
        "model": fingerprint,
        "messages": [[message.role, message.content] for message in request.messages],
        "schema": request.output_schema,
        "temperature": request.temperature,
        "max_tokens": request.max_tokens,
    }
    return hashlib.sha256(json.dumps(asked, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def to_stored(pieces: list[str], reply: ModelReply) -> JsonObject:
    """An answer in the shape in which it is kept."""
    return {
        "pieces": list(pieces),
        "model": reply.model,
        "finish_reason": reply.finish_reason,
        "prompt_tokens": reply.usage.prompt_tokens,
        "completion_tokens": reply.usage.completion_tokens,
        "structured": reply.structured,
    }


def from_stored(stored: JsonObject) -> tuple[list[str], ModelReply] | None:
    """A kept answer, or None when it cannot be used."""
    pieces, prompt, completion = stored.get("pieces"), stored.get("prompt_tokens"), stored.get("completion_tokens")
    if not (isinstance(pieces, list) and isinstance(prompt, int) and isinstance(completion, int)):
        return None
    texts = [str(piece) for piece in pieces]
    return texts, ModelReply(
        text="".join(texts),
        model=str(stored.get("model")),
        finish_reason="length" if stored.get("finish_reason") == "length" else "stop",
        usage=Usage(prompt_tokens=prompt, completion_tokens=completion),
        structured=stored.get("structured"),
        memo_hit=True,
    )


Part = Piece | ModelReply
Deliver = Callable[[Part], None]
Run = Callable[[Deliver], Coroutine[None, None, None]]


class SingleFlight:
    """Calls under way, by key: who asks the same while a call runs reads along from its beginning."""

    def __init__(self) -> None:
        self._flights: dict[str, _Flight] = {}

    def join(self, key: str | None, run: Run, *, seconds: float | None = None) -> Subscription:
        """A subscription to the call of this key, which begins now unless it runs already. Without a key it is private.

        Who joins a call waits for it no longer than `seconds`; who began it is bound by the call's own deadline.
        """
        if key is None:
            return Subscription(_Flight(run), private=True)
        flight = self._flights.get(key)
        if flight is not None:
            return Subscription(flight, joined=True, seconds=seconds, abandon=lambda: self._forget(key, flight))
        mine = self._flights[key] = _Flight(run)
        mine.at_end = lambda: self._forget(key, mine)
        return Subscription(mine, abandon=lambda: self._forget(key, mine))

    def _forget(self, key: str, flight: _Flight) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]


class _Flight:
    """One call in its own task, so that it outlives any single reader."""

    def __init__(self, run: Run) -> None:
        self.parts: list[Part] = []
        self.readers = 0
        self.ended = False
        self.at_end: Callable[[], None] | None = None
        self._waiting: list[asyncio.Future[None]] = []
        self._listeners: list[Deliver] = []
        self.task = asyncio.create_task(self._run(run))
        # A task that is cancelled before its first step never comes to its end by itself.
        self.task.add_done_callback(self._over)

    def _over(self, task: asyncio.Task[None]) -> None:
        self._end()
        if not task.cancelled():
            # Readers are told how it failed. Where all have left, nobody asks, and that is no line of the log.
            task.exception()

    async def _run(self, run: Run) -> None:
        try:
            await run(self._deliver)
        finally:
            # Told from inside, who waits for the end learns of it one turn of the event loop earlier.
            self._end()

    def listen(self, listener: Deliver) -> None:
        """Has the listener called for every part, those that are there already now. One that raises fails the call."""
        for part in self.parts:
            listener(part)
        self._listeners.append(listener)

    def _deliver(self, part: Part) -> None:
        self.parts.append(part)
        for listener in self._listeners:
            listener(part)
        if self._waiting:
            self._tell()

    def _end(self) -> None:
        """Lets go of who listened, too: a call and its readers must not keep each other alive."""
        self.ended = True
        if self.at_end is not None:
            self.at_end()
            self.at_end = None
        self._listeners.clear()
        self._tell()

    def _tell(self) -> None:
        for reader in self._waiting:
            if not reader.done():
                reader.set_result(None)
        self._waiting.clear()

    async def news(self) -> None:
        news = asyncio.get_running_loop().create_future()
        self._waiting.append(news)
        await news


class Subscription:
    """One reader's place on a flight; the last reader to leave ends it."""

    def __init__(
        self,
        flight: _Flight,
        *,
        joined: bool = False,
        private: bool = False,
        seconds: float | None = None,
        abandon: Callable[[], None] | None = None,
    ) -> None:
        """Nobody can join a private flight, so what was read of it need not be kept."""
        self._flight, self._joined, self._private, self._abandon = flight, joined, private, abandon
        self._until = None if seconds is None else asyncio.get_running_loop().time() + seconds
        self._place = 0
        self.begun = False
        flight.readers += 1

    def __aiter__(self) -> Subscription:
        return self

    async def __anext__(self) -> Part:
        """The next part; raises what the call failed with, and TimeoutError when a joined call takes too long."""
        flight = self._flight
        while self._place >= len(flight.parts):
            if flight.ended:
                await flight.task
                raise StopAsyncIteration
            if self._until is None:
                await flight.news()
            else:
                async with asyncio.timeout_at(self._until):
                    await flight.news()
        part = flight.parts[self._place]
        self._place, self.begun = self._place + 1, True
        if self._private and self._place == len(flight.parts):
            flight.parts.clear()
            self._place = 0
        return replace(part, memo_hit=True) if self._joined and isinstance(part, ModelReply) else part

    async def stream_to(self, deliver: Deliver) -> ModelReply:
        """The same for who need not wait between two parts: `deliver` is called for each as it comes."""
        flight = self._flight
        over: asyncio.Future[ModelReply] = asyncio.get_running_loop().create_future()

        def take(part: Part) -> None:
            if over.done():
                return
            self.begun = True
            if isinstance(part, ModelReply) and self._joined:
                part = replace(part, memo_hit=True)
            deliver(part)
            if isinstance(part, ModelReply):
                over.set_result(part)

        flight.listen(take)
        flight.task.add_done_callback(lambda task: _pass_on_failure(task, over))
        async with asyncio.timeout_at(self._until):
            return await over

    async def leave(self) -> None:
        flight = self._flight
        flight.readers -= 1
        if flight.readers:
            return
        if not flight.task.done():
            if self._abandon is not None:
                self._abandon()
            flight.task.cancel()
            while not flight.ended:
                await flight.news()
        # A call that failed stands in the traceback of its own error, a circle that waits for the collector. Nobody can
        # join any more; with a hundred thousand pieces in it, everybody would wait while the collector lets them go.
        flight.parts.clear()


def _pass_on_failure(task: asyncio.Task[None], over: asyncio.Future[ModelReply]) -> None:
    if over.done():
        return
    if task.cancelled():
        over.cancel()
    elif (error := task.exception()) is not None:
        over.set_exception(error)
    else:
        over.set_exception(ModelCutOff(CUT_OFF))
