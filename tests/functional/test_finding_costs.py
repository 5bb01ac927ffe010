"""Lists and searches cost what they show: they go along indexes, ask as often, and bring as much, whatever there is."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import product
from typing import Any, Literal, TypeVar

import pytest
from sqlalchemy import Executable
from sqlalchemy.dialects.sqlite.base import SQLiteDialect

from fabula.actions.listing import Listing, listed_ids
from fabula.actions.plays.sessions import summaries
from fabula.adapters.stores.canon import newest_edges, true_changes
from fabula.adapters.stores.canon_graph import CONTENTS, NAMES
from fabula.adapters.stores.index import list_question, search_steps
from fabula.adapters.stores.play_tables import LINES_OF_TURNS, NAMED_TURNS, REACHED_NAMED_TURNS, WAYS_BACK
from fabula.adapters.stores.resources import KNOWN, REVISIONS
from fabula.adapters.stores.sql import Compiler, Connection, Rows, Steps, Values
from fabula.adapters.stores.store import SqlStore
from fabula.adapters.stores.tables import Access
from fabula.adapters.stores.turn_steps import KNOWN_BASIS
from fabula.adapters.stores.unit import SqlUnit
from fabula.ports.index import ListOrder, ListPlace, ListQuestion, SearchQuestion
from fabula.ports.plays import Finished, MessageChange, NewTurn, SpokenMessage
from fabula.ports.store import Reference, Store
from fabula.story.values import JsonObject
from fabula.testing.memory_store import memory_place
from fabula.testing.world import FixedClock

T = TypeVar("T")
WALKS_ALL = re.compile(r"SCAN (?!reached|ends|\d+ CONSTANT)\w+(?! USING)(?:$| )")
SIDES: tuple[Literal["subject", "object"], ...] = ("subject", "object")
ORDERS: tuple[ListOrder, ...] = ("id", "updated", "created", "name")


@pytest.fixture(scope="module")
def tables() -> Iterator[sqlite3.Connection]:
    """Empty tables: of them SQLite knows nothing but their indexes."""
    with memory_place() as place, closing(sqlite3.connect(place.settings.data_folder / "fabula.db")) as database:
        yield database


def walks(tables: sqlite3.Connection, query: Executable, values: Values) -> list[str]:
    """The steps of SQLite's plan that would read a whole table."""
    compiled = Compiler(SQLiteDialect(paramstyle="named")).compile(query, values)
    plan = tables.execute(f"EXPLAIN QUERY PLAN {compiled.sql}", compiled.named(values))
    return [step[3] for step in plan if WALKS_ALL.match(step[3])]


@pytest.mark.parametrize("kind", ["story", "session"])
def test_every_list_goes_along_an_index(kind: str, tables: sqlite3.Connection) -> None:
    narrowings: list[dict[str, Any]] = [{}]
    if kind == "session":
        narrowings += [{"reached_by": "t"}, {"story_id": "s"}, {"status": "open"}, {"reached_by": "t", "story_id": "s"}]
    for order, words, behind, narrowed in product(ORDERS, ((), ("a",), ("ab", "cd")), (False, True), narrowings):
        after = ListPlace(key="a" if order in ("id", "name") else 1, id="a") if behind else None
        question = ListQuestion(kind=kind, order=order, words=words, after=after, limit=20, **narrowed)
        assert walks(tables, *list_question(question)) == [], question


def test_every_search_goes_along_an_index(tables: sqlite3.Connection) -> None:
    for words, token in product((("light",), ("li", "ho", "s")), (None, "t")):
        asked = SearchQuestion(scopes=["session"], words=words, beginning="li", limit=5, reached_by=token)
        steps = search_steps(asked)
        step = next(steps)
        with pytest.raises(StopIteration):
            while True:
                query, values = step
                assert isinstance(values, dict) and walks(tables, query, values) == []
                step = steps.send(Rows((), 0))
    assert walks(tables, LINES_OF_TURNS, {"turns": ["a", "b"], "letters": 9}) == []
    assert walks(tables, WAYS_BACK, {"heads": ["a", "b"], "furthest": 2}) == []
    assert walks(tables, REACHED_NAMED_TURNS, {"limit": 5, "token": "t"}) == []
    assert walks(tables, NAMED_TURNS, {"limit": 5}) == []


def test_what_a_turn_plays_is_looked_up_however_many_resources_there_are(tables: sqlite3.Connection) -> None:
    names = {"names": [("story", "a"), ("character", "b")]}
    for query, values in ((KNOWN_BASIS, {**names, "session": "s"}), (REVISIONS, names), (KNOWN, names)):
        assert walks(tables, query, values) == []
        compiled = Compiler(SQLiteDialect(paramstyle="named")).compile(query, values)
        plan = [step[3] for step in tables.execute(f"EXPLAIN QUERY PLAN {compiled.sql}", compiled.named(values))]
        assert any("SEARCH resources" in step and "(kind=? AND id=?)" in step for step in plan), plan


@pytest.mark.parametrize("several", [1, 2, 9])
def test_entities_are_looked_up_by_their_ids_however_many_changes_a_world_has(
    several: int, tables: sqlite3.Connection
) -> None:
    values = {"world": "w", "ends": [f"e{n}" for n in range(several)]}
    for query in (CONTENTS, NAMES):
        compiled = Compiler(SQLiteDialect(paramstyle="named")).compile(query, values)
        plan = [step[3] for step in tables.execute(f"EXPLAIN QUERY PLAN {compiled.sql}", compiled.named(values))]
        searched = [step for step in plan if "canon_changes" in step]
        assert any("(world_id=? AND subject=?" in step for step in searched), plan
        assert all("subject=?" in step or "(change_id=?)" in step for step in searched), plan


