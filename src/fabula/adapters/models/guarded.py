"""What stands around every client: memo, single flight, retries, deadline, limits, loop watch, and the record.

From the outside in, a call passes:
1. the record: one CallRecord per call, whatever becomes of it;
2. memo and flight: seeded calls are answered from the memo, and equal ones under way are shared;
3. attempts: busy, unreachable and cut calls are tried again while nobody has read a piece; an answer that loops or is
   empty is asked for once more, a little differently;
4. the watch: deadline, length and loops end a call early, which closes the request upstream.

Pieces that a player has read cannot be taken back: once one was delivered, a failure ends the call. Requests with an
output schema, and those with `streaming` off, deliver their pieces only when the answer is whole.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace

from fabula.adapters.models.degenerate import LoopWatch
from fabula.adapters.models.journal import Journal
from fabula.adapters.models.memo import Flights, Parts, from_stored, memo_key, to_stored
from fabula.adapters.models.retry import wait_before_next
from fabula.ports.errors import StoreError
from fabula.ports.models import (
    ModelClient,
    ModelCutOff,
    ModelError,
    ModelReply,
    ModelRequest,
    ModelUnreachable,
    ModelUnusable,
    Piece,
    Usage,
)
from fabula.ports.store import Memo
from fabula.ports.world import Clock

CHARS_PER_TOKEN = 4


@dataclass(frozen=True, kw_only=True)
class Guard:
    """What all guarded clients share. `memo` None switches the memo off; `chance` spreads the waits."""

    clock: Clock
    journal: Journal
    flights: Flights
    memo: Memo | None
    attempts: int
    chance: Callable[[], float]


class GuardedClient:
    """A client with the guard around it; it keeps the same law."""

    def __init__(self, client: ModelClient, guard: Guard) -> None:
        self._client = client
        self._guard = guard

    @property
    def fingerprint(self) -> str:
        return self._client.fingerprint

    async def close(self) -> None:
        await self._client.close()

    async def ask(self, request: ModelRequest) -> AsyncGenerator[Piece | ModelReply, None]:
        entry = self._guard.journal.begin(request, self.fingerprint)
        try:
            async with aclosing(self._shared(request)) as parts:
                async for part in parts:
                    entry.saw(part)
                    yield part
        except ModelError as error:
            entry.failed(error)
            raise
        finally:
            entry.end()

    def _shared(self, request: ModelRequest) -> Parts:
        if request.seed is None or self._guard.memo is None:
            return self._attempts(request)
        key = memo_key(request, self.fingerprint)
        memo = self._guard.memo
        return self._in_time(request, self._guard.flights.join(key, lambda: self._remembered(request, key, memo)))

    async def _remembered(self, request: ModelRequest, key: str, memo: Memo) -> Parts:
        kept = None if request.first_asked else await memo.get(key)
        known = from_stored(kept) if kept is not None else None
        if known is not None:
            for text in known[0]:
                yield Piece(text=text)
            yield known[1]
            return
        pieces: list[str] = []
        async with aclosing(self._attempts(request)) as parts:
            async for part in parts:
                if isinstance(part, Piece):
                    pieces.append(part.text)
                else:
                    # Kept before it is told: who resumes after a crash hears the same words.
                    await self._keep(memo, key, pieces, part)
                yield part

    async def _keep(self, memo: Memo, key: str, pieces: list[str], reply: ModelReply) -> None:
        try:
            await memo.put(key, to_stored(pieces, reply))
        except StoreError as error:
            self._guard.journal.complain(f"An answer could not be kept: {error.message}")

    async def _attempts(self, request: ModelRequest) -> Parts:
        tried, asked_anew = 0, False
        while True:
            tried += 1
            delivered = False
            try:
                async with aclosing(self._held(request)) as parts:
                    async for part in parts:
                        delivered = True
                        yield part
                return
            except ModelError as error:
                if delivered:
                    raise
                if not asked_anew and isinstance(error, ModelUnusable) and not error.reply_text:
                    asked_anew, request = True, _varied(request)
                    continue
                wait = self._wait_after(error, tried, request)
                if wait is None:
                    raise
            await self._guard.clock.sleep(wait)

    def _wait_after(self, error: ModelError, tried: int, request: ModelRequest) -> float | None:
        remaining = request.deadline - self._guard.clock.monotonic()
        return wait_before_next(
            error, tried=tried, attempts=self._guard.attempts, remaining=remaining, chance=self._guard.chance()
        )

    async def _held(self, request: ModelRequest) -> Parts:
        """The parts as they come, or all at the end when nobody reads along."""
        holding = request.output_schema is not None or not request.streaming
        held: list[Piece | ModelReply] = []
        async with aclosing(self._watched(request)) as parts:
            async for part in parts:
                if holding:
                    held.append(part)
                else:
                    yield part
        for part in held:
            yield part

    async def _watched(self, request: ModelRequest) -> Parts:
        watch = LoopWatch(count_lines=request.output_schema is None)
        length = 0
        async with aclosing(self._in_time(request, self._client.ask(request))) as parts:
            async for part in parts:
                if isinstance(part, ModelReply):
                    yield _with_usage(part, request)
                    return
                length += len(part.text)
                if length > request.max_chars:
                    raise ModelUnusable("The model's answer grew too long and was ended. Lower max_tokens.")
                if watch.loops(part.text):
                    raise ModelUnusable("The model's answer went round in circles and was ended. Try again.")
                yield part
        raise ModelCutOff("The model's answer ended before it was finished. Try again.")

    async def _in_time(self, request: ModelRequest, source: Parts) -> Parts:
        begun = False
        async with aclosing(source) as parts:
            while True:
                try:
                    async with asyncio.timeout(request.deadline - self._guard.clock.monotonic()):
                        part = await anext(parts)
                except StopAsyncIteration:
                    return
                except TimeoutError:
                    raise _too_late(begun) from None
                begun = True
                yield part


def _too_late(begun: bool) -> ModelError:
    if begun:
        return ModelCutOff("The model did not finish its answer in time. Raise turn_deadline_s, or use a faster model.")
    return ModelUnreachable("The model did not answer in time. Raise turn_deadline_s, or use a faster model.")


def _varied(request: ModelRequest) -> ModelRequest:
    """The same question asked a little differently: the same one would only loop again."""
    seed = None if request.seed is None else request.seed + 1
    return replace(request, seed=seed, temperature=max(request.temperature or 0.0, 0.7))


def _with_usage(reply: ModelReply, request: ModelRequest) -> ModelReply:
    """The reply with usage estimated by length where the provider told none."""
    if reply.usage.total_tokens:
        return reply
    asked = sum(len(message.content) for message in request.messages)
    return replace(
        reply,
        usage=Usage(
            prompt_tokens=-(-asked // CHARS_PER_TOKEN), completion_tokens=-(-len(reply.text) // CHARS_PER_TOKEN)
        ),
    )
