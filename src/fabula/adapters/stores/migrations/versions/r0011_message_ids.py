"""The eleventh revision: a message is found by its id, so that a part of a long transcript is read without the rest."""

from __future__ import annotations

from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.create_index("messages_by_id", "messages", ["message_id"])
