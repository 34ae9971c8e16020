"""Cinder: the API, a scheduler, volumes in pools of finite size, and backups."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

from cloudlab import files, probes, sections, sql
from cloudlab.commands import plain_environment, run
from cloudlab.folder import REPOSITORY, Folder
from cloudlab.plan import Plan
from cloudlab.service import Service
from cloudlab.wsgi import in_module, wsgi_service

POOLS: Final = {
    "fast": {"ssd": 20, "nvme": 20},
    "slow": {"disk": 20, **{f"small-{number}": 2 for number in range(1, 21)}},
    "shared": {"all": 100},
}
"""The capacity of each pool in GiB, by back end. Nothing but reservations uses ``fast`` and ``slow``."""
ORDINARY_TYPE: Final = "ordinary"
"""The volume type for everybody, whose volumes are on the back end ``shared``."""
ORDINARY_BACKEND: Final = "shared"

_HOST: Final = "controller"
_ROOTWRAP: Final = """\
[DEFAULT]
filters_path={filters}
exec_dirs={programs},/usr/sbin,/usr/bin,/sbin,/bin
"""
_AS_ROOT: Final = """\
#!/bin/sh
# Cinder calls sudo even if it is root, and nothing else in the lab needs it.
[ "$(id -u)" != 0 ] && exec /usr/bin/sudo --non-interactive "$@"
exec "$@"
"""


def pool_folder(folder: Folder, backend: str, pool: str) -> Path:
    """Return the folder with the files of a pool's volumes."""
    return _pools(folder, backend) / pool


def pool_name(backend: str, pool: str) -> str:
    """Return the name of a pool in Cinder."""
    return f"{_HOST}@{backend}#{pool}"


def configure(plan: Plan) -> None:
    """Write the configuration; the environment must be installed."""
    folder, installed = plan.folder.etc("cinder"), plan.folder.environment / "etc"
    files.write_ini(
        folder / "cinder.conf",
        {**_own_sections(plan), **_backends(plan), **_shared_sections(plan)},
    )
    for name in ("api-paste.ini", "resource_filters.json"):
        shutil.copy(installed / "cinder" / name, folder)
    filters = ",".join(str(installed / each / "rootwrap.d") for each in ("cinder", "os-brick"))
    files.write(
        folder / "rootwrap.conf",
        _ROOTWRAP.format(filters=filters, programs=plan.folder.environment / "bin"),
    )
    sudo = _programs(plan) / "sudo"
    files.write(sudo, _AS_ROOT)
    sudo.chmod(0o755)


def _own_sections(plan: Plan) -> files.Sections:
    data, folder = plan.folder.data("cinder"), plan.folder.etc("cinder")
    return {
        "DEFAULT": {
            **sections.LOGGING,
            "host": _HOST,
            "transport_url": plan.transport_url,
            "state_path": str(data),
            "auth_strategy": "keystone",
            "api_paste_config": str(folder / "api-paste.ini"),
            "resource_query_filters_file": str(folder / "resource_filters.json"),
            "rootwrap_config": str(folder / "rootwrap.conf"),
            "glance_api_servers": plan.url("glance"),
            "enabled_backends": ",".join(POOLS),
            "default_volume_type": ORDINARY_TYPE,
            "periodic_interval": 3,
            "periodic_fuzzy_delay": 0,
            "report_interval": 5,
            "service_down_time": probes.SERVICE_DOWN_SECONDS,
            "rpc_response_timeout": 15,
            "graceful_shutdown_timeout": 5,
            "quota_volumes": -1,
            "quota_snapshots": -1,
            "quota_gigabytes": -1,
            "quota_backups": -1,
            "quota_backup_gigabytes": -1,
            "quota_groups": -1,
            "image_conversion_dir": str(data / "conversion"),
            "backup_driver": "cinder.backup.drivers.posix.PosixBackupDriver",
            "backup_posix_path": str(data / "backup"),
            # A buffer of this size is kept in memory.
            "backup_file_size": 512 * 32768,
            "backup_compression_algorithm": "zstd",
        },
        "oslo_concurrency": {"lock_path": str(data / "locks")},
        "coordination": {"backend_url": f"file://{data / 'coordination'}"},
    }


def _backends(plan: Plan) -> files.Sections:
    return {
        backend: {
            "volume_driver": "cloudlab.volume_driver.PoolsDriver",
            "volume_backend_name": backend,
            "pools_folder": str(_pools(plan.folder, backend)),
            "pools": ",".join(f"{pool}:{size}" for pool, size in pools.items()),
        }
        for backend, pools in POOLS.items()
    }


def _shared_sections(plan: Plan) -> files.Sections:
    return {
        **sections.database(plan, "cinder"),
        **sections.keystone_middleware(plan, "cinder"),
        **sections.message_bus(),
        "nova": {**sections.client(plan, "cinder"), "interface": "internal"},
        "service_user": {**sections.credentials(plan, "cinder"), "send_service_user_token": True},
    }


def make_schema(plan: Plan, *, is_new: bool) -> None:
    """Upgrade the database."""
    if is_new:
        sql.make_anew(plan, "cinder")
    run(
        [plan.folder.program("cinder-manage"), "--config-file", _conf(plan), "db", "sync"],
        log=plan.folder.log("cinder-manage"),
        environment=plain_environment(),
    )


def services(plan: Plan) -> tuple[Service, ...]:
    """Return the API, the scheduler, and the services of volumes and backups."""
    # It reads no environment variable with its configuration.
    arguments = ("--pyargv", f"--config-file {_conf(plan)}")
    api = wsgi_service(plan, "cinder", (*in_module("cinder.wsgi.api"), *arguments), {})
    return (
        api,
        _part(plan, "cinder-scheduler", f"cinder-scheduler.{_HOST}"),
        _part(plan, "cinder-volume", *(f"cinder-volume.{_HOST}@{backend}" for backend in POOLS)),
        _part(plan, "cinder-backup", f"cinder-backup.{_HOST}"),
    )


def _part(plan: Plan, binary: str, *queues: str) -> Service:
    programs = f"{_programs(plan)}:{plan.folder.environment / 'bin'}"
    environment = plain_environment(PYTHONPATH=str(REPOSITORY), PYTHONDONTWRITEBYTECODE="1")
    environment["PATH"] = f"{programs}:{environment['PATH']}"
    return Service(
        name=binary,
        folder=plan.folder,
        command=(plan.folder.program(binary), "--config-file", _conf(plan)),
        environment=environment,
        check=lambda since: all(probes.consumers(plan, each) > 0 for each in queues),
    )


def _pools(folder: Folder, backend: str) -> Path:
    return folder.data("cinder") / "pools" / backend


def _programs(plan: Plan) -> Path:
    """Return the folder with the lab's own ``sudo``."""
    return plan.folder.etc("cinder") / "bin"


def _conf(plan: Plan) -> str:
    return os.fspath(plan.folder.etc("cinder") / "cinder.conf")
