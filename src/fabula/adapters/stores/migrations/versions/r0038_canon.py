"""Canon: every change that was proposed, and which are true."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0038"
down_revision = "0033"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "canon_changes",
        sa.Column("change_id", NAME, nullable=False),
        sa.Column("world_id", NAME, nullable=False),
        sa.Column("session_id", NAME),
        sa.Column("kind", NAME, nullable=False),
        sa.Column("subject", NAME, nullable=False),
        sa.Column("object", NAME, nullable=False),
        sa.Column("status", NAME, nullable=False),
        sa.Column("version", NUMBER, nullable=False),
        sa.Column("replaced_by", NAME),
        sa.Column("doc", sa.Text(), nullable=False),
        sa.Column("verdict", sa.Text()),
        sa.Column("decision", sa.Text()),
        sa.Column("created_at_ms", NUMBER, nullable=False),
        sa.Column("updated_at_ms", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("change_id", name="canon_changes_pk"),
    )
    op.create_index("canon_changes_by_status", "canon_changes", ["world_id", "status", "change_id"])
    op.create_index("canon_changes_by_version", "canon_changes", ["world_id", "version"])
    op.create_index("canon_changes_by_subject", "canon_changes", ["world_id", "subject"])
    op.create_index("canon_changes_by_object", "canon_changes", ["world_id", "object"])
    op.create_index("canon_changes_by_session", "canon_changes", ["session_id"])
