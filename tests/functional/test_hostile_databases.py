"""A database that somebody else wrote, or that was restored from elsewhere: it runs nothing and ends in no accident."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import struct
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import ormsgpack
import pytest
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from sqlalchemy import CTE, CompoundSelect, Executable
from sqlalchemy.dialects.sqlite.base import SQLiteDialect
from sqlalchemy.sql import visitors
from tests.conftest import Place
from tests.functional.test_followers import all_done
from tests.live import gate_session, live_server

from fabula.actions.turns.explain_turn import FORGOTTEN, MOST_SHOWN
from fabula.adapters.stores import memory_tables, open_store, play_tables, sql_store
from fabula.adapters.stores.checkpoints import StoreCheckpoints
from fabula.adapters.stores.computed_parts import computed_part
from fabula.adapters.stores.loop_checkpoints import LoopCheckpoint
from fabula.adapters.stores.migrations import REVISIONS
from fabula.adapters.stores.restore import check_backup
from fabula.adapters.stores.sql import Compiler
from fabula.adapters.stores.store import SqlStore
from fabula.cli.check_up import check_up
from fabula.ports.errors import StoreError
from fabula.ports.packed import pack_bytes, unpack_bytes
from fabula.ports.traces import LONGEST_TEXT, StoredPart
from fabula.settings import Settings
from fabula.story.values import JsonObject
from fabula.testing.memory_store import memory_place
from fabula.testing.world import FixedClock

METADATA = json.dumps({"source": "loop", "step": 1, "parents": {}})


def calling(code: int) -> Callable[[Path], tuple[str, bytes]]:
    """A checkpoint that asks LangGraph to make a folder, in one of its ways to name what is to be called."""

    def packed(folder: Path) -> tuple[str, bytes]:
        argument = {0: str(folder), 1: (str(folder),), 2: {"path": str(folder)}, 3: str(folder)}.get(code, {})
        named = ormsgpack.packb(("os", "mkdir", argument, "__call__"))
        checkpoint = {**empty_checkpoint(), "channel_values": {"where": ormsgpack.Ext(code, named)}}
        return "msgpack", ormsgpack.packb(checkpoint)

    return packed


UNREADABLE: dict[str, Callable[[Path], tuple[str, bytes]]] = {
    **{f"that calls ({code})": calling(code) for code in range(8)},
    "of json that names a type": lambda _: ("json", b'{"lc": 2, "type": "constructor", "id": ["uuid", "UUID"]}'),
    "of pickle": lambda _: ("pickle", b"cos\nmkdir\n(V/tmp/x\ntR."),
    "that is cut": lambda _: ("msgpack", JsonPlusSerializer().dumps_typed(empty_checkpoint())[1][:-3]),
    "that is a list": lambda _: ("msgpack", ormsgpack.packb([1])),
    "without versions": lambda _: ("msgpack", ormsgpack.packb({**empty_checkpoint(), "channel_versions": {"a": "b"}})),
    "that is nothing": lambda _: ("null", b""),
}


async def holding(place: Place, encoding: str, packed: bytes) -> SqlStore:
    """An open store with one checkpoint, of the loop `s`."""
    store = sql_store(place.settings, FixedClock())
    await store.open()
    row = LoopCheckpoint(
        thread_id="s", namespace="", checkpoint_id="c", encoding=encoding, checkpoint=packed, metadata=METADATA
    )
    await store.write(lambda unit: unit.loop_checkpoints.change(removed=[], put=[row]))
    return store


@pytest.mark.parametrize("kind", UNREADABLE)
async def test_a_checkpoint_names_nothing_that_is_called_and_what_cannot_be_read_is_none(
    kind: str, place: Place, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "made by a checkpoint"
    encoding, packed = UNREADABLE[kind](folder)
    store = await holding(place, encoding, packed)
    saver = await StoreCheckpoints(store).saver()
    assert await saver.aget_tuple({"configurable": {"thread_id": "s", "checkpoint_ns": ""}}) is None
    assert [found async for found in saver.alist(None)] == []
    assert not folder.exists()
    assert "Where the loop 's' stands cannot be read" in caplog.text
    await store.close()


async def test_a_checkpoint_that_langgraph_packed_itself_is_read(place: Place) -> None:
    checkpoint = {**empty_checkpoint(), "channel_values": {"where": "open", "kept": {"n": [1, 2.5, None, "\u00e9"]}}}
    encoding, packed = JsonPlusSerializer().dumps_typed(checkpoint)
    store = await holding(place, encoding, packed)
    saver = await StoreCheckpoints(store).saver()
    found = await saver.aget_tuple({"configurable": {"thread_id": "s", "checkpoint_ns": ""}})
    assert found is not None and found.checkpoint == checkpoint
    await store.close()


ALL = 2**31 - 1
ASKED = {"turn": "t6", "heads": ["t6"], "wanted": ["t1"], "index": 0, "depth": 0, "furthest": ALL, "within": ALL}
ASKED |= {"line": 1, "most": 9}
STEPS = 1_000_000
"""So many of SQLite's own steps a question about seven turns may take; it takes some hundreds."""


