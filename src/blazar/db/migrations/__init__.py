"""The migrations of the schema, for alembic."""
