"""The twenty-seventh revision: what followers make of the world stands by its turns."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0031"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "world_records",
        sa.Column("turn_id", NAME, nullable=False),
        sa.Column("record", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("turn_id", name="world_records_pk"),
        sa.ForeignKeyConstraint(["turn_id"], ["turns.turn_id"], name="world_records_turn_fk", ondelete="CASCADE"),
    )
