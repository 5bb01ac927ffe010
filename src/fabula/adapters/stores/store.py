"""The store: units of work on a database that was brought to the newest revision."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TypeVar

from fabula.adapters.stores.database import Database
from fabula.adapters.stores.keys import Keyring
from fabula.adapters.stores.memo import put_replies
from fabula.adapters.stores.migrations import REVISIONS
from fabula.adapters.stores.revisions import bring_up_to_date, revision_of
from fabula.adapters.stores.sql import Connection, Steps
from fabula.adapters.stores.tables import Access, Terms
from fabula.adapters.stores.turn_steps import (
    KNOWN_BASIS,
    NAMES_AT_ONCE,
    begin_worked_turn,
    commit_turn,
    known_basis,
    known_basis_values,
    read_turn_basis,
)
from fabula.adapters.stores.unit import SqlUnit
from fabula.ports.errors import WriteConflict
from fabula.ports.plays import Finished, NewTurn, Turn
from fabula.ports.store import StoreStatus, TurnBasis, TurnQuestion
from fabula.ports.work import NewWork, Work
from fabula.ports.world import Clock
from fabula.story.values import JsonObject

T = TypeVar("T")

PAUSES_S = (0.01, 0.03, 0.1, 0.3, 1.0)
"""How long a write at most waits before it begins again, each time that another one got in its way."""


class SqlStore:
    """Keeps the law of `fabula.ports.store.Store` on SQLite and Postgres."""

    def __init__(self, database: Database, clock: Clock, keyring: Keyring) -> None:
        self.database = database
        self.keyring = keyring
        self._clock = clock

    async def open(self) -> None:
        try:
            with self.database.plain_words(OSError):
                await self.database.prepare()
                await bring_up_to_date(self.database)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        await self.database.close()

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[SqlUnit]:
        async with self.database.transaction("write") as connection:
            yield self._unit(connection, writes=True)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[SqlUnit]:
        async with self.database.transaction("read") as connection:
            yield self._unit(connection, writes=False)

    async def write(self, work: Callable[[SqlUnit], Awaitable[T]], *, durable: bool = True) -> T:
        async def once() -> T:
            async with self.database.transaction("write", durable=durable) as connection:
                return await work(self._unit(connection, writes=True))

        return await _until_no_conflict(once)

    async def read(self, work: Callable[[SqlUnit], Awaitable[T]]) -> T:
        async with self.database.transaction("read") as connection:
            return await work(self._unit(connection, writes=False))

    async def read_turn_basis(self, question: TurnQuestion) -> TurnBasis | None:
        known = await self._known_basis(question)
        return known or await self.database.run("read", read_turn_basis(question))

    async def begin_turn(self, turn: NewTurn, *, expected_head: str, work: NewWork) -> tuple[Turn, Work]:
        at_once = await self._begin_at_once(turn, expected_head, work)
        if at_once is not None:
            return at_once
        return await self._write_steps(lambda terms: begin_worked_turn(terms, turn, expected_head, work))

    async def commit_turn(self, finished: Finished, *, work: Work) -> bool:
        if await self._commit_at_once(finished, work):
            return True
        return await self._write_steps(lambda terms: commit_turn(terms, finished, work=work))

    async def put_replies(self, replies: Mapping[str, JsonObject]) -> None:
        await self._write_steps(lambda terms: put_replies(terms.clock, replies), durable=False)

    def lone_transaction(self) -> AbstractAsyncContextManager[Connection]:
        """For who changes everything at once: no other writer is at work meanwhile."""
        return self.database.transaction("alone")

    def read_transaction(self) -> AbstractAsyncContextManager[Connection]:
        return self.database.transaction("read")

    async def status(self) -> StoreStatus:
        with self.database.plain_words(OSError):
            revision = await revision_of(self.database)
        return StoreStatus(
            engine=self.database.engine,
            place=self.database.place,
            revision=revision or "none",
            newest_revision=REVISIONS[-1],
        )

    async def backup(self, target: Path) -> None:
        from fabula.adapters.stores.backup import back_up

        await back_up(self, target)

    async def _known_basis(self, question: TurnQuestion) -> TurnBasis | None:
        """The answer in one statement, where it is all that has to be known."""
        if question.known_turn_id is None or not 0 < len(question.names) <= NAMES_AT_ONCE:
            return None
        rows = await self.database.ask("read", KNOWN_BASIS, known_basis_values(question))
        return known_basis(question, rows)

    async def _begin_at_once(self, turn: NewTurn, expected_head: str, work: NewWork) -> tuple[Turn, Work] | None:
        """On Postgres in one statement; None when something stands in the way, or on another engine."""
        if self.database.engine != "postgres":
            return None
        from fabula.adapters.stores.postgres_turns import BEGIN_TURN, begin_values, begun

        values = begin_values(self._terms(writes=True), turn, expected_head, work)
        rows = await _until_no_conflict(lambda: self.database.ask("write", BEGIN_TURN, values))
        row = rows.first()
        return None if row is None else begun(turn, work, values["now"], row)

    async def _commit_at_once(self, finished: Finished, work: Work) -> bool:
        # Few turns stage changes or end a scene: those take the steps, so that the one statement stays as it is.
        if self.database.engine != "postgres" or finished.staged or finished.scene is not None:
            return False
        from fabula.adapters.stores.postgres_turns import COMMIT_TURN, commit_values

        values = commit_values(self._terms(writes=True), finished, work)
        rows = await _until_no_conflict(lambda: self.database.ask("write", COMMIT_TURN, values))
        return rows.first() is not None

    async def _write_steps(self, steps: Callable[[Terms], Steps[T]], *, durable: bool = True) -> T:
        """A whole unit of work, with one wait where the engine can."""
        terms = self._terms(writes=True)
        return await _until_no_conflict(lambda: self.database.run("write", steps(terms), durable=durable))

    def _terms(self, *, writes: bool) -> Terms:
        return Terms(clock=self._clock, locks=writes and self.database.engine == "postgres")

    def _unit(self, connection: Connection, *, writes: bool) -> SqlUnit:
        terms = self._terms(writes=writes)
        return SqlUnit(Access(connection=connection, keyring=self.keyring, clock=terms.clock, locks=terms.locks))


async def _until_no_conflict(write: Callable[[], Awaitable[T]]) -> T:
    for pause in PAUSES_S:
        try:
            return await write()
        except WriteConflict:
            # A random pause, so that two that got in each other's way do not meet again.
            await asyncio.sleep(random.uniform(0, pause))
    return await write()
