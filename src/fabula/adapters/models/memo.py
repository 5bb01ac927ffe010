"""Answers that are kept: their key, their stored shape, and one flight for callers who ask the same at once."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace

from fabula.ports.models import ModelReply, ModelRequest, Piece, Usage
from fabula.story.values import JsonObject

MEMO_VERSION = 1


def memo_key(request: ModelRequest, fingerprint: str) -> str:
    """The name of an answer: seed, model, and everything of the prompt that shapes it. No key of an api is in it."""
    asked = {
        "version": MEMO_VERSION,
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
        "version": MEMO_VERSION,
        "pieces": list(pieces),
        "model": reply.model,
        "finish_reason": reply.finish_reason,
        "prompt_tokens": reply.usage.prompt_tokens,
        "completion_tokens": reply.usage.completion_tokens,
        "structured": reply.structured,
    }


def from_stored(stored: JsonObject) -> tuple[list[str], ModelReply] | None:
    """A kept answer, or None when it was kept by another version."""
    pieces, prompt, completion = stored.get("pieces"), stored.get("prompt_tokens"), stored.get("completion_tokens")
    if stored.get("version") != MEMO_VERSION or not isinstance(pieces, list):
        return None
    if not (isinstance(prompt, int) and isinstance(completion, int)):
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


Parts = AsyncGenerator[Piece | ModelReply, None]


class Flights:
    """Calls under way, by key: who asks the same while a call runs reads along from its beginning."""

    def __init__(self) -> None:
        self._flights: dict[str, _Flight] = {}

    async def join(self, key: str, start: Callable[[], Parts]) -> Parts:
        flight = self._flights.get(key)
        leading = flight is None
        if flight is None:
            flight = self._flights[key] = _Flight(start())
            flight.task.add_done_callback(lambda _: self._forget(key, flight))
        async with aclosing(flight.read(lambda: self._forget(key, flight))) as parts:
            async for part in parts:
                yield part if leading or isinstance(part, Piece) else replace(part, memo_hit=True)

    def _forget(self, key: str, flight: _Flight) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]


class _Flight:
    """One call, pumped by its own task so that it outlives any single reader; the last reader to leave ends it."""

    def __init__(self, parts: Parts) -> None:
        self._parts: list[Piece | ModelReply] = []
        self._readers = 0
        self._ended = False
        self._waiting: list[asyncio.Future[None]] = []
        self.task = asyncio.create_task(self._pump(parts))
        self.task.add_done_callback(self._end)

    async def _pump(self, parts: Parts) -> None:
        async with aclosing(parts):
            async for part in parts:
                self._parts.append(part)
                self._tell()

    def _end(self, _: asyncio.Task[None]) -> None:
        self._ended = True
        self._tell()

    def _tell(self) -> None:
        for reader in self._waiting:
            if not reader.done():
                reader.set_result(None)
        self._waiting.clear()

    async def read(self, abandon: Callable[[], None]) -> Parts:
        self._readers += 1
        try:
            for index in range(1_000_000_000):
                while index >= len(self._parts) and not self._ended:
                    await self._wait()
                if index >= len(self._parts):
                    await self.task
                    return
                yield self._parts[index]
        finally:
            self._readers -= 1
            if self._readers == 0 and not self.task.done():
                abandon()
                self.task.cancel()
                await asyncio.wait([self.task])

    async def _wait(self) -> None:
        news = asyncio.get_running_loop().create_future()
        self._waiting.append(news)
        await news
