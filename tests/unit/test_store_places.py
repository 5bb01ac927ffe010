"""Places that cannot hold a store: each gets one clear sentence, and is left as it was."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from asyncpg import ConnectionDoesNotExistError, LockNotAvailableError  # type: ignore[import-untyped]
from sqlalchemy import text

from fabula.adapters.stores import open_store
from fabula.adapters.stores.keys import Keyring
from fabula.adapters.stores.postgres import sentence
from fabula.adapters.stores.sqlite import SqliteDatabase
from fabula.ports.errors import StoreError
from fabula.settings import Settings
from fabula.testing.world import FixedClock


async def refusal(**settings: object) -> str:
    """What the store says when it is opened; it never says more than one or two sentences, nor shows a traceback."""
    with pytest.raises(StoreError) as caught:
        store = open_store(Settings.model_validate(settings), FixedClock())
        await store.open()
    assert "Traceback" not in caught.value.message
    return caught.value.message


@contextmanager
def ordinary_user(folder: Path) -> Iterator[None]:
    """Permissions mean nothing to root, so a test about them acts as somebody else for a moment."""
    if os.geteuid() != 0:
        yield
        return
    for path in [folder, *folder.rglob("*")]:
        shutil.chown(path, 65534, 65534)
    for parent in folder.parents:
        if not parent.stat().st_mode & 0o001:
            parent.chmod(parent.stat().st_mode | 0o011)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


async def test_a_read_only_data_folder(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    folder.chmod(0o500)
    with ordinary_user(folder):
        said = await refusal(data_dir=folder)
    assert f"The data folder {folder} cannot be used" in said and "Make it writable" in said
    assert list(folder.iterdir()) == []


async def test_a_database_file_that_may_not_be_written(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    store = open_store(Settings(data_dir=folder), FixedClock())
    await store.open()
    await store.close()
    (folder / "fabula.db").chmod(0o400)
    again = open_store(Settings(data_dir=folder), FixedClock())
    with ordinary_user(folder), pytest.raises(StoreError, match="may not be written"):
        await again.open()
        async with again.writing() as unit:
            await unit.resources.add("schema", "a", {})
    await again.close()


async def test_a_data_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("not a folder")
    assert "cannot be used" in await refusal(data_dir=tmp_path / "data")
    assert (tmp_path / "data").read_text() == "not a folder"


async def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "fabula.db").write_bytes(b"Once upon a time " * 500)
    said = await refusal(data_dir=tmp_path)
    assert "is damaged" in said and "fabula restore" in said
    assert (tmp_path / "fabula.db").read_bytes() == b"Once upon a time " * 500


async def test_a_database_whose_pages_are_damaged(tmp_path: Path) -> None:
    store = open_store(Settings(data_dir=tmp_path), FixedClock())
    await store.open()
    await store.close()
    raw = bytearray((tmp_path / "fabula.db").read_bytes())
    raw[100:] = b"\xee" * (len(raw) - 100)
    (tmp_path / "fabula.db").write_bytes(raw)
    assert "is damaged" in await refusal(data_dir=tmp_path)


async def test_a_database_of_another_program(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "fabula.db") as other:
        other.execute("CREATE TABLE recipes (id INTEGER)")
    other.close()
    assert "database of another program" in await refusal(data_dir=tmp_path)


async def test_an_address_that_is_not_postgres(tmp_path: Path) -> None:
    for address in ("mysql://host/db", "nonsense", "postgresql:/"):
        said = await refusal(data_dir=tmp_path, database_url=address)
        assert "database_url" in said or "does not answer" in said


async def test_a_postgres_that_does_not_answer_is_named_without_its_password(tmp_path: Path) -> None:
    said = await refusal(data_dir=tmp_path, database_url="postgresql://me:pa55word@127.0.0.1:1/fabula?sslmode=prefer")
    assert said.startswith("Postgres does not answer at postgresql://me@127.0.0.1:1/fabula.")


async def test_a_postgres_database_that_is_not_there(postgres_url: str, tmp_path: Path) -> None:
    said = await refusal(data_dir=tmp_path, database_url=postgres_url.replace("/fabula_", "/nowhere_"))
    assert "does not exist" in said


async def test_the_key_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    store = open_store(Settings(data_dir=tmp_path), FixedClock())
    await store.open()
    async with store.writing() as unit:
        await unit.secrets.put("api:one", "sk-first")
    await store.close()
    assert (tmp_path / "secret.key").stat().st_mode & 0o777 == 0o600
    assert sorted(file.name for file in tmp_path.iterdir()) == ["fabula.db", "secret.key"]


async def test_what_is_no_key_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "secret.key")
    with pytest.raises(StoreError, match="is no file"):
        await Keyring(passphrase="", file=tmp_path / "secret.key").find()


async def test_a_lost_or_damaged_key_file_is_named(tmp_path: Path) -> None:
    store = open_store(Settings(data_dir=tmp_path), FixedClock())
    await store.open()
    async with store.writing() as unit:
        await unit.secrets.put("api:one", "sk-first")
    await store.close()
    (tmp_path / "secret.key").unlink()
    assert "secret.key is missing" in await _secret_refusal(tmp_path)
    (tmp_path / "secret.key").write_text("half a k")
    assert "secret.key is damaged" in await _secret_refusal(tmp_path)


async def _secret_refusal(folder: Path) -> str:
    store = open_store(Settings(data_dir=folder), FixedClock())
    await store.open()
    with pytest.raises(StoreError) as caught:
        async with store.reading() as unit:
            await unit.secrets.get("api:one")
    await store.close()
    return caught.value.message


def test_naming_a_store_does_not_import_a_database(tmp_path: Path) -> None:
    script = "import sys, fabula.adapters.stores; print(*{'sqlalchemy', 'alembic', 'cryptography'} & set(sys.modules))"
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=600)
    assert said.stdout.strip() == ""


@pytest.mark.all
async def test_opening_a_new_or_an_up_to_date_store_does_not_import_alembic(tmp_path: Path) -> None:
    script = (
        "import asyncio, sys; from pathlib import Path\n"
        "from fabula.adapters.stores import open_store; from fabula.adapters.world import SystemClock\n"
        "from fabula.settings import Settings\n"
        "asyncio.run(open_store(Settings(data_dir=Path(sys.argv[1])), SystemClock()).open())\n"
        "print('alembic' in sys.modules)"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    said = [subprocess.run(command, capture_output=True, text=True, timeout=600).stdout.strip() for _ in range(2)]
    assert said == ["False", "False"]


def test_who_waits_for_the_store_in_vain_is_not_told_where_it_is() -> None:
    place = "postgresql://me@db.internal/fabula"
    locked, lost = LockNotAvailableError("canceling statement due to lock timeout"), ConnectionDoesNotExistError("gone")
    for error in (locked, lost):
        assert "db.internal" not in sentence(place, error) and "Try again" in sentence(place, error)


async def test_what_sqlite_rolled_back_by_itself_is_told_by_its_own_reason(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "fabula.db")
    await database.prepare()
    async with database.transaction("write") as connection:
        await connection.execute(text("CREATE TABLE t (a UNIQUE)"))
        await connection.execute(text("INSERT INTO t VALUES (1)"))
    with pytest.raises(StoreError, match="UNIQUE"):
        async with database.transaction("write") as connection:
            await connection.execute(text("INSERT OR ROLLBACK INTO t VALUES (1)"))
    async with database.transaction("write") as connection:
        await connection.execute(text("INSERT INTO t VALUES (2)"))
    await database.close()


async def test_a_store_opens_however_large_an_archive_may_be(tmp_path: Path) -> None:
    store = open_store(Settings(data_dir=tmp_path, max_archive_mib=100_000), FixedClock())
    await store.open()
    async with store.reading() as unit:
        assert await unit.resources.count("session") == 0
    await store.close()
