"""The watchdog: names every time the event loop stood still, because everybody waits while it does.

1. A beat on the loop says that it turns. 2. A thread looks whether the beats come, and when they do not, writes down
what the loop is doing: afterwards nobody could tell. 3. The next beat finds that it is late; it logs where the loop
stood, and counts it, with the processor time that this process used meanwhile: when that is far less than the stall,
the machine was busy with something else, and nothing here is to blame.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

from fabula.ports.meters import LOOP_BUSY_SECONDS, LOOP_STALL_SECONDS, Meters

log = logging.getLogger("fabula.loop")

BEAT_S: Final = 0.05
STALL_S: Final = 0.1
MOST_FRAMES: Final = 6
_UNSEEN: Final = "a call that let no other thread see where it was"


@contextmanager
def watched_loop(
    meters: Meters,
    *,
    monotonic: Callable[[], float] = time.monotonic,
    process_time: Callable[[], float] = time.process_time,
) -> Iterator[None]:
    """Watches the running loop as long as the block lasts."""
    watchdog = _Watchdog(asyncio.get_running_loop(), meters, monotonic, process_time)
    watchdog.start()
    try:
        yield
    finally:
        watchdog.stop()


class _Watchdog:
    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        meters: Meters,
        monotonic: Callable[[], float],
        process_time: Callable[[], float],
    ) -> None:
        self._loop, self._meters, self._monotonic, self._process_time = loop, meters, monotonic, process_time
        self._loop_thread = threading.get_ident()
        self._beat_at, self._used = monotonic(), process_time()
        self._place: str | None = None
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)
        self._beating: asyncio.TimerHandle | None = None

    def start(self) -> None:
        self._beating = self._loop.call_later(BEAT_S, self._beat)
        self._thread.start()

    def stop(self) -> None:
        self._ends.set()
        if self._beating is not None:
            self._beating.cancel()

    def _beat(self) -> None:
        now, used = self._monotonic(), self._process_time()
        stood = now - self._beat_at - BEAT_S
        # Beats come half as far apart as a stall is long, so that a late one is short of it by no more than that.
        if stood > STALL_S - BEAT_S / 2:
            # All threads count: one call of another thread that lets nobody else run stops the loop as well.
            busy = min(used - self._used, stood)
            sentence = "the event loop stood still for %d ms (%d ms of work), in %s"
            log.warning(sentence, stood * 1000, busy * 1000, self._place or _UNSEEN)
            self._meters.observe(LOOP_STALL_SECONDS, stood)
            self._meters.observe(LOOP_BUSY_SECONDS, busy)
        self._place, self._beat_at, self._used = None, now, used
        self._beating = self._loop.call_later(BEAT_S, self._beat)

    def _watch(self) -> None:
        while not self._ends.wait(BEAT_S):
            late = self._monotonic() - self._beat_at - BEAT_S
            if late > STALL_S / 2 and self._place is None:
                frame = sys._current_frames().get(self._loop_thread)
                self._place = None if frame is None else describe(frame)


def describe(frame: FrameType) -> str:
    """Where a thread is, innermost first: our own functions, and the one that ours called."""
    frames: list[FrameType] = []
    here: FrameType | None = frame
    while here is not None:
        if here is frame or str(here.f_globals.get("__name__", "")).startswith("fabula."):
            frames.append(here)
        here = here.f_back
    return " < ".join(
        f"{one.f_globals.get('__name__', '?')}.{one.f_code.co_name}:{one.f_lineno}" for one in frames[:MOST_FRAMES]
    )
