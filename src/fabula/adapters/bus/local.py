"""The bus of one process: streams are lists of frames that listeners read at their own pace."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable

from fabula.ports.bus import Frame, Sender

FINISHED_KEPT = 64
FINISHED_BYTES = 32 * 2**20


class LocalBus:
    """Keeps the frames of streams that run, and of the last ones that finished, within bounds of number and bytes."""

    def __init__(self, *, finished_kept: int = FINISHED_KEPT, finished_bytes: int = FINISHED_BYTES) -> None:
        self._streams: dict[str, _Stream] = {}
        self._finished: OrderedDict[str, int] = OrderedDict()
        self._finished_kept, self._finished_bytes = finished_kept, finished_bytes
        self._bytes = 0

    def open(self, stream: str) -> Sender:
        old = self._streams.get(stream)
        if old is not None:
            old.abandon()
        self._bytes -= self._finished.pop(stream, 0)
        fresh = self._streams[stream] = _Stream(lambda: self._finish(stream))
        return fresh

    def listen(self, stream: str, *, after: int = -1) -> AsyncGenerator[Frame, None] | None:
        found = self._streams.get(stream)
        return None if found is None else found.frames_after(after)

    def _finish(self, stream: str) -> None:
        size = self._finished[stream] = self._streams[stream].size
        self._bytes += size
        while len(self._finished) > self._finished_kept or self._bytes > self._finished_bytes:
            gone, size = self._finished.popitem(last=False)
            self._bytes -= size
            del self._streams[gone]


class _Stream:
    def __init__(self, finished: Callable[[], None]) -> None:
        self._frames: list[Frame] = []
        self._waiting: list[asyncio.Future[None]] = []
        self._closed = False
        self._finished = finished
        self.size = 0

    @property
    def next_sequence(self) -> int:
        return len(self._frames)

    def send(self, data: bytes, *, last: bool = False) -> None:
        if self._closed:
            return
        self.size += len(data)
        # Encoders leave room behind what they write, often ten times as much; a copy is as long as it is.
        self._frames.append(Frame(sequence=len(self._frames), data=memoryview(data).tobytes(), last=last))
        if last:
            self._closed = True
            self._finished()
        self._wake()

    def abandon(self) -> None:
        self._closed = True
        self._wake()

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for listener in waiting:
            if not listener.done():
                listener.set_result(None)

    async def frames_after(self, after: int) -> AsyncGenerator[Frame, None]:
        place = max(after + 1, 0)
        while True:
            while place < len(self._frames):
                frame = self._frames[place]
                place += 1
                yield frame
            if self._closed:
                return
            news = asyncio.get_running_loop().create_future()
            self._waiting.append(news)
            await news
