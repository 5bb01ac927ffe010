"""Uploads: where a file waits between two calls. An upload owns its blob, which goes when the upload goes.

The table is still named `slots`, as it was when drafts kept their work in it, too; such old rows are never answered.
"""

from __future__ import annotations

from typing import get_args

from sqlalchemy import Column, Index, PrimaryKeyConstraint, Table, Text, bindparam, delete, select

from fabula.adapters.stores.blobs import SqlBlobs
from fabula.adapters.stores.tables import METADATA, NAME, NUMBER, Access, add_or_replace, pack, spelled, unpack
from fabula.ports.store import Upload, UploadPurpose

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
"""How many expired uploads one sweep removes, so that it never holds up other writers for long."""

_s = SLOTS.c
_this = _s.slot_id == bindparam("this")

_is_upload = _s.purpose.in_(get_args(UploadPurpose))

GET = select(SLOTS).where(_this, _is_upload, _s.expires_at_ms > bindparam("now"))
BLOB_OF = select(_s.blob).where(_this)
EXPIRED = select(_s.slot_id).where(_s.expires_at_ms <= bindparam("now")).order_by(_s.expires_at_ms).limit(SWEPT_AT_ONCE)
PUT = add_or_replace(SLOTS)
REMOVE = delete(SLOTS).where(_this).returning(_s.blob)


class SqlUploads:
    def __init__(self, access: Access) -> None:
        self._connection = access.connection
        self._clock = access.clock
        self._blobs = SqlBlobs(access)
        self._access = access

    async def put(self, upload: Upload) -> None:
        await self._lock(upload.upload_id)
        before = await self._blob_of(spelled(upload.upload_id))
        row = {
            "purpose": upload.purpose,
            "blob": upload.blob,
            "doc": pack("upload", upload.note),
            "expires_at_ms": upload.expires_at_ms,
        }
        await self._connection.execute(PUT, {"slot_id": upload.upload_id, **row})
        if before not in (None, upload.blob):
            await self._blobs.remove(before or "")

    async def get(self, upload_id: str) -> Upload | None:
        await self._lock(upload_id)
        now = self._clock.now_ms()
        row = (await self._connection.execute(GET, {"this": spelled(upload_id), "now": now})).first()
        if row is None:
            return None
        return Upload(
            upload_id=row.slot_id,
            purpose=row.purpose,
            blob=row.blob,
            expires_at_ms=row.expires_at_ms,
            note=unpack("upload", row.doc),
        )

    async def remove(self, upload_id: str) -> None:
        blob: str | None = (await self._connection.execute(REMOVE, {"this": spelled(upload_id)})).scalar()
        if blob is not None:
            await self._blobs.remove(blob)

    async def sweep(self) -> int:
        expired = (await self._connection.execute(EXPIRED, {"now": self._clock.now_ms()})).scalars()
        for upload_id in expired:
            await self.remove(upload_id)
        return len(expired)

    async def _lock(self, upload_id: str) -> None:
        """Who reads an upload in order to change it reads the newest."""
        await self._access.lock(f"upload:{upload_id}")

    async def _blob_of(self, upload_id: str) -> str | None:
        blob: str | None = (await self._connection.execute(BLOB_OF, {"this": upload_id})).scalar()
        return blob
