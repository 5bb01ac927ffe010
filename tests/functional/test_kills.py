"""Sudden death: every acknowledged write is there afterwards, and none is half there."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from pathlib import Path

from fabula.testing.kills import Tally, kill_again_and_again

WRITER = Path(__file__).with_name("kill_writer.py")


def kill_the_store(folder: Path, *, kills: int, seed: int) -> Tally:
    """Kills a process that writes through the store itself."""
    return kill_again_and_again(
        victim=lambda number: [sys.executable, str(WRITER), str(folder), f"r{number}"],
        witness=lambda: whole_units(folder / "fabula.db"),
        kills=kills,
        seed=seed,
    )


def whole_units(file: Path) -> set[str]:
    """The names of all units in the database; fails when one of them is only half there."""
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


def test_twenty_kills_of_a_process_that_writes_through_the_store(tmp_path: Path) -> None:
    tally = kill_the_store(tmp_path, kills=20, seed=20)
    assert tally.kills == 20
    assert len(tally.acknowledged) > 20
    assert tally.lost == set()
