"""The service of this repository: the API under uWSGI, and managers, by default of its environment."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from cloudlab import cinder, files, probes, processes, sections, sql
from cloudlab.commands import plain_environment, run
from cloudlab.folder import REPOSITORY
from cloudlab.plan import REGION, Plan
from cloudlab.service import Service
from cloudlab.wsgi import ONE_PROCESS, Workers, in_module, wsgi_service

POLLING_SECONDS: Final = 15
"""Interval of queries to Nova for failed hosts, if Nova sends no notification."""
TOPIC: Final = "blazar.manager"
"""The topic of the managers."""
_MANAGERS: Final = ("blazar-manager-1", "blazar-manager-2")
PLUGINS: Final = (
    "physical.host.plugin",
    "virtual.instance.plugin",
    "flavor.instance.plugin",
    "virtual.floatingip.plugin",
    "network.plugin",
    "virtual.volume.plugin",
    "physical.storage.plugin",
)
"""All plugins of the service."""
PROGRAMS: Final = Path(sys.executable).parent
"""The folder of the programs of the repository's environment."""
_MIGRATIONS: Final = REPOSITORY / "src" / "blazar" / "db" / "migrations" / "versions"


def configure(plan: Plan, usage_records: Mapping[str, files.Option] | None = None) -> None:
    """Write the configuration; the environment must be installed.

    Intervals are short, so that tests need not wait long.

    Args:
        plan: The plan.
        usage_records: Further options of this section.
    """
    files.write_ini(
        plan.folder.etc("blazar") / "blazar.conf",
        {
            "DEFAULT": {
                **sections.LOGGING,
                "transport_url": plan.transport_url,
                # A response that is lost with the broker times out before the client's request does.
                "rpc_response_timeout": 40,
                "os_region_name": REGION,
            },
            "manager": {
                "cloud": "openstack",
                "plugins": ",".join(PLUGINS),
                "rpc_topic": TOPIC,
                "claim_seconds": 5,
                "longest_retry_seconds": 5,
                "sweep_interval_minutes": 1,
            },
            "physical:host": {
                "enable_polling_monitor": True,
                "polling_interval": POLLING_SECONDS,
                "enable_notification_monitor": True,
                # Healing starts immediately.
                "healing_interval": 0,
                "aggregate_properties": "place:place-*",
            },
            "virtual:floatingip": {"check_interval_minutes": 1},
            "network": {"check_interval_minutes": 1},
            "usage_records": {"observation_interval_minutes": 1, **(usage_records or {})},
            "virtual:volume": {
                "check_interval_minutes": 1,
                "retain_volume_type": cinder.ORDINARY_TYPE,
                "freeze_grace_hours": 1,
                "acts_in_projects": True,
                "before_end_snapshot": "backup",
            },
            "ui": {"enabled": True, "session_keys": plan.passwords["blazar"]},
            # There are no limits until a test sets one, which then applies immediately.
            "quotas": {"enabled": True, "limits_lifetime": 0},
            "keystone": sections.credentials(plan, "blazar"),
            **sections.keystone_middleware(plan, "blazar"),
            **sections.database(plan, "blazar"),
            **sections.message_bus(notifies=True),
        },
    )


def schema_version() -> str:
    """Return a key that changes when a migration is added."""
    return " ".join(sorted(path.stem for path in _MIGRATIONS.glob("v*.py")))


def make_schema(plan: Plan, *, is_new: bool) -> None:
    """Upgrade the database."""
    if is_new:
        sql.make_anew(plan, "blazar", charset="utf8mb4")
    upgrade(plan)


def upgrade(plan: Plan, programs: Path = PROGRAMS) -> None:
    """Upgrade the tables of the configured database, with the programs in a folder."""
    run(
        command_line(plan, "blazar-db-manage", "upgrade", "head", programs=programs),
        log=plan.folder.log("blazar-db-manage"),
        environment=plain_environment(),
    )


def services(plan: Plan) -> tuple[Service, ...]:
    """Return the API and the managers."""
    return (api(plan), *managers(plan, _MANAGERS))


def api(
    plan: Plan, workers: Workers = ONE_PROCESS, *, name: str = "blazar-api", programs: Path = PROGRAMS
) -> Service:
    """Return the API under the uWSGI in a folder of programs; its port has its name."""
    return wsgi_service(
        plan,
        name,
        in_module("blazar.wsgi.api"),
        {"OS_BLAZAR_CONFIG_DIR": str(plan.folder.etc("blazar"))},
        uwsgi=(program("uwsgi", programs),),
        workers=workers,
    )


def managers(
    plan: Plan,
    names: Sequence[str],
    own_files: Mapping[str, Path] | None = None,
    *,
    command: tuple[str, ...] | None = None,
) -> tuple[Service, ...]:
    """Return managers that serve together; no others may serve on the plan's message broker.

    Args:
        plan: The plan.
        names: The names of the managers.
        own_files: Configuration files that are read after the common one, by name of the manager.
        command: The program and its first arguments; by default, ``blazar-manager`` of the repository.
    """
    files_of = own_files or {}

    def all_serve() -> bool:
        """Return whether all managers are serving; from outside, they cannot be distinguished."""
        running = [name for name in names if processes.recorded(plan.folder.record(name)) is not None]
        return probes.consumers(plan, TOPIC) >= len(running)

    return tuple(
        Service(
            name=name,
            folder=plan.folder,
            command=(
                *(command or (program("blazar-manager"),)),
                *("--config-file", _conf(plan)),
                *(("--config-file", str(files_of[name])) if name in files_of else ()),
            ),
            environment=plain_environment(),
            check=lambda since: all_serve(),
        )
        for name in names
    )


def command_line(plan: Plan, name: str, *arguments: str, programs: Path = PROGRAMS) -> tuple[str, ...]:
    """Return the command that runs a program of the service with the configuration of the plan."""
    return (program(name, programs), "--config-file", _conf(plan), *arguments)


def program(name: str, programs: Path = PROGRAMS) -> str:
    """Return the path of a program, by default one of the repository's environment."""
    return str(programs / name)


def _conf(plan: Plan) -> str:
    return str(plan.folder.etc("blazar") / "blazar.conf")
