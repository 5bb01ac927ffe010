"""A bus over a transport whose news come late: a copy that has lost its beginning."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence

import pytest

from fabula.adapters.bus.shared import LARGEST_COPY, LONG_EVENT, Delivery, Entry, News, Place, SharedBus, TransportAway
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


async def test_a_long_event_is_decoded_beside_the_event_loop() -> None:
    transport, threads = LateTransport(), []

    def decode(data: bytes) -> int:
        threads.append(threading.current_thread())
        return len(data)

    transport.events = [b"short", b"x" * (LONG_EVENT + 1)]
    bus: SharedBus[int] = SharedBus(transport, SystemClock(), encode=bytes, decode=decode)
    found = await bus.subscribe("s")
    assert found is not None and [await anext(found), await anext(found)][1].event == LONG_EVENT + 1
    here = threading.current_thread()
    assert [one is here for one in threads] == [False, True] and len(threads) == 2, "each is decoded once"
    await bus.close()


async def test_what_is_kept_of_a_copy_is_bounded_in_memory() -> None:
    transport = LateTransport()
    transport.events = [b"," * 90_000] * 20
    bus: SharedBus[bytes] = SharedBus(transport, SystemClock(), encode=bytes, decode=bytes)
    assert await bus.subscribe("s", after=3) is None, "the oldest are not kept"
    found = await bus.subscribe("s", after=17)
    assert found is not None and (await anext(found)).sequence == 18
    assert LARGEST_COPY < 20 * 64 * 90_000
    await bus.close()


async def test_events_that_cannot_be_read_are_told_in_one_line_without_their_content(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def refuse(data: bytes) -> bytes:
        raise ValueError(f"1 error\n  {data!r}")

    transport = LateTransport()
    bus: SharedBus[bytes] = SharedBus(transport, SystemClock(), encode=bytes, decode=refuse)
    for _ in range(50):
        found = await bus.subscribe("s")
        assert found is not None and [frame async for frame in found] == []
    (line,) = [record.getMessage() for record in caplog.records if record.name == "fabula.bus"]
    assert line.endswith(": 1 error") and "one" not in line
    await bus.close()


async def test_a_transport_that_was_silent_is_not_waited_for_again_at_once() -> None:
    asked = []

    class SilentTransport(LateTransport):
        async def read(self, stream: str) -> News | None:
            asked.append(stream)
            await asyncio.sleep(1.0)
            raise TransportAway("no answer")

    bus: SharedBus[bytes] = SharedBus(SilentTransport(), SystemClock(), encode=bytes, decode=bytes)
    assert await bus.subscribe("s") is None
    await asyncio.sleep(0.2)
    assert await bus.subscribe("s") is None and asked == ["s"]
    await bus.close()
