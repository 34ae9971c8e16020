"""Nova: the API, a conductor, a scheduler with BlazarFilter, and compute services with the fake driver."""

from __future__ import annotations

import shutil
from typing import Final

from cloudlab import files, probes, sections, sql
from cloudlab.commands import plain_environment, run
from cloudlab.plan import REGION, Plan
from cloudlab.ports import ADDRESS
from cloudlab.service import Service
from cloudlab.wsgi import in_module, wsgi_service

_CONTROLLER: Final = "controller"
_FILTERS: Final = (
    "ComputeFilter",
    "ComputeCapabilitiesFilter",
    "ImagePropertiesFilter",
    "ServerGroupAntiAffinityFilter",
    "ServerGroupAffinityFilter",
    "SameHostFilter",
    "DifferentHostFilter",
    "BlazarFilter",
)


def configure(plan: Plan) -> None:
    """Write the configuration; the environment must be installed."""
    folder = plan.folder.etc("nova")
    files.write_ini(folder / "nova.conf", {**_own_sections(plan), **_shared_sections(plan)})
    shutil.copy(plan.folder.environment / "etc" / "nova" / "api-paste.ini", folder)
    for host in plan.hosts:
        files.write_ini(
            folder / f"{host}.conf",
            {"DEFAULT": {"host": host, "state_path": str(plan.folder.data(f"nova-compute-{host}"))}},
        )


def _own_sections(plan: Plan) -> files.Sections:
    return {
        "DEFAULT": {
            **sections.LOGGING,
            "host": _CONTROLLER,
            "my_ip": ADDRESS,
            "transport_url": plan.transport_url,
            "state_path": str(plan.folder.data("nova")),
            # This driver keeps the id of its node across restarts.
            "compute_driver": "fake.FakeDriverWithoutFakeNodes",
            # Periodic tasks start immediately, not within a minute; one of them discovers new hosts.
            "periodic_fuzzy_delay": 0,
            "report_interval": 5,
            "service_down_time": probes.SERVICE_DOWN_SECONDS,
            # A report that is lost with the broker times out before the next one is due.
            "rpc_response_timeout": 15,
            "graceful_shutdown_timeout": 5,
        },
        "api": {"auth_strategy": "keystone"},
        "quota": {"driver": "nova.quota.NoopQuotaDriver"},
        "conductor": {"workers": 1},
        "scheduler": {"workers": 1, "discover_hosts_in_cells_interval": 2},
        "filter_scheduler": {
            "available_filters": (
                "nova.scheduler.filters.all_filters",
                "blazarnova.scheduler.filters.blazar_filter.BlazarFilter",
            ),
            "enabled_filters": ",".join(_FILTERS),
        },
        "blazar:physical:host": {"allow_preemptibles": True},
    }


def _shared_sections(plan: Plan) -> files.Sections:
    return {
        **sections.database(plan, "nova"),
        **sections.database(plan, "nova_api", "api_database"),
        **sections.keystone_middleware(plan, "nova"),
        **sections.message_bus(notifies=True),
        "notifications": {"notification_format": "versioned"},
        "oslo_concurrency": {"lock_path": str(plan.folder.data("nova") / "locks")},
        "placement": sections.client(plan, "nova"),
        "neutron": sections.client(plan, "nova"),
        "cinder": {
            **sections.client(plan, "nova"),
            "catalog_info": "block-storage::internalURL",
            "os_region_name": REGION,
        },
        "service_user": {**sections.credentials(plan, "nova"), "send_service_user_token": True},
        "glance": {"region_name": REGION, "valid_interfaces": "internal"},
    }


def make_schema(plan: Plan, *, is_new: bool) -> None:
    """Upgrade the databases; they have one cell, in addition to the one of unscheduled servers."""
    commands: list[tuple[str, ...]] = [("api_db", "sync")]
    if is_new:
        sql.make_anew(plan, "nova_api", "nova_cell0", "nova")
        commands += [
            ("cell_v2", "map_cell0", "--database_connection", plan.database_url("nova_cell0")),
            ("cell_v2", "create_cell", "--name", "cell1"),
        ]
    for command in (*commands, ("db", "sync")):
        run(
            [plan.folder.program("nova-manage"), "--config-file", _conf(plan), *command],
            log=plan.folder.log("nova-manage"),
            environment=plain_environment(),
        )


def services(plan: Plan) -> tuple[Service, ...]:
    """Return the API, the conductor, the scheduler and the compute services."""
    api = wsgi_service(
        plan,
        "nova-api",
        in_module("nova.wsgi.osapi_compute"),
        {"OS_NOVA_CONFIG_DIR": str(plan.folder.etc("nova"))},
    )
    return (
        api,
        _controller(plan, "nova-conductor", "conductor"),
        _controller(plan, "nova-scheduler", "scheduler"),
        *(_compute(plan, host) for host in plan.hosts),
    )


def _controller(plan: Plan, binary: str, topic: str) -> Service:
    return Service(
        name=binary,
        folder=plan.folder,
        command=(plan.folder.program(binary), "--config-file", _conf(plan)),
        environment=plain_environment(),
        check=lambda since: probes.consumers(plan, f"{topic}.{_CONTROLLER}") > 0,
    )


def _compute(plan: Plan, host: str) -> Service:
    return Service(
        name=f"nova-compute-{host}",
        folder=plan.folder,
        command=(
            plan.folder.program("nova-compute"),
            *("--config-file", _conf(plan)),
            *("--config-file", str(plan.folder.etc("nova") / f"{host}.conf")),
        ),
        environment=plain_environment(),
        check=lambda since: probes.compute_is_up(plan, host, since),
    )


def _conf(plan: Plan) -> str:
    return str(plan.folder.etc("nova") / "nova.conf")
