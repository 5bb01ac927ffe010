"""A bus that crosses processes: the sender's own process hears an event at once, others read it from a transport.

1. A sender appends to its log, which listeners here follow, and says that there is something to deliver.
2. One task of this process delivers. It waits a few milliseconds, where many streams are open up to a tenth of a
   second, and hands everything that is undelivered, of all streams, to the transport in one go: an event costs no round
   trip of its own.
3. A listener of another process's stream follows a mirror: a log that one task of this process fills with what the
   transport tells. All listeners of a stream share its mirror.
4. While the transport is away both tasks try again from time to time. Before a sender goes on it looks how far the
   transport's copy of its stream reaches, so that nothing is delivered twice and what was lost is delivered again.

Each opening of a stream has an epoch, a number that grows; a copy of a newer epoch takes the place of an older one.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeVar
from weakref import WeakValueDictionary

from fabula.adapters.bus.local import LONGEST_STREAM, EventLog, LocalBus, LocalSender
from fabula.ports.bus import Frame, Sender
from fabula.ports.threads import run_in_thread
from fabula.ports.throttle import Throttle
from fabula.ports.world import Clock

E = TypeVar("E")
T = TypeVar("T")

log = logging.getLogger("fabula.bus")

GATHER_S = 0.01
GATHER_PER_STREAM_S, LONGEST_GATHER_S = 0.001, 0.1
"""Where many streams are written, more of them is delivered at once: every delivery costs a round trip."""
FINISHED_S = 300.0
SILENT_S = 3600.0
"""So long the copy of a stream is kept in which nothing happens: its process may have died."""

PATIENCE_S = 5.0
LAST_WORDS_S = 2.0
FIRST_RETRY_S, LONGEST_RETRY_S = 0.1, 2.0
MOST_UNDELIVERED = 256
"""So many streams are kept for a transport that is away; of more, those that finished first are given up."""

LARGEST_EVENT = 4_000_000
"""In bytes. The last event of a turn has the whole state, which may have half a million letters of up to four bytes;
others who write to the transport could have everybody wait for a larger one."""
LONG_EVENT = 100_000
"""One of so many bytes is decoded beside the event loop."""
LARGEST_COPY = 32_000_000
"""About the bytes of memory that the events of a copy take here. Of a larger one the newest are read and kept: it is as
if it had lost its beginning."""
OF_A_VALUE = 64
MOST_READERS = 2
"""So many copies are read at once: each may be large, and is many times as large while it is read."""

EntryKind = Literal["event", "last", "end"]
"""`end` is no event: it says that the stream ended without a last one."""


class TransportAway(Exception):
    """The transport cannot be used now; the message says why, without a secret."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One line of a stream's copy."""

    sequence: int
    kind: EntryKind
    data: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """How far a copy reaches: the number of its last entry, -1 where it has none yet."""

    epoch: int
    sequence: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Delivery:
    """What is new of a stream. `keep_s` is how long its copy is kept if nothing follows."""

    stream: str
    epoch: int
    opening: bool
    entries: Sequence[Entry]
    keep_s: float


@dataclass(frozen=True, kw_only=True, slots=True)
class News:
    """Entries of a stream that came after a place. Those of a newer epoch may be left out: the epoch says it all."""

    stream: str
    epoch: int
    entries: Sequence[Entry]


class Transport(Protocol):
    """What lies between the processes. Everything raises TransportAway, and works again when the transport is back.

    `name` tells an operator which one it is, without a secret.
    """

    name: str

    async def places(self, streams: Sequence[str]) -> list[Place | None]:
        """How far the copies of streams reach, in their order; None for those that have none."""
        ...

    async def write(self, deliveries: Sequence[Delivery]) -> set[str]:
        """Appends to copies; answers the streams that were refused, because there is a newer epoch of them."""
        ...

    async def read(self, stream: str) -> News | None:
        """The copy of a stream in its newest epoch: the whole, or of a very large one the newest entries."""
        ...

    async def news(self, places: Mapping[str, Place]) -> list[News]:
        """Waits until there is something after one of the places, and no longer than some seconds."""
        ...

    async def wake(self) -> None:
        """Ends a running wait for news: there are other places to look at."""
        ...

    async def rest(self) -> None:
        """Nobody waits for news for the time being."""
        ...

    async def close(self) -> None: ...


