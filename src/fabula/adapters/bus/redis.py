"""The bus over Redis Streams: one Redis stream for each of ours, bounded in length and expiring by itself.

The id of an entry is `epoch-number`: `epoch-0` says that the stream was opened, `epoch-(n + 1)` is event n. So a reader
goes on after any event, an entry cannot be written twice, and Redis itself refuses a sender whose epoch is old.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar
from uuid import uuid4

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError, ResponseError

from fabula.adapters.bus import place_of
from fabula.adapters.bus.local import LONGEST_STREAM
from fabula.adapters.bus.shared import (
    LARGEST_COPY,
    PATIENCE_S,
    Delivery,
    Entry,
    EntryKind,
    News,
    Place,
    TransportAway,
    weight,
)
from fabula.ports.errors import BackendError

T = TypeVar("T")
Row = tuple[bytes, dict[bytes, bytes]]

PREFIX = "fabula:bus:"
NEWS_S = 3.0
"""How long Redis is asked to wait for news; shorter than the patience with a connection that fell silent."""

FEW_NEWS, MOST_NEWS = 2, 32
FEW_ENTRIES, MOST_ENTRIES = 8, 1000
"""So many entries, of news and of a whole copy, are asked for at once, and more as long as those that came are short:
nobody can tell how large the next ones are, and others may have written them."""
SHORT_ENTRY = 1000
NO_EPOCH = -1
"""No stream is of this epoch: who follows one hears that it has ended."""
_KINDS: dict[bytes, EntryKind] = {b"e": "event", b"l": "last", b"x": "end"}
_LETTERS = {kind: letter.decode() for letter, kind in _KINDS.items()}
_OPENED = {b"k": b"o"}

# A whole batch is one command with two arguments, because the client spends more on each of either than Redis on an
# entry. The first argument is words: the bound; for each key its epoch, whether it opens, how long to keep it and the
# number of its entries; for each of those its number, its kind and the length of its data. The second is all the data.
WRITE = """
local words, refused, place = string.gmatch(ARGV[1], '%S+'), {}, 1
local function failed(reply) return type(reply) == 'table' and reply.err end
-- A newer epoch, or something that others wrote where a stream of ours should be: this stream is lost, and no other.
local function is_lost(problem)
    for _, sign in ipairs({'equal or smaller', 'WRONGTYPE', 'Invalid stream ID', 'exhausted'}) do
        if string.find(problem, sign, 1, true) then return true end
    end
