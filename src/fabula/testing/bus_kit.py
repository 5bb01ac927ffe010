"""The conformance kit of the bus: each sentence of the law in `fabula.ports.bus` is a test with the same words.

An adapter's test module says `class TestMyBus(BusKit)` and gives two fixtures:

- `bus`, which forgets finished streams after `FORGOTTEN_AFTER` others have finished, or very soon, and keeps at least
  `LONGEST` events of a stream;
- `other`, the same bus as another process has it; where there is only one process, `bus` itself.

Adapters with a transport take `TransportBusKit`, which has the law about its absence, and give `transport`, too.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Protocol

import pytest

from fabula.ports.bus import Bus, Frame, Sender

FORGOTTEN_AFTER = 20
LONGEST = 1600
PATIENCE_S = 60.0
"""How long a test waits before it fails, on however busy a machine."""

Frames = AsyncGenerator[Frame[bytes], None]


class Transport(Protocol):
    """What lies between processes, for tests that take it away."""

    async def stop(self) -> None:
        """Ends all connections and takes no new ones."""
        ...

    async def start(self) -> None:
        """Is there again, with all that it knew."""
        ...

    async def lose(self) -> None:
        """Forgets everything; called while it is away."""
        ...


async def heard(bus: Bus[bytes], stream: str, *, after: int = -1) -> Frames:
    frames = await bus.subscribe(stream, after=after)
    assert frames is not None
    return frames


async def to_the_end(frames: Frames) -> list[Frame[bytes]]:
    async with asyncio.timeout(PATIENCE_S):
        return [frame async for frame in frames]


async def heard_to_the_end(bus: Bus[bytes], stream: str, *, after: int = -1) -> list[Frame[bytes]]:
    return await to_the_end(await heard(bus, stream, after=after))


async def next_of(frames: Frames) -> bytes:
    async with asyncio.timeout(PATIENCE_S):
        return (await anext(frames)).event


async def finish(bus: Bus[bytes], stream: str, event: bytes = b"end") -> Sender[bytes]:
    sender = await bus.open(stream)
    sender.send(event, last=True)
    await sender.flush()
    return sender


async def is_forgotten(bus: Bus[bytes], stream: str) -> bool:
    frames = await bus.subscribe(stream)
    if frames is not None:
        await frames.aclose()
    return frames is None


async def until_forgotten(bus: Bus[bytes], listening: Bus[bytes], stream: str) -> None:
    for number in range(FORGOTTEN_AFTER):
        await finish(bus, f"filler-{number}")
    async with asyncio.timeout(PATIENCE_S):
        while not await is_forgotten(listening, stream):  # noqa: ASYNC110 - nothing tells when that is
            await asyncio.sleep(0.02)


class BusKit:
    """The whole law, for listeners in the sender's process and in another one."""

    @pytest.fixture(params=["here", "there"])
    def listening(self, request: pytest.FixtureRequest, bus: Bus[bytes], other: Bus[bytes]) -> Bus[bytes]:
        return bus if request.param == "here" else other

    async def test_every_listener_sees_all_events_in_one_order_without_gaps(
        self, bus: Bus[bytes], listening: Bus[bytes]
    ) -> None:
        sender = await bus.open("s")
        await sender.flush()
        hearing = [asyncio.create_task(to_the_end(await heard(listening, "s"))) for _ in range(3)]
        for number in range(50):
            assert sender.next_sequence == number
            sender.send(str(number).encode(), last=number == 49)
            if number % 7 == 0:
                await asyncio.sleep(0.003)
        for frames in await asyncio.gather(*hearing):
            assert [(frame.sequence, frame.event) for frame in frames] == [(n, str(n).encode()) for n in range(50)]

    async def test_a_listener_sees_the_events_after_the_one_it_names(
        self, bus: Bus[bytes], listening: Bus[bytes]
    ) -> None:
        sender = await bus.open("s")
        for number in range(5):
            sender.send(b"x", last=number == 4)
        await sender.flush()
        assert [frame.sequence for frame in await heard_to_the_end(listening, "s", after=2)] == [3, 4]
        assert await heard_to_the_end(listening, "s", after=4) == []
        assert await heard_to_the_end(listening, "s", after=99) == []

    async def test_one_that_comes_late_sees_the_earlier_events_first(
        self, bus: Bus[bytes], listening: Bus[bytes]
    ) -> None:
        sender = await bus.open("s")
        sender.send(b"one")
        await sender.flush()
        late = asyncio.create_task(to_the_end(await heard(listening, "s")))
        await asyncio.sleep(0)
        sender.send(b"two", last=True)
        assert [frame.event for frame in await late] == [b"one", b"two"]

    async def test_listeners_in_the_senders_process_hear_an_event_at_once(self, bus: Bus[bytes]) -> None:
        sender = await bus.open("s")
        frames = await heard(bus, "s")
        hearing = asyncio.ensure_future(anext(frames))
        await asyncio.sleep(0)
        sender.send(b"one")
        for _ in range(3):
            await asyncio.sleep(0)
        assert hearing.done() and hearing.result().event == b"one"
        await frames.aclose()

    async def test_others_hear_it_when_flush_returns_and_soon_without_it(
        self, bus: Bus[bytes], other: Bus[bytes]
    ) -> None:
        sender = await bus.open("s")
        sender.send(b"one")
        await sender.flush()
        async with aclosing(await heard(other, "s")) as frames:
            assert await next_of(frames) == b"one"
            sender.send(b"two")
            assert await next_of(frames) == b"two"

    async def test_a_stream_ends_for_its_listeners_after_its_last_event(
        self, bus: Bus[bytes], listening: Bus[bytes]
    ) -> None:
        sender = await bus.open("s")
        await sender.flush()
        hearing = asyncio.create_task(to_the_end(await heard(listening, "s")))
        sender.send(b"end", last=True)
        sender.send(b"after the end")
        sender.send(b"and another end", last=True)
        await sender.close()
        await sender.flush()
        assert [(frame.event, frame.last) for frame in await hearing] == [(b"end", True)]
        assert [frame.event for frame in await heard_to_the_end(listening, "s")] == [b"end"]

    async def test_a_stream_ends_for_its_listeners_when_its_sender_is_closed(
        self, bus: Bus[bytes], listening: Bus[bytes]
    ) -> None:
        sender = await bus.open("s")
        sender.send(b"one")
        await sender.flush()
        hearing = asyncio.create_task(to_the_end(await heard(listening, "s")))
        await asyncio.sleep(0)
        await sender.close()
        sender.send(b"unheard")
        await sender.flush()
        assert [(frame.event, frame.last) for frame in await hearing] == [(b"one", False)]
        assert [frame.event for frame in await heard_to_the_end(listening, "s")] == [b"one"]

    async def test_open_of_a_stream_that_exists_starts_it_anew_and_listeners_of_the_old_one_are_ended(
        self, bus: Bus[bytes], listening: Bus[bytes]
    ) -> None:
        old = await bus.open("s")
        old.send(b"old")
        await old.flush()
        hearing = asyncio.create_task(to_the_end(await heard(listening, "s")))
        await asyncio.sleep(0.01)
        new = await bus.open("s")
        old.send(b"unheard")
        await old.close()
        new.send(b"new", last=True)
        await new.flush()
        assert [frame.event for frame in await hearing] == [b"old"]
        assert [(frame.sequence, frame.event) for frame in await heard_to_the_end(listening, "s")] == [(0, b"new")]

    async def test_a_process_whose_stream_was_opened_anew_in_another_one_learns_of_it_when_it_next_sends(
        self, bus: Bus[bytes], other: Bus[bytes]
    ) -> None:
        old = await bus.open("s")
        old.send(b"old")
        await old.flush()
        here, there = [asyncio.create_task(to_the_end(await heard(at, "s"))) for at in (bus, other)]
        await asyncio.sleep(0.01)
        new = await other.open("s")
        await new.flush()
        old.send(b"unheard there")
        await old.flush()
        new.send(b"new", last=True)
        await new.flush()
        assert [frame.event for frame in await there] == [b"old"]
        assert b"new" not in [frame.event for frame in await here]
        for at in (bus, other):
            assert [(frame.sequence, frame.event) for frame in await heard_to_the_end(at, "s")] == [(0, b"new")]

    async def test_a_finished_stream_can_be_listened_to_for_a_while_then_subscribe_is_none(
        self, bus: Bus[bytes], listening: Bus[bytes]
    ) -> None:
        await finish(bus, "s")
        assert [frame.event for frame in await heard_to_the_end(listening, "s")] == [b"end"]
        await until_forgotten(bus, listening, "s")

    async def test_for_unknown_streams_subscribe_is_none(self, listening: Bus[bytes]) -> None:
        assert await listening.subscribe("never") is None

    async def test_a_stream_that_runs_is_never_forgotten(self, bus: Bus[bytes], listening: Bus[bytes]) -> None:
        sender = await bus.open("s")
        for number in range(3 * FORGOTTEN_AFTER):
            await finish(bus, f"other-{number}", b"x" * 1000)
        await until_forgotten(bus, listening, "other-0")
        sender.send(b"end", last=True)
        await sender.flush()
        assert [frame.event for frame in await heard_to_the_end(listening, "s")] == [b"end"]

    async def test_who_listens_to_a_stream_while_it_is_forgotten_hears_it_to_its_end(
        self, bus: Bus[bytes], listening: Bus[bytes]
    ) -> None:
        sender = await bus.open("s")
        sender.send(b"one")
        await sender.flush()
        frames = await heard(listening, "s")
        assert await next_of(frames) == b"one"
        sender.send(b"end", last=True)
        await sender.flush()
        hearing = asyncio.create_task(to_the_end(frames))
        await until_forgotten(bus, bus, "s")
        assert [frame.event for frame in await hearing] == [b"end"]

    async def test_a_listener_that_does_not_read_harms_nobody_else(
        self, bus: Bus[bytes], listening: Bus[bytes]
    ) -> None:
        sender = await bus.open("s")
        await sender.flush()
        asleep, awake = await heard(listening, "s"), asyncio.create_task(to_the_end(await heard(listening, "s")))
        sender.send(b"one")
        assert await next_of(asleep) == b"one"
        for _ in range(1000):
            sender.send(b"x")
        sender.send(b"end", last=True)
        assert len(await awake) == 1002
        await asleep.aclose()

    async def test_of_a_very_long_stream_only_the_newest_events_are_kept(
        self, bus: Bus[bytes], listening: Bus[bytes]
    ) -> None:
        sender = await bus.open("s")
        for number in range(5 * LONGEST):
            sender.send(b"%d" % number, last=number == 5 * LONGEST - 1)
        await sender.flush()
        assert await listening.subscribe("s", after=5) is None, "who names an older one gets None"
        newest = await heard_to_the_end(listening, "s", after=4 * LONGEST)
        assert [frame.event for frame in newest] == [b"%d" % n for n in range(4 * LONGEST + 1, 5 * LONGEST)]

    async def test_a_listener_that_falls_further_behind_is_ended_and_sees_no_gap(
        self, bus: Bus[bytes], listening: Bus[bytes]
    ) -> None:
        sender = await bus.open("s")
        sender.send(b"one")
        await sender.flush()
        frames = await heard(listening, "s")
        assert await next_of(frames) == b"one"
        for _ in range(5):
            for _ in range(LONGEST):
                sender.send(b"x")
            await sender.flush()
        marker = await heard(listening, "s", after=sender.next_sequence - 1)
        sender.send(b"end", last=True)
        assert [frame.event for frame in await to_the_end(marker)] == [b"end"]
        # How much of it is still there when the listener reads on is the adapter's own affair; a gap never is.
        seen = [frame.sequence for frame in await to_the_end(frames)]
        assert seen == list(range(1, 1 + len(seen)))

    async def test_close_ends_the_streams_that_are_open_in_this_process(
        self, bus: Bus[bytes], listening: Bus[bytes]
    ) -> None:
        sender = await bus.open("s")
        sender.send(b"one")
        await sender.flush()
        hearing = asyncio.create_task(to_the_end(await heard(listening, "s")))
        await asyncio.sleep(0.01)
        await bus.close()
        assert [(frame.event, frame.last) for frame in await hearing] == [(b"one", False)]


