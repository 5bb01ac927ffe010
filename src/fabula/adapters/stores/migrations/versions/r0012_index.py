"""The twelfth revision: what resources are found by, and lists by the time of creation.

A session that was renamed after its last turn counts as changed then. The tables of the index are filled afterwards.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_index("resources_by_creation", "resources", ["kind", "created_at_ms", "id"])
    op.create_table(
        "search_entries",
        sa.Column("kind", NAME, nullable=False),
        sa.Column("id", NAME, nullable=False),
        sa.Column("part", NAME, nullable=False),
        sa.Column("scope", NAME, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("sort_name", NAME, nullable=False),
        sa.Column("excerpt", sa.Text, nullable=False),
        sa.Column("digest", NAME, nullable=False),
        sa.Column("words", NUMBER),
        sa.Column("scenes", NUMBER),
        sa.Column("endings", NUMBER),
        sa.PrimaryKeyConstraint("kind", "id", "part", name="search_entries_pk"),
        sa.ForeignKeyConstraint(
            ["kind", "id"], ["resources.kind", "resources.id"], name="search_entries_resource_fk", ondelete="CASCADE"
        ),
    )
    op.create_index("search_entries_by_name", "search_entries", ["scope", "sort_name", "id", "part"])
    op.create_table(
        "search_words",
        sa.Column("kind", NAME, nullable=False),
        sa.Column("id", NAME, nullable=False),
        sa.Column("part", NAME, nullable=False),
        sa.Column("word", NAME, nullable=False),
        sa.Column("scope", NAME, nullable=False),
        sa.Column("place", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("kind", "id", "part", "word", name="search_words_pk"),
        sa.ForeignKeyConstraint(
            ["kind", "id", "part"],
            ["search_entries.kind", "search_entries.id", "search_entries.part"],
            name="search_words_entry_fk",
            ondelete="CASCADE",
        ),
    )
    op.create_index("search_words_by_word", "search_words", ["scope", "place", "word", "id", "part"])
    op.execute(
        "UPDATE plays SET updated_at_ms = (SELECT updated_at_ms FROM resources WHERE kind = 'session' AND "
        "id = session_id) WHERE updated_at_ms < (SELECT updated_at_ms FROM resources WHERE kind = 'session' AND "
        "id = session_id)"
    )
