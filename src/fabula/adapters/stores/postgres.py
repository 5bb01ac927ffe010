"""Postgres: a schema named `fabula` in the database that the operator names, over one pool of asyncpg's connections."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from inspect import GEN_RUNNING, getgeneratorstate
from typing import Any, Literal, TypeVar, cast
from weakref import WeakValueDictionary

from sqlalchemy import URL, Executable, NullPool, event, make_url, text
from sqlalchemy import Connection as SqlAlchemyConnection
from sqlalchemy.dialects.postgresql.asyncpg import PGDialect_asyncpg
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.util import immutabledict

from fabula.adapters.stores.database import LOCKED, PATIENCE_S, TOO_BUSY, Mode
from fabula.adapters.stores.play_tables import KEY_INDEX
from fabula.adapters.stores.postgres_pool import PostgresPool
from fabula.adapters.stores.postgres_turns import WRITERS_LOCK
from fabula.adapters.stores.sql import Compiler, Connection, Rows, Step, Steps, Values
from fabula.ports.errors import StoreAway, StoreError, WriteConflict
from fabula.ports.threads import run_in_thread

try:
    import asyncpg  # type: ignore[import-untyped]
except ModuleNotFoundError as missing:
    raise StoreError("Postgres needs a driver. Install it with `pip install 'fabula[scaled]'`.") from missing

T = TypeVar("T")

FROZEN_WRITER_S = 15.0
"""So long a writer may do nothing within its transaction, as long as a lease: then the server ends it, because its
process may be frozen, and others wait for what it has locked. It must be less than others wait."""
FROZEN_S = 600.0
"""The same for those who hold up no play: a backup writes much between two reads, a migration may work for long."""
LINE_LOST_S = 30
"""After so long without a sign of life the server gives up a connection whose process, or machine, is gone."""

_NOT_DURABLE = "; SET LOCAL synchronous_commit TO off"

_AWAY = ("08", "57P01", "57P02", "57P03", "25P03")
"""How a connection that was lost or did nothing for too long, and a server that stops or starts, are told."""
_DEADLOCK, _NOT_SERIALIZABLE, _NOT_UNIQUE = "40P01", "40001", "23505"

FEW_LETTERS = 500_000
"""Rows of so many letters are read where they come in: that takes some milliseconds."""

HAS_TABLE = text("SELECT 1 FROM pg_tables WHERE schemaname = 'fabula' AND tablename = :name")


class Row(asyncpg.Record):  # type: ignore[misc]
    """A row whose columns are attributes, as SQLite's are."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def _asdict(self) -> dict[str, Any]:
        return dict(self)


