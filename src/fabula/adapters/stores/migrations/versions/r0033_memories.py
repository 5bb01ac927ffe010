"""The thirty-third revision: memories, on lines of turns, with the words that they are found by."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "memory_lines",
        sa.Column("line_no", NUMBER, nullable=False, autoincrement=False),
        sa.Column("scope", NAME, nullable=False),
        sa.Column("parent_no", NUMBER),
        sa.Column("fork_depth", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("line_no", name="memory_lines_pk"),
    )
    op.create_index("memory_lines_by_scope", "memory_lines", ["scope", "line_no"])
    op.create_table(
        "memory_turns",
        sa.Column("turn_id", NAME, nullable=False),
        sa.Column("line_no", NUMBER, nullable=False),
        sa.Column("depth", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("turn_id", name="memory_turns_pk"),
        sa.ForeignKeyConstraint(["line_no"], ["memory_lines.line_no"], name="memory_turns_line_fk", ondelete="CASCADE"),
    )
    op.create_index("memory_turns_by_line", "memory_turns", ["line_no", "depth"], unique=True)
    op.create_table(
        "memory_spaces",
        sa.Column("space_no", NUMBER, nullable=False, autoincrement=False),
        sa.Column("line_no", NUMBER, nullable=False),
        sa.Column("owner", NAME, nullable=False),
        sa.Column("names", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("space_no", name="memory_spaces_pk"),
        sa.ForeignKeyConstraint(
            ["line_no"], ["memory_lines.line_no"], name="memory_spaces_line_fk", ondelete="CASCADE"
        ),
    )
    op.create_index("memory_spaces_by_owner", "memory_spaces", ["line_no", "owner"], unique=True)
    op.create_table(
        "memories",
        sa.Column("space_no", NUMBER, nullable=False),
        sa.Column("place", NUMBER, nullable=False),
        sa.Column("memory_id", NAME, nullable=False),
        sa.Column("turn_id", NAME),
        sa.Column("kind", NAME, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("speaker", sa.Text, nullable=False),
        sa.Column("people", sa.Text, nullable=False),
        sa.Column("scene", NAME, nullable=False),
        sa.Column("at_where", sa.Text, nullable=False),
        sa.Column("minute", NUMBER, nullable=False),
        sa.Column("importance", sa.Integer, nullable=False),
        sa.Column("valence", sa.Float, nullable=False),
        sa.Column("words", sa.Text, nullable=False),
        sa.Column("language", NAME, nullable=False),
        sa.Column("signs", sa.Text, nullable=False),
        sa.Column("dates", sa.Text, nullable=False),
        sa.Column("day", sa.Text, nullable=False),
        sa.Column("pinned", sa.Integer, nullable=False),
        sa.Column("recalls", NUMBER, nullable=False),
        sa.Column("fidelity", sa.Float, nullable=False),
        sa.Column("doc", sa.Text, nullable=False),
        sa.Column("vector", sa.LargeBinary, nullable=False),
        sa.Column("embedder", NAME, nullable=False),
        sa.Column("created_at_ms", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("space_no", "place", name="memories_pk"),
        sa.ForeignKeyConstraint(["space_no"], ["memory_spaces.space_no"], name="memories_space_fk", ondelete="CASCADE"),
    )
    op.create_index("memories_by_id", "memories", ["memory_id"], unique=True)
    op.create_index("memories_by_scene", "memories", ["space_no", "scene", "place"])
    op.create_index("memories_by_embedder", "memories", ["embedder", "memory_id"])
    op.create_table(
        "memory_words",
        sa.Column("space_no", NUMBER, nullable=False),
        sa.Column("word", NAME, nullable=False),
        sa.Column("place", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("space_no", "word", "place", name="memory_words_pk"),
        sa.ForeignKeyConstraint(
            ["space_no", "place"],
            ["memories.space_no", "memories.place"],
            name="memory_words_memory_fk",
            ondelete="CASCADE",
        ),
        sqlite_with_rowid=False,
    )
    op.create_index("memory_words_by_memory", "memory_words", ["space_no", "place"])
