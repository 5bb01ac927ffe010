"""Blobs: bytes by the SHA-256 of their content, kept once however often they are used."""

from __future__ import annotations

import asyncio
import hashlib

from sqlalchemy import (
    Column,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    Table,
    bindparam,
    delete,
    select,
    update,
)

from fabula.adapters.stores.tables import METADATA, NAME, NUMBER, Access, add_or_change, spelled

BLOBS = Table(
    "blobs",
    METADATA,
    Column("hash", NAME, nullable=False),
    Column("size", NUMBER, nullable=False),
    Column("uses", Integer, nullable=False),
    Column("data", LargeBinary, nullable=False),
    PrimaryKeyConstraint("hash", name="blobs_pk"),
)

_b = BLOBS.c
_this = _b.hash == bindparam("this")

GET = select(_b.data).where(_this)
USE_AGAIN = update(BLOBS).where(_this).values(uses=_b.uses + 1)
ADD = add_or_change(BLOBS, {"uses": _b.uses + 1})
GIVE_BACK = update(BLOBS).where(_this).values(uses=_b.uses - 1)
REMOVE_UNUSED = delete(BLOBS).where(_this, _b.uses <= 0)


class SqlBlobs:
    def __init__(self, access: Access) -> None:
        self._connection = access.connection

    async def put(self, data: bytes) -> str:
        # A large archive takes long enough to hash that other requests would notice.
        hash = await asyncio.to_thread(_hash, data) if len(data) > 1 << 20 else _hash(data)
        # Bytes that are there already are not sent again.
        if not (await self._connection.execute(USE_AGAIN, {"this": hash})).rowcount:
            await self._connection.execute(ADD, {"hash": hash, "size": len(data), "uses": 1, "data": data})
        return hash

    async def get(self, hash: str) -> bytes | None:
        data: bytes | None = (await self._connection.execute(GET, {"this": spelled(hash)})).scalar()
        return data

    async def remove(self, hash: str) -> None:
        await self._connection.execute(GIVE_BACK, {"this": spelled(hash)})
        await self._connection.execute(REMOVE_UNUSED, {"this": hash})


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
