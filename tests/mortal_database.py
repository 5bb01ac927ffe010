"""An engine whose process dies at one step of what it writes, for workers that are killed amid their work."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from sqlalchemy import Executable
from sqlalchemy.sql.expression import UpdateBase

from fabula.adapters.stores.database import Mode
from fabula.adapters.stores.sql import Connection, Rows, Steps, Values

T = TypeVar("T")


class MortalDatabase:
    """An engine whose process dies when so many steps were done: each statement that writes, and both sides of the end
    of its transaction. What only reads leaves nothing behind."""

    def __init__(self, database: Any, lives_for: int) -> None:
        self._database = database
        self._left = lives_for

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)

    def step(self) -> None:
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self._left -= 1

    @asynccontextmanager
    async def transaction(self, mode: Mode, *, durable: bool = True) -> AsyncIterator[Connection]:
        async with self._database.transaction(mode, durable=durable) as connection:
            yield MortalConnection(connection, self) if mode == "write" else connection
            if mode == "write":
                self.step()
        if mode == "write":
            self.step()

    async def run(self, mode: Mode, steps: Steps[T], *, durable: bool = True) -> T:
        """Statement by statement, where the engine itself would take them all at once."""
        async with self.transaction(mode, durable=durable) as connection:
            return await connection.run(steps)

    async def ask(self, mode: Mode, statement: Executable, values: Values) -> Rows:
        if mode == "write":
            self.step()
        rows: Rows = await self._database.ask(mode, statement, values)
        if mode == "write":
            self.step()
        return rows


class MortalConnection:
    def __init__(self, connection: Connection, database: MortalDatabase) -> None:
        self._connection, self._database = connection, database

    async def execute(self, statement: Executable, values: Values | Sequence[Values] | None = None) -> Rows:
        if isinstance(statement, UpdateBase):
            self._database.step()
        return await self._connection.execute(statement, values)

    async def run(self, steps: Steps[T]) -> T:
        try:
            step = next(steps)
            while True:
                step = steps.send(await self.execute(*step))
        except StopIteration as done:
            result: T = done.value
            return result
