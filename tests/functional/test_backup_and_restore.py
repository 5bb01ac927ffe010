"""Backup and restore: a backup is one file, whole or not there; a restore replaces everything or nothing."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.conftest import Place

from fabula.adapters.stores import open_store, restore_backup
from fabula.adapters.stores.backup import checksum
from fabula.ports.errors import StoreError
from fabula.ports.models import CallOrigin, CallRecord, Usage
from fabula.ports.store import Reference, Store, Token, Upload
from fabula.settings import Settings
from fabula.testing.world import FixedClock

CALL = CallRecord(
    origin=CallOrigin(agent="narrator", session_id="s1"),
    model="understudy",
    usage=Usage(prompt_tokens=3, completion_tokens=4),
    latency_ms=1,
    first_piece_ms=None,
    memo_hit=False,
    outcome="ok",
    recorded_at_ms=1,
)


async def fill(store: Store) -> None:
    """Something in every table."""
    async with store.writing() as unit:
        await unit.resources.add("schema", "s", {"text": "ein Drache \U0001f409 \0"}, built_in=True)
        for number in range(250):
            used = [Reference(kind="schema", id="s")]
            await unit.resources.add("character", f"c{number}", {"n": number}, references=used)
        blob = await unit.blobs.put(bytes(range(256)) * 5000)
        await unit.uploads.put(
            Upload(upload_id="slot", purpose="package_export", blob=blob, expires_at_ms=2_000_000_000_000)
        )
        await unit.secrets.put("api:one", "sk-first")
        await unit.tokens.add(Token(token_id="t", label="me", role="admin", hash="h", created_at_ms=1))
        await unit.memo.put("k", {"text": "Once."})
        await unit.calls.add(CALL)


async def backup_of(settings: Settings, target: Path) -> Path:
    """A filled store's backup."""
    store = open_store(settings, FixedClock())
    await store.open()
    await fill(store)
    await store.backup(target)
    await store.close()
    return target


@pytest.fixture
async def backup(tmp_path: Path) -> Path:
    return await backup_of(Settings(data_dir=tmp_path / "origin", secret_key="ours"), tmp_path / "fabula.backup")


