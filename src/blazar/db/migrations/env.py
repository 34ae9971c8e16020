"""Entry point of alembic: migrate the connection from ``blazar.db.schema``, or print SQL."""

from __future__ import annotations

from alembic import context

from blazar.db.tables import metadata

config = context.config
connection = config.attributes.get("connection")

if context.is_offline_mode():
    context.configure(
        url=config.get_main_option("sqlalchemy.url"), target_metadata=metadata, literal_binds=True
    )
else:
    context.configure(connection=connection, target_metadata=metadata, compare_type=True)

with context.begin_transaction():
    context.run_migrations()