@pytest.mark.parametrize("several", [1, 2, 9])
def test_what_is_true_of_somebody_is_looked_up_by_them_however_many_changes_a_world_has(
    several: int, tables: sqlite3.Connection
) -> None:
    values = {"world": "w", "ends": [f"e{n}" for n in range(several)], "most": 200}
    for side, entities in product(SIDES, (False, True)):
        compiled = Compiler(SQLiteDialect(paramstyle="named")).compile(newest_edges(side, entities), values)
        plan = [step[3] for step in tables.execute(f"EXPLAIN QUERY PLAN {compiled.sql}", compiled.named(values))]
        searched = [step for step in plan if "canon_changes" in step]
        assert searched and all(f"(world_id=? AND {side}=?" in step for step in searched), plan
        assert "doc" not in str(compiled.sql), "what is sorted is short"


def test_what_is_true_of_a_kind_is_looked_up_by_it_in_its_order(tables: sqlite3.Connection) -> None:
    for of_session in (False, True):
        values = {"world": "w", "kinds": ["axiom"], "most": 100} | ({"session_id": "s"} if of_session else {})
        query = true_changes(of_session, of_kinds=True)
        compiled = Compiler(SQLiteDialect(paramstyle="named")).compile(query, values)
        plan = [step[3] for step in tables.execute(f"EXPLAIN QUERY PLAN {compiled.sql}", compiled.named(values))]
        assert len(plan) == 1 and "(world_id=? AND kind=?" in plan[0], plan


class Counting:
    """A connection that counts what is asked and how many rows come back."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.asked = self.rows = 0

    async def execute(self, statement: Executable, values: Values | Sequence[Values] | None = None) -> Rows:
        found = await self._connection.execute(statement, values)
        self.asked += 1
        self.rows += len(list(found))
        return found

    async def run(self, steps: Steps[T]) -> T:
        try:
            step = next(steps)
            while True:
                step = steps.send(await self.execute(*step))
        except StopIteration as done:
            result: T = done.value
            return result


async def fill(store: Store, clock: FixedClock, first: int, last: int) -> None:
    """Plays, each of a story of its own, and each with so many turns; the first one with as many as there are plays."""
    for number in range(first, last):
        story, session = f"story{number:04}", f"session{number:04}"
        doc: JsonObject = {"display_name": f"The Lamp {number:04}", "story_id": story}
        settings: JsonObject = {
            "session_id": session,
            "story_id": story,
            "display_name": f"Evening {number:04}",
            "player_profile_id": None,
            "player_schema_id": "",
            "api_group_id": "builtin",
            "preset_id": "builtin",
        }
        async with store.writing() as unit:
            await unit.resources.add("story", story, doc)
            await unit.resources.add("session", session, settings, references=[Reference(kind="story", id=story)])
            start = NewTurn(turn_id=f"{session}-0", session_id=session, parent_id=None, turn_index=0, kind="start")
            await unit.plays.add(session, start, Finished(turn_id=start.turn_id, state={}, state_hash=""))
            for turn in range(1, (last if number == last - 1 else 3) + 1):
                await say(unit, session, turn)
        clock.advance(1)


async def say(unit: Any, session: str, turn: int) -> None:
    turn_id = f"{session}-{turn}"
    line = SpokenMessage(
        message_id=turn_id,
        turn_id=turn_id,
        turn_index=turn,
        sequence=turn,
        kind="narration",
        speaker_id="narrator",
        speaker_name="",
        text=f"Line {turn}.",
        recorded_at_ms=1,
        created_at_ms=1,
        updated_at_ms=1,
    )
    new = NewTurn(turn_id=turn_id, session_id=session, parent_id=f"{session}-{turn - 1}", turn_index=turn, kind="play")
    await unit.plays.begin(new)
    said = [MessageChange(op="say", message=line)]
    await unit.plays.commit(Finished(turn_id=turn_id, state={}, state_hash="", messages=said))


async def test_a_list_asks_as_often_and_brings_as_much_whatever_there_is(store: SqlStore, clock: FixedClock) -> None:
    costs: list[dict[str, tuple[int, int]]] = []
    for first, last in ((0, 12), (12, 80)):
        await fill(store, clock, first, last)
        cost: dict[str, tuple[int, int]] = {}
        for order in ("updated", "created", "name"):
            async with store.read_transaction() as connection:
                counting = Counting(connection)
                unit = SqlUnit(Access(connection=counting, keyring=store.keyring, clock=clock))
                ids, _ = await listed_ids(unit, "session", Listing(order=order, limit=5))
                shown = await summaries(unit, ids)
            assert len(shown) == 5 and all(one.last_line.startswith("Line ") for one in shown)
            assert order == "name" or shown[0].last_line == f"Line {last}."
            cost[order] = (counting.asked, counting.rows)
        async with store.read_transaction() as connection:
            counting = Counting(connection)
            unit = SqlUnit(Access(connection=counting, keyring=store.keyring, clock=clock))
            asked = SearchQuestion(scopes=["story", "session"], words=["lamp"], beginning="lamp", limit=5)
            assert len(await unit.index.find(asked)) == 5
        cost["find"] = (counting.asked, counting.rows)
        costs.append(cost)
    assert costs[0] == costs[1]
    assert max(asked for asked, _ in costs[1].values()) <= 8 and max(rows for _, rows in costs[1].values()) <= 60
