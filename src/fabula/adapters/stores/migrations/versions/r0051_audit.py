"""The audit: who tried to do what they may not."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0051"
down_revision = "0050"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "audit",
        sa.Column("number", NUMBER, autoincrement=True, nullable=False),
        sa.Column("at_ms", NUMBER, nullable=False),
        sa.Column("caller", NAME, nullable=False),
        sa.Column("token_id", NAME),
        sa.Column("what", NAME, nullable=False),
        sa.Column("why", NAME, nullable=False),
        sa.Column("about", NAME, nullable=False),
        sa.Column("sentence", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("number", name="audit_pk"),
    )
    op.create_index("audit_by_time", "audit", ["at_ms"])
