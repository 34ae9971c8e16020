"""The tasks of ``make cloud-down``."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from typing import Final

from cloudlab.folder import Folder
from cloudlab.graph import Task, of_lab, run_all
from cloudlab.plan import Plan
from cloudlab.service import Service
from cloudlab.services import all_services

_LAST: Final = ("mariadb", "rabbitmq", "epmd")
"""Services that others need until they have ended."""


def take_down(plans: Sequence[Plan], say: Callable[[str], None]) -> None:
    """Stop all processes of the labs, and no others."""
    run_all(
        [task for number, plan in enumerate(plans, 1) for task in of_lab(number, _all_stopped(plan))], say
    )


def _all_stopped(plan: Plan) -> list[Task]:
    services = all_services(plan)
    early = tuple(name for name in services if name not in _LAST)
    return [
        *(_stopped(services[name]) for name in early),
        _stopped(services["mariadb"], *early),
        _stopped(services["rabbitmq"], *early),
        _stopped(services["epmd"], "rabbitmq"),
    ]


def remove_data(folder: Folder) -> None:
    """Remove the lab's data, configuration and logs, and the labs beside it; installed packages are kept."""
    for other in folder.labs()[1:]:
        shutil.rmtree(other.root, ignore_errors=True)
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
