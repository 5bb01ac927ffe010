"""The ninth revision: turns of NPCs that a killed process left open are found without reading all others."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

OPEN = sa.text("status = 'open'")


def upgrade() -> None:
    op.create_index("npc_entries_open", "npc_entries", ["created_at_ms"], sqlite_where=OPEN, postgresql_where=OPEN)