def recursive_queries() -> dict[str, tuple[Executable, CTE]]:
    """Every query of the tables that calls itself, with the part that does."""
    return {
        name: (query, part)
        for tables in (play_tables, memory_tables)
        for name, query in vars(tables).items()
        if isinstance(query, Executable) and not isinstance(query, CTE)
        for part in visitors.iterate(query)  # type: ignore[arg-type]
        if isinstance(part, CTE) and part.recursive and isinstance(part.element, CompoundSelect)
    }


def test_every_query_that_calls_itself_comes_to_an_end() -> None:
    queries = recursive_queries()
    assert {"ANCESTOR", "ON_LINE", "AT_DEPTH", "TRANSCRIPT", "WAYS_BACK", "NEAREST_SUMMARY", "LINES_UP"} <= set(queries)
    for name, (_, part) in queries.items():
        assert isinstance(part.element, CompoundSelect)
        step = str(part.element.selects[1])
        falls = f".depth < {part.name}.depth" in step
        assert falls or (name == "LINES_UP" and f"{part.name}.steps < :most" in step), step


@pytest.mark.parametrize(
    "circle",
    [
        "UPDATE turns SET parent_id = 't6', jump_id = 't6' WHERE turn_id = 't3'",
        "UPDATE turns SET parent_id = turn_id, jump_id = turn_id",
        "UPDATE turns SET parent_id = 't6', jump_id = 't6', depth = 6, turn_index = 6 WHERE turn_id IN ('t5', 't6')",
        "UPDATE turns SET depth = 6, turn_index = 6, parent_id = CASE turn_id WHEN 't6' THEN 't5' ELSE 't6' END",
    ],
)
def test_a_tree_that_leads_round_in_a_circle_is_walked_to_an_end(circle: str) -> None:
    with memory_place() as place, closing(sqlite3.connect(place.settings.data_folder / "fabula.db")) as tables:
        for n in range(7):
            above = None if n == 0 else f"t{n - 1}"
            turn: tuple[Any, ...] = (f"t{n}", above, above, n, n)
            tables.execute(
                "INSERT INTO turns (turn_id, tree_id, session_id, parent_id, jump_id, depth, turn_index, kind, status, "
                "player_input, request_id, seed, attempt, owner, lease_until_ms, created_at_ms) "
                "VALUES (?, 't0', 's', ?, ?, ?, ?, 'play', 'committed', '', '', 0, 1, '', 0, 0)",
                turn,
            )
        tables.execute(circle)
        for query, _ in recursive_queries().values():
            values = {name: ASKED[name] for name in query.compile().params if name in ASKED}  # type: ignore[attr-defined]
            compiled = Compiler(SQLiteDialect(paramstyle="named")).compile(query, values)
            tables.set_progress_handler(lambda: 1, STEPS)
            tables.execute(compiled.sql, compiled.named(values)).fetchall()


