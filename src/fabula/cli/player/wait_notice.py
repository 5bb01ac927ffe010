"""Shows on a terminal that a turn is alive while nothing is told: who is thinking, and for how long."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from fabula.cli.player.terminal_writer import TerminalWriter
from fabula.ports.world import Clock
from fabula.story.events import ActorStarted, NarratorStarted, TurnFrame

PATIENCE_S = 1.0
EVERYBODY = "The story"


class WaitNotice:
    """Who is waited for, and since when."""

    def __init__(self, writer: TerminalWriter, clock: Clock, names: Mapping[str, str]) -> None:
        self._writer, self._clock, self._names = writer, clock, names
        self._who, self._since = EVERYBODY, clock.monotonic()

    def saw(self, frame: TurnFrame) -> None:
        """Something came: the waiting begins anew."""
        self._since = self._clock.monotonic()
        match frame:
            case ActorStarted():
                self._who = self._names.get(frame.speaker_id, frame.speaker_id)
            case NarratorStarted():
                self._who = "The narrator"
            case _:
                self._who = EVERYBODY if not self._writer.in_paragraph else self._who

    async def show(self) -> None:
        """Shows it, every second, until it is cancelled."""
        while True:
            await asyncio.sleep(PATIENCE_S)
            waited = self._clock.monotonic() - self._since
            if waited >= PATIENCE_S and not self._writer.in_paragraph:
                self._writer.passing(f"{self._who} is thinking… {waited:.0f} s (Ctrl+C stops)")


@asynccontextmanager
async def wait_notice(writer: TerminalWriter, clock: Clock, names: Mapping[str, str]) -> AsyncIterator[WaitNotice]:
    """Shows the waiting inside, on a terminal; in a pipe nobody waits."""
    notice = WaitNotice(writer, clock, names)
    showing = asyncio.create_task(notice.show()) if writer.colourful else None
    try:
        yield notice
    finally:
        if showing is not None:
            showing.cancel()
            writer.clear_passing()
