"""The bus: events of running turns, numbered, to everyone who listens; and feeds of what happens to sessions.

`local` is for one process. `shared` crosses processes, over `redis` or over `postgres`. So it is with `local_feeds`,
`shared_feeds`, `redis_feeds` and `postgres_feeds`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar
from urllib.parse import urlsplit

from fabula.adapters.bus.local import LocalBus
from fabula.adapters.bus.local_feeds import LocalFeeds
from fabula.ports.bus import Bus
from fabula.ports.errors import BackendError
from fabula.ports.feeds import Feeds
from fabula.ports.world import Clock
from fabula.settings import Settings

E = TypeVar("E")

NO_CLIENT = "Redis needs its client"


def open_bus(
    settings: Settings,
    clock: Clock,
    *,
    encode: Callable[[E], bytes],
    decode: Callable[[bytes], E],
    weigh: Callable[[E], int] | None = None,
) -> Bus[E]:
    """The bus that the settings name: over Redis, over the store's Postgres, or inside this process.

    `decode` raises ValueError for bytes that it does not know; `weigh` tells how many bytes an event takes.
    """
    local = LocalBus(weigh=weigh)
    if settings.redis_url:
        return _redis_bus(settings.redis_url, local, clock, encode, decode)
    if settings.database_url:
        return _postgres_bus(settings.database_url, local, clock, encode, decode)
    return local


def open_feeds(settings: Settings, *, encode: Callable[[E], bytes], decode: Callable[[bytes], E]) -> Feeds[E]:
    """The feeds that the settings name: over Redis, over the store's Postgres, or inside this process."""
    if settings.redis_url:
        from fabula.adapters.bus.redis_feeds import RedisChannel
        from fabula.adapters.bus.shared_feeds import SharedFeeds

        return SharedFeeds(RedisChannel(settings.redis_url), encode=encode, decode=decode)
    if settings.database_url:
        from fabula.adapters.bus.postgres_feeds import PostgresChannel
        from fabula.adapters.bus.shared_feeds import SharedFeeds

        return SharedFeeds(PostgresChannel(settings.database_url), encode=encode, decode=decode)
    return LocalFeeds()


# Clients are imported where they are used: a server of one process needs neither.


def _redis_bus(
    address: str, local: LocalBus[E], clock: Clock, encode: Callable[[E], bytes], decode: Callable[[bytes], E]
) -> Bus[E]:
    try:
        from fabula.adapters.bus.redis import RedisTransport
    except ModuleNotFoundError as error:
        raise BackendError(f"{NO_CLIENT}. Install it with `pip install 'fabula[scaled]'`.") from error
    from fabula.adapters.bus.shared import SharedBus

    return SharedBus(RedisTransport(address), clock, encode=encode, decode=decode, local=local)


def _postgres_bus(
    address: str, local: LocalBus[E], clock: Clock, encode: Callable[[E], bytes], decode: Callable[[bytes], E]
) -> Bus[E]:
    from fabula.adapters.bus.postgres import GATHER_S, PostgresTransport
    from fabula.adapters.bus.shared import SharedBus

    return SharedBus(PostgresTransport(address), clock, encode=encode, decode=decode, local=local, gather_s=GATHER_S)


async def try_redis(address: str) -> str:
    """Tries whether Redis takes and gives entries; answers what is wrong, or nothing."""
    try:
        from fabula.adapters.bus.redis import RedisTransport
    except ModuleNotFoundError:
        return NO_CLIENT
    from fabula.adapters.bus.shared import TransportAway

    transport = RedisTransport(address)
    try:
        await transport.ping()
    except TransportAway as error:
        return str(error)
    finally:
        await transport.close()
    return ""


def place_of(address: str) -> str:
    """Where the address of a Redis leads, without its password."""
    parts = urlsplit(address)
    return parts.path if parts.scheme == "unix" else f"{parts.hostname or 'localhost'}:{parts.port or 6379}"