class SharedBus(Generic[E]):
    """Keeps the law of `fabula.ports.bus.Bus` over a transport."""

    def __init__(
        self,
        transport: Transport,
        clock: Clock,
        *,
        encode: Callable[[E], bytes],
        decode: Callable[[bytes], E],
        local: LocalBus[E] | None = None,
        finished_s: float = FINISHED_S,
        gather_s: float = GATHER_S,
        longest_stream: int = LONGEST_STREAM,
    ) -> None:
        self._transport = transport
        self._local = LocalBus(longest_stream=longest_stream) if local is None else local
        self._open: dict[str, SharedSender[E]] = {}
        presence = _Presence(transport.name)
        self._deliverer = _Deliverer(
            transport,
            clock,
            presence,
            encode,
            finished_s=finished_s,
            gather_s=lambda: gather_s_for(len(self._open), least=gather_s),
        )
        self._mirrors = _Mirrors(transport, clock, presence, decode, longest_stream)

    async def open(self, stream: str) -> Sender[E]:
        """Waits for nothing: others learn of the stream with its first delivery."""
        old = self._open.pop(stream, None)
        if old is not None:
            old.superseded = True
        sender = self._open[stream] = SharedSender(self._local.open_now(stream), self._deliverer, self._forget)
        self._deliverer.touch(sender)
        return sender

    async def subscribe(self, stream: str, *, after: int = -1) -> AsyncGenerator[Frame[E], None] | None:
        found = self._local.find(stream) or await self._mirrors.find(stream, after=after)
        return None if found is None or not found.reaches_back_to(max(after + 1, 0)) else found.follow(after)

    async def close(self) -> None:
        for sender in [*self._open.values()]:
            sender.close_now()
        await self._deliverer.close()
        await self._mirrors.close()
        await self._local.close()
        await self._transport.close()

    def _forget(self, sender: SharedSender[E]) -> None:
        """A stream that has ended is the local bus's to keep; one that was opened anew elsewhere is no longer here."""
        if self._open.get(sender.stream) is sender:
            del self._open[sender.stream]
        if sender.superseded:
            self._local.remove(sender.local)


def gather_s_for(streams: int, *, least: float) -> float:
    """How long what so many open streams bring is gathered before it is delivered."""
    return max(least, min(LONGEST_GATHER_S, streams * GATHER_PER_STREAM_S))


class SharedSender(Generic[E]):
    """The writing end of a stream, and how much of it was delivered."""

    def __init__(
        self, local: LocalSender[E], deliverer: _Deliverer[E], forget: Callable[[SharedSender[E]], None]
    ) -> None:
        self.local, self.stream, self.log = local, local.stream, local.log
        self.superseded = False
        self.epoch: int | None = None
        self.is_certain = False
        self.delivered = 0
        """The number of the next entry to deliver; only what is certain of the copy counts."""
        self._deliverer, self._forget = deliverer, forget
        self._is_cut = False

    @property
    def next_sequence(self) -> int:
        return self.log.next_sequence

    def send(self, event: E, *, last: bool = False) -> None:
        if self.log.closed:
            return
        self.local.send(event, last=last)
        self._deliverer.touch(self)
        if last:
            self._forget(self)

    async def flush(self) -> None:
        await self._deliverer.flush(self)

    async def close(self) -> None:
        self.close_now()

    def close_now(self) -> None:
        if not self.log.closed:
            self._is_cut = True
            self.local.close_now()
            self._deliverer.touch(self)
            self._forget(self)

    def lose(self) -> None:
        """Another process opened the stream anew."""
        self.superseded = True
        self.log.close()
        self._forget(self)

    def entries(self, encode: Callable[[E], bytes]) -> list[Entry]:
        """What is undelivered, ready to be written."""
        found = [
            Entry(sequence=frame.sequence, kind="last" if frame.last else "event", data=encode(frame.event))
            for frame in self.log.since(self.delivered)
        ]
        if self._is_cut and self.delivered <= self.log.next_sequence:
            found.append(Entry(sequence=self.log.next_sequence, kind="end", data=b""))
        return found

    @property
    def has_news(self) -> bool:
        if self.superseded:
            return False
        return not self.is_certain or self.delivered < self.log.next_sequence + self._is_cut


