"""The bus of one process: streams are lists of frames that listeners read at their own pace.

An event costs an append and one wake-up for each listener that waits: no task, and nothing to wait for. `EventLog` is
the list itself; the buses that cross processes keep theirs in it, too.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable
from typing import Generic, TypeVar

from fabula.ports.bus import Frame, Sender

E = TypeVar("E")

FINISHED_KEPT = 64
FINISHED_BYTES = 8 * 2**20
LONGEST_STREAM = 20_000
"""So many events of a stream are kept at least, and a quarter more at most."""

TYPICAL_EVENT_BYTES = 1024


class EventLog(Generic[E]):
    """The frames of one stream, and those who wait for more of them.

    `first` is the number of the oldest frame that is still kept.
    """

    def __init__(self, *, first: int = 0, longest: int = LONGEST_STREAM) -> None:
        self.first = first
        self.closed = False
        self._longest = longest
        self._frames: list[Frame[E]] = []
        self._waiting: list[asyncio.Future[None]] = []

    @property
    def next_sequence(self) -> int:
        return self.first + len(self._frames)

    def append(self, event: E, *, last: bool = False) -> None:
        self._frames.append(Frame(sequence=self.first + len(self._frames), event=event, last=last))
        if len(self._frames) > self._longest * 5 // 4:
            self.drop(len(self._frames) - self._longest)
        self.closed = self.closed or last
        self._wake()

    def drop(self, count: int) -> None:
        """Forgets the oldest frames: who has not read them falls behind."""
        del self._frames[:count]
        self.first += count

    def close(self) -> None:
        self.closed = True
        self._wake()

    def since(self, sequence: int) -> list[Frame[E]]:
        """The frames from a number on, as far as they are kept."""
        return self._frames[max(sequence - self.first, 0) :]

    def reaches_back_to(self, sequence: int) -> bool:
        return sequence >= self.first

    async def follow(self, after: int) -> AsyncGenerator[Frame[E], None]:
        """The frames after a number, until the stream ends or this listener falls behind what is kept."""
        place = max(after + 1, 0)
        while place >= self.first:
            while self.first <= place < self.first + len(self._frames):
                frame = self._frames[place - self.first]
                place += 1
                yield frame
            if place < self.first or self.closed:
                return
            news = asyncio.get_running_loop().create_future()
            self._waiting.append(news)
            await news

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for listener in waiting:
            if not listener.done():
                listener.set_result(None)


class LocalBus(Generic[E]):
    """Keeps the frames of streams that run, and of the last ones that finished, within bounds of number and bytes.

    `weigh` tells the bytes of an event; without it every event counts alike.
    """

    def __init__(
        self,
        *,
        weigh: Callable[[E], int] | None = None,
        finished_kept: int = FINISHED_KEPT,
        finished_bytes: int = FINISHED_BYTES,
        longest_stream: int = LONGEST_STREAM,
    ) -> None:
        self._streams: dict[str, LocalSender[E]] = {}
        self._finished: OrderedDict[str, int] = OrderedDict()
        self._weigh = weigh
        self._finished_kept, self._finished_bytes, self._longest = finished_kept, finished_bytes, longest_stream
        self._bytes = 0

    async def open(self, stream: str) -> Sender[E]:
        return self.open_now(stream)

    async def subscribe(self, stream: str, *, after: int = -1) -> AsyncGenerator[Frame[E], None] | None:
        log = self.find(stream)
        return None if log is None or not log.reaches_back_to(max(after + 1, 0)) else log.follow(after)

    async def close(self) -> None:
        for sender in [*self._streams.values()]:
            sender.log.close()

    def open_now(self, stream: str) -> LocalSender[E]:
        """As `open`, which has nothing to wait for."""
        old = self._streams.get(stream)
        if old is not None:
            old.log.close()
        self._bytes -= self._finished.pop(stream, 0)
        fresh = self._streams[stream] = LocalSender(stream, EventLog(longest=self._longest), self._finish, self._weigh)
        return fresh

    def find(self, stream: str) -> EventLog[E] | None:
        found = self._streams.get(stream)
        return None if found is None else found.log

    def remove(self, sender: LocalSender[E]) -> None:
        """Forgets a stream at once, unless it was opened anew."""
        if self._streams.get(sender.stream) is sender:
            del self._streams[sender.stream]
            self._bytes -= self._finished.pop(sender.stream, 0)

    def _finish(self, sender: LocalSender[E]) -> None:
        if self._streams.get(sender.stream) is not sender:
            return
        self._finished[sender.stream] = sender.bytes
        self._bytes += sender.bytes
        while len(self._finished) > self._finished_kept or self._bytes > self._finished_bytes:
            gone, size = self._finished.popitem(last=False)
            self._bytes -= size
            del self._streams[gone]


class LocalSender(Generic[E]):
    """The writing end of a stream whose listeners are in this process."""

    def __init__(
        self,
        stream: str,
        log: EventLog[E],
        finish: Callable[[LocalSender[E]], None],
        weigh: Callable[[E], int] | None,
    ) -> None:
        self.stream, self.log, self.bytes = stream, log, 0
        self._finish, self._weigh = finish, weigh

    @property
    def next_sequence(self) -> int:
        return self.log.next_sequence

    def send(self, event: E, *, last: bool = False) -> None:
        if self.log.closed:
            return
        self.bytes += TYPICAL_EVENT_BYTES if self._weigh is None else self._weigh(event)
        self.log.append(event, last=last)
        if last:
            self._finish(self)

    async def flush(self) -> None:
        """Whoever listens has heard it already."""

    async def close(self) -> None:
        self.close_now()

    def close_now(self) -> None:
        """As `close`, which has nothing to wait for."""
        if not self.log.closed:
            self.log.close()
            self._finish(self)
