"""Sudden death: every acknowledged write is there afterwards, and none is half there."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.fork_server import PROGRAM
from tests.mass import Mass

from fabula.actions.library.apis import secret_name
from fabula.testing.kills import Tally, kill_again_and_again
from fabula.testing.server_victim import ServerVictim


def kill_the_server(folder: Path, *, kills: int, seed: int) -> Tally:
    """Kills `fabula serve` under a writing load."""
    return kill_again_and_again(
        start=lambda number: ServerVictim(folder, f"r{number}", program=PROGRAM),
        witness=lambda: whole_apis(folder / "fabula.db"),
        kills=kills,
        seed=seed,
    )


def whole_apis(file: Path) -> set[str]:
    """The ids of all apis that the load made; fails when one of them is there without its key, or a key without it."""
    with closing(sqlite3.connect(file)) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert database.execute("PRAGMA foreign_key_check").fetchall() == []
        apis = {id for (id,) in database.execute("SELECT id FROM resources WHERE kind = 'api' AND id GLOB 'r[0-9]*-*'")}
        secrets = {name for (name,) in database.execute("SELECT name FROM secrets")}
    assert secrets == {secret_name(id) for id in apis}
    return apis


def test_twenty_kills_of_a_server_under_a_writing_load(tmp_path: Path, mass: Mass) -> None:
    tally = kill_the_server(tmp_path, kills=mass(20), seed=20)
    assert tally.kills == mass(20)
    assert len(tally.acknowledged) > mass(20)
    assert tally.lost == set()