class _Presence:
    """Tells the operator once that the transport is away, and once that it is back, whoever finds out."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._away: set[str] = set()

    def is_away(self, part: str) -> bool:
        return part in self._away

    def lost(self, part: str, why: TransportAway) -> None:
        if not self._away:
            log.warning("%s is away, and other servers cannot follow turns of this one until it is back: %s",
                        self._name, why)  # fmt: skip
        self._away.add(part)

    def found(self, part: str) -> None:
        if self._away:
            self._away.discard(part)
            if not self._away:
                log.info("%s is back; other servers can follow turns again.", self._name)


async def _in_time(work: Awaitable[T]) -> T:
    try:
        async with asyncio.timeout(PATIENCE_S):
            return await work
    except TimeoutError as error:
        raise TransportAway(f"no answer within {PATIENCE_S:.0f} seconds") from error


class _Deliverer(Generic[E]):
    """Brings what was sent to the transport, in the order of each stream."""

    def __init__(
        self,
        transport: Transport,
        clock: Clock,
        presence: _Presence,
        encode: Callable[[E], bytes],
        *,
        finished_s: float,
        gather_s: Callable[[], float],
    ) -> None:
        self._transport, self._clock, self._presence, self._encode = transport, clock, presence, encode
        self._finished_s, self._gather_s = finished_s, gather_s
        self._undelivered: dict[SharedSender[E], None] = {}
        self._task: asyncio.Task[None] | None = None
        self._hurry = asyncio.Event()
        self._tried: asyncio.Future[None] | None = None

    def touch(self, sender: SharedSender[E]) -> None:
        """A sender has something to deliver."""
        self._undelivered[sender] = None
        if self._task is None:
            self._task = asyncio.create_task(self._deliver_all())

    async def flush(self, sender: SharedSender[E]) -> None:
        while sender.has_news and self._task is not None and not self._presence.is_away("writing"):
            self._hurry.set()
            if self._tried is None:
                self._tried = asyncio.get_running_loop().create_future()
            await asyncio.shield(self._tried)

    async def close(self) -> None:
        task = self._task
        if task is None:
            return
        self._hurry.set()
        if not self._presence.is_away("writing"):
            await asyncio.wait([task], timeout=LAST_WORDS_S)
        task.cancel()
        await asyncio.wait([task])

    async def _deliver_all(self) -> None:
        try:
            retry_s = FIRST_RETRY_S
            while self._undelivered:
                await self._gather(retry_s if self._presence.is_away("writing") else self._gather_s())
                if await self._try():
                    retry_s = FIRST_RETRY_S
                else:
                    retry_s = min(2 * retry_s, LONGEST_RETRY_S)
                self._tell_who_waits()
        finally:
            self._task = None
            self._tell_who_waits()

    async def _gather(self, seconds: float) -> None:
        """Waits for more to deliver; whoever flushes does not want to wait, unless the transport is away."""
        if self._presence.is_away("writing"):
            await asyncio.sleep(seconds)
        elif not self._hurry.is_set():
            try:
                async with asyncio.timeout(seconds):
                    await self._hurry.wait()
            except TimeoutError:
                pass
        self._hurry.clear()

    async def _try(self) -> bool:
        senders = [sender for sender in self._undelivered if sender.has_news]
        self._undelivered = dict.fromkeys(senders)
        try:
            if senders:
                await _in_time(self._deliver(senders))
        except TransportAway as why:
            for sender in senders:
                sender.is_certain = False
            self._presence.lost("writing", why)
            self._give_up_the_oldest()
            return False
        self._presence.found("writing")
        # What was sent while these were written is delivered in the next round.
        self._undelivered = {sender: None for sender in self._undelivered if sender.has_news}
        return True

    async def _deliver(self, senders: list[SharedSender[E]]) -> None:
        unsure = [sender for sender in senders if not sender.is_certain]
        openings: set[SharedSender[E]] = set()
        if unsure:
            places = await self._transport.places([sender.stream for sender in unsure])
            openings = {sender for sender, place in zip(unsure, places, strict=True) if self._must_open(sender, place)}
        senders = [sender for sender in senders if not sender.superseded]
        deliveries = [self._delivery(sender, opening=sender in openings) for sender in senders]
        refused = await self._transport.write(deliveries)
        for sender, delivery in zip(senders, deliveries, strict=True):
            if delivery.stream in refused:
                sender.lose()
            elif delivery.entries:
                sender.delivered = delivery.entries[-1].sequence + 1
            sender.is_certain = True

    def _must_open(self, sender: SharedSender[E], place: Place | None) -> bool:
        """Where a sender goes on, now that it knows what there is; answers whether its copy has to be begun."""
        if sender.epoch is None:
            sender.epoch = max(self._clock.now_ms(), 0 if place is None else place.epoch + 1)
        elif place is not None and place.epoch == sender.epoch:
            sender.delivered = place.sequence + 1
            return False
        elif place is not None and place.epoch > sender.epoch:
            sender.lose()
            return False
        sender.delivered = 0
        return True

    def _delivery(self, sender: SharedSender[E], *, opening: bool) -> Delivery:
        assert sender.epoch is not None
        return Delivery(
            stream=sender.stream,
            epoch=sender.epoch,
            opening=opening,
            entries=sender.entries(self._encode),
            keep_s=self._finished_s if sender.log.closed else SILENT_S,
        )

    def _give_up_the_oldest(self) -> None:
        finished = [sender for sender in self._undelivered if sender.log.closed]
        for sender in finished[: max(0, len(self._undelivered) - MOST_UNDELIVERED)]:
            del self._undelivered[sender]

    def _tell_who_waits(self) -> None:
        if self._tried is not None and not self._tried.done():
            self._tried.set_result(None)
        self._tried = None


def weight(data: bytes) -> int:
    """About the bytes of memory that an event takes once it is decoded: what is short takes many times its letters."""
    return len(data) + OF_A_VALUE * (data.count(b",") + data.count(b"[") + data.count(b"{"))


class Mirror(EventLog[E]):
    """What this process knows of another one's stream. It is kept up to date for as long as somebody holds it."""

    def __init__(self, epoch: int, *, first: int, longest: int) -> None:
        super().__init__(first=first, longest=longest)
        self.epoch = epoch
        self._weights: deque[int] = deque()
        self._weight = 0

    @property
    def place(self) -> Place:
        return Place(epoch=self.epoch, sequence=self.next_sequence - 1)

    def take(self, news: News, decode: Callable[[Entry], E]) -> None:
        if news.epoch != self.epoch:
            self.close()
        for entry in news.entries:
            if self.closed:
                return
            if entry.sequence < self.next_sequence:
                continue
            if entry.sequence > self.next_sequence or entry.kind == "end":
                # A gap: what is missing was dropped before it could be read here. Nobody shall see the rest.
                self.close()
            else:
                self._append(entry, decode)

    def drop(self, count: int) -> None:
        super().drop(count)
        for _ in range(count):
            self._weight -= self._weights.popleft()

    def _append(self, entry: Entry, decode: Callable[[Entry], E]) -> None:
        try:
            event = decode(entry)
        except ValueError:
            self.close()
            return
        self._weights.append(weight(entry.data))
        self._weight += self._weights[-1]
        self.append(event, last=entry.kind == "last")
        while self._weight > LARGEST_COPY and len(self._weights) > 1:
            self.drop(1)


