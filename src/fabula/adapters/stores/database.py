"""What the store needs of an engine: transactions, whole runs of steps, and its failures in plain words."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Literal, Protocol, TypeVar

from sqlalchemy import Connection as SqlAlchemyConnection
from sqlalchemy import Executable

from fabula.adapters.stores.sql import Connection, Rows, Steps, Values

T = TypeVar("T")

PATIENCE_S = 30.0
"""How long a writer waits for its turn, and how long a connection may be waited for."""

Mode = Literal["read", "write", "alone"]
"""`read` sees one snapshot and can change nothing; `write` changes some things; `alone` may change everything, and no
other writer is at work meanwhile."""


class Database(Protocol):
    """One engine. Connections are made when they are needed, also again after `close`."""

    @property
    def engine(self) -> Literal["sqlite", "postgres"]: ...

    @property
    def place(self) -> str: ...

    async def prepare(self) -> None:
        """Makes the place ready to be connected to."""
        ...

    async def close(self) -> None: ...

    def transaction(self, mode: Mode, *, durable: bool = True) -> AbstractAsyncContextManager[Connection]:
        """Commits when its block ends, rolls back when it raises. Without `durable` the commit does not wait for the
        disk: it survives a kill, not a power cut."""
        ...

    async def run(self, mode: Mode, steps: Steps[T], *, durable: bool = True) -> T:
        """Steps in a transaction of their own. If the caller is cancelled, they may still be done, whole."""
        ...

    async def ask(self, mode: Mode, statement: Executable, values: Values) -> Rows:
        """One statement, which is a transaction of its own."""
        ...

    async def with_sqlalchemy(self, work: Callable[[SqlAlchemyConnection], T]) -> T:
        """Work of SQLAlchemy's own tools (Alembic), in a transaction of mode `alone`."""
        ...

    async def has_table(self, connection: Connection, name: str) -> bool: ...

    def plain_words(self, *also: type[Exception]) -> AbstractContextManager[None]:
        """Failures of the engine leave as StoreError with one clear sentence."""
        ...


TOO_BUSY = "The store is too busy. Try again in a moment."
LOCKED = "Another process has been writing to the store for too long. Try again in a moment."
"""Whoever plays can meet these, so they do not say where the store is."""
