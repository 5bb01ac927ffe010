"""The thirty-fourth revision: memories are numbered, so that nobody has to count them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0038"

NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.add_column("memories", sa.Column("number", NUMBER, nullable=False, server_default="0"))
    op.execute(
        "UPDATE memories SET number = (SELECT count(*) FROM memories AS other WHERE other.space_no = memories.space_no "
        "AND other.place <= memories.place)"
    )