class TransportBusKit(BusKit):
    """The law, with what it says about a transport that is away."""

    async def test_while_the_transport_is_away_sending_and_listening_inside_one_process_go_on(
        self, bus: Bus[bytes], transport: Transport
    ) -> None:
        await transport.stop()
        sender = await bus.open("s")
        hearing = asyncio.create_task(to_the_end(await heard(bus, "s")))
        for number in range(50):
            sender.send(b"%d" % number, last=number == 49)
            await asyncio.sleep(0)
        await sender.flush()
        assert [frame.event for frame in await hearing] == [b"%d" % n for n in range(50)]

    async def test_while_the_transport_is_away_subscribe_to_a_stream_of_another_process_is_none(
        self, bus: Bus[bytes], other: Bus[bytes], transport: Transport
    ) -> None:
        sender = await bus.open("s")
        await sender.flush()
        await transport.stop()
        assert await other.subscribe("s") is None

    async def test_when_the_transport_is_back_listeners_go_on_without_a_gap_or_a_repeat(
        self, bus: Bus[bytes], other: Bus[bytes], transport: Transport
    ) -> None:
        sender = await bus.open("s")
        sender.send(b"0")
        await sender.flush()
        frames = await heard(other, "s")
        assert await next_of(frames) == b"0"
        await transport.stop()
        sender.send(b"1")
        await sender.flush()
        await transport.start()
        sender.send(b"2", last=True)
        assert [(frame.sequence, frame.event) for frame in await to_the_end(frames)] == [(1, b"1"), (2, b"2")]

    async def test_streams_that_run_are_whole_again_even_if_the_transport_lost_what_it_had(
        self, bus: Bus[bytes], other: Bus[bytes], transport: Transport
    ) -> None:
        sender = await bus.open("s")
        sender.send(b"0")
        await sender.flush()
        frames = await heard(other, "s")
        assert await next_of(frames) == b"0"
        await transport.stop()
        sender.send(b"1")
        await sender.flush()
        await transport.lose()
        await transport.start()
        assert await next_of(frames) == b"1"
        assert [frame.event for frame in await _first(await _soon(other, "s"), 2)] == [b"0", b"1"]
        sender.send(b"2", last=True)
        assert [frame.event for frame in await to_the_end(frames)] == [b"2"]

    async def test_streams_that_ended_meanwhile_are_whole_again(
        self, bus: Bus[bytes], other: Bus[bytes], transport: Transport
    ) -> None:
        sender = await bus.open("s")
        sender.send(b"0")
        await sender.flush()
        await transport.stop()
        sender.send(b"end", last=True)
        await finish(bus, "another")
        await transport.start()
        assert [frame.event for frame in await to_the_end(await _soon(other, "another"))] == [b"end"]
        assert [frame.event for frame in await to_the_end(await _soon(other, "s"))] == [b"0", b"end"]

    async def test_nothing_waits_for_a_transport_that_is_away(self, bus: Bus[bytes], transport: Transport) -> None:
        sender = await bus.open("s")
        await transport.stop()
        sender.send(b"one")
        async with asyncio.timeout(PATIENCE_S):
            await sender.flush()
            await sender.close()
            await bus.close()

    async def test_one_warning_tells_that_it_is_away_and_one_line_that_it_is_back(
        self, bus: Bus[bytes], other: Bus[bytes], transport: Transport, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level("INFO", "fabula.bus")
        sender = await bus.open("s")
        await transport.stop()
        for _ in range(5):
            sender.send(b"x")
            await sender.flush()
        assert [record.levelname for record in caplog.records] == ["WARNING"]
        await transport.start()
        await (await _soon(other, "s")).aclose()
        async with asyncio.timeout(PATIENCE_S):
            while len(caplog.records) < 2:  # noqa: ASYNC110 - nothing tells when that is
                await asyncio.sleep(0.02)
        assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]


async def _soon(bus: Bus[bytes], stream: str) -> Frames:
    """The frames of a stream that is about to be known."""
    async with asyncio.timeout(PATIENCE_S):
        while (frames := await bus.subscribe(stream)) is None:  # noqa: ASYNC110 - nothing tells when that is
            await asyncio.sleep(0.02)
    return frames


async def _first(frames: Frames, count: int) -> list[Frame[bytes]]:
    found: list[Frame[bytes]] = []
    async with asyncio.timeout(PATIENCE_S), aclosing(frames):
        while len(found) < count:
            found.append(await anext(frames))
    return found
