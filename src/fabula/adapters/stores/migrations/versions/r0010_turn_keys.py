"""The tenth revision: turns have keys, by which a client that asks twice finds the turn it began the first time."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
HAS_KEY = sa.text("key <> ''")


def upgrade() -> None:
    op.add_column("turns", sa.Column("key", NAME, nullable=False, server_default=""))
    op.add_column("turns", sa.Column("asked", NAME, nullable=False, server_default=""))
    op.create_index(
        "turns_by_key", "turns", ["session_id", "key"], unique=True, sqlite_where=HAS_KEY, postgresql_where=HAS_KEY
    )
