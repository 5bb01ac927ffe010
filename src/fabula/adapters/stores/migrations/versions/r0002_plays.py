"""The second revision: plays, the tree of turns with their states, and messages."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    _plays()
    _turns()
    _messages()


def _plays() -> None:
    op.create_table(
        "plays",
        sa.Column("session_id", NAME, nullable=False),
        sa.Column("tree_id", NAME, nullable=False),
        sa.Column("head_turn_id", NAME, nullable=False),
        sa.Column("active_turn_id", NAME),
        sa.Column("turn_index", NUMBER, nullable=False),
        sa.Column("status", NAME, nullable=False),
        sa.Column("token_budget", NUMBER),
        sa.Column("updated_at_ms", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("session_id", name="plays_pk"),
    )
    op.create_index("plays_by_tree", "plays", ["tree_id", "session_id"])
    op.create_index("plays_by_change", "plays", ["updated_at_ms", "session_id"])


def _turns() -> None:
    op.create_table(
        "turns",
        sa.Column("turn_id", NAME, nullable=False),
        sa.Column("tree_id", NAME, nullable=False),
        sa.Column("session_id", NAME, nullable=False),
        sa.Column("parent_id", NAME),
        sa.Column("jump_id", NAME),
        sa.Column("depth", NUMBER, nullable=False),
        sa.Column("turn_index", NUMBER, nullable=False),
        sa.Column("kind", NAME, nullable=False),
        sa.Column("status", NAME, nullable=False),
        sa.Column("player_input", sa.Text, nullable=False),
        sa.Column("request_id", NAME, nullable=False),
        sa.Column("seed", NUMBER, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("state_hash", NAME),
        sa.Column("error", sa.Text),
        sa.Column("owner", NAME, nullable=False),
        sa.Column("lease_until_ms", NUMBER, nullable=False),
        sa.Column("created_at_ms", NUMBER, nullable=False),
        sa.Column("finished_at_ms", NUMBER),
        sa.PrimaryKeyConstraint("turn_id", name="turns_pk"),
    )
    op.create_index("turns_by_tree", "turns", ["tree_id", "turn_id"])
    op.create_index("turns_by_parent", "turns", ["parent_id", "turn_id"])
    op.create_index("turns_by_request", "turns", ["session_id", "request_id"])
    running = sa.text("status = 'running'")
    op.create_index("turns_running", "turns", ["turn_id"], sqlite_where=running, postgresql_where=running)
    op.create_table(
        "turn_states",
        sa.Column("turn_id", NAME, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("result", sa.Text),
        sa.PrimaryKeyConstraint("turn_id", name="turn_states_pk"),
        sa.ForeignKeyConstraint(["turn_id"], ["turns.turn_id"], name="turn_states_turn_fk", ondelete="CASCADE"),
    )


def _messages() -> None:
    op.create_table(
        "messages",
        sa.Column("turn_id", NAME, nullable=False),
        sa.Column("ordinal", sa.Integer, nullable=False),
        sa.Column("op", NAME, nullable=False),
        sa.Column("message_id", NAME, nullable=False),
        sa.Column("said_in_turn_id", NAME, nullable=False),
        sa.Column("turn_index", NUMBER, nullable=False),
        sa.Column("sequence", NUMBER, nullable=False),
        sa.Column("kind", NAME, nullable=False),
        sa.Column("speaker_id", NAME, nullable=False),
        sa.Column("speaker_name", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("recorded_at_ms", NUMBER, nullable=False),
        sa.Column("created_at_ms", NUMBER, nullable=False),
        sa.Column("updated_at_ms", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("turn_id", "ordinal", name="messages_pk"),
        sa.ForeignKeyConstraint(["turn_id"], ["turns.turn_id"], name="messages_turn_fk", ondelete="CASCADE"),
    )
