"""NPCs: what each of them lived through."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any, Final

import orjson
from sqlalchemy import (
    Column,
    Index,
    PrimaryKeyConstraint,
    Table,
    Text,
    bindparam,
    delete,
    func,
    insert,
    literal,
    literal_column,
    select,
    text,
    update,
)

from fabula.adapters.stores.tables import METADATA, NAME, NUMBER, Access, few_lengths, pack, spelled, unpack
from fabula.adapters.stores.whole_rows import whole_rows
from fabula.ports.npcs import LeftTurn, NpcKey, OpenTurn, Remembered, Settled
from fabula.ports.stored import NOT_READ, damaged
from fabula.story.npc import GameEvent, Lived, PlayedTag
from fabula.story.values import Json

NPC_ENTRIES = Table(
    "npc_entries",
    METADATA,
    Column("game_id", NAME, nullable=False),
    Column("agent_id", NAME, nullable=False),
    Column("number", NUMBER, nullable=False),
    Column("kind", NAME, nullable=False),
    Column("turn_id", NAME),
    Column("connection_id", NAME, nullable=False),
    Column("status", NAME, nullable=False),
    Column("event", Text, nullable=False),
    Column("played", Text, nullable=False),
    Column("played_hash", NAME),
    Column("created_at_ms", NUMBER, nullable=False),
    Column("updated_at_ms", NUMBER, nullable=False),
    PrimaryKeyConstraint("game_id", "agent_id", "number", name="npc_entries_pk"),
    Index("npc_entries_by_turn", "game_id", "agent_id", "turn_id", unique=True),
    Index("npc_entries_by_connection", "game_id", "connection_id"),
    Index(
        "npc_entries_open",
        "created_at_ms",
        sqlite_where=text("status = 'open'"),
        postgresql_where=text("status = 'open'"),
    ),
)

MOST_UNCONFIRMED: Final = 200
BEGINNING: Final = 8_000
"""Letters in which the longest id of an event has room, however it is written."""
EVENT_ID: Final = '"event_id":'
FURTHEST: Final = 32
"""Only the version of the document stands before it."""

_e = NPC_ENTRIES.c
_this_npc = (_e.game_id == bindparam("game")) & (_e.agent_id == bindparam("agent"))
_this_turn = _this_npc & (_e.turn_id == bindparam("turn"))

GET = select(NPC_ENTRIES).where(_this_turn)
GET_LOCKED = GET.with_for_update()
SETTLE = (
    update(NPC_ENTRIES)
    .where(_this_turn)
    .values(
        status=bindparam("new_status"),
        played=bindparam("new_played"),
        played_hash=bindparam("new_hash"),
        updated_at_ms=bindparam("now"),
    )
)
DROP = delete(NPC_ENTRIES).where(_this_turn, _e.status == "open")
RECENT = select(NPC_ENTRIES).where(_this_npc, _e.status != "open").order_by(_e.number.desc()).limit(bindparam("limit"))
THESE = (
    select(NPC_ENTRIES)
    .where(_this_npc, _e.status != "open", _e.number.in_(bindparam("numbers", expanding=True)))
    .order_by(_e.number)
)
AFTER = (
    select(NPC_ENTRIES)
    .where(_this_npc, _e.status != "open", _e.number > bindparam("after"))
    .order_by(_e.number)
    .limit(bindparam("limit"))
)
UNCONFIRMED = (
    select(_e.agent_id, _e.turn_id, func.substr(_e.event, 1, BEGINNING).label("beginning"))
    .where(
        _e.game_id == bindparam("game"),
        _e.connection_id == bindparam("connection"),
        _e.status.in_(("open", "unconfirmed")),
    )
    .order_by(_e.created_at_ms, _e.turn_id)
    .limit(MOST_UNCONFIRMED)
)
LEFT_OPEN = (
    select(_e.game_id, _e.agent_id, _e.turn_id)
    # A literal, not a parameter: only so does the planner know that the index of open turns will do.
    .where(_e.status == literal_column("'open'"), _e.created_at_ms < bindparam("before"))
    .order_by(_e.created_at_ms)
    .limit(bindparam("limit"))
)
_next = select(func.coalesce(func.max(_e.number), 0) + 1).where(_this_npc).scalar_subquery()
_given = {
    "game_id": bindparam("game", type_=NAME),
    "agent_id": bindparam("agent", type_=NAME),
    "number": _next,
    "kind": bindparam("kind", type_=NAME),
    "turn_id": bindparam("turn", type_=NAME),
    "connection_id": bindparam("connection", type_=NAME),
    "status": bindparam("status", type_=NAME),
    "event": bindparam("event", type_=Text()),
    "played": literal(pack("npc_played", {"tags": []})),
    "created_at_ms": bindparam("now", type_=NUMBER),
    "updated_at_ms": bindparam("now", type_=NUMBER),
}
ADD = insert(NPC_ENTRIES).from_select(
    list(_given), select(*_given.values()).where(~select(literal(1)).where(_this_turn).exists())
)
"""Adds an entry behind the last one, unless the turn is there already; one statement, because turns wait for it."""


MOST_ENTRIES = 64


class SqlNpcs:
    def __init__(self, access: Access) -> None:
        self._connection = access.connection
        self._clock = access.clock
        self._access = access

    async def begin(self, npc: NpcKey, *, turn_id: str, connection_id: str, event: GameEvent) -> None:
        await self._add(npc, kind="turn", turn_id=turn_id, connection_id=connection_id, status="open", event=event)

    async def settle(
        self,
        npc: NpcKey,
        *,
        turn_id: str,
        played: Sequence[PlayedTag],
        confirmed: bool,
    ) -> Settled:
        row = await self._turn(npc, turn_id)
        if row is None:
            return "unknown"
        tags: list[Json] = [tag.as_json() for tag in played]
        hash = hashlib.sha256(orjson.dumps(tags, option=orjson.OPT_SORT_KEYS)).hexdigest()
        if row.status == "confirmed":
            return "same" if row.played_hash == hash or not confirmed else "different"
        values = {
            "new_status": "confirmed" if confirmed else "unconfirmed",
            "new_played": pack("npc_played", {"tags": tags}),
            "new_hash": hash,
            "now": self._clock.now_ms(),
        }
        await self._connection.execute(SETTLE, {**_named(npc), "turn": turn_id, **values})
        return "kept"

    async def drop(self, npc: NpcKey, *, turn_id: str) -> None:
        await self._connection.execute(DROP, {**_named(npc), "turn": spelled(turn_id)})

    async def notice(self, npc: NpcKey, *, connection_id: str, event: GameEvent) -> None:
        await self._add(npc, kind="notice", turn_id=None, connection_id=connection_id, status="noticed", event=event)

    async def recent(self, npc: NpcKey, *, limit: int) -> list[Remembered]:
        rows = await self._connection.execute(RECENT, {**_named(npc), "limit": limit})
        return whole_rows(rows, _remembered)[::-1]

    async def entries(self, npc: NpcKey, numbers: Sequence[int]) -> list[Remembered]:
        wanted = sorted(set(numbers))[:MOST_ENTRIES]
        if not wanted:
            return []
        rows = await self._connection.execute(THESE, {**_named(npc), "numbers": few_lengths(wanted)})
        return whole_rows(rows, _remembered)

    async def after(self, npc: NpcKey, number: int, *, limit: int) -> list[Remembered]:
        rows = await self._connection.execute(AFTER, {**_named(npc), "after": number, "limit": limit})
        return whole_rows(rows, _remembered)

    async def number_of(self, npc: NpcKey, turn_id: str) -> int | None:
        row = (await self._connection.execute(GET, {**_named(npc), "turn": spelled(turn_id)})).first()
        return None if row is None else row.number

    async def unconfirmed(self, game_id: str, connection_id: str) -> list[OpenTurn]:
        asked = {"game": spelled(game_id), "connection": spelled(connection_id)}
        return [
            OpenTurn(agent_id=row.agent_id, turn_id=row.turn_id, event_id=_event_id(row.beginning))
            for row in await self._connection.execute(UNCONFIRMED, asked)
        ]

    async def left_open(self, *, begun_before_ms: int, limit: int) -> list[LeftTurn]:
        rows = await self._connection.execute(LEFT_OPEN, {"before": begun_before_ms, "limit": limit})
        return [LeftTurn(npc=NpcKey(game_id=row.game_id, agent_id=row.agent_id), turn_id=row.turn_id) for row in rows]

    async def _turn(self, npc: NpcKey, turn_id: str) -> Any | None:
        query = self._access.choose(GET, GET_LOCKED)
        return (await self._connection.execute(query, {**_named(npc), "turn": spelled(turn_id)})).first()

    async def _add(
        self, npc: NpcKey, *, kind: str, turn_id: str | None, connection_id: str, status: str, event: GameEvent
    ) -> None:
        row = {
            **_named(npc),
            "kind": kind,
            "turn": None if turn_id is None else spelled(turn_id),
            "connection": connection_id,
            "status": status,
            "event": pack("npc_event", event.as_json()),
            "now": self._clock.now_ms(),
        }
        # Two entries of one NPC must not count up to the same number.
        await self._access.lock(f"npc:{npc.game_id}:{npc.agent_id}")
        await self._connection.execute(ADD, row)


def _named(npc: NpcKey) -> dict[str, Any]:
    return {"game": spelled(npc.game_id), "agent": spelled(npc.agent_id)}


def _event_id(beginning: str) -> str:
    """The id of an event, which stands first in it; of one that is long only the beginning is at hand."""
    if len(beginning) < BEGINNING:
        return str(unpack("npc_event", beginning).get("event_id", ""))
    start = beginning.find(EVENT_ID, 0, FURTHEST)
    try:
        return str(json.JSONDecoder().raw_decode(beginning, start + len(EVENT_ID))[0]) if start > 0 else ""
    except ValueError:
        return ""


def _remembered(row: Any) -> Remembered:
    """A row as the port has it; raises StoreError that names it for one that is damaged."""
    try:
        return _whole_entry(row)
    except NOT_READ as error:
        raise damaged(f"The entry {row.number} of the NPC '{row.agent_id}'", error) from None


def _whole_entry(row: Any) -> Remembered:
    tags = unpack("npc_played", row.played)["tags"]
    assert isinstance(tags, list)
    lived = Lived(
        kind="notice" if row.kind == "notice" else "turn",
        event=GameEvent.model_validate(unpack("npc_event", row.event)),
        played=[PlayedTag.model_validate(tag) for tag in tags],
        unconfirmed=row.status == "unconfirmed",
    )
    return Remembered(number=row.number, lived=lived)
