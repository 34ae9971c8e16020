"""Entry point of alembic: migrate the connection from ``blazar.db.schema``, or print SQL."""

from __future__ import annotations

from alembic import context

from blazar.db.revisions import VERSION_TABLE, version_table
from blazar.db.schema import ADOPTION, is_declared
from blazar.db.schema_progress import forget_progress
from blazar.db.tables import metadata

config = context.config
connection = config.attributes.get("connection")

if context.is_offline_mode():
    context.configure(
        url=config.get_main_option("sqlalchemy.url"),
        target_metadata=metadata,
        literal_binds=True,
        version_table=VERSION_TABLE,
    )
else:
    assert connection is not None
    context.configure(
        connection=connection,
        target_metadata=metadata,
        compare_type=True,
        version_table=version_table(connection),
        include_name=is_declared,
    )

with context.begin_transaction():
    if context.is_offline_mode() and context.get_starting_revision_argument() not in (None, "base"):
        for statement in ADOPTION:
            context.execute(statement)
    context.run_migrations()
    if connection is not None and connection.dialect.name == "mysql":
        forget_progress(connection)
