"""The eighth revision: to whom a play belongs, and who was invited to it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("plays", sa.Column("owner_token_id", NAME))
    op.create_index("plays_by_owner", "plays", ["owner_token_id", "session_id"])
    op.create_table(
        "play_invitations",
        sa.Column("token_id", NAME, nullable=False),
        sa.Column("session_id", NAME, nullable=False),
        sa.PrimaryKeyConstraint("token_id", "session_id", name="play_invitations_pk"),
    )
    op.create_index("play_invitations_by_session", "play_invitations", ["session_id"])
