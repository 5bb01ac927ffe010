"""Scenes that have ended, on both engines: found by tree and depth of the turn that ended them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Column, Index, PrimaryKeyConstraint, Table, Text, bindparam, delete, insert, select

from fabula.adapters.stores.play_tables import GET_TURN
from fabula.adapters.stores.sql import Steps
from fabula.adapters.stores.tables import METADATA, NAME, NUMBER, Access, Terms, pack, spelled, unpack
from fabula.adapters.stores.transcript_steps import read_on_line
from fabula.adapters.stores.whole_rows import whole_rows
from fabula.ports.errors import NotFound
from fabula.ports.plays import Turn
from fabula.ports.scenes import MOST_SCENES, EndedScene
from fabula.ports.stored import NOT_READ, damaged
from fabula.story.scenes import SceneRecord

SCENES = Table(
    "scenes",
    METADATA,
    Column("turn_id", NAME, nullable=False),
    Column("tree_id", NAME, nullable=False),
    Column("depth", NUMBER, nullable=False),
    Column("doc", Text, nullable=False),
    Column("ended_at_ms", NUMBER, nullable=False),
    PrimaryKeyConstraint("turn_id", name="scenes_pk"),
    Index("scenes_by_depth", "tree_id", "depth"),
)

_c = SCENES.c
KEEP = insert(SCENES)
ENDED = (
    select(SCENES)
    .where(_c.tree_id == bindparam("tree"), _c.depth <= bindparam("deepest"))
    .order_by(_c.depth.desc())
    .limit(bindparam("most"))
)
REMOVE_SCENES = delete(SCENES).where(_c.tree_id == bindparam("tree"))


def keep_scene(terms: Terms, scene: SceneRecord, turn: Turn) -> Steps[None]:
    """Keeps a scene with the turn that ended it."""
    row = {
        "turn_id": turn.turn_id,
        "tree_id": turn.tree_id,
        "depth": turn.depth,
        "doc": pack("scene", scene.as_json()),
        "ended_at_ms": terms.clock.now_ms(),
    }
    yield KEEP, row


class SqlScenes:
    def __init__(self, access: Access) -> None:
        self._connection = access.connection

    async def at(self, turn_id: str, *, above: int | None = None, limit: int = 100) -> list[EndedScene]:
        turn = (await self._connection.execute(GET_TURN, {"turn": spelled(turn_id)})).first()
        if turn is None:
            raise NotFound(f"There is no turn named '{turn_id}'.", kind="turn", id=turn_id)
        deepest = turn.depth if above is None else min(turn.depth, above - 1)
        asked = {"tree": turn.tree_id, "deepest": deepest, "most": MOST_SCENES}
        rows = list(await self._connection.execute(ENDED, asked))
        line = await self._connection.run(read_on_line(turn_id, [row.turn_id for row in rows]))
        ended = [row for row in rows if row.turn_id in line]
        found = whole_rows(ended[:limit], _ended_scene)
        return found if len(found) == len(ended[:limit]) else whole_rows(ended, _ended_scene)[:limit]


def _ended_scene(row: Any) -> EndedScene:
    """A row as the port has it; raises StoreError that names it for one that is damaged."""
    try:
        record = SceneRecord.model_validate(unpack("scene", row.doc))
    except NOT_READ as error:
        raise damaged(f"The scene that ended with the turn '{row.turn_id}'", error) from None
    return EndedScene(record=record, turn_id=row.turn_id, depth=row.depth)
