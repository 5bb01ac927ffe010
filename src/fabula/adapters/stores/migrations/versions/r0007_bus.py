"""The seventh revision: on Postgres, copies of running streams, so that other servers can follow them.

Nothing of it is truth: the tables are not logged, not backed up, and empty after a crash of the database.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

NAME = sa.Text(collation="C")


def upgrade() -> None:
    if op.get_bind().dialect.name != "postgresql":
        return
    op.create_table(
        "bus_streams",
        sa.Column("stream", NAME, primary_key=True),
        sa.Column("epoch", sa.BigInteger, nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        prefixes=["UNLOGGED"],
    )
    op.create_index("bus_streams_by_expiry", "bus_streams", ["expires_at"])
    op.create_table(
        "bus_entries",
        sa.Column("stream", NAME, nullable=False),
        sa.Column("epoch", sa.BigInteger, nullable=False),
        sa.Column("sequence", sa.Integer, nullable=False),
        sa.Column("kind", NAME, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("stream", "epoch", "sequence", name="bus_entries_pk"),
        prefixes=["UNLOGGED"],
    )
