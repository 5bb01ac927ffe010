"""The fourth revision: work, with who holds it and until when."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "work",
        sa.Column("work_id", NAME, nullable=False),
        sa.Column("kind", NAME, nullable=False),
        sa.Column("key", NAME, nullable=False),
        sa.Column("subject", NAME, nullable=False),
        sa.Column("input", sa.Text, nullable=False),
        sa.Column("status", NAME, nullable=False),
        sa.Column("owner", NAME, nullable=False),
        sa.Column("lease_until_ms", NUMBER, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("let_go", sa.Integer, nullable=False),
        sa.Column("due_at_ms", NUMBER, nullable=False),
        sa.Column("trace_id", NAME, nullable=False),
        sa.Column("result", sa.Text),
        sa.Column("error", sa.Text),
        sa.Column("created_at_ms", NUMBER, nullable=False),
        sa.Column("updated_at_ms", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("work_id", name="work_pk"),
    )
    _partial_index("work_once", ["kind", "key"], "key <> '' AND status IN ('waiting', 'running', 'done')", unique=True)
    _partial_index("work_by_key", ["kind", "key", "created_at_ms"], "key <> ''")
    _partial_index("work_waiting", ["due_at_ms"], "status = 'waiting'")
    _partial_index("work_running", ["lease_until_ms"], "status = 'running'")
    op.create_index("work_by_subject", "work", ["subject", "created_at_ms"])
    _partial_index("work_ended", ["updated_at_ms"], "status NOT IN ('waiting', 'running')")


def _partial_index(name: str, columns: list[str], where: str, *, unique: bool = False) -> None:
    condition = sa.text(where)
    op.create_index(name, "work", columns, unique=unique, sqlite_where=condition, postgresql_where=condition)