class PostgresDatabase:
    """The database at a `postgresql://` address, reached over at most `pool_size` connections."""

    engine: Literal["postgres"] = "postgres"

    def __init__(self, address: str, *, pool_size: int, frozen_writer_s: float = FROZEN_WRITER_S) -> None:
        self._url = _url(address)
        self._size = pool_size
        self._begin = _begin(frozen_writer_s)
        self._lines: WeakValueDictionary[Hashable, asyncio.Lock] = WeakValueDictionary()
        self._compiler = Compiler(PGDialect_asyncpg())  # type: ignore[no-untyped-call]
        self._pool: PostgresPool | None = None

    @property
    def place(self) -> str:
        return self._url._replace(password=None, query=immutabledict()).render_as_string()

    async def prepare(self) -> None:
        """Makes the schema. Who may not make one can use one that an administrator made."""
        async with self.transaction("alone") as connection:
            if (await connection.execute(text("SELECT to_regnamespace('fabula')::text"))).scalar() is None:
                await connection.execute(text("CREATE SCHEMA fabula"))

    async def close(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.close()

    @asynccontextmanager
    async def transaction(self, mode: Mode, *, durable: bool = True) -> AsyncIterator[Connection]:
        begin = self._begin[mode] if durable else self._begin[mode] + _NOT_DURABLE
        if mode != "write":
            async with self._begun(begin) as driver:
                yield PostgresConnection(driver, self._compiler)
            return
        async with AsyncExitStack() as stack:

            async def take(lock: Hashable) -> Any:
                await stack.enter_async_context(self._in_line(lock))
                return await stack.enter_async_context(self._begun(begin))

            yield WritersConnection(take, self._compiler)

    async def run(self, mode: Mode, steps: Steps[T], *, durable: bool = True) -> T:
        async with self.transaction(mode, durable=durable) as connection:
            return await connection.run(steps)

    async def ask(self, mode: Mode, statement: Executable, values: Values) -> Rows:
        async with self._in_line(values.get("session_id") if mode == "write" else None), self._connected() as driver:
            with self.plain_words():
                return await PostgresConnection(driver, self._compiler).execute(statement, values)

    async def with_sqlalchemy(self, work: Callable[[SqlAlchemyConnection], T]) -> T:
        url = self._url.set(drivername="postgresql+asyncpg").difference_update_query(["sslmode"])
        options: dict[str, Any] = {"server_settings": _server_settings()}
        if mode := self._url.query.get("sslmode"):
            options["ssl"] = mode
        engine = create_async_engine(url, connect_args=options, poolclass=NullPool)
        event.listen(engine.sync_engine, "begin", _take_lock)
        with self.plain_words(OSError):
            async with engine.begin() as connection:
                return await connection.run_sync(work)

    async def has_table(self, connection: Connection, name: str) -> bool:
        return (await connection.execute(HAS_TABLE, {"name": name})).first() is not None

    @contextmanager
    def plain_words(self, *also: type[Exception]) -> Iterator[None]:
        try:
            yield
        except asyncpg.PostgresError as error:
            # A key that another one used while this statement waited for the play: whoever tries again finds its turn.
            same_key = error.sqlstate == _NOT_UNIQUE and error.constraint_name == KEY_INDEX
            if same_key or error.sqlstate in (_DEADLOCK, _NOT_SERIALIZABLE):
                raise WriteConflict(
                    "Another change of the same things came at the same moment. Nothing was changed; try again."
                ) from error
            raise _problem(self.place, error) from error
        except (asyncpg.InterfaceError, asyncpg.InternalClientError, DBAPIError, *also) as error:
            raise _problem(self.place, error) from error

    @asynccontextmanager
    async def _begun(self, begin: str) -> AsyncIterator[Any]:
        async with self._connected() as driver:
            with self.plain_words():
                try:
                    await driver.execute(begin)
                    yield driver
                    await driver.execute("COMMIT")
                except BaseException:
                    await _roll_back(driver)
                    raise

    @asynccontextmanager
    async def _in_line(self, lock: Hashable) -> AsyncIterator[None]:
        """Those of this process who want the same lock wait for each other here, where they hold no connection: else
        the writers of one play, whose lock somebody does not give back, would keep all others from the store."""
        if lock is None:
            yield
            return
        line = self._lines.get(lock)
        if line is None:
            line = self._lines[lock] = asyncio.Lock()
        try:
            async with asyncio.timeout(PATIENCE_S):
                await line.acquire()
        except TimeoutError as error:
            raise StoreError(TOO_BUSY) from error
        try:
            yield
        finally:
            line.release()

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[Any]:
        # Only here may the outside world be missing; an OSError of the block itself is not ours to explain.
        with self.plain_words(OSError):
            pool = self._pool = self._pool or PostgresPool(self._connect, size=self._size)
            try:
                driver = await pool.take()
            except TimeoutError as error:
                raise StoreError(TOO_BUSY) from error
        try:
            yield driver
        except asyncio.CancelledError:
            # Its statement may still run: nobody else can use the connection until it has ended.
            _let_go(driver)
            raise
        finally:
            # Nothing has to be reset: every transaction is ended, and settings are local to it.
            pool.give_back(driver)

    async def _connect(self) -> Any:
        return await asyncpg.connect(
            self._url.render_as_string(hide_password=False),
            timeout=PATIENCE_S,
            server_settings=_server_settings(),
            record_class=Row,
        )


class PostgresConnection:
    """A transaction on a connection of the pool."""

    def __init__(self, driver: Any, compiler: Compiler) -> None:
        self._driver, self._compiler = driver, compiler

    async def execute(self, statement: Executable, values: Values | Sequence[Values] | None = None) -> Rows:
        if isinstance(values, Sequence):
            compiled = self._compiler.compile(statement, values[0])
            await self._driver.executemany(compiled.sql, [compiled.ordered(one) for one in values])
            return Rows((), len(values))
        compiled = self._compiler.compile(statement, values or {})
        ordered = compiled.ordered(values or {})
        if compiled.has_rows:
            rows = await self._driver.fetch(compiled.sql, *ordered)
            return Rows(rows, len(rows))
        return Rows((), _count(await self._driver.execute(compiled.sql, *ordered)))

    async def run(self, steps: Steps[T]) -> T:
        rows = None
        try:
            while True:
                many = rows is not None and _are_many_letters(rows)
                step, result = await run_in_thread(_send, steps, rows) if many else _send(steps, rows)
                if step is None:
                    return cast(T, result)
                rows = await self.execute(*step)
        finally:
            # Where whoever waited was cancelled, a thread may still be at them: they end with it.
            if getgeneratorstate(steps) != GEN_RUNNING:
                steps.close()


class WritersConnection(PostgresConnection):
    """A transaction that begins with its first statement: where that takes a lock, `take` waits in line for it first.

    Whoever waits there has locked nothing yet, so nobody can wait for them in a circle.
    """

    def __init__(self, take: Callable[[Hashable], Awaitable[Any]], compiler: Compiler) -> None:
        super().__init__(None, compiler)
        self._take = take

    async def execute(self, statement: Executable, values: Values | Sequence[Values] | None = None) -> Rows:
        if self._driver is None:
            self._driver = await self._take(self._lock_of(statement, values))
        return await super().execute(statement, values)

    def _lock_of(self, statement: Executable, values: Values | Sequence[Values] | None) -> Hashable:
        """The play that a statement locks; None where it locks none.

        Who locks resources waits in the database: they are locked in more than one order, and with a line for each of
        them here, more writers would be under way who wait for each other in a circle.
        """
        if values is None or isinstance(values, Sequence):
            return None
        return values.get("session") if self._compiler.compile(statement, values).takes_lock else None


def _are_many_letters(rows: Rows) -> bool:
    """Whether rows may hold documents that are worth a thread: one of megabytes is decoded in half a second."""
    left = FEW_LETTERS
    for row in rows.plain:
        for value in row:
            if isinstance(value, str):
                left -= len(value)
        if left < 0:
            return True
    return False


def _send(steps: Steps[T], rows: Rows | None) -> tuple[Step | None, T | None]:
    """The next step, or None and the result: a thread can answer all but StopIteration."""
    try:
        return (next(steps) if rows is None else steps.send(rows)), None
    except StopIteration as done:
        return None, done.value


def _count(status: str) -> int:
    """How many rows a statement changed, as its status says: `INSERT 0 1`, `UPDATE 3`."""
    last = status.rsplit(" ", 1)[-1]
    return int(last) if last.isdigit() else -1


async def _roll_back(driver: Any) -> None:
    """Ends a transaction that failed. A connection that was cancelled or lost meanwhile is not used again."""
    try:
        await driver.execute("ROLLBACK", timeout=PATIENCE_S)
    except (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError):
        # Why the transaction failed is told; that it could not even be rolled back goes without saying.
        _let_go(driver)
    except BaseException:
        _let_go(driver)
        raise


def _let_go(driver: Any) -> None:
    """Ends a connection; one that the server ended has nothing left to end."""
    with suppress(asyncpg.InterfaceError):
        driver.terminate()


def _url(address: str) -> URL:
    try:
        url = make_url(address)
    except ArgumentError:
        url = None
    if url is None or url.drivername.split("+")[0] not in ("postgresql", "postgres"):
        raise StoreError("The setting database_url must look like postgresql://user:password@host:5432/name.")
    return url.set(drivername="postgresql")


def _begin(frozen_writer_s: float) -> dict[Mode, str]:
    return {
        "read": "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        "write": f"BEGIN; SET LOCAL idle_in_transaction_session_timeout TO {frozen_writer_s * 1000:.0f}; "
        f"SELECT pg_advisory_xact_lock_shared({WRITERS_LOCK})",
        "alone": f"BEGIN; SELECT pg_advisory_xact_lock({WRITERS_LOCK})",
    }


def _server_settings() -> dict[str, str]:
    return {
        "search_path": "fabula,public",
        "lock_timeout": f"{PATIENCE_S:.0f}s",
        "idle_in_transaction_session_timeout": f"{FROZEN_S:.0f}s",
        "tcp_keepalives_idle": f"{LINE_LOST_S // 2}",
        "tcp_keepalives_interval": f"{LINE_LOST_S // 6}",
        "tcp_keepalives_count": "3",
        "tcp_user_timeout": f"{LINE_LOST_S}s",
        "application_name": "fabula",
    }


def _take_lock(connection: SqlAlchemyConnection) -> None:
    connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({WRITERS_LOCK})")


def _problem(place: str, error: BaseException) -> StoreError:
    if isinstance(error, OSError) or is_away(error):
        return StoreAway(sentence(place, error))
    return StoreError(sentence(place, error))


def is_away(error: BaseException) -> bool:
    """Whether the server stops, starts, or was lost in the middle: then trying again helps."""
    state = getattr(error, "sqlstate", None)
    if isinstance(state, str) and state.startswith(_AWAY):
        return True
    # A connection that is lost in the middle of a statement is told in many ways, and all of them are this.
    lost = isinstance(error, asyncpg.InterfaceError) and ("closed" in str(error) or "released" in str(error))
    return lost or isinstance(error, asyncpg.InternalClientError)


def sentence(place: str, error: BaseException) -> str:
    """What went wrong with the database, and what to do."""
    said = str(error).strip() or type(error).__name__
    if isinstance(error, OSError):
        return f"Postgres does not answer at {place}. Start it, or correct the setting database_url."
    if is_away(error):
        return "The database is restarting, or the line to it was lost. Try again in a moment."
    if "lock timeout" in said:
        return LOCKED
    # Players are told this, too: the log of the start says where the database is.
    return f"The database cannot do this: {said}."
