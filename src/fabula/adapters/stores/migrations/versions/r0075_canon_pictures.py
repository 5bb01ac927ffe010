"""The knowledge graph reads edges and names from its indexes alone."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

revision = "0075"
down_revision = "0071"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
TRUE_NOW = sa.text("status = 'committed' AND replaced_by IS NULL")
TRUE_ENTITY = sa.text("status = 'committed' AND replaced_by IS NULL AND kind = 'entity'")
READ = ["predicate", "strength", "begins_at", "ends_at"]
OF_CONDITION = ["session_id", "status", "replaced_by"]
AT_ONCE = 500


def upgrade() -> None:
    op.add_column("canon_changes", sa.Column("entity_kind", NAME))
    op.add_column("canon_changes", sa.Column("entity_name", sa.Text()))
    _fill()
    for old in ("canon_true_by_subject", "canon_true_by_object"):
        op.drop_index(old, table_name="canon_changes")
    for name, columns, which in (
        ("canon_graph_by_subject", ["subject", "kind", "change_id", "object", *READ], TRUE_NOW),
        ("canon_graph_by_object", ["object", "kind", "change_id", "subject", *READ], TRUE_NOW),
        ("canon_graph_names", ["subject", "kind", "change_id", "entity_kind", "entity_name"], TRUE_ENTITY),
    ):
        columns = ["world_id", *columns, *OF_CONDITION]
        op.create_index(name, "canon_changes", columns, sqlite_where=which, postgresql_where=which)


def _fill() -> None:
    """What entities of older rows are called, in portions, so that no world has to fit into memory."""
    connection, after = op.get_bind(), ""
    page = sa.text(
        "SELECT change_id, doc FROM canon_changes WHERE kind = 'entity' AND change_id > :after "
        "ORDER BY change_id LIMIT :most"
    )
    fill = sa.text("UPDATE canon_changes SET entity_kind = :kind, entity_name = :name WHERE change_id = :this")
    while rows := connection.execute(page, {"after": after, "most": AT_ONCE}).fetchall():
        contents = [(id, json.loads(doc)["content"]) for id, doc in rows]
        connection.execute(
            fill, [{"this": id, "kind": one["entity_kind"], "name": one["name"]} for id, one in contents]
        )
        after = rows[-1][0]
