"""A short cut for the statements of every turn: inside one go they reach SQLite without the engine's machinery.

A statement that was declared with `prepared` is compiled once; its values go straight to the driver, and its rows come
back as they are. That is right only for columns whose values need no conversion: text, numbers and blobs are such.
Everything else, and every other engine, takes the ordinary way with the same statement.
"""

from __future__ import annotations

import sqlite3
from collections import namedtuple
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import Executable
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlalchemy.ext.asyncio import AsyncConnection

from fabula.adapters.stores.single_hop_sqlite import SingleHopConnection
from fabula.story.caches import LastUsed

S = TypeVar("S", bound=Executable)
Values = Mapping[str, Any]

_DIALECT = SQLiteDialect_pysqlite(paramstyle="named")
_prepared: dict[int, Executable] = {}
_known: LastUsed[tuple[int, tuple[str, ...], int], _Compiled] = LastUsed(512)


def prepared(statement: S) -> S:
    """Declares a statement as a constant that is used in every turn."""
    _prepared[id(statement)] = statement
    return statement


@dataclass(frozen=True, kw_only=True)
class _Compiled:
    """A statement as SQLite reads it, with the values that are part of it."""

    sql: str
    given: dict[str, Any]
    row: Any


class PreparedConnection:
    """Stands in for a connection inside the thread of its driver."""

    def __init__(self, connection: AsyncConnection, driver: SingleHopConnection) -> None:
        self._connection, self._driver, self._begin = connection, driver.in_thread(), driver.begin

    @asynccontextmanager
    async def transaction(self, *, durable: bool) -> AsyncIterator[None]:
        """A transaction of the driver, which the engine joins when a statement takes the ordinary way.

        The commit of one that need not last does not wait for the disk.
        """
        with self._waiting_for_the_disk(durable):
            self._driver.execute(self._begin)
            try:
                yield
                await (self._connection.commit() if self._connection.in_transaction() else self._end("COMMIT"))
            except BaseException:
                if self._connection.in_transaction():
                    await self._connection.rollback()
                elif self._driver.in_transaction:
                    await self._end("ROLLBACK")
                raise

    @contextmanager
    def _waiting_for_the_disk(self, durable: bool) -> Iterator[None]:
        """The setting is the connection's own, and is put back before anyone else writes."""
        if durable:
            yield
            return
        self._driver.execute("PRAGMA synchronous=NORMAL")
        try:
            yield
        finally:
            self._driver.execute("PRAGMA synchronous=FULL")

    async def _end(self, statement: str) -> None:
        self._driver.execute(statement)

    async def execute(self, statement: Executable, values: Values | Sequence[Values] | None = None) -> Any:
        if id(statement) not in _prepared:
            return await self._connection.execute(statement, values)
        if isinstance(values, Sequence):
            compiled = _compiled(statement, values[0])
            rows = [{**compiled.given, **one} for one in values]
            return self._run(compiled, rows, many=True)
        compiled = _compiled(statement, values or {})
        return self._run(compiled, {**compiled.given, **_flat(values or {})}, many=False)

    def _run(self, compiled: _Compiled, values: Any, *, many: bool) -> Rows:
        try:
            cursor = (self._driver.executemany if many else self._driver.execute)(compiled.sql, values)
            return Rows(cursor, compiled.row)
        except sqlite3.IntegrityError as error:
            raise IntegrityError(compiled.sql, None, error) from error
        except sqlite3.Error as error:
            raise OperationalError(compiled.sql, None, error) from error


class Rows:
    """A result, read whole; as much of the engine's own as our subjects use."""

    def __init__(self, cursor: sqlite3.Cursor, row: Any) -> None:
        self.rowcount = cursor.rowcount
        self._rows = [row(*one) for one in cursor.fetchall()] if cursor.description is not None else []
        cursor.close()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._rows)

    def first(self) -> Any:
        return self._rows[0] if self._rows else None

    def scalar(self) -> Any:
        return self._rows[0][0] if self._rows else None


def _compiled(statement: Executable, values: Values) -> _Compiled:
    """The statement for these names; a list of values is as many names as it has members."""
    listed = sum(len(value) for value in values.values() if isinstance(value, list))
    key = (id(statement), tuple(values), listed)
    return _known.get(key) or _known.put(key, _compile(statement, values))


def _compile(statement: Any, values: Values) -> _Compiled:
    compiled = statement.compile(dialect=_DIALECT, column_keys=list(values))
    whole = compiled.construct_expanded_state(dict(values))
    passed = _flat(values)
    given = {name: value for name, value in whole.parameters.items() if name not in passed}
    assert set(passed) <= set(whole.parameters), "the compiler names the members of lists differently"
    columns = [column.key for column in getattr(statement, "selected_columns", ())]
    return _Compiled(sql=whole.statement, given=given, row=_row_class(columns))


def _row_class(columns: Sequence[str]) -> Any:
    base = namedtuple("Row", columns)  # type: ignore[misc]
    return type("Row", (base,), {"__slots__": (), "_mapping": property(base._asdict)})


def _flat(values: Values) -> dict[str, Any]:
    """The values by the names that the compiler gives to the members of lists."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if not isinstance(value, list):
            flat[name] = value
            continue
        for place, member in enumerate(value, start=1):
            members = member if isinstance(member, tuple) else (member,)
            names = [f"{name}_{place}_{n}" for n in range(1, len(members) + 1)]
            flat |= dict(zip(names if isinstance(member, tuple) else [f"{name}_{place}"], members, strict=True))
    return flat
