"""The conformance kit of the bus: each sentence of the law in `fabula.ports.bus` is a test with the same words.

An adapter's test module says `class TestMyBus(BusKit)` and gives a fixture `bus` that forgets finished streams soon:
after `FORGOTTEN_AFTER` others have finished.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from fabula.ports.bus import Bus, Frame

FORGOTTEN_AFTER = 20


def heard(bus: Bus, stream: str, *, after: int = -1) -> AsyncGenerator[Frame, None]:
    frames = bus.listen(stream, after=after)
    assert frames is not None
    return frames


async def to_the_end(frames: AsyncGenerator[Frame, None]) -> list[Frame]:
    return [frame async for frame in frames]


class BusKit:
    """The whole law."""

    async def test_every_listener_sees_all_frames_in_one_order_without_gaps(self, bus: Bus) -> None:
        sender = bus.open("s")
        listening = [asyncio.create_task(to_the_end(heard(bus, "s"))) for _ in range(3)]
        for number in range(50):
            assert sender.next_sequence == number
            sender.send(str(number).encode(), last=number == 49)
            if number % 7 == 0:
                await asyncio.sleep(0)
        for frames in await asyncio.gather(*listening):
            assert [(frame.sequence, frame.data) for frame in frames] == [(n, str(n).encode()) for n in range(50)]

    async def test_a_listener_sees_the_frames_after_the_one_it_names(self, bus: Bus) -> None:
        sender = bus.open("s")
        for number in range(5):
            sender.send(b"x", last=number == 4)
        assert [frame.sequence for frame in await to_the_end(heard(bus, "s", after=2))] == [3, 4]
        assert await to_the_end(heard(bus, "s", after=4)) == []
        assert await to_the_end(heard(bus, "s", after=99)) == []

    async def test_one_that_comes_late_sees_the_earlier_frames_first(self, bus: Bus) -> None:
        sender = bus.open("s")
        sender.send(b"one")
        late = asyncio.create_task(to_the_end(heard(bus, "s")))
        await asyncio.sleep(0)
        sender.send(b"two", last=True)
        assert [frame.data for frame in await late] == [b"one", b"two"]

    async def test_a_stream_ends_for_its_listeners_after_its_last_frame(self, bus: Bus) -> None:
        sender = bus.open("s")
        listening = asyncio.create_task(to_the_end(heard(bus, "s")))
        sender.send(b"end", last=True)
        sender.send(b"after the end")
        sender.send(b"and another end", last=True)
        assert [(frame.data, frame.last) for frame in await listening] == [(b"end", True)]
        assert [frame.data for frame in await to_the_end(heard(bus, "s"))] == [b"end"]

    async def test_open_of_a_stream_that_exists_starts_it_anew_and_listeners_of_the_old_one_are_ended(
        self, bus: Bus
    ) -> None:
        old = bus.open("s")
        old.send(b"old")
        listening = asyncio.create_task(to_the_end(heard(bus, "s")))
        await asyncio.sleep(0)
        new = bus.open("s")
        old.send(b"unheard")
        new.send(b"new", last=True)
        assert [frame.data for frame in await listening] == [b"old"]
        assert [(frame.sequence, frame.data) for frame in await to_the_end(heard(bus, "s"))] == [(0, b"new")]

    async def test_a_finished_stream_can_be_listened_to_for_a_while_then_listen_is_none(self, bus: Bus) -> None:
        bus.open("s").send(b"end", last=True)
        assert [frame.data for frame in await to_the_end(heard(bus, "s"))] == [b"end"]
        for number in range(FORGOTTEN_AFTER):
            bus.open(f"other-{number}").send(b"end", last=True)
        assert bus.listen("s") is None

    async def test_for_unknown_streams_listen_is_none(self, bus: Bus) -> None:
        assert bus.listen("never") is None

    async def test_who_listens_to_a_stream_while_it_is_forgotten_hears_it_to_its_end(self, bus: Bus) -> None:
        sender = bus.open("s")
        sender.send(b"one")
        frames = heard(bus, "s")
        assert (await anext(frames)).data == b"one"
        sender.send(b"end", last=True)
        for number in range(FORGOTTEN_AFTER):
            bus.open(f"other-{number}").send(b"end", last=True)
        assert [frame.data for frame in await to_the_end(frames)] == [b"end"]

    async def test_a_stream_that_runs_is_never_forgotten(self, bus: Bus) -> None:
        sender = bus.open("s")
        for number in range(3 * FORGOTTEN_AFTER):
            bus.open(f"other-{number}").send(b"x" * 1000, last=True)
        sender.send(b"end", last=True)
        assert [frame.data for frame in await to_the_end(heard(bus, "s"))] == [b"end"]

    async def test_a_listener_that_does_not_read_harms_nobody_else(self, bus: Bus) -> None:
        sender = bus.open("s")
        asleep, awake = heard(bus, "s"), asyncio.create_task(to_the_end(heard(bus, "s")))
        sender.send(b"one")
        assert (await anext(asleep)).data == b"one"
        for _ in range(1000):
            sender.send(b"x")
        sender.send(b"end", last=True)
        assert len(await awake) == 1002
        await asleep.aclose()
