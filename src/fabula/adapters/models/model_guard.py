"""What stands around every client: memo, single flight, retries, deadline, limits, loop watch, and the record.

From the outside in, a call passes:
1. the record: one CallRecord per call, whatever becomes of it, and the count of the agent's calls in the turn;
2. memo and flight: seeded calls are answered from the memo, and equal ones under way are shared;
3. attempts: busy, unreachable and cut calls are tried again while nobody has read a piece; an answer that loops or is
   empty is asked for once more, a little differently;
4. the single attempt: deadline, length and loops end a call early, which closes the request upstream.

Inside, parts are handed on by plain calls; only at the two ends are there iterators. A part passes here fifty times a
second in each of hundreds of turns.

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
from fabula.adapters.models.memo import Deliver, SingleFlight, Subscription, from_stored, memo_key, to_stored
from fabula.adapters.models.retry import wait_before_next
from fabula.adapters.models.turn_calls import TurnCalls
from fabula.ports.errors import StoreError
from fabula.ports.models import (
    CUT_OFF,
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
    """What all guarded clients share. `memo` None switches the memo off; `chance` spreads the waits.

    With `may_repeat` no answer counts as one that goes round in circles.
    """

    clock: Clock
    journal: Journal
    flights: SingleFlight
    memo: Memo | None
    attempts: int
    chance: Callable[[], float]
    turn_calls: TurnCalls
    may_repeat: bool = False


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

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece | ModelReply, None]:
        entry = self._guard.journal.begin(request, self.fingerprint)
        subscription: Subscription | None = None
        try:
            self._guard.turn_calls.count(request.origin)
            subscription = self._subscribe(request)
            async for part in subscription:
                entry.saw(part)
                yield part
        except ModelError as error:
            entry.failed(error)
            raise
        except TimeoutError:
            late = _too_late(subscription is not None and subscription.begun)
            entry.failed(late)
            raise late from None
        finally:
            if subscription is not None:
                await subscription.leave()
            entry.end()

    async def stream_to(self, request: ModelRequest, tell: Callable[[Piece], None]) -> ModelReply:
        entry = self._guard.journal.begin(request, self.fingerprint)

        def noted(part: Piece | ModelReply) -> None:
            entry.saw(part)
            if isinstance(part, Piece):
                tell(part)

        try:
            self._guard.turn_calls.count(request.origin)
            if self._is_shared(request):
                return await self._stream_shared(request, noted)
            reply = await self._attempts(request, noted)
            entry.saw(reply)
            return reply
        except ModelError as error:
            entry.failed(error)
            raise
        finally:
            entry.end()

    async def _stream_shared(self, request: ModelRequest, noted: Deliver) -> ModelReply:
        subscription = self._subscribe(request)
        try:
            return await subscription.stream_to(noted)
        except TimeoutError:
            raise _too_late(subscription.begun) from None
        finally:
            await subscription.leave()

    def _is_shared(self, request: ModelRequest) -> bool:
        """Whether an answer may be kept already, or be on its way to somebody else."""
        return request.seed is not None and self._guard.memo is not None

    def _subscribe(self, request: ModelRequest) -> Subscription:
        memo, flights = self._guard.memo, self._guard.flights
        if memo is None or not self._is_shared(request):
            return flights.join(None, lambda deliver: self._run(request, deliver))
        key = memo_key(request, self.fingerprint)
        seconds = request.deadline - self._guard.clock.monotonic()
        return flights.join(key, lambda deliver: self._run_once(request, deliver, key, memo), seconds=seconds)

    async def _run(self, request: ModelRequest, deliver: Deliver) -> None:
        deliver(await self._attempts(request, deliver))

    async def _run_once(self, request: ModelRequest, deliver: Deliver, key: str, memo: Memo) -> None:
        kept = None if request.first_asked else await memo.get(key)
        known = from_stored(kept) if kept is not None else None
        if known is not None:
            await _deliver_all([*(Piece(text=text) for text in known[0]), known[1]], deliver)
            return
        pieces: list[str] = []

        def noted(part: Piece | ModelReply) -> None:
            if isinstance(part, Piece):
                pieces.append(part.text)
            deliver(part)

        reply = await self._attempts(request, noted)
        # Kept before it is told: who resumes after a crash hears the same words.
        await self._keep(memo, key, pieces, reply)
        deliver(reply)

    async def _keep(self, memo: Memo, key: str, pieces: list[str], reply: ModelReply) -> None:
        try:
            await memo.put(key, to_stored(pieces, reply))
        except StoreError as error:
            self._guard.journal.complain(f"An answer could not be kept: {error.message}")

    async def _attempts(self, request: ModelRequest, deliver: Deliver) -> ModelReply:
        """The reply; its pieces are delivered as they come, or all at the end when nobody reads along."""
        holding = request.output_schema is not None or not request.streaming
        tried, asked_anew = 0, False
        while True:
            tried += 1
            attempt = _Attempt(self._guard.clock, request, may_repeat=self._guard.may_repeat)
            held: list[Piece | ModelReply] = []
            try:
                reply = await attempt.stream(self._client, held.append if holding else deliver)
            except ModelError as error:
                # The error is kept with this frame, sometimes until the collector comes; its pieces are not.
                held.clear()
                if attempt.begun and not holding:
                    raise
                if not asked_anew and isinstance(error, ModelUnusable) and not error.reply_text:
                    asked_anew, request = True, _varied(request)
                    continue
                wait = self._wait_after(error, tried, request)
                if wait is None:
                    raise
            else:
                await _deliver_all(held, deliver)
                return reply
            await self._guard.clock.sleep(wait)

    def _wait_after(self, error: ModelError, tried: int, request: ModelRequest) -> float | None:
        remaining = request.deadline - self._guard.clock.monotonic()
        return wait_before_next(
            error, tried=tried, attempts=self._guard.attempts, remaining=remaining, chance=self._guard.chance()
        )


PARTS_AT_ONCE = 64


class _Attempt:
    """One attempt, watched: deadline, length and loops end it early, which closes the request upstream."""

    def __init__(self, clock: Clock, request: ModelRequest, *, may_repeat: bool) -> None:
        self._clock, self._request = clock, request
        self._watch = None if may_repeat else LoopWatch(count_lines=request.output_schema is None)
        self._length = 0
        self.begun = False

    async def stream(self, client: ModelClient, deliver: Deliver) -> ModelReply:
        try:
            async with (
                asyncio.timeout(self._request.deadline - self._clock.monotonic()),
                aclosing(client.stream(self._request)) as parts,
            ):
                async for part in parts:
                    if isinstance(part, ModelReply):
                        return _with_usage(part, self._request)
                    self._check(part)
                    self.begun = True
                    deliver(part)
        except TimeoutError:
            raise _too_late(self.begun) from None
        raise ModelCutOff(CUT_OFF)

    def _check(self, piece: Piece) -> None:
        self._length += len(piece.text)
        if self._length > self._request.max_chars:
            raise ModelUnusable("The model's answer grew too long and was ended. Lower max_tokens.")
        if self._watch is not None and self._watch.loops(piece.text):
            raise ModelUnusable("The model's answer went round in circles and was ended. Try again.")


async def _deliver_all(parts: list[Piece | ModelReply], deliver: Deliver) -> None:
    """Delivers parts that are there already; of very many, some at a time, so that others have a turn meanwhile."""
    for number, part in enumerate(parts, 1):
        deliver(part)
        if number % PARTS_AT_ONCE == 0:
            await asyncio.sleep(0)


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