class _Decoder(Generic[E]):
    """Makes events of what another server, or somebody else, wrote."""

    def __init__(self, decode: Callable[[bytes], E], clock: Clock) -> None:
        self._decode = decode
        self._lines = Throttle(clock.monotonic, 1)

    async def ahead(self, news: News) -> Callable[[Entry], E]:
        """Decodes what is long in threads, and answers what then gives the event of an entry, or raises ValueError."""
        done: dict[int, E | _Unreadable] = {}
        for entry in news.entries:
            if LONG_EVENT < len(entry.data) <= LARGEST_EVENT:
                done[entry.sequence] = await run_in_thread(self._try, entry)
                if isinstance(done[entry.sequence], _Unreadable):
                    # The stream is cut there.
                    break

        def event_of(entry: Entry) -> E:
            event = done[entry.sequence] if entry.sequence in done else self._try(entry)
            if isinstance(event, _Unreadable):
                self._complain(entry, event)
                raise ValueError(event.why)
            return event

        return event_of

    def _try(self, entry: Entry) -> E | _Unreadable:
        if len(entry.data) > LARGEST_EVENT:
            return _Unreadable("it is too large")
        try:
            return self._decode(entry.data)
        except ValueError as error:
            return _Unreadable(str(error).partition("\n")[0][:200])

    def _complain(self, entry: Entry, found: _Unreadable) -> None:
        """A line now and then, with nothing of the event: somebody could fill the log with them."""
        if not self._lines.allows():
            return
        log.warning("An event of another server, of %d bytes, cannot be read, and its stream is cut here: %s",
                    len(entry.data), found.why)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Unreadable:
    """Why an entry is no event. No exception: with its traceback that would keep what was read until the collector
    comes."""

    why: str


