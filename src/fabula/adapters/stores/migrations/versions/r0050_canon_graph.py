"""The knowledge graph reads canon by columns and partial indexes of its own."""

from __future__ import annotations

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0050"
down_revision = "0042"

NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
TRUE_NOW = sa.text("status = 'committed' AND replaced_by IS NULL")
AT_ONCE = 500


def upgrade() -> None:
    op.add_column("canon_changes", sa.Column("predicate", sa.Text(), nullable=False, server_default=""))
    op.add_column("canon_changes", sa.Column("strength", sa.Float()))
    op.add_column("canon_changes", sa.Column("begins_at", NUMBER))
    op.add_column("canon_changes", sa.Column("ends_at", NUMBER))
    _fill()
    for name, columns in {
        "canon_true_by_subject": ["world_id", "subject", "kind", "change_id"],
        "canon_true_by_object": ["world_id", "object", "kind", "change_id"],
        "canon_true_by_kind": ["world_id", "kind", "change_id"],
        "canon_true_by_time": ["world_id", "begins_at", "change_id"],
    }.items():
        op.create_index(name, "canon_changes", columns, sqlite_where=TRUE_NOW, postgresql_where=TRUE_NOW)


def _fill() -> None:
    """What older rows say of it, in portions, so that no world has to fit into memory."""
    connection, after = op.get_bind(), ""
    page = sa.text("SELECT change_id, doc FROM canon_changes WHERE change_id > :after ORDER BY change_id LIMIT :most")
    fill = sa.text(
        "UPDATE canon_changes SET predicate = :predicate, strength = :strength, begins_at = :begins, ends_at = :ends "
        "WHERE change_id = :this"
    )
    while rows := connection.execute(page, {"after": after, "most": AT_ONCE}).fetchall():
        connection.execute(fill, [{"this": name, **_columns(json.loads(doc)["content"])} for name, doc in rows])
        after = rows[-1][0]


def _columns(content: dict[str, Any]) -> dict[str, Any]:
    if content["kind"] == "event":
        return {"predicate": content["what"], "strength": None, "begins": content.get("at"), "ends": None}
    if content["kind"] not in ("fact", "relationship"):
        return {"predicate": "", "strength": None, "begins": None, "ends": None}
    return {
        "predicate": content["predicate"],
        "strength": content.get("strength"),
        "begins": content.get("since"),
        "ends": content.get("until"),
    }
