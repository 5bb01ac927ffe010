"""The bus over Postgres: copies of streams are rows, and NOTIFY tells other servers where to look.

The tables are `bus_streams` (the newest epoch of each stream) and `bus_entries`. They are not logged and no part of the
store: a row that a crash takes is delivered again, or is of a turn whose end the store knows.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Container, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import groupby
from typing import Any, get_args
from urllib.parse import urlsplit

import asyncpg  # type: ignore[import-untyped]

from fabula.adapters.bus.local import LONGEST_STREAM
from fabula.adapters.bus.shared import PATIENCE_S, Delivery, Entry, EntryKind, News, Place, TransportAway

CHANNEL = "fabula_bus"
NEWS_S = 3.0
PRUNE_EVERY_S = 60.0
GATHER_S = 0.02
"""Rows are dearer than entries of Redis, so more of them are written at once."""

KINDS = frozenset(get_args(EntryKind))

PLACES = """
SELECT stream, epoch,
       (SELECT max(sequence) FROM bus_entries e WHERE e.stream = s.stream AND e.epoch = s.epoch) AS sequence
FROM bus_streams s WHERE stream = ANY($1)
"""

# One statement, hence one round trip and one transaction: an epoch is written only where there is no newer one, entries
# only where their epoch was, and those who listen are told of exactly these streams.
WRITE = f"""
WITH accepted AS (
    INSERT INTO bus_streams AS s (stream, epoch, expires_at)
    SELECT d.stream, d.epoch, now() + make_interval(secs => d.keep_s)
    FROM unnest($1::text[], $2::bigint[], $3::float8[]) AS d (stream, epoch, keep_s) ORDER BY d.stream
    ON CONFLICT (stream) DO UPDATE SET epoch = excluded.epoch, expires_at = excluded.expires_at
    WHERE s.epoch <= excluded.epoch
    RETURNING s.stream, s.xmax <> 0 AS was_there
), written AS (
    INSERT INTO bus_entries (stream, epoch, sequence, kind, data)
    SELECT e.* FROM unnest($4::text[], $5::bigint[], $6::int[], $7::text[], $8::bytea[])
        AS e (stream, epoch, sequence, kind, data) JOIN accepted USING (stream)
    ON CONFLICT DO NOTHING
)
SELECT stream, was_there, pg_notify('{CHANNEL}', stream) FROM accepted
"""
FORGET_OLDER = """
DELETE FROM bus_entries e USING unnest($1::text[], $2::bigint[], $3::int[]) AS d (stream, epoch, sequence)
WHERE e.stream = d.stream AND (e.epoch, e.sequence) < (d.epoch, d.sequence)
"""
READ = """
SELECT s.epoch, e.sequence, e.kind, e.data FROM bus_streams s LEFT JOIN bus_entries e USING (stream, epoch)
WHERE s.stream = $1 AND s.expires_at > now() ORDER BY e.sequence
"""
NEWS = """
SELECT s.stream, s.epoch, e.sequence, e.kind, e.data
FROM unnest($1::text[], $2::bigint[], $3::int[]) AS p (stream, epoch, sequence)
JOIN bus_streams s USING (stream)
LEFT JOIN bus_entries e ON e.stream = s.stream AND e.epoch = s.epoch AND s.epoch = p.epoch AND e.sequence > p.sequence
ORDER BY s.stream, e.sequence
"""
PRUNE = """
WITH gone AS (DELETE FROM bus_streams WHERE expires_at < now() RETURNING stream)
DELETE FROM bus_entries e USING gone WHERE e.stream = gone.stream
"""


class PostgresTransport:
    """Two connections: one reads and writes, one listens for notifications while somebody waits for news."""

    def __init__(self, address: str, *, longest_stream: int = LONGEST_STREAM) -> None:
        self._address = re.sub(r"^postgres(ql)?(\+\w+)?://", "postgresql://", address)
        self.name = f"The bus on Postgres at {urlsplit(self._address).hostname or 'this machine'}"
        self._longest = longest_stream
        self._connection = _Connection(self._address)
        self._listener = _Listener(self._address)
        self._pruned_at = 0.0

    async def places(self, streams: Sequence[str]) -> list[Place | None]:
        async with self._connection.used() as connection:
            rows = {row["stream"]: row for row in await connection.fetch(PLACES, streams)}
        return [_place(rows[stream]) if stream in rows else None for stream in streams]

    async def write(self, deliveries: Sequence[Delivery]) -> set[str]:
        entries = [(delivery, entry) for delivery in deliveries for entry in delivery.entries]
        async with self._connection.used() as connection:
            accepted = await connection.fetch(
                WRITE,
                [delivery.stream for delivery in deliveries],
                [delivery.epoch for delivery in deliveries],
                [delivery.keep_s for delivery in deliveries],
                [delivery.stream for delivery, _ in entries],
                [delivery.epoch for delivery, _ in entries],
                [entry.sequence for _, entry in entries],
                [entry.kind for _, entry in entries],
                [entry.data for _, entry in entries],
            )
            await self._forget_older(connection, deliveries, {row["stream"] for row in accepted if row["was_there"]})
            await self._prune(connection)
        return {delivery.stream for delivery in deliveries} - {row["stream"] for row in accepted}

    async def read(self, stream: str) -> News | None:
        async with self._connection.used() as connection:
            rows = await connection.fetch(READ, stream)
        return News(stream=stream, epoch=rows[0]["epoch"], entries=_entries(rows)) if rows else None

    async def news(self, places: Mapping[str, Place]) -> list[News]:
        due = await self._listener.wait(places.keys())
        if not due:
            return []
        streams = sorted(due)
        epochs, sequences = zip(*((places[one].epoch, places[one].sequence) for one in streams), strict=True)
        async with self._connection.used() as connection:
            rows = await connection.fetch(NEWS, streams, epochs, sequences)
        found = [(stream, list(some)) for stream, some in groupby(rows, key=lambda row: str(row["stream"]))]
        return [News(stream=stream, epoch=some[0]["epoch"], entries=_entries(some)) for stream, some in found]

    async def wake(self) -> None:
        self._listener.wake()

    async def rest(self) -> None:
        await self._listener.close()

    async def close(self) -> None:
        await self._listener.close()
        await self._connection.close()

    async def _forget_older(self, connection: Any, deliveries: Sequence[Delivery], known: Container[str]) -> None:
        """Drops older epochs of streams that were opened anew, and from time to time the oldest entries of long ones.

        Nearly every stream is that of a turn, and opened once: of those that were not `known` there is nothing older.
        """
        oldest = [(one.stream, one.epoch, _oldest_kept(one, self._longest)) for one in deliveries]
        due = [found for found in oldest if found[2] is not None and (found[2] > 0 or found[0] in known)]
        if due:
            await connection.execute(FORGET_OLDER, *(list(column) for column in zip(*due, strict=True)))

    async def _prune(self, connection: Any) -> None:
        now = asyncio.get_running_loop().time()
        if now > self._pruned_at + PRUNE_EVERY_S:
            await connection.execute(PRUNE)
            self._pruned_at = now


def _oldest_kept(delivery: Delivery, longest: int) -> int | None:
    """The first entry that need be kept, when it is time to drop those before it: after each quarter of the bound."""
    if delivery.entries:
        first, last, quarter = delivery.entries[0].sequence, delivery.entries[-1].sequence, max(longest // 4, 1)
        if first // quarter != last // quarter and last >= longest:
            return last + 1 - longest
    return 0 if delivery.opening else None


class _Connection:
    """One connection, made when it is needed and thrown away when anything goes wrong with it."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._one: Any = None
        self._in_use = asyncio.Lock()

    @asynccontextmanager
    async def used(self) -> AsyncIterator[Any]:
        async with self._in_use:
            try:
                async with _plainly():
                    if self._one is None or self._one.is_closed():
                        self._one = await _connect(self._address)
                    yield self._one
            except BaseException:
                self._drop()
                raise

    async def close(self) -> None:
        self._drop()

    def _drop(self) -> None:
        if self._one is not None:
            self._one.terminate()
            self._one = None


