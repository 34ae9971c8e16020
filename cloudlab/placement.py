"""Placement."""

from __future__ import annotations

from cloudlab import files, sections, sql
from cloudlab.commands import plain_environment, run
from cloudlab.plan import Plan
from cloudlab.service import Service
from cloudlab.wsgi import in_module, wsgi_service


def configure(plan: Plan) -> None:
    """Write the configuration."""
    files.write_ini(
        plan.folder.etc("placement") / "placement.conf",
        {
            "DEFAULT": sections.LOGGING,
            "api": {"auth_strategy": "keystone"},
            **sections.keystone_middleware(plan, "placement"),
            **sections.database(plan, "placement", "placement_database"),
            # With its own retries, Placement gives the last unit of an inventory to two concurrent requests:
            # it uses the new generation, but the old usage. Nova retries automatically.
            "placement": {"allocation_conflict_retry_count": 1},
        },
    )


def make_schema(plan: Plan, *, is_new: bool) -> None:
    """Upgrade the database."""
    if is_new:
        sql.make_anew(plan, "placement")
    run(
        [
            plan.folder.program("placement-manage"),
            "--config-file",
            str(plan.folder.etc("placement") / "placement.conf"),
            "db",
            "sync",
        ],
        log=plan.folder.log("placement-manage"),
        environment=plain_environment(),
    )


def services(plan: Plan) -> tuple[Service, ...]:
    """Return the API."""
    environment = {"OS_PLACEMENT_CONFIG_DIR": str(plan.folder.etc("placement"))}
    return (wsgi_service(plan, "placement", in_module("placement.wsgi.api"), environment),)