end
local bound = words()
for number, key in ipairs(KEYS) do
    local epoch, opening, keep, count = words(), words(), words(), tonumber(words())
    local reply = {}
    if opening == '1' then
        reply = redis.pcall('XADD', key, epoch .. '-0', 'k', 'o')
        redis.pcall('XTRIM', key, 'MINID', epoch .. '-0')
    end
    for entry = 1, count do
        local id, kind, length = epoch .. '-' .. words(), words(), tonumber(words())
        if not failed(reply) then
            local data = string.sub(ARGV[2], place, place + length - 1)
            reply = redis.pcall('XADD', key, 'MAXLEN', '~', bound, id, 'k', kind, 'd', data)
        end
        place = place + length
    end
    if not failed(reply) then
        redis.call('PEXPIRE', key, keep)
    elseif is_lost(reply.err) then
        refused[#refused + 1] = number
    else
        return reply
    end
end
return refused
"""


class RedisTransport:
    """A few connections: one of them waits for news."""

    def __init__(self, address: str, *, longest_stream: int = LONGEST_STREAM) -> None:
        self.name = f"Redis at {place_of(address)}"
        self._longest = longest_stream
        self._client = redis_client(address)
        self._wake_key = _new_wake_key()
        self._woken = b"0-0"
        self._news_asked = FEW_NEWS

    async def ping(self) -> None:
        """Tries whether Redis answers and takes entries."""

        async def try_it() -> None:
            key = f"{PREFIX}try:{uuid4().hex}"
            pipeline = self._client.pipeline(transaction=False)
            pipeline.xadd(key, dict(_OPENED))
            pipeline.delete(key)
            await pipeline.execute()

        await _plainly(try_it)

    async def places(self, streams: Sequence[str]) -> list[Place | None]:
        async def look() -> list[Place | None]:
            pipeline = self._client.pipeline(transaction=False)
            for stream in streams:
                pipeline.xrevrange(_key(stream), count=1)
            answers = await pipeline.execute(raise_on_error=False)
            return [_place(found[0][0]) if found else None for found in map(_read, answers)]

        return await _plainly(look)

    async def write(self, deliveries: Sequence[Delivery]) -> set[str]:
        words: list[object] = [self._longest]
        for delivery in deliveries:
            words += (delivery.epoch, int(delivery.opening), round(delivery.keep_s * 1000), len(delivery.entries))
            for entry in delivery.entries:
                words += (entry.sequence + 1, _LETTERS[entry.kind], len(entry.data))
        data = b"".join(entry.data for delivery in deliveries for entry in delivery.entries)
        keys = [_key(delivery.stream) for delivery in deliveries]

        async def write() -> set[str]:
            refused = await self._client.eval(WRITE, len(keys), *keys, " ".join(map(str, words)), data)
            return {deliveries[number - 1].stream for number in refused}

        return await _plainly(write)

    async def read(self, stream: str) -> News | None:
        async def read() -> News | None:
            # From the newest back, so that of a copy that is far too large the end is read.
            rows: list[Row] = []
            left, count, before = LARGEST_COPY, FEW_ENTRIES, "+"
            while left > 0 and len(rows) < 2 * self._longest:
                page = await self._page(stream, before, count)
                rows += page
                if len(page) < count:
                    break
                left -= sum(weight(fields.get(b"d", b"")) for _, fields in page)
                count = min(4 * count, MOST_ENTRIES) if _are_short(page) else FEW_ENTRIES
                before = "(" + page[-1][0].decode()
            return _news(stream, rows[::-1]) if rows else None

        return await _plainly(read)

    async def _page(self, stream: str, before: str, count: int) -> list[Row]:
        pipeline = self._client.pipeline(transaction=False)
        (answer,) = await pipeline.xrevrange(_key(stream), max=before, count=count).execute(raise_on_error=False)
        return list(_read(answer))

    async def news(self, places: Mapping[str, Place]) -> list[News]:
        ids = {_key(stream): _id(place.epoch, place.sequence) for stream, place in places.items()}
        names = {_key(stream).encode(): stream for stream in places}

        async def wait() -> list[News]:
            ask: dict[Any, Any] = {**ids, self._wake_key: self._woken}
            try:
                told = await self._client.xread(ask, count=self._news_asked, block=round(NEWS_S * 1000))
            except ResponseError as error:
                if not _is_no_stream(error):
                    raise
                return await self._without_streams(places)
            found: dict[bytes, Any] = dict(told or [])
            if woken := found.pop(self._wake_key.encode(), None):
                self._woken = woken[-1][0]
            if found:
                is_short = all(map(_are_short, found.values()))
                self._news_asked = min(4 * self._news_asked, MOST_NEWS) if is_short else FEW_NEWS
            return [_news_after(places[names[key]], names[key], rows) for key, rows in found.items()]

        return await _plainly(wait)

    async def _without_streams(self, streams: Iterable[str]) -> list[News]:
        """Tells that streams have ended in whose places others wrote something else: nobody could wait for the rest."""
        keys = {self._wake_key: "", **{_key(stream): stream for stream in streams}}
        pipeline = self._client.pipeline(transaction=False)
        for key in keys:
            pipeline.type(key)
        kinds = await pipeline.execute()
        lost = [key for key, kind in zip(keys, kinds, strict=True) if kind not in (b"stream", b"none")]
        if self._wake_key in lost:
            self._wake_key, self._woken = _new_wake_key(), b"0-0"
        return [News(stream=keys[key], epoch=NO_EPOCH, entries=()) for key in lost if keys[key]]

    async def wake(self) -> None:
        async def wake() -> None:
            pipeline = self._client.pipeline(transaction=False)
            pipeline.xadd(self._wake_key, dict(_OPENED), maxlen=1, approximate=False)
            pipeline.pexpire(self._wake_key, 60_000)
            await pipeline.execute()

        await _plainly(wake)

    async def rest(self) -> None:
        """A connection that does not wait costs nothing."""

    async def close(self) -> None:
        with suppress(OSError):
            await self._client.aclose()


def redis_client(address: str) -> Any:
    """Connects when it is first used. It does not try again by itself: who delivers knows better when to."""
    try:
        return Redis.from_url(
            address,
            protocol=2,
            socket_connect_timeout=PATIENCE_S,
            socket_timeout=PATIENCE_S,
            retry=Retry(NoBackoff(), 0),
        )
    except ValueError as error:
        raise BackendError("The setting redis_url must look like redis://:password@host:6379/0.") from error


async def _plainly(work: Callable[[], Awaitable[T]]) -> T:
    """Failures of Redis leave as TransportAway; they name no key and no password."""
    try:
        return await work()
    except (RedisError, OSError) as error:
        raise TransportAway(str(error) or type(error).__name__) from error


def _read(answer: Any) -> Any:
    """What Redis answered; nothing where others wrote something else in place of a stream."""
    if isinstance(answer, Exception):
        if not _is_no_stream(answer):
            raise answer
        return []
    return answer


def _is_no_stream(error: Exception) -> bool:
    return isinstance(error, ResponseError) and str(error).startswith("WRONGTYPE")


def _new_wake_key() -> str:
    return f"{PREFIX}wake:{uuid4().hex}"


def _key(stream: str) -> str:
    return PREFIX + stream


def _id(epoch: int, sequence: int) -> str:
    return f"{epoch}-{sequence + 1}"


def _place(id: bytes) -> Place:
    epoch, _, number = id.partition(b"-")
    return Place(epoch=int(epoch), sequence=int(number) - 1)


def _are_short(rows: Sequence[Row]) -> bool:
    return all(sum(map(len, fields.values())) <= SHORT_ENTRY for _, fields in rows)


def _news(stream: str, rows: Sequence[Row]) -> News:
    """The entries of the newest epoch among some rows, which are in order."""
    epoch = _place(rows[-1][0]).epoch
    # An entry that is none of ours is left out. It leaves a gap, at which the stream ends for who follows it.
    ours = ((id, fields) for id, fields in rows if _place(id).epoch == epoch and b"d" in fields)
    entries = [_entry(id, fields) for id, fields in ours if fields.get(b"k") in _KINDS]
    return News(stream=stream, epoch=epoch, entries=entries)


def _news_after(place: Place, stream: str, rows: Sequence[Row]) -> News:
    """The same of a stream that is followed. It ends where there is nothing but what others wrote: whoever waits for
    more would be answered with that at once, again and again."""
    news = _news(stream, rows)
    is_stuck = news.epoch == place.epoch and not news.entries
    return News(stream=stream, epoch=NO_EPOCH, entries=()) if is_stuck else news


def _entry(id: bytes, fields: Mapping[bytes, bytes]) -> Entry:
    return Entry(sequence=_place(id).sequence, kind=_KINDS[fields[b"k"]], data=fields[b"d"])
