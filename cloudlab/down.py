"""The tasks of ``make cloud-down``."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Final

from cloudlab.folder import Folder
from cloudlab.graph import Task, run_all
from cloudlab.plan import Plan
from cloudlab.service import Service
from cloudlab.services import all_services

_LAST: Final = ("mariadb", "rabbitmq", "epmd")
"""Services that others need until they have ended."""


def take_down(plan: Plan, say: Callable[[str], None]) -> None:
    """Stop all processes of the lab, and no others."""
    services = all_services(plan)
    early = tuple(name for name in services if name not in _LAST)
    run_all(
        [
            *(_stopped(services[name]) for name in early),
            _stopped(services["mariadb"], *early),
            _stopped(services["rabbitmq"], *early),
            _stopped(services["epmd"], "rabbitmq"),
        ],
        say,
    )


def remove_data(folder: Folder) -> None:
    """Remove the data, configuration and logs of the lab; installed packages are kept."""
    for path in (folder.all_data, folder.all_configuration, folder.all_logs, folder.run):
        shutil.rmtree(path, ignore_errors=True)
    for path in (folder.details, folder.plan, *folder.root.glob("openrc*")):
        path.unlink(missing_ok=True)


def _stopped(service: Service, *after: str) -> Task:
    def run() -> str | None:
        ran = service.is_running
        service.stop()
        return "ended" if ran else None

    return Task(name=service.name, run=run, after=after)
