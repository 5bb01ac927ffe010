"""The fifty-fifth revision: memories are found by their kind, and summaries cover what they sum up."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0055"
down_revision = "0052"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_index("memories_by_kind", "memories", ["space_no", "kind", "place"])
    op.create_table(
        "memory_covers",
        sa.Column("space_no", NUMBER, nullable=False),
        sa.Column("place", NUMBER, nullable=False),
        sa.Column("line_no", NUMBER, nullable=False),
        sa.Column("from_place", NUMBER, nullable=False),
        sa.Column("summary_id", NAME, nullable=False),
        sa.PrimaryKeyConstraint("space_no", "place", "summary_id", name="memory_covers_pk"),
        sa.ForeignKeyConstraint(
            ["space_no", "place"],
            ["memories.space_no", "memories.place"],
            name="memory_covers_memory_fk",
            ondelete="CASCADE",
        ),
    )
    op.create_index("memory_covers_by_summary", "memory_covers", ["summary_id"])
