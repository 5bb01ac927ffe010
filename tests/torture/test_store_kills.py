"""Two hundred sudden deaths: of the server under load, and of a process that writes larger units through the store."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest
from tests.functional.test_kills import kill_the_server

from fabula.testing.kills import TalkingVictim, kill_again_and_again

pytestmark = pytest.mark.torture

WRITER = Path(__file__).with_name("kill_writer.py")


def whole_units(file: Path) -> set[str]:
    """The names of all units that the writer made; fails when one of them is only half there."""
    with closing(sqlite3.connect(file)) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert database.execute("PRAGMA foreign_key_check").fetchall() == []
        rows = list(
            database.execute(
                "SELECT s.id, (SELECT count(*) FROM resource_references r WHERE r.kind = 'schema' AND r.id = s.id),"
                " (SELECT count(*) FROM blobs b WHERE b.hash = json_extract(s.doc, '$.blob'))"
                " FROM resources s WHERE s.kind = 'schema'"
            )
        )
        characters, blobs = (
            database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("resources WHERE kind = 'character'", "blobs")
        )
    assert all((users, covers) == (2, 1) for _, users, covers in rows)
    assert (characters, blobs) == (2 * len(rows), len(rows))
    return {name for name, _, _ in rows}


def test_two_hundred_kills_of_a_server_under_a_writing_load(tmp_path: Path) -> None:
    tally = kill_the_server(tmp_path, kills=200, seed=200)
    assert tally.kills == 200
    assert len(tally.acknowledged) > 200
    assert tally.lost == set()


def test_two_hundred_kills_of_a_process_that_writes_large_units_through_the_store(tmp_path: Path) -> None:
    tally = kill_again_and_again(
        start=lambda number: TalkingVictim([sys.executable, str(WRITER), str(tmp_path), f"r{number}"]),
        witness=lambda: whole_units(tmp_path / "fabula.db"),
        kills=200,
        seed=200,
    )
    assert tally.kills == 200
    assert len(tally.acknowledged) > 200
    assert tally.lost == set()
