"""Entities that another took the place of are found by an index of their own."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0071"
down_revision = "0070"

REPLACED_ENTITY = sa.text("kind = 'entity' AND replaced_by IS NOT NULL")


def upgrade() -> None:
    op.create_index(
        "canon_replaced_entities",
        "canon_changes",
        ["world_id", "kind", "subject"],
        sqlite_where=REPLACED_ENTITY,
        postgresql_where=REPLACED_ENTITY,
    )
