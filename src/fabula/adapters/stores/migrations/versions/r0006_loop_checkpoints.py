"""The sixth revision: where each loop stands, in a table of ours. Those of LangGraph's own saver go.

A loop that was interrupted under an older version starts anew; finished model calls are answered from the memo.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0004"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")

OLD_TABLES = ("checkpoints", "checkpoint_blobs", "checkpoint_writes", "checkpoint_migrations")


def upgrade() -> None:
    op.create_table(
        "loop_checkpoints",
        sa.Column("thread_id", NAME, nullable=False),
        sa.Column("namespace", NAME, nullable=False),
        sa.Column("checkpoint_id", NAME, nullable=False),
        sa.Column("encoding", NAME, nullable=False),
        sa.Column("checkpoint", sa.LargeBinary, nullable=False),
        sa.Column("metadata", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("thread_id", "namespace", name="loop_checkpoints_pk"),
    )
    if op.get_bind().dialect.name == "postgresql":
        for table in OLD_TABLES:
            op.execute(f"DROP TABLE IF EXISTS fabula.{table}")
