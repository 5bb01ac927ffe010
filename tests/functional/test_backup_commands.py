"""`fabula backup` and `fabula restore` as a person or a script would use them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from fabula.adapters.stores import open_store
from fabula.cli.backup import app
from fabula.ports.errors import Conflict, InvalidRequest, NotFound, StoreError
from fabula.settings import Settings
from fabula.testing.world import FixedClock


def run(*words: str, answer: str | None = None) -> Result:
    return CliRunner().invoke(app, [*words], input=answer)


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    """A data folder with one character in it."""
    store = open_store(Settings(data_dir=tmp_path / "data"), FixedClock())
    await store.open()
    async with store.writing() as unit:
        await unit.resources.add("character", "mira", {"name": "Mira"})
        await unit.secrets.put("api:one", "sk-first")
    await store.close()
    return tmp_path / "data"


def test_a_backup_is_written_once_and_restored_into_another_folder(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "fabula.backup"
    made = run("backup", str(file), "--data-dir", str(folder))
    assert made.exit_code == 0 and "is whole" in made.output and "secret.key" in made.output
    again = run("backup", str(file), "--data-dir", str(folder))
    assert isinstance(again.exception, Conflict) and "--force" in str(again.exception)
    assert run("backup", str(file), "--force", "--data-dir", str(folder)).exit_code == 0

    elsewhere = tmp_path / "elsewhere"
    restored = run("restore", str(file), "--data-dir", str(elsewhere), answer="y\n")
    assert restored.exit_code == 0
    assert "character" in restored.output and "compared each of them" in restored.output
    assert "must be entered again: api:one" in restored.output


async def test_where_no_secret_was_ever_kept_no_key_file_is_named(tmp_path: Path) -> None:
    store = open_store(Settings(data_dir=tmp_path / "plain"), FixedClock())
    await store.open()
    await store.close()
    made = await asyncio.to_thread(run, "backup", str(tmp_path / "b"), "--data-dir", str(tmp_path / "plain"))
    assert made.exit_code == 0 and "secret.key" not in made.output


def test_scripts_get_json(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "fabula.backup"
    made = json.loads(run("backup", str(file), "--json", "--data-dir", str(folder)).output)
    assert made["kinds"] == {"character": 1} and made["bytes"] == file.stat().st_size
    restored = json.loads(run("restore", str(file), "--yes", "--json", "--data-dir", str(folder)).output)
    assert restored["kinds"] == {"character": 1} and restored["locked_secrets"] == []
    assert restored["tables"]["secrets"] == 1
    unsure = run("restore", str(file), "--json", "--data-dir", str(folder))
    assert isinstance(unsure.exception, InvalidRequest) and "--yes" in str(unsure.exception)


def test_a_no_leaves_everything_as_it_was(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "fabula.backup"
    run("backup", str(file), "--data-dir", str(folder))
    refused = run("restore", str(file), "--data-dir", str(tmp_path / "elsewhere"), answer="n\n")
    assert refused.exit_code == 1
    assert not (tmp_path / "elsewhere").exists()


def test_what_cannot_be_done_is_told_in_one_sentence(folder: Path, tmp_path: Path) -> None:
    nothing = run("backup", str(tmp_path / "b"), "--data-dir", str(tmp_path / "nowhere"))
    assert isinstance(nothing.exception, NotFound)
    assert not (tmp_path / "nowhere").exists() and not (tmp_path / "b").exists()
    missing = run("restore", str(tmp_path / "missing"), "--yes", "--data-dir", str(folder))
    assert isinstance(missing.exception, StoreError) and "There is no backup" in str(missing.exception)