class _Listener:
    """Collects the streams of which notifications tell, for as long as somebody waits."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._one: Any = None
        self._told: set[str] = set()
        self._known: frozenset[str] = frozenset()
        self._news = asyncio.Event()

    async def wait(self, streams: Any) -> set[str]:
        """Those of the streams of which there may be news; after a while, or on a new connection, all of them."""
        if self._one is None:
            await self._listen()
        self._told &= set(streams)
        due = self._told | (set(streams) - self._known)
        if not due:
            due = await self._hear(set(streams))
        self._known = frozenset(streams)
        self._told -= due
        if self._one is None or self._one.is_closed():
            await self.close()
            raise TransportAway("the connection was closed")
        return due

    async def _hear(self, streams: set[str]) -> set[str]:
        self._news.clear()
        try:
            async with asyncio.timeout(NEWS_S):
                await self._news.wait()
        except TimeoutError:
            return streams
        return self._told & streams

    def wake(self) -> None:
        self._news.set()

    async def close(self) -> None:
        if self._one is not None:
            self._one.terminate()
        self._one, self._told, self._known = None, set(), frozenset()

    async def _listen(self) -> None:
        async with _plainly():
            connection = await _connect(self._address)
            try:
                connection.add_termination_listener(lambda _: self._news.set())
                await connection.add_listener(CHANNEL, self._notified)
            except BaseException:
                connection.terminate()
                raise
        self._one = connection

    def _notified(self, _connection: object, _pid: int, _channel: str, stream: str) -> None:
        self._told.add(stream)
        self._news.set()


async def _connect(address: str) -> Any:
    # A copy that a crash takes is no loss, so nobody waits for the disk.
    settings = {"search_path": "fabula,public", "application_name": "fabula bus", "synchronous_commit": "off"}
    return await asyncpg.connect(address, timeout=PATIENCE_S, command_timeout=PATIENCE_S, server_settings=settings)


@asynccontextmanager
async def _plainly() -> AsyncIterator[None]:
    """Failures of Postgres leave as TransportAway; an internal one is how the driver tells of a line that was cut
    between two steps of a statement."""
    try:
        yield
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError) as error:
        raise TransportAway(str(error) or type(error).__name__) from error


def _place(row: Mapping[str, Any]) -> Place:
    return Place(epoch=row["epoch"], sequence=-1 if row["sequence"] is None else row["sequence"])


def _entries(rows: Sequence[Mapping[str, Any]]) -> list[Entry]:
    return [Entry(sequence=row["sequence"], kind=row["kind"], data=row["data"]) for row in rows if row["kind"] in KINDS]
