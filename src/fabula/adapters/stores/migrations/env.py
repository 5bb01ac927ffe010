"""What Alembic runs: all steps on the connection, and inside the transaction, that it was given."""

from __future__ import annotations

from alembic import context

from fabula.adapters.stores.migrations import REVISION_TABLE

context.configure(
    connection=context.config.attributes["connection"],
    version_table=REVISION_TABLE,
)
context.run_migrations()