@pytest.mark.parametrize("origin", ["sqlite", "postgres"])
@pytest.mark.parametrize("target", ["sqlite", "postgres"])
async def test_a_backup_brings_everything_back_on_either_engine(
    origin: str, target: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    from_url = request.getfixturevalue("postgres_place").settings.database_url if origin == "postgres" else ""
    there = Settings(data_dir=tmp_path / "there", database_url=from_url, secret_key="ours")
    file = await backup_of(there, tmp_path / "fabula.backup")
    url = request.getfixturevalue("postgres_url") if target == "postgres" else ""
    here = Settings(data_dir=tmp_path / "here", database_url=url, secret_key="ours")
    restored = await restore_backup(here, FixedClock(), file)
    assert restored.kinds == {"character": 250, "schema": 1}
    assert (restored.tables["resources"], restored.tables["resource_references"]) == (251, 250)
    assert {restored.tables[name] for name in ("blobs", "calls", "memo", "secrets", "slots", "tokens")} == {1}
    assert restored.locked_secrets == ()
    await _check_everything(here)


async def _check_everything(settings: Settings) -> None:
    store = open_store(settings, FixedClock())
    await store.open()
    async with store.writing() as unit:
        schema = await unit.resources.get("schema", "s")
        assert schema is not None and schema.doc == {"text": "ein Drache \U0001f409 \0"} and schema.built_in
        assert len(await unit.resources.users("schema", "s")) == 250
        slot = await unit.uploads.get("slot")
        assert slot is not None and await unit.blobs.get(slot.blob or "") == bytes(range(256)) * 5000
        assert await unit.secrets.get("api:one") == "sk-first"
        assert await unit.tokens.by_hash("h") is not None
        assert await unit.memo.get("k") == {"text": "Once."}
        # Counting goes on behind what was restored.
        numbers = [number for number, _ in await unit.calls.page()]
        await unit.calls.add(CALL)
        assert [number for number, _ in await unit.calls.page(after=max(numbers))] == [max(numbers) + 1]
    await store.close()


async def test_a_store_that_is_open_goes_on_and_sees_the_new_content_at_its_next_read(
    place: Place, clock: FixedClock, backup: Path
) -> None:
    running = place.store(clock)
    await running.open()
    async with running.writing() as unit:
        await unit.resources.add("lorebook", "mine", {})
    async with running.reading() as before:
        assert await before.resources.count("lorebook") == 1
        await restore_backup(place.settings, clock, backup)
        assert await before.resources.count("character") == 0
    async with running.writing() as unit:
        assert await unit.resources.count("lorebook") == 0
        assert await unit.resources.count("character") == 250
        await unit.resources.add("lorebook", "mine", {})
    await running.close()


async def test_a_backup_taken_while_others_write_is_one_consistent_state(store: Store, tmp_path: Path) -> None:
    stop = asyncio.Event()

    async def write_pairs() -> int:
        number = 0
        while not stop.is_set():
            async with store.writing() as unit:
                await unit.resources.add("schema", f"s{number}", {"text": "x" * 5000})
                await unit.resources.add("lorebook", f"l{number}", {"text": "x" * 5000})
            number += 1
        return number

    writer = asyncio.create_task(write_pairs())
    for number in range(5):
        target = tmp_path / f"{number}.backup"
        await store.backup(target)
        with sqlite3.connect(target) as found:
            assert found.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            counts = dict(found.execute("SELECT kind, count(*) FROM resources GROUP BY kind"))
        found.close()
        assert counts.get("schema", 0) == counts.get("lorebook", 0)
    stop.set()
    assert await writer > 0


async def test_secrets_under_another_key_are_named_and_the_rest_is_restored(tmp_path: Path, backup: Path) -> None:
    here = Settings(data_dir=tmp_path / "here", secret_key="another")
    restored = await restore_backup(here, FixedClock(), backup)
    assert restored.locked_secrets == ("api:one",)
    assert restored.kinds["character"] == 250


async def test_a_restore_tells_its_progress(tmp_path: Path, backup: Path) -> None:
    told: list[tuple[str, int, int]] = []
    await restore_backup(
        Settings(data_dir=tmp_path / "here"), FixedClock(), backup, progress=lambda *step: told.append(step)
    )
    steps = told[-1][2]
    assert [done for _, done, _ in told] == list(range(1, steps + 1))


def _cut(file: Path) -> None:
    raw = file.read_bytes()
    file.write_bytes(raw[: len(raw) // 2])


def _scribble(file: Path) -> None:
    raw = bytearray(file.read_bytes())
    for start in range(8192, len(raw), 8192):
        raw[start : start + 64] = b"\xaa" * 64
    file.write_bytes(raw)


def _become_recipes(file: Path) -> None:
    file.unlink()
    _execute(file, "CREATE TABLE recipes (id INTEGER)")


def _execute(file: Path, *statements: str) -> None:
    with sqlite3.connect(file) as database:
        for statement in statements:
            database.execute(statement)
    database.close()


def _forge(*statements: str) -> Callable[[Path], None]:
    """Changes a backup as somebody does who knows how its checksum is made."""

    def forge(file: Path) -> None:
        _execute(file, *statements)
        with closing(sqlite3.connect(file)) as database:
            total = checksum(database)
        _execute(file, f"UPDATE fabula_backup SET sha256 = '{total}'")

    return forge


def _execute_all(*statements: str) -> Callable[[Path], None]:
    """Changes a backup, and leaves its checksum as it was: it is to be refused before anything is summed up."""
    return lambda file: _execute(file, *statements)


DAMAGE = {
    "with a text for a time": (_forge("UPDATE resources SET created_at_ms = 'soon'"), "'created_at_ms' in 'resources'"),
    "with bytes for a text": (_forge("UPDATE resources SET doc = x'ff00'"), "'doc' in 'resources'"),
    "with half a number for a number": (_forge("UPDATE resources SET revision = 1.5"), "'revision' in 'resources'"),
    "with a text that is no UTF-8": (
        _forge("UPDATE resources SET doc = CAST(x'41ff' AS TEXT)"),
        "The backup .* be read",
    ),
    "with a value of 140 MB": (
        _forge("INSERT INTO blobs VALUES ('h', 1, 1, zeroblob(140000000))"),
        "The backup .* too big",
    ),
    "with the tables of another revision": (
        _forge("UPDATE fabula_revision SET version_num = '0001'"),
        "The backup .* brought up to date",
    ),
    "with a view that never ends": (
        _forge("CREATE VIEW ages AS WITH RECURSIVE a(n) AS (SELECT 1 UNION ALL SELECT n FROM a) SELECT n FROM a"),
        "has something that is worked out",
    ),
    "with a trigger": (
        _forge("CREATE TRIGGER t AFTER UPDATE ON resources BEGIN DELETE FROM resources; END"),
        "has something that is worked out",
    ),
    **{
        f"with {what}": (_execute_all(statement), "has something that is worked out")
        for what, statement in {
            "a generated column": "CREATE TABLE e (a, b BLOB GENERATED ALWAYS AS (zeroblob(900000000)) VIRTUAL)",
            "a stored one": "CREATE TABLE e (a, b /* AS */ AS/**/(length(a)) STORED)",
            "a check": "CREATE TABLE e (a CHECK/**/(length(hex(zeroblob(400000000))) > 0))",
            "a default": "CREATE TABLE e (a DEFAULT -- none\n (zeroblob(900000000)))",
            "a virtual table": "CREATE VIRTUAL TABLE e USING fts5(x)",
            "an index of an expression": 'CREATE INDEX e ON resources ("length"(doc))',
            "an index of a concatenation": "CREATE INDEX e ON resources (doc || doc || doc)",
            "an index with a condition that is worked out": "CREATE INDEX e ON memo (key) WHERE hex(key) IN ('a')",
            "an index with a pattern": "CREATE INDEX e ON memo (key) WHERE key LIKE '%a%a%a%a%a%'",
        }.items()
    },
    "with a revision that is no text": (
        _forge("UPDATE fabula_revision SET version_num = x'ff00'"),
        "newer version|cannot be read",
    ),
    "cut in half": (_cut, "cannot be read|is damaged"),
    "scribbled over": (_scribble, "cannot be read|is damaged"),
    "not a database": (lambda file: file.write_bytes(b"PK\3\4 a zip archive"), "cannot be read"),
    "empty": (lambda file: file.write_bytes(b""), "no backup of Fabula"),
    "missing": (lambda file: file.unlink(), "There is no backup"),
    "of another program": (
        _become_recipes,
        "no backup of Fabula",
    ),
    "from a newer version": (
        lambda file: _execute(file, "UPDATE fabula_revision SET version_num = '9999'"),
        "newer version",
    ),
    "with a reference to nothing": (lambda file: _execute(file, "DELETE FROM resources WHERE id = 's'"), "is damaged"),
    "with a table missing": (
        lambda file: _execute(file, "DROP TABLE memo"),
        "was changed after it was written",
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
async def test_a_bad_backup_is_refused_and_nothing_is_changed(damage: str, tmp_path: Path, backup: Path) -> None:
    here = Settings(data_dir=tmp_path / "here")
    store = open_store(here, FixedClock())
    await store.open()
    async with store.writing() as unit:
        await unit.resources.add("lorebook", "mine", {})
    spoil, sentence = DAMAGE[damage]
    await asyncio.to_thread(spoil, backup)
    with pytest.raises(StoreError, match=sentence):
        await restore_backup(here, FixedClock(), backup)
    async with store.reading() as unit:
        assert await unit.resources.count("lorebook") == 1
        assert await unit.resources.count("character") == 0
    await store.close()


async def test_a_backup_takes_the_place_of_a_file_and_of_nothing_else(tmp_path: Path) -> None:
    here = Settings(data_dir=tmp_path / "here")
    store = open_store(here, FixedClock())
    await store.open()
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "pipe", tmp_path, tmp_path / "here" / "fabula.db"):
        before = place.lstat()
        with pytest.raises(StoreError, match="Choose another place"):
            await store.backup(place)
        after = place.lstat()
        assert (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)
    await store.close()


async def test_a_backup_that_cannot_be_written_leaves_the_old_one(store: Store, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be written"):
        await store.backup(tmp_path / "nowhere" / "fabula.backup")
    target = tmp_path / "fabula.backup"
    target.mkdir()
    with pytest.raises(StoreError, match="cannot be written"):
        await store.backup(target)
    assert [file.name for file in tmp_path.iterdir() if "backup" in file.name] == ["fabula.backup"]


async def test_restoring_does_not_touch_the_backup_itself(tmp_path: Path, backup: Path) -> None:
    before = backup.read_bytes()
    backup.chmod(0o400)
    await restore_backup(Settings(data_dir=tmp_path / "here"), FixedClock(), backup)
    assert backup.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith("fabula.backup")] == ["fabula.backup"]


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE resources SET doc = replace(doc, 'Drache', 'Dracho') WHERE kind = 'schema'",
        "DELETE FROM calls",
        "UPDATE tokens SET role = 'player'",
        "UPDATE fabula_backup SET sha256 = ''",
        "DELETE FROM fabula_backup",
    ],
)
async def test_a_backup_that_was_changed_since_is_refused_and_nothing_is_changed(
    backup: Path, tmp_path: Path, change: str
) -> None:
    with closing(sqlite3.connect(backup)) as file:
        file.execute(change)
        file.commit()
    here = Settings(data_dir=tmp_path / "here", secret_key="ours")
    with pytest.raises(StoreError, match="was changed after it was written"):
        await restore_backup(here, FixedClock(), backup)


async def test_one_changed_letter_in_the_file_is_noticed(backup: Path, tmp_path: Path) -> None:
    whole = backup.read_bytes()
    place = whole.index(b"ein Drache")
    backup.write_bytes(whole[:place] + b"dein" + whole[place + 4 :])
    with pytest.raises(StoreError):
        await restore_backup(Settings(data_dir=tmp_path / "here", secret_key="ours"), FixedClock(), backup)


async def test_a_backup_of_an_older_version_without_a_checksum_is_restored_and_says_so(
    backup: Path, tmp_path: Path
) -> None:
    assert (await restore_backup(Settings(data_dir=tmp_path / "new"), FixedClock(), backup)).has_checksum
    with closing(sqlite3.connect(backup)) as file:
        file.execute("DROP TABLE fabula_backup")
    restored = await restore_backup(Settings(data_dir=tmp_path / "here", secret_key="ours"), FixedClock(), backup)
    assert not restored.has_checksum
    await _check_everything(Settings(data_dir=tmp_path / "here", secret_key="ours"))
