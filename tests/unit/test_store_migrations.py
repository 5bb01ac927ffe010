"""Revisions: the tables in the code, the steps on the disk and the list of revisions say the same."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, NullPool, create_engine, text
from tests.newest_tables import made_in, step_by_step

from fabula.adapters.stores import open_store, sql_store
from fabula.adapters.stores import unit as every_subject
from fabula.adapters.stores.migrations import REVISION_TABLE, REVISIONS
from fabula.adapters.stores.restore import check_backup
from fabula.adapters.stores.revisions import FOLDER, _step, upgrade
from fabula.adapters.stores.tables import METADATA
from fabula.ports.canon_graph import NodeName
from fabula.ports.errors import StoreError
from fabula.settings import Settings
from fabula.testing.world import FixedClock


def test_the_list_of_revisions_is_the_chain_of_steps() -> None:
    chain = [script.revision for script in ScriptDirectory(str(FOLDER)).walk_revisions()]
    assert list(REVISIONS) == chain[::-1]


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
async def test_the_steps_lead_to_the_tables_in_the_code(
    engine: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    assert every_subject
    url = request.getfixturevalue("postgres_url") if engine == "postgres" else ""
    store = sql_store(Settings(data_dir=tmp_path, database_url=url), FixedClock())
    await store.open()
    differences = await store.database.with_sqlalchemy(_differences)
    await store.close()
    assert differences == []


def _differences(connection: Connection) -> list[object]:
    """The tables of the bus on Postgres are no part of the store, and not backed up with it."""
    options = {"version_table": REVISION_TABLE, "include_name": lambda name, *_: not str(name).startswith("bus_")}
    context = MigrationContext.configure(connection, opts=options)
    return list(compare_metadata(context, METADATA))


def test_a_backup_of_every_revision_has_nothing_that_is_worked_out(tmp_path: Path) -> None:
    file = tmp_path / "old.backup"
    engine = create_engine(f"sqlite:///{file}", poolclass=NullPool)
    for revision in REVISIONS:
        with engine.begin() as connection:
            _step(connection, revision)
        assert check_backup(file).revision == revision


async def test_an_empty_folder_gets_the_tables_to_which_all_steps_lead(tmp_path: Path) -> None:
    stepped = await step_by_step(tmp_path / "stepped")
    store = open_store(Settings(data_dir=tmp_path / "new"), FixedClock())
    await store.open()
    status = await store.status()
    await store.close()
    assert made_in(tmp_path / "new") == stepped, "Write them anew: python -m tests.newest_tables"
    assert status.revision == REVISIONS[-1]


@pytest.mark.parametrize("engine", ["sqlite", pytest.param("postgres", marks=pytest.mark.all)])
async def test_opening_an_empty_place_from_three_processes_at_once_migrates_once(
    engine: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    url = request.getfixturevalue("postgres_url") if engine == "postgres" else ""
    script = (
        "import asyncio, sys; from pathlib import Path\n"
        "from fabula.adapters.stores import open_store; from fabula.adapters.world import SystemClock\n"
        "from fabula.settings import Settings\n"
        "async def main():\n"
        "    store = open_store(Settings(data_dir=Path(sys.argv[1]), database_url=sys.argv[2]), SystemClock())\n"
        "    await store.open(); print((await store.status()).revision); await store.close()\n"
        "asyncio.run(main())\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "data"), url]
    processes = [
        await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
        for _ in range(3)
    ]
    said = await asyncio.gather(*(process.communicate() for process in processes))
    assert [out.decode().strip() for out, _ in said] == [REVISIONS[-1]] * 3, said


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
async def test_entities_of_an_older_database_have_their_names_in_the_graph(
    engine: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    url = request.getfixturevalue("postgres_url") if engine == "postgres" else ""
    store = sql_store(Settings(data_dir=tmp_path, database_url=url), FixedClock())
    await store.database.prepare()
    await store.database.with_sqlalchemy(_make_world_of_0071)
    await store.open()
    async with store.reading() as unit:
        names = await unit.graph.names("w", ["orr", "cave"])
    await store.close()
    assert names == {"orr": NodeName(kind="character", name="Orr")}


def _make_world_of_0071(connection: Connection) -> None:
    upgrade(connection, place="here", to="0071")
    add = text(
        "INSERT INTO canon_changes (change_id, world_id, kind, subject, object, status, version, doc, created_at_ms,"
        " updated_at_ms) VALUES (:id, 'w', :kind, :subject, :object, 'committed', 1, :doc, 1, 1)"
    )
    entity = {"kind": "entity", "entity_id": "orr", "entity_kind": "character", "name": "Orr"}
    fact = {"kind": "fact", "subject": "orr", "predicate": "lives_in", "object": "cave"}
    for id, ends, content in (("c1", ("orr", ""), entity), ("c2", ("orr", "cave"), fact)):
        row = {"id": id, "kind": content["kind"], "subject": ends[0], "object": ends[1]}
        connection.execute(add, {**row, "doc": json.dumps({"v": 1, "content": content})})


async def test_a_database_from_a_newer_version_is_refused_and_left_alone(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    await _open_and_close(settings)
    with sqlite3.connect(tmp_path / "fabula.db") as database:
        database.execute(f"UPDATE {REVISION_TABLE} SET version_num = '9999'")
    database.close()
    with pytest.raises(StoreError, match=r"newer version of Fabula \(revision 9999\)"):
        await _open_and_close(settings)


async def test_a_newer_postgres_database_is_refused(postgres_url: str, tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, database_url=postgres_url)
    store = sql_store(settings, FixedClock())
    await store.open()
    async with store.lone_transaction() as connection:
        await connection.execute(text(f"UPDATE {REVISION_TABLE} SET version_num = '9999'"))
    await store.close()
    with pytest.raises(StoreError, match=r"newer version of Fabula"):
        await _open_and_close(settings)


async def _open_and_close(settings: Settings) -> None:
    store = open_store(settings, FixedClock())
    await store.open()
    await store.close()
