"""A turn that is told again may be told as its player wishes."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    op.add_column("turns", sa.Column("wish", sa.Text))
