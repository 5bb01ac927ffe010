"""The tree of turns, as steps: its shape, some of its turns, how they begin, and what was written beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fabula.adapters.stores.play_tables import (
    BEGINNINGS,
    GET_TURNS,
    MARK,
    MARKS,
    MARKS_OF,
    SHAPE,
    TELLINGS,
    UNMARK,
)
from fabula.adapters.stores.sql import Steps
from fabula.adapters.stores.tables import legible, portions, spelled
from fabula.adapters.stores.turn_steps import existing_turn, turn_of
from fabula.ports.plays import Turn, TurnMark
from fabula.story.turn_tree import TurnPlace


def read_shape(tree_id: str) -> Steps[list[TurnPlace]]:
    return [TurnPlace._make(row) for row in (yield SHAPE, {"tree": spelled(tree_id)})]


def read_turns_named(turn_ids: Sequence[str]) -> Steps[dict[str, Turn]]:
    found: dict[str, Turn] = {}
    for some in portions(turn_ids):
        found |= {row.turn_id: turn_of(row) for row in (yield GET_TURNS, {"turns": some})}
    return found


def read_tellings(parent_ids: Sequence[str]) -> Steps[list[Turn]]:
    found: list[Turn] = []
    for some in portions(parent_ids):
        found += [turn_of(row) for row in (yield TELLINGS, {"parents": some})]
    return sorted(found, key=lambda turn: turn.turn_id)


def read_beginnings(turn_ids: Sequence[str], *, letters: int) -> Steps[dict[str, str]]:
    found: dict[str, str] = {}
    for some in portions(turn_ids):
        for row in (yield BEGINNINGS, {"turns": some, "letters": letters}):
            found.setdefault(row.turn_id, row.text)
    return found


def write_mark(mark: TurnMark) -> Steps[None]:
    turn = yield from existing_turn(mark.turn_id)
    if mark.name or mark.bookmarked:
        row = {"turn_id": mark.turn_id, "tree_id": turn.tree_id, "name": legible(mark.name)}
        yield MARK, {**row, "bookmarked": mark.bookmarked}
    else:
        yield UNMARK, {"turn": mark.turn_id}


def read_marks(tree_id: str, *, after: str | None, limit: int | None) -> Steps[list[TurnMark]]:
    query = MARKS if limit is None else MARKS.limit(limit)
    return [_mark(row) for row in (yield query, {"tree": spelled(tree_id), "after": spelled(after or "")})]


def read_marks_of(turn_ids: Sequence[str]) -> Steps[dict[str, TurnMark]]:
    found: dict[str, TurnMark] = {}
    for some in portions(turn_ids):
        found |= {row.turn_id: _mark(row) for row in (yield MARKS_OF, {"turns": some})}
    return found


def _mark(row: Any) -> TurnMark:
    return TurnMark(turn_id=row.turn_id, name=row.name, bookmarked=bool(row.bookmarked))
