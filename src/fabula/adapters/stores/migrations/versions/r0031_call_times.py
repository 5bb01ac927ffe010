"""Calls are added up by time, and say by which kind of error they failed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0021"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("calls", sa.Column("error_name", NAME))
    op.create_index("calls_by_time", "calls", ["recorded_at_ms"])
