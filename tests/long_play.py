"""Long plays for tests: thousands of turns as a play would have left them, written into the store in bulk.

`lengthen` adds turns below a turn, each with the player's words, what is told and what is answered. A tree with
branches is made by calling it for several turns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fabula.actions.house import House
from fabula.actions.plays.play_states import state_at
from fabula.adapters.stores.play_tables import ADD_MESSAGES, ADD_STATE, ADD_TURN, MOVE_HEAD, UNUSED
from fabula.adapters.stores.store import SqlStore
from fabula.adapters.stores.tables import pack
from fabula.ports.plays import Turn
from fabula.story.plays import PlayState

LINES_OF_A_TURN = 3


@dataclass(frozen=True, kw_only=True)
class Line:
    """The turns that were added, the oldest first."""

    turn_ids: list[str]

    @property
    def end(self) -> str:
        return self.turn_ids[-1]


async def lengthen(house: House, session_id: str, turns: int, *, below: str | None = None, says: str = "") -> Line:
    """Adds so many turns below a turn, or below the session's head, and moves the head to the last of them."""
    async with house.store.reading() as unit:
        play = await unit.plays.get(session_id)
        assert play is not None
        parent = await unit.plays.turn(below or play.head_turn_id)
        assert parent is not None
        state = await state_at(unit, parent.turn_id)
        places = await _jumps(unit, parent)
    rows = _rows(house, session_id, turns, parent, state, places, says)
    store = house.store
    assert isinstance(store, SqlStore)
    async with store.database.transaction("alone") as connection:
        for start in range(0, turns, 500):
            await connection.execute(ADD_TURN, rows.turns[start : start + 500])
            await connection.execute(ADD_STATE, rows.states[start : start + 500])
            lines = slice(start * LINES_OF_A_TURN, (start + 500) * LINES_OF_A_TURN)
            await connection.execute(ADD_MESSAGES, rows.messages[lines])
        last = rows.turns[-1]
        moved = {"head": last["turn_id"], "index": last["turn_index"], "ended": "open", "now": house.clock.now_ms()}
        await connection.execute(MOVE_HEAD, {"session": session_id, **moved})
    return Line(turn_ids=[row["turn_id"] for row in rows.turns])


@dataclass(frozen=True, kw_only=True)
class _Rows:
    turns: list[dict[str, Any]]
    states: list[dict[str, Any]]
    messages: list[dict[str, Any]]


async def _jumps(unit: Any, turn: Turn) -> dict[str, tuple[int, str | None]]:
    """The depths and jumps of the turns that are reached from a turn by jumping."""
    found: dict[str, tuple[int, str | None]] = {}
    at: Turn | None = turn
    while at is not None:
        found[at.turn_id] = (at.depth, at.jump_id)
        at = None if at.jump_id is None else await unit.plays.turn(at.jump_id)
    return found


def _rows(
    house: House,
    session_id: str,
    turns: int,
    parent: Turn,
    state: PlayState,
    places: dict[str, tuple[int, str | None]],
    says: str,
) -> _Rows:
    rows = _Rows(turns=[], states=[], messages=[])
    above, index, count = parent.turn_id, parent.turn_index, state.message_count
    document = state.as_json()
    for _ in range(turns):
        turn_id, index, depth = house.ids.new("turn"), index + 1, places[above][0] + 1
        jump = _jump(above, places)
        places[turn_id] = (depth, jump)
        rows.turns.append(_turn(house, session_id, turn_id, parent.tree_id, above, jump, depth, index, says))
        for place in range(LINES_OF_A_TURN):
            rows.messages.append(_message(house, turn_id, place, index, count + place, says))
        count += LINES_OF_A_TURN
        snapshot = {**document["snapshot"], "turn_index": index}  # type: ignore[dict-item]
        document = {**document, "snapshot": snapshot, "message_count": count}
        rows.states.append({"turn_id": turn_id, "state": pack("play_state", document), "result": None})
        above = turn_id
    return rows


def _jump(above: str, places: dict[str, tuple[int, str | None]]) -> str:
    depth, near = places[above]
    if near is None:
        return above
    near_depth, far = places[near]
    far_depth = near_depth if far is None else places[far][0]
    return (far or near) if depth - near_depth == near_depth - far_depth else above


def _turn(
    house: House,
    session_id: str,
    turn_id: str,
    tree_id: str,
    parent_id: str,
    jump_id: str,
    depth: int,
    index: int,
    says: str,
) -> dict[str, Any]:
    now = house.clock.now_ms()
    return {
        **UNUSED,
        "turn_id": turn_id,
        "tree_id": tree_id,
        "session_id": session_id,
        "parent_id": parent_id,
        "jump_id": jump_id,
        "depth": depth,
        "turn_index": index,
        "kind": "play",
        "status": "committed",
        "player_input": f"I walk on{says}, step {index}.",
        "request_id": "",
        "key": "",
        "asked": "",
        "seed": 1,
        "state_hash": f"hash of {turn_id}",
        "error": None,
        "created_at_ms": now,
        "finished_at_ms": now,
    }


def _message(house: House, turn_id: str, place: int, index: int, sequence: int, says: str) -> dict[str, Any]:
    kind, speaker, text = [
        ("player_input", "Player", f"I walk on{says}, step {index}."),
        ("narration", "Narrator", f"The road{says} goes on past milestone {index}, and the wind turns."),
        ("dialogue", "Mara", f"That was number {index}{says}. Are you tired yet?"),
    ][place]
    return {
        "turn_id": turn_id,
        "ordinal": place,
        "op": "say",
        "message_id": house.ids.new("message"),
        "said_in_turn_id": turn_id,
        "turn_index": index,
        "sequence": sequence,
        "kind": kind,
        "speaker_id": speaker.lower(),
        "speaker_name": speaker,
        "text": text,
        "recorded_at_ms": house.clock.now_ms(),
        "created_at_ms": house.clock.now_ms(),
        "updated_at_ms": house.clock.now_ms(),
    }