class _Mirrors(Generic[E]):
    """The mirrors that somebody listens to. They vanish with their last listener, whether or not it ever began."""

    def __init__(
        self, transport: Transport, clock: Clock, presence: _Presence, decode: Callable[[bytes], E], longest_stream: int
    ) -> None:
        self._transport, self._presence, self._longest = transport, presence, longest_stream
        self._decoder = _Decoder(decode, clock)
        self._mirrors: WeakValueDictionary[str, Mirror[E]] = WeakValueDictionary()
        self._task: asyncio.Task[None] | None = None
        self._not_before = 0.0
        self._readers = asyncio.Semaphore(MOST_READERS)

    async def find(self, stream: str, *, after: int) -> Mirror[E] | None:
        """The mirror of a stream, made when it is first asked for; None for a stream that nobody knows."""
        found = self._open_mirror(stream)
        # One that has not come as far as the listener is behind, and may be about to find a gap and close.
        if found is not None and after < found.next_sequence:
            return found
        async with self._readers:
            news = await self._read(stream)
            if news is None:
                return self._open_mirror(stream)
            decode = await self._decoder.ahead(news)
        found = self._open_mirror(stream)
        if found is not None and found.epoch > news.epoch:
            return found
        if found is not None:
            found.take(news, decode)
        return self._open_mirror(stream) or await self._mirror(news, decode)

    def _open_mirror(self, stream: str) -> Mirror[E] | None:
        found = self._mirrors.get(stream)
        return None if found is None or found.closed else found

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        for mirror in [*self._mirrors.values()]:
            mirror.close()

    async def _read(self, stream: str) -> News | None:
        """A transport that was away a moment ago is not asked again at once: whoever subscribes must not wait."""
        now = asyncio.get_running_loop().time
        began = now()
        if self._presence.is_away("reading") and began < self._not_before:
            return None
        try:
            news = await _in_time(self._transport.read(stream))
        except TransportAway as why:
            self._presence.lost("reading", why)
            # One that was silent is left alone for longer than it was waited for.
            self._not_before = now() + max(FIRST_RETRY_S, 2 * (now() - began))
            return None
        self._presence.found("reading")
        return news

    async def _mirror(self, news: News, decode: Callable[[Entry], E]) -> Mirror[E]:
        entries = _without_gap(news.entries)
        first = entries[0].sequence if entries else 0
        made: Mirror[E] = Mirror(news.epoch, first=first, longest=self._longest)
        made.take(News(stream=news.stream, epoch=news.epoch, entries=entries), decode)
        if not made.closed:
            self._mirrors[news.stream] = made
            await self._attend()
        return made

    async def _attend(self) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._keep_up())
            return
        try:
            await _in_time(self._transport.wake())
        except TransportAway as why:
            self._presence.lost("reading", why)

    async def _keep_up(self) -> None:
        retry_s = FIRST_RETRY_S
        while places := await self._places():
            try:
                await self._spread(await self._transport.news(places))
                self._presence.found("reading")
                retry_s = FIRST_RETRY_S
            except TransportAway as why:
                self._presence.lost("reading", why)
                await asyncio.sleep(retry_s)
                retry_s = min(2 * retry_s, LONGEST_RETRY_S)
        self._task = None

    async def _places(self) -> dict[str, Place]:
        """Where the mirrors stand. Places, because a mirror that is held while news are waited for cannot vanish."""
        places = self._open_places()
        if not places:
            await self._transport.rest()
        return places or self._open_places()

    def _open_places(self) -> dict[str, Place]:
        return {stream: mirror.place for stream, mirror in self._mirrors.items() if not mirror.closed}

    async def _spread(self, found: list[News]) -> None:
        for news in found:
            decode = await self._decoder.ahead(news)
            mirror = self._mirrors.get(news.stream)
            if mirror is not None:
                mirror.take(news, decode)


def _without_gap(entries: Sequence[Entry]) -> Sequence[Entry]:
    """The newest entries that follow one another; a copy may have lost some in the middle."""
    start = len(entries)
    while start > 0 and (start == len(entries) or entries[start - 1].sequence + 1 == entries[start].sequence):
        start -= 1
    return entries[start:]
