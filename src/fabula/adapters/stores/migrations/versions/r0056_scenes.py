"""Scenes of plays, each with the turn that ended it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0056"
down_revision = "0055"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "scenes",
        sa.Column("turn_id", NAME, nullable=False),
        sa.Column("tree_id", NAME, nullable=False),
        sa.Column("depth", NUMBER, nullable=False),
        sa.Column("doc", sa.Text(), nullable=False),
        sa.Column("ended_at_ms", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("turn_id", name="scenes_pk"),
    )
    op.create_index("scenes_by_depth", "scenes", ["tree_id", "depth"])
