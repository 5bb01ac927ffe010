"""The thirteenth revision: names and bookmarks of turns, and the model calls of a turn are found by it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "turn_marks",
        sa.Column("turn_id", NAME, nullable=False),
        sa.Column("tree_id", NAME, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("bookmarked", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("turn_id", name="turn_marks_pk"),
        sa.ForeignKeyConstraint(["turn_id"], ["turns.turn_id"], name="turn_marks_turn_fk", ondelete="CASCADE"),
    )
    op.create_index("turn_marks_by_tree", "turn_marks", ["tree_id", "turn_id"])
    op.create_index("calls_by_turn", "calls", ["turn_id"])
