"""Follow the events of work that runs in another process, or that is over."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass

from fabula.ports.bus import Bus, Frame
from fabula.ports.world import Clock
from fabula.story.events import Completed, Failed, Told

LOOK_AGAIN_S = 0.5
SILENCE_S = 2.0
CROSSING_S = 0.05
"""How often the bus is asked again for events that are still on their way here."""

Frames = AsyncGenerator[Frame[Told], None]


@dataclass(frozen=True, kw_only=True)
class Known:
    """What the store says of work: the name of its stream now, and its last event once it has ended.

    `may_cross`: it ended only now, in a process that may still be bringing its events to the bus.
    """

    stream: str
    ending: Completed | Failed | None
    may_cross: bool


Look = Callable[[], Awaitable[Known]]


async def follow(stream: str, live: Frames | None, *, after: int, bus: Bus[Told], clock: Clock, look: Look) -> Frames:
    """The events of a stream behind one that was seen.

    The bus tells them. It may also know nothing, or fall silent because the other process died or the bus is away; then
    the store is asked how the work ended, which is the last event. Without a last one they end where another process
    took the work up.
    """
    sequence, ended_before = after + 1, False
    following = _Following(live)
    try:
        while True:
            frame = await following.next_frame()
            if frame is not None:
                yield frame
                if frame.last:
                    return
                sequence, ended_before = frame.sequence + 1, False
                continue
            now = await look()
            if now.ending is not None and (ended_before or not (following.is_live or now.may_cross)):
                if not await _is_last(bus, stream, sequence - 1):
                    yield Frame(sequence=sequence, event=now.ending, last=True)
                return
            if now.stream != stream:
                return
            # Work ends in the store a moment before its last event is sent, and that crosses a moment later. An end
            # that is told before would have a number that another event has.
            ended_before = now.ending is not None and following.is_live
            if not following.is_live:
                await clock.sleep(LOOK_AGAIN_S if now.ending is None else CROSSING_S)
                following = _Following(await bus.subscribe(stream, after=sequence - 1))
    finally:
        await following.aclose()


async def _is_last(bus: Bus[Told], stream: str, sequence: int) -> bool:
    """Whether the event with this number, which was seen, is known to be the last one."""
    live = await bus.subscribe(stream, after=sequence - 1) if sequence >= 0 else None
    if live is None:
        return False
    async with aclosing(_Following(live)) as following:
        seen = await following.next_frame()
    return seen is not None and seen.last


class _Following:
    """A stream of the bus that is waited for only so long."""

    def __init__(self, live: Frames | None) -> None:
        self._live = live
        self._next: asyncio.Task[Frame[Told] | None] | None = None

    @property
    def is_live(self) -> bool:
        return self._live is not None

    async def next_frame(self) -> Frame[Told] | None:
        """The next event; None when there is none for a while, or no longer."""
        if self._live is None:
            return None
        # A task, because a generator that is interrupted while it waits cannot go on.
        self._next = self._next or asyncio.create_task(_next_of(self._live))
        done, _ = await asyncio.wait([self._next], timeout=SILENCE_S)
        if not done:
            return None
        frame, self._next = self._next.result(), None
        if frame is None:
            self._live = None
        return frame

    async def aclose(self) -> None:
        if self._next is not None:
            self._next.cancel()
            await asyncio.wait([self._next])
        if self._live is not None:
            await self._live.aclose()


async def _next_of(frames: Frames) -> Frame[Told] | None:
    return await anext(frames, None)
