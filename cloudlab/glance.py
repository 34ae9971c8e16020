"""Glance, with images as files."""

from __future__ import annotations

import shutil

from cloudlab import files, sections, sql
from cloudlab.commands import plain_environment, run
from cloudlab.plan import Plan
from cloudlab.service import Service
from cloudlab.wsgi import in_module, wsgi_service


def configure(plan: Plan) -> None:
    """Write the configuration; the environment must be installed."""
    data, folder = plan.folder.data("glance"), plan.folder.etc("glance")
    files.write_ini(
        folder / "glance-api.conf",
        {
            "DEFAULT": {
                **sections.LOGGING,
                "enabled_backends": "files:file",
                "worker_self_reference_url": plan.url("glance"),
                "transport_url": plan.transport_url,
            },
            "glance_store": {"default_backend": "files"},
            "files": {"filesystem_store_datadir": str(data / "images")},
            "os_glance_staging_store": {"filesystem_store_datadir": str(data / "staging")},
            "os_glance_tasks_store": {"filesystem_store_datadir": str(data / "tasks")},
            "image_cache": {"image_cache_dir": str(data / "cache")},
            "paste_deploy": {"flavor": "keystone"},
            "oslo_concurrency": {"lock_path": str(data / "locks")},
            **sections.keystone_middleware(plan, "glance"),
            **sections.database(plan, "glance"),
            **sections.message_bus(),
        },
    )
    shutil.copy(plan.folder.environment / "etc" / "glance" / "glance-api-paste.ini", folder)


def make_schema(plan: Plan, *, is_new: bool) -> None:
    """Upgrade the database."""
    if is_new:
        sql.make_anew(plan, "glance")
    run(
        [
            plan.folder.program("glance-manage"),
            "--config-file",
            str(plan.folder.etc("glance") / "glance-api.conf"),
            "db_sync",
        ],
        log=plan.folder.log("glance-manage"),
        environment=plain_environment(),
    )


def services(plan: Plan) -> tuple[Service, ...]:
    """Return the API."""
    environment = {"OS_GLANCE_CONFIG_DIR": str(plan.folder.etc("glance"))}
    return (wsgi_service(plan, "glance", in_module("glance.wsgi.api"), environment),)
