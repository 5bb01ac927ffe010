"""What a line of turns says, as steps: its end, the lines next to a message, and what became of one message.

A line is read from its end upwards, turn by turn. A part in the middle is found without walking there: an index knows
in which turn a message was said, jumps lead from the end of the line to any depth, and what later turns changed of the
lines that were found is looked up by their ids. So a part costs what it shows, however long the line is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from fabula.adapters.stores.play_tables import AT_DEPTH, GET_TURN, LAST_LINES, ON_LINE, SAID, TRANSCRIPT, WORDINGS
from fabula.adapters.stores.sql import Steps
from fabula.adapters.stores.tables import portions, spelled
from fabula.ports.errors import NotFound
from fabula.ports.plays import SpokenMessage

_ALL = 2**31 - 1
_LINES_OF_A_TURN = 3
"""About so many lines a turn has; where it has fewer, more turns are read in a second step."""
HEADS_AT_ONCE = 200
LAST_LINE_LETTERS = 400
LOOKED_BACK = (2, 64)
"""How many turns back a last line is looked for: nearly always it is in the last one. Changes by hand say nothing, and
lines may have been struck out; who did that for longer has no last line."""


def read_transcript(turn_id: str, *, last: int | None = None) -> Steps[list[SpokenMessage]]:
    if last is None:
        return (yield from _read_back(turn_id, _ALL))[0]
    turns = _turns_for(last)
    messages, complete = yield from _read_back(turn_id, turns)
    while len(messages) < last and not complete:
        turns *= 4
        messages, complete = yield from _read_back(turn_id, turns)
    return messages[max(0, len(messages) - last) :]


def read_last_lines(head_turn_ids: Sequence[str]) -> Steps[dict[str, SpokenMessage]]:
    """The last line before each of these heads; of all of them in one read, and a second for those that need it."""
    found: dict[str, SpokenMessage] = {}
    for turns in LOOKED_BACK:
        wanted = sorted({spelled(head) for head in head_turn_ids} - found.keys())
        for start in range(0, len(wanted), HEADS_AT_ONCE):
            asked = {"heads": wanted[start : start + HEADS_AT_ONCE], "furthest": turns, "letters": LAST_LINE_LETTERS}
            lines = groupby((yield LAST_LINES, asked), key=lambda row: str(row.head))
            ends = {head: _fold(list(rows)) for head, rows in lines}
            found |= {head: said[-1] for head, said in ends.items() if said}
    return found


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
        rows = yield WORDINGS, {"messages": some}
        changes += [row for row in rows if row.op != "say"]
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
    )
