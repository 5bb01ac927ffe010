"""The seventieth revision: memories are kept with their stems, so that nobody stems them when they are recalled."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0070"
down_revision = "0056"


def upgrade() -> None:
    # Empty for what is there already: its words are stemmed when they are read, as they always were.
    op.add_column("memories", sa.Column("stems", sa.Text(), nullable=False, server_default=""))
