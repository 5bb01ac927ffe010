"""The first revision: resources and references, blobs, secrets, tokens, slots, memo, calls."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    _resources()
    _blobs_and_secrets()
    _tokens_and_slots()
    _memo_and_calls()


def _resources() -> None:
    op.create_table(
        "resources",
        sa.Column("kind", NAME, nullable=False),
        sa.Column("id", NAME, nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("built_in", sa.Boolean, nullable=False),
        sa.Column("doc", sa.Text, nullable=False),
        sa.Column("created_at_ms", NUMBER, nullable=False),
        sa.Column("updated_at_ms", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("kind", "id", name="resources_pk"),
    )
    op.create_index("resources_by_change", "resources", ["kind", "updated_at_ms", "id"])
    op.create_index("resources_by_origin", "resources", ["kind", "built_in", "id"])
    op.create_table(
        "resource_references",
        sa.Column("user_kind", NAME, nullable=False),
        sa.Column("user_id", NAME, nullable=False),
        sa.Column("kind", NAME, nullable=False),
        sa.Column("id", NAME, nullable=False),
        sa.PrimaryKeyConstraint("user_kind", "user_id", "kind", "id", name="resource_references_pk"),
        sa.ForeignKeyConstraint(
            ["user_kind", "user_id"],
            ["resources.kind", "resources.id"],
            name="resource_references_user_fk",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["kind", "id"], ["resources.kind", "resources.id"], name="resource_references_used_fk"),
    )
    op.create_index("resource_references_by_used", "resource_references", ["kind", "id", "user_kind", "user_id"])


def _blobs_and_secrets() -> None:
    op.create_table(
        "blobs",
        sa.Column("hash", NAME, nullable=False),
        sa.Column("size", NUMBER, nullable=False),
        sa.Column("uses", sa.Integer, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("hash", name="blobs_pk"),
    )
    op.create_table(
        "secrets",
        sa.Column("name", NAME, nullable=False),
        sa.Column("key_id", NAME, nullable=False),
        sa.Column("ciphertext", sa.LargeBinary, nullable=False),
        sa.Column("updated_at_ms", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("name", name="secrets_pk"),
    )


def _tokens_and_slots() -> None:
    op.create_table(
        "tokens",
        sa.Column("token_id", NAME, nullable=False),
        sa.Column("label", sa.Text, nullable=False),
        sa.Column("role", NAME, nullable=False),
        sa.Column("hash", NAME, nullable=False),
        sa.Column("created_at_ms", NUMBER, nullable=False),
        sa.Column("last_used_at_ms", NUMBER),
        sa.Column("revoked_at_ms", NUMBER),
        sa.PrimaryKeyConstraint("token_id", name="tokens_pk"),
    )
    op.create_index("tokens_by_hash", "tokens", ["hash"], unique=True)
    op.create_table(
        "slots",
        sa.Column("slot_id", NAME, nullable=False),
        sa.Column("purpose", NAME, nullable=False),
        sa.Column("blob", NAME),
        sa.Column("doc", sa.Text, nullable=False),
        sa.Column("expires_at_ms", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("slot_id", name="slots_pk"),
    )
    op.create_index("slots_by_expiry", "slots", ["expires_at_ms"])


def _memo_and_calls() -> None:
    op.create_table(
        "memo",
        sa.Column("key", NAME, nullable=False),
        sa.Column("reply", sa.Text, nullable=False),
        sa.Column("created_at_ms", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("key", name="memo_pk"),
    )
    op.create_table(
        "calls",
        sa.Column("number", NUMBER, autoincrement=True, nullable=False),
        sa.Column("agent", NAME, nullable=False),
        sa.Column("session_id", NAME),
        sa.Column("story_id", NAME),
        sa.Column("turn_id", NAME),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("prompt_tokens", NUMBER, nullable=False),
        sa.Column("completion_tokens", NUMBER, nullable=False),
        sa.Column("latency_ms", NUMBER, nullable=False),
        sa.Column("first_piece_ms", NUMBER),
        sa.Column("memo_hit", sa.Boolean, nullable=False),
        sa.Column("outcome", NAME, nullable=False),
        sa.Column("error", sa.Text),
        sa.Column("recorded_at_ms", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("number", name="calls_pk"),
    )
    op.create_index("calls_by_session", "calls", ["session_id", "number"])
    op.create_index("calls_by_story", "calls", ["story_id", "number"])
