"""A bus over a transport whose news come late: a copy that has lost its beginning."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from fabula.adapters.bus.shared import Delivery, Entry, News, Place, SharedBus
from fabula.adapters.world import SystemClock


class LateTransport:
    """A copy of one stream that somebody else writes, of which news never come by themselves."""

    name = "a late transport"

    def __init__(self) -> None:
        self.first, self.events = 0, [b"one"]

    async def places(self, streams: Sequence[str]) -> list[Place | None]:
        return [None for _ in streams]

    async def write(self, deliveries: Sequence[Delivery]) -> set[str]:
        return set()

    async def read(self, stream: str) -> News | None:
        entries = [Entry(sequence=self.first + n, kind="event", data=event) for n, event in enumerate(self.events)]
        return News(stream=stream, epoch=1, entries=entries)

    async def news(self, places: Mapping[str, Place]) -> list[News]:
        await asyncio.Event().wait()
        return []

    async def wake(self) -> None: ...

    async def rest(self) -> None: ...

    async def close(self) -> None: ...


async def test_who_comes_to_where_the_others_have_not_read_is_not_ended_with_them() -> None:
    transport = LateTransport()
    bus: SharedBus[bytes] = SharedBus(transport, SystemClock(), encode=bytes, decode=bytes)
    slow = await bus.subscribe("s")
    assert slow is not None and (await anext(slow)).event == b"one"
    transport.first, transport.events = 7, [b"eight", b"nine"]
    async with asyncio.timeout(60):
        quick = await bus.subscribe("s", after=7)
        assert quick is not None and (await anext(quick)).event == b"nine"
    assert [frame.event async for frame in slow] == [], "what it missed is gone, so it sees nothing after the gap"
    await bus.close()
