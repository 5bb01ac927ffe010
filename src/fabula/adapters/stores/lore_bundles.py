"""Lore bundles, by the version of the lore that they were made of."""

from __future__ import annotations

from sqlalchemy import Column, Index, PrimaryKeyConstraint, Table, Text, bindparam, delete, select

from fabula.adapters.stores.tables import METADATA, NAME, NUMBER, Access, add_or_change, pack, spelled, unpack
from fabula.story.values import JsonObject

LORE_BUNDLES = Table(
    "lore_bundles",
    METADATA,
    Column("version", NAME, nullable=False),
    Column("bundle", Text, nullable=False),
    Column("created_at_ms", NUMBER, nullable=False),
    PrimaryKeyConstraint("version", name="lore_bundles_pk"),
    Index("lore_bundles_by_age", "created_at_ms", "version"),
)

_b = LORE_BUNDLES.c
_this = _b.version == bindparam("this")
ADD = add_or_change(LORE_BUNDLES, None)
GET = select(_b.bundle).where(_this)
HAS = select(_b.version).where(_this)
# No engine counts what an offset skips by itself without a limit; this one is never reached.
OLDER = select(_b.version).order_by(_b.created_at_ms.desc(), _b.version.desc()).limit(10_000).offset(bindparam("keep"))
REMOVE = delete(LORE_BUNDLES).where(_b.version.in_(bindparam("these", expanding=True)))


class SqlLoreBundles:
    def __init__(self, access: Access) -> None:
        self._connection = access.connection
        self._clock = access.clock

    async def put(self, version: str, bundle: JsonObject) -> None:
        row = {
            "version": spelled(version),
            "bundle": pack("lore_bundle", bundle),
            "created_at_ms": self._clock.now_ms(),
        }
        await self._connection.execute(ADD, row)

    async def get(self, version: str) -> JsonObject | None:
        found: str | None = (await self._connection.execute(GET, {"this": spelled(version)})).scalar()
        return None if found is None else unpack("lore_bundle", found)

    async def has(self, version: str) -> bool:
        return (await self._connection.execute(HAS, {"this": spelled(version)})).first() is not None

    async def prune(self, *, keep: int) -> int:
        older = [row.version for row in await self._connection.execute(OLDER, {"keep": keep})]
        if older:
            await self._connection.execute(REMOVE, {"these": older})
        return len(older)
