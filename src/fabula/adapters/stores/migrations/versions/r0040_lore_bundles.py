"""Lore bundles: indexes of lore that any process may use."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0040"
down_revision = "0034"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "lore_bundles",
        sa.Column("version", NAME, nullable=False),
        sa.Column("bundle", sa.Text(), nullable=False),
        sa.Column("created_at_ms", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("version", name="lore_bundles_pk"),
    )
    op.create_index("lore_bundles_by_age", "lore_bundles", ["created_at_ms", "version"])