def bomb(megabytes: int, *, before: bytes = b"", behind: bytes = b"") -> bytes:
    """Very many blanks, packed to a thousandth of them."""
    packing = zlib.compressobj(9)
    blanks = [packing.compress(b" " * 1_000_000) for _ in range(megabytes)]
    return b"".join([packing.compress(before), *blanks, packing.compress(behind), packing.flush()])


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "a bomb": lambda _: bomb(50, before=b'{"x": "', behind=b'"}'),
    "no packed bytes": lambda _: b"\xff\x00",
    "cut": lambda packed: packed[: len(packed) // 2],
    "nothing": lambda _: b"",
}


@pytest.mark.parametrize(
    "damage", [pytest.param(how, marks=pytest.mark.all) if how == "a bomb" else how for how in DAMAGE]
)
async def test_a_packed_text_that_is_damaged_or_too_long_is_told_as_forgotten(damage: str, tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session = await gate_session(client)
        turn_id = (await client.turn(session, "I knock."))[-1]["response"]["result"]["turn_id"]
        await all_done(client)
        whole = await client.call("session.explain_turn", session, turn_id=turn_id)
        place = client.house.store.database.place  # type: ignore[attr-defined]

        def damaged(statement: str) -> None:
            with closing(sqlite3.connect(place, timeout=60, isolation_level="IMMEDIATE")) as tables:
                tables.create_function("damage", 1, DAMAGE[damage])
                tables.execute(statement)
                tables.commit()

        # In a thread: who writes in the server may need the event loop to come to an end.
        await asyncio.to_thread(damaged, "UPDATE trace_texts SET text = damage(text)")
        without_texts = await client.call("session.explain_turn", session, turn_id=turn_id)
        await asyncio.to_thread(damaged, "UPDATE trace_parts SET doc = damage(doc) WHERE kind = 'call'")
        without_calls = await client.call("session.explain_turn", session, turn_id=turn_id)
    shown = [text for call in without_texts["calls"] for text in (call["reply"], *contents(call))]
    assert len(shown) >= sum(1 + len(contents(call)) for call in whole["calls"]) and set(shown) == {FORGOTTEN}
    assert without_calls["kept"] and without_calls["calls"] == [] and without_calls["sections"] == whole["sections"]


def contents(call: dict[str, Any]) -> list[str]:
    return [one["content"] for one in call["messages"]]


async def test_a_long_text_that_stands_in_very_many_prompts_is_shown_in_so_many(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session = await gate_session(client)
        turn_id = (await client.turn(session, "I knock."))[-1]["response"]["result"]["turn_id"]
        await client.house.traces.settle()
        call: JsonObject = {"agent": "narrator", "model": "m", "messages": [{"role": "user", "text": "long"}] * 1_000}
        # As new as the turn: what is older than some days is removed soon after the start.
        part = StoredPart(turn_id=turn_id, kind="call", at_ms=client.house.clock.now_ms(), doc=call)
        texts = {"long": pack_bytes(b"x" * LONGEST_TEXT)}
        await client.house.store.write(lambda unit: unit.traces.keep([part], texts))
        told = await client.call("session.explain_turn", session, turn_id=turn_id)
    shown = [text for call in told["calls"] for text in contents(call)]
    assert sum(len(text) for text in shown if text != FORGOTTEN) <= MOST_SHOWN
    assert len(shown) >= 1_000 and 50 < sum(len(text) == LONGEST_TEXT for text in shown) < 100


@pytest.mark.parametrize("length", [0, 1, 999, 1_000, 1_001, 5_000])
def test_no_more_is_unpacked_than_is_wanted(length: int) -> None:
    raw = b"x" * length
    assert unpack_bytes(pack_bytes(raw), most=1_000) == (raw if length <= 1_000 else None)
    assert unpack_bytes(pack_bytes(raw)[:-1], most=10_000) is None


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON turns BEGIN DELETE FROM resources; END",
        "CREATE VIEW v AS SELECT 1",
        "CREATE TABLE e (a, b GENERATED ALWAYS AS (length(hex(zeroblob(300000000)))) VIRTUAL)",
        "CREATE TABLE e (a CHECK (length(hex(zeroblob(300000000))) > 0))",
        "CREATE VIRTUAL TABLE e USING fts5(x)",
        "CREATE INDEX e ON resources (doc || doc)",
    ],
)
async def test_a_database_that_does_something_by_itself_is_not_opened(tmp_path: Path, statement: str) -> None:
    settings = Settings(data_dir=tmp_path)
    store = open_store(settings, FixedClock())
    await store.open()
    await store.close()
    with closing(sqlite3.connect(tmp_path / "fabula.db")) as database:
        database.execute(statement)
        database.commit()
    with pytest.raises(StoreError, match="runs by itself") as refused:
        await open_store(settings, FixedClock()).open()
    assert "restore a backup" in refused.value.message
    (finding,) = [one for one in await check_up(settings) if one.part == "store"]
    assert finding.state == "broken"


