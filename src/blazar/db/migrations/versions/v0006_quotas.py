"""Support limits of projects.

Revision ID: 0006
Revises: 0005
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add a row to lock per project, and an index for a project's leases that have not ended."""
    op.create_table(
        "projects",
        sa.Column("id", sa.String(length=255), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_projects"),
        mysql_engine="InnoDB",
        mysql_charset="utf8mb4",
        mysql_collate="utf8mb4_bin",
        sqlite_autoincrement=True,
    )
    op.create_index("ix_leases_project_id_end_at", "leases", ["project_id", "end_at"], unique=False)
    op.drop_index("ix_leases_project_id", "leases")


def downgrade() -> None:
    """Remove the table and the index."""
    op.create_index("ix_leases_project_id", "leases", ["project_id"], unique=False)
    op.drop_index("ix_leases_project_id_end_at", "leases")
    op.drop_table("projects")
