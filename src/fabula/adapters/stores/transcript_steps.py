"""What a line of turns says, as steps: its end, the lines next to a message, and what became of one message.

A line is read from its end upwards, turn by turn. A part in the middle is found without walking there: an index knows
in which turn a message was said, jumps lead from the end of the line to any depth, and what later turns changed of the
lines that were found is looked up by their ids. So a part costs what it shows, however long the line is.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fabula.adapters.stores.play_tables import (
    AT_DEPTH,
    CHANGES,
    GET_TURN,
    LINES_OF_TURNS,
    ON_LINE,
    SAID,
    TRANSCRIPT,
    WAYS_BACK,
    WORDINGS,
)
from fabula.adapters.stores.sql import Steps
from fabula.adapters.stores.tables import portions, spelled
from fabula.ports.errors import NotFound
from fabula.ports.plays import SpokenMessage
from fabula.story.past_lines import PAST_BYTES, newest_lines

_ALL = 2**31 - 1
_LINES_OF_A_TURN = 3
"""About so many lines a turn has; where it has fewer, more turns are read in a second step."""
_TURNS_AT_FIRST, _MORE_TURNS = 16, 64
"""What a turn sets out with is read in parts: after a few turns so many more, as long as there is room for lines."""
_TURNS_AT_ONCE = 500
_WAYS_AT_ONCE = 20
"""Postgres takes the beginning of a recursion for a tenth of it: with few ends it still goes along the index."""
_LOOKED_BACK = 64
"""How many turns back a last line is looked for: nearly always it is in the last one. Changes by hand say nothing, and
lines may have been struck out; who did that for longer has no last line."""
LAST_LINE_LETTERS = 400


def read_transcript(turn_id: str, *, last: int | None = None) -> Steps[list[SpokenMessage]]:
    if last is None:
        return (yield from _read_back(turn_id, _ALL))[0]
    turns = _turns_for(last)
    messages, complete = yield from _read_back(turn_id, turns)
    while len(messages) < last and not complete:
        turns *= 4
        messages, complete = yield from _read_back(turn_id, turns)
    return messages[max(0, len(messages) - last) :]


def read_past(turn_id: str, *, most: int) -> Steps[Sequence[SpokenMessage]]:
    """The last lines as far as a turn sets out with them, read a few turns at a time: each may have a very long line,
    of which only some would be kept."""
    rows: list[Any] = []
    end, depth, turns, left = turn_id, -1, _TURNS_AT_FIRST, PAST_BYTES
    while True:
        part = list((yield TRANSCRIPT, {"turn": spelled(end), "furthest": turns - 1}))
        rows = part + rows
        left -= sum(sys.getsizeof(row.text) for row in part)
        is_whole = bool(part) and part[0].depth <= 1
        if is_whole or left < 0 or sum(row.op == "say" for row in rows) >= most:
            messages = _fold(rows)
            if is_whole or left < 0 or len(messages) >= most:
                return newest_lines(messages[max(0, len(messages) - most) :])
        depth = (yield from _depth_of(turn_id)) - turns if depth < 0 else depth - turns
        above = None if depth < 0 else (yield AT_DEPTH, {"turn": spelled(end), "depth": depth}).scalar()
        if above is None:
            return newest_lines(_fold(rows)[-most:])
        end, turns = str(above), _MORE_TURNS


def read_last_lines(head_turn_ids: Sequence[str]) -> Steps[dict[str, SpokenMessage]]:
    """The last line before each of these heads: of all of them in one read, and for those that say nothing a walk."""
    heads = sorted({spelled(head) for head in head_turn_ids})
    found = yield from _ends_of({head: [head] for head in heads})
    silent = [head for head in heads if head not in found]
    ways: dict[str, list[str]] = {}
    for start in range(0, len(silent), _WAYS_AT_ONCE):
        asked = {"heads": silent[start : start + _WAYS_AT_ONCE], "furthest": _LOOKED_BACK}
        for row in (yield WAYS_BACK, asked):
            ways.setdefault(row.head, []).append(row.turn_id)
    return found | (yield from _ends_of({head: way for head, way in ways.items() if len(way) > 1}))


def _ends_of(ways: Mapping[str, Sequence[str]]) -> Steps[dict[str, SpokenMessage]]:
    """The last line of each way that says anything."""
    said: dict[str, list[Any]] = {}
    turns = sorted({turn for way in ways.values() for turn in way})
    for start in range(0, len(turns), _TURNS_AT_ONCE):
        asked = {"turns": turns[start : start + _TURNS_AT_ONCE], "letters": LAST_LINE_LETTERS}
        for row in (yield LINES_OF_TURNS, asked):
            said.setdefault(row.turn_id, []).append(row)
    lines = {head: _fold([row for turn in way for row in said.get(turn, ())]) for head, way in ways.items()}
    return {head: one[-1] for head, one in lines.items() if one}


def read_lines_before(turn_id: str, message_id: str, *, limit: int) -> Steps[list[SpokenMessage] | None]:
    place = yield from _place_of(turn_id, message_id)
    if place is None:
        return None
    turns, found = _turns_for(limit), list[SpokenMessage]()
    while True:
        said = yield SAID, {"turn": place.turn_id, "furthest": turns}
        found = yield from _as_they_read(turn_id, [row for row in said if row.sequence < place.sequence])
        if len(found) >= limit or place.depth <= turns:
            return found[max(0, len(found) - limit) :]
        turns *= 4


def read_lines_after(turn_id: str, message_id: str | None, *, limit: int) -> Steps[list[SpokenMessage] | None]:
    depth, sequence = 0, -1
    if message_id is not None:
        place = yield from _place_of(turn_id, message_id)
        if place is None:
            return None
        depth, sequence = place.depth, place.sequence
    end, turns = (yield from _depth_of(turn_id)), _turns_for(limit)
    while True:
        lowest = (yield AT_DEPTH, {"turn": spelled(turn_id), "depth": min(end, depth + turns)}).scalar()
        said = yield SAID, {"turn": lowest, "furthest": turns}
        found = yield from _as_they_read(turn_id, [row for row in said if row.sequence > sequence])
        if len(found) >= limit or depth + turns >= end:
            return found[:limit]
        turns *= 4


def read_wordings(turn_id: str, message_id: str) -> Steps[list[SpokenMessage]]:
    changes = list((yield WORDINGS, {"messages": [spelled(message_id)]}))
    wordings: list[SpokenMessage] = []
    for row in (yield from _of_line(turn_id, changes)):
        wordings = [] if row.op == "strike" else [*wordings, replace(_message(row), edited=row.op == "edit")]
    return wordings


def read_on_line(turn_id: str, wanted: Sequence[str]) -> Steps[frozenset[str]]:
    found: set[str] = set()
    for some in portions(wanted):
        found.update((yield ON_LINE, {"turn": spelled(turn_id), "wanted": some}).scalars())
    return frozenset(found)


def _turns_for(lines: int) -> int:
    return lines // _LINES_OF_A_TURN + 8


def _read_back(turn_id: str, turns: int) -> Steps[tuple[list[SpokenMessage], bool]]:
    """What the last so many turns of a line say, and whether the line is not longer than that."""
    rows = list((yield TRANSCRIPT, {"turn": spelled(turn_id), "furthest": turns}))
    if turns == _ALL or (rows and rows[0].depth <= 1):
        return _fold(rows), True
    return _fold(rows), (yield from _depth_of(turn_id)) <= turns


def _depth_of(turn_id: str) -> Steps[int]:
    row = (yield GET_TURN, {"turn": spelled(turn_id)}).first()
    if row is None:
        raise NotFound(f"There is no turn named '{turn_id}'.", kind="turn", id=turn_id)
    return int(row.depth)


def _place_of(turn_id: str, message_id: str) -> Steps[Any]:
    """Where on a line a message was said, whatever became of it; None if it was said on no turn of this line."""
    changes = list((yield WORDINGS, {"messages": [spelled(message_id)]}))
    said = yield from _of_line(turn_id, [row for row in changes if row.op == "say"])
    return said[0] if said else None


def _as_they_read(turn_id: str, said: Sequence[Any]) -> Steps[list[SpokenMessage]]:
    """Lines as the end of their line words them, without those that it struck out."""
    changes: list[Any] = []
    for some in portions([row.message_id for row in said]):
        changes += list((yield CHANGES, {"messages": some}))
    return _fold([*said, *(yield from _of_line(turn_id, changes))])


def _of_line(turn_id: str, changes: Sequence[Any]) -> Steps[list[Any]]:
    """Those changes that were made on a line: other branches may say otherwise."""
    turns = yield from read_on_line(turn_id, sorted({row.turn_id for row in changes}))
    return [row for row in changes if row.turn_id in turns]


def _fold(rows: Sequence[Any]) -> list[SpokenMessage]:
    """What a line of turns says in the end: later turns change or strike out what earlier ones said."""
    messages: dict[str, SpokenMessage] = {}
    for row in rows:
        if row.op == "say":
            messages[row.message_id] = _message(row)
        elif row.message_id in messages:
            if row.op == "edit":
                messages[row.message_id] = replace(_message(row), edited=True)
            else:
                del messages[row.message_id]
    return sorted(messages.values(), key=lambda message: message.sequence)


def _message(row: Any) -> SpokenMessage:
    return SpokenMessage(
        message_id=row.message_id,
        turn_id=row.said_in_turn_id,
        turn_index=row.turn_index,
        sequence=row.sequence,
        kind=row.kind,
        speaker_id=row.speaker_id,
        speaker_name=row.speaker_name,
        text=row.text,
        recorded_at_ms=row.recorded_at_ms,
        created_at_ms=row.created_at_ms,
        updated_at_ms=row.updated_at_ms,
        heard_by=None if row.heard_by is None else tuple(row.heard_by.split()),
    )