def test_a_part_that_says_it_is_another_is_found_all_the_same() -> None:
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE t (a)")
        database.execute("PRAGMA writable_schema=ON")
        database.execute(
            "INSERT INTO sqlite_master VALUES ('index', 'e', 't', 0, 'CREATE VIRTUAL TABLE e USING fts5(x)')"
        )
        assert computed_part(database) == "index 'e'"


def tangle(file: Path, table: str) -> None:
    """Puts pages over the rows of a table, each of which leads to the one below it very often."""
    with closing(sqlite3.connect(file)) as database:
        database.execute("PRAGMA journal_mode=DELETE")
        (size,) = database.execute("PRAGMA page_size").fetchone()
        (root,) = database.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    pages = bytearray(file.read_bytes())
    place = slice((root - 1) * size, root * size)
    pages += pages[place]
    for _ in range(6):
        below = len(pages) // size
        cells = [struct.pack(">IB", below, row) for row in range(1, 100)]
        starts = [size - 5 * (n + 1) for n in range(len(cells))]
        head = struct.pack(">BHHHBI", 5, 0, len(cells), starts[-1], 0, below)
        front = head + b"".join(struct.pack(">H", start) for start in starts)
        pages += front.ljust(starts[-1], b"\0") + b"".join(reversed(cells))
    pages[place] = pages[-size:]
    struct.pack_into(">I", pages, 28, len(pages) // size)
    pages[92:96] = pages[24:28]
    file.write_bytes(pages)


async def test_a_database_of_rows_without_end_is_not_opened(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    store = open_store(settings, FixedClock())
    await store.open()
    await store.close()
    with closing(sqlite3.connect(tmp_path / "fabula.db")) as database:
        database.execute("INSERT INTO slots VALUES ('a', 'b', NULL, '', 0)")
        database.commit()
    tangle(tmp_path / "fabula.db", "slots")
    with pytest.raises(StoreError, match="stand in two places") as refused:
        await open_store(settings, FixedClock()).open()
    assert "fabula restore" in refused.value.message
    (finding,) = [one for one in await check_up(settings) if one.part == "store"]
    assert finding.state == "broken"


def test_a_backup_of_rows_without_end_is_refused_before_they_are_read(tmp_path: Path) -> None:
    file = tmp_path / "backup.db"
    with closing(sqlite3.connect(file)) as database:
        database.executescript(
            "CREATE TABLE fabula_revision (version_num); CREATE TABLE fabula_backup (sha256); CREATE TABLE many (a);"
            "CREATE TABLE resources (kind);"
            f"INSERT INTO fabula_revision VALUES ('{REVISIONS[-1]}'); INSERT INTO fabula_backup VALUES ('');"
            "INSERT INTO many VALUES (1)"
        )
    tangle(file, "many")
    with pytest.raises(StoreError, match="is damaged"):
        check_backup(file)


async def test_a_value_that_is_far_too_large_is_refused_before_it_is_read(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session = await gate_session(client)
    with closing(sqlite3.connect(tmp_path / "fabula.db")) as database:
        database.execute("UPDATE turn_states SET state = CAST(zeroblob(140000000) AS TEXT)")
        database.commit()
    async with live_server(tmp_path) as client:
        refused = await client.raw("session.get", session)
        assert "too large" in refused["error"]["message"] and "restore a backup" in refused["error"]["message"]
        assert str(tmp_path) not in refused["error"]["message"], "where it lies is nothing for who plays"
        assert "error" not in await client.raw("story.list")
