"""Slots: where an archive waits between two calls. A slot owns its blob, which goes when the slot goes."""

from __future__ import annotations

from sqlalchemy import Column, Index, PrimaryKeyConstraint, Table, Text, bindparam, delete, select

from fabula.adapters.stores.blobs import SqlBlobs
from fabula.adapters.stores.tables import METADATA, NAME, NUMBER, Access, add_or_change, pack, spelled, unpack
from fabula.ports.store import Slot

SLOTS = Table(
    "slots",
    METADATA,
    Column("slot_id", NAME, nullable=False),
    Column("purpose", NAME, nullable=False),
    Column("blob", NAME),
    Column("doc", Text, nullable=False),
    Column("expires_at_ms", NUMBER, nullable=False),
    PrimaryKeyConstraint("slot_id", name="slots_pk"),
    Index("slots_by_expiry", "expires_at_ms"),
)

SWEPT_AT_ONCE = 1000
"""How many expired slots one sweep removes, so that it never holds up other writers for long."""

_s = SLOTS.c
_this = _s.slot_id == bindparam("this")

GET = select(SLOTS).where(_this, _s.expires_at_ms > bindparam("now"))
BLOB_OF = select(_s.blob).where(_this)
EXPIRED = select(_s.slot_id).where(_s.expires_at_ms <= bindparam("now")).order_by(_s.expires_at_ms).limit(SWEPT_AT_ONCE)
REMOVE = delete(SLOTS).where(_this).returning(_s.blob)


class SqlSlots:
    def __init__(self, access: Access) -> None:
        self._connection = access.connection
        self._clock = access.clock
        self._blobs = SqlBlobs(access)
        self._access = access

    async def put(self, slot: Slot) -> None:
        await self._lock(slot.slot_id)
        before = await self._blob_of(spelled(slot.slot_id))
        row = {
            "purpose": slot.purpose,
            "blob": slot.blob,
            "doc": pack(slot.doc),
            "expires_at_ms": slot.expires_at_ms,
        }
        put = add_or_change(SLOTS, row)
        await self._connection.execute(put, {"slot_id": slot.slot_id, **row})
        if before not in (None, slot.blob):
            await self._blobs.remove(before or "")

    async def get(self, slot_id: str) -> Slot | None:
        await self._lock(slot_id)
        now = self._clock.now_ms()
        row = (await self._connection.execute(GET, {"this": spelled(slot_id), "now": now})).first()
        if row is None:
            return None
        return Slot(
            slot_id=row.slot_id,
            purpose=row.purpose,
            blob=row.blob,
            doc=unpack(row.doc),
            expires_at_ms=row.expires_at_ms,
        )

    async def remove(self, slot_id: str) -> None:
        blob: str | None = (await self._connection.execute(REMOVE, {"this": spelled(slot_id)})).scalar()
        if blob is not None:
            await self._blobs.remove(blob)

    async def sweep(self) -> int:
        expired = (await self._connection.execute(EXPIRED, {"now": self._clock.now_ms()})).scalars().all()
        for slot_id in expired:
            await self.remove(slot_id)
        return len(expired)

    async def _lock(self, slot_id: str) -> None:
        """A slot may hold something for whoever made it first, so its name is locked before there is a row."""
        await self._access.lock(f"slot:{slot_id}")

    async def _blob_of(self, slot_id: str) -> str | None:
        blob: str | None = (await self._connection.execute(BLOB_OF, {"this": slot_id})).scalar()
        return blob
