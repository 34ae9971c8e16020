"""The schema's history (alembic)."""
