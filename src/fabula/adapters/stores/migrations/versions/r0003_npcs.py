"""The third revision: what NPCs lived through, and the words by which it comes to mind."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "npc_entries",
        sa.Column("game_id", NAME, nullable=False),
        sa.Column("agent_id", NAME, nullable=False),
        sa.Column("number", NUMBER, nullable=False),
        sa.Column("kind", NAME, nullable=False),
        sa.Column("turn_id", NAME),
        sa.Column("connection_id", NAME, nullable=False),
        sa.Column("status", NAME, nullable=False),
        sa.Column("event", sa.Text, nullable=False),
        sa.Column("played", sa.Text, nullable=False),
        sa.Column("played_hash", NAME),
        sa.Column("created_at_ms", NUMBER, nullable=False),
        sa.Column("updated_at_ms", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("game_id", "agent_id", "number", name="npc_entries_pk"),
    )
    op.create_index("npc_entries_by_turn", "npc_entries", ["game_id", "agent_id", "turn_id"], unique=True)
    op.create_index("npc_entries_by_connection", "npc_entries", ["game_id", "connection_id"])
    op.create_table(
        "npc_words",
        sa.Column("game_id", NAME, nullable=False),
        sa.Column("agent_id", NAME, nullable=False),
        sa.Column("word", NAME, nullable=False),
        sa.Column("number", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("game_id", "agent_id", "word", "number", name="npc_words_pk"),
    )
    op.create_index("npc_words_by_entry", "npc_words", ["game_id", "agent_id", "number"])
