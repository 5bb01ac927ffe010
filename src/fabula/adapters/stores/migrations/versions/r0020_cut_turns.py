"""Turns can be cut short: work says that somebody wants that, and turns say that they were."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0014"


def upgrade() -> None:
    op.add_column("work", sa.Column("cut_asked", sa.Integer, nullable=False, server_default="0"))
    op.add_column("turns", sa.Column("cut", sa.Integer, nullable=False, server_default="0"))
