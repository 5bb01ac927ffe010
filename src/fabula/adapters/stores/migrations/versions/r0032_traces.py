"""Traces: what happened in turns, and the texts of their prompts, each once; kept for some days."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0027"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "trace_parts",
        sa.Column("number", NUMBER, autoincrement=True, nullable=False),
        sa.Column("turn_id", NAME, nullable=False),
        sa.Column("kind", NAME, nullable=False),
        sa.Column("at_ms", NUMBER, nullable=False),
        sa.Column("doc", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("number", name="trace_parts_pk"),
    )
    op.create_index("trace_parts_by_turn", "trace_parts", ["turn_id", "number"])
    op.create_index("trace_parts_by_time", "trace_parts", ["at_ms"])
    op.create_table(
        "trace_texts",
        sa.Column("hash", NAME, nullable=False),
        sa.Column("used_at_ms", NUMBER, nullable=False),
        sa.Column("text", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("hash", name="trace_texts_pk"),
    )
    op.create_index("trace_texts_by_use", "trace_texts", ["used_at_ms"])
