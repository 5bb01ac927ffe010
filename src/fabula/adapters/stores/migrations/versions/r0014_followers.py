"""The fourteenth revision: what follows turns. Summaries stand by their turns, and unfinished work is listed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
UNFINISHED = sa.text("status IN ('waiting', 'running', 'dead')")


def upgrade() -> None:
    op.create_table(
        "turn_summaries",
        sa.Column("turn_id", NAME, nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("turn_id", name="turn_summaries_pk"),
        sa.ForeignKeyConstraint(["turn_id"], ["turns.turn_id"], name="turn_summaries_turn_fk", ondelete="CASCADE"),
    )
    op.create_index("work_unfinished", "work", ["created_at_ms"], sqlite_where=UNFINISHED, postgresql_where=UNFINISHED)
