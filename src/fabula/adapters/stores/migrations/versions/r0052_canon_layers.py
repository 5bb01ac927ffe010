"""Canon of plays: what turns propose, and what was decided about it on a line."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0052"
down_revision = "0051"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "canon_staged",
        sa.Column("change_id", NAME, nullable=False),
        sa.Column("tree_id", NAME, nullable=False),
        sa.Column("turn_id", NAME, nullable=False),
        sa.Column("depth", NUMBER, nullable=False),
        sa.Column("number", NUMBER, nullable=False),
        sa.Column("subject", NAME, nullable=False),
        sa.Column("object", NAME, nullable=False),
        sa.Column("doc", sa.Text(), nullable=False),
        sa.Column("created_at_ms", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("change_id", name="canon_staged_pk"),
    )
    op.create_index("canon_staged_by_depth", "canon_staged", ["tree_id", "depth", "number"])
    op.create_index("canon_staged_by_subject", "canon_staged", ["tree_id", "subject", "depth"])
    op.create_index("canon_staged_by_object", "canon_staged", ["tree_id", "object", "depth"])
    op.create_table(
        "canon_rulings",
        sa.Column("tree_id", NAME, nullable=False),
        sa.Column("change_id", NAME, nullable=False),
        sa.Column("turn_id", NAME, nullable=False),
        sa.Column("depth", NUMBER, nullable=False),
        sa.Column("status", NAME, nullable=False),
        sa.Column("verdict", sa.Text()),
        sa.Column("decision", sa.Text(), nullable=False),
        sa.Column("ruled_at_ms", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("change_id", "turn_id", name="canon_rulings_pk"),
    )
    op.create_index("canon_rulings_by_tree", "canon_rulings", ["tree_id"])
    op.create_table(
        "canon_commits",
        sa.Column("turn_id", NAME, nullable=False),
        sa.Column("tree_id", NAME, nullable=False),
        sa.Column("world_id", NAME, nullable=False),
        sa.Column("why", NAME, nullable=False),
        sa.Column("accepted", NUMBER, nullable=False),
        sa.Column("rejected", NUMBER, nullable=False),
        sa.Column("pending", NUMBER, nullable=False),
        sa.Column("committed_at_ms", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("turn_id", name="canon_commits_pk"),
    )
    op.create_index("canon_commits_by_tree", "canon_commits", ["tree_id"])
