"""What is true of a kind is found in the order of its versions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0076"
down_revision = "0075"

TRUE_NOW = sa.text("status = 'committed' AND replaced_by IS NULL")


def upgrade() -> None:
    op.create_index(
        "canon_true_of_kind",
        "canon_changes",
        ["world_id", "kind", "version"],
        sqlite_where=TRUE_NOW,
        postgresql_where=TRUE_NOW,
    )
