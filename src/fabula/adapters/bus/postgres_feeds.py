"""Feeds over Postgres: NOTIFY carries the events themselves, which are small; nothing is kept in a table."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlsplit

import asyncpg  # type: ignore[import-untyped]

from fabula.adapters.bus.shared import PATIENCE_S, TransportAway

CHANNEL = "fabula_feeds"
LONGEST_NOTE = 7_500
"""In bytes; Postgres refuses notes of 8,000."""

SEND = f"SELECT pg_notify('{CHANNEL}', note) FROM unnest($1::text[]) WITH ORDINALITY AS n (note, at) ORDER BY at"


class PostgresChannel:
    """A connection to notify, and one that listens."""

    def __init__(self, address: str) -> None:
        self._address = re.sub(r"^postgres(ql)?(\+\w+)?://", "postgresql://", address)
        self.name = f"The feed on Postgres at {urlsplit(self._address).hostname or 'this machine'}"
        self._sender: Any = None

    async def send(self, notes: Sequence[str]) -> None:
        short = [note for note in notes if len(note.encode()) <= LONGEST_NOTE]
        try:
            if self._sender is None or self._sender.is_closed():
                self._sender = await self._connect()
            await self._sender.execute(SEND, short)
        except (
            OSError,
            TimeoutError,
            asyncpg.PostgresError,
            asyncpg.InterfaceError,
            asyncpg.InternalClientError,
        ) as error:
            await self.close()
            raise TransportAway(str(error) or type(error).__name__) from error

    async def listen(self, listening: Callable[[], None], heard: Callable[[str], None]) -> None:
        lost = asyncio.Event()
        try:
            connection = await self._connect()
        except (
            OSError,
            TimeoutError,
            asyncpg.PostgresError,
            asyncpg.InterfaceError,
            asyncpg.InternalClientError,
        ) as error:
            raise TransportAway(str(error) or type(error).__name__) from error
        try:
            connection.add_termination_listener(lambda _: lost.set())
            await connection.add_listener(CHANNEL, lambda _connection, _pid, _channel, note: heard(note))
            listening()
            await lost.wait()
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError) as error:
            raise TransportAway(str(error) or type(error).__name__) from error
        finally:
            connection.terminate()
        raise TransportAway("the connection was closed")

    async def close(self) -> None:
        if self._sender is not None:
            self._sender.terminate()
            self._sender = None

    async def _connect(self) -> Any:
        settings = {"application_name": "fabula feed", "synchronous_commit": "off"}
        return await asyncpg.connect(
            self._address, timeout=PATIENCE_S, command_timeout=PATIENCE_S, server_settings=settings
        )
