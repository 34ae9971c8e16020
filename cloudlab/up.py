"""The tasks of ``make cloud``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, Protocol

from cloudlab import (
    blazar,
    cinder,
    contents,
    details,
    glance,
    identity,
    keystone,
    mariadb,
    neutron,
    nova,
    openrc,
    packages,
    placement,
    rabbitmq,
)
from cloudlab.errors import LabError
from cloudlab.folder import Folder
from cloudlab.graph import Task, of_lab, run_all
from cloudlab.plan import Plan, read_all
from cloudlab.service import SECONDS_TO_ANSWER, Service
from cloudlab.services import all_services
from cloudlab.steps import is_done, once, was_ever_done
from cloudlab.waiting import wait_until

_APIS: Final = {
    "keystone": keystone,
    "nova-api": nova,
    "neutron": neutron,
    "placement": placement,
    "cinder": cinder,
    "glance": glance,
}
"""OpenStack's APIs, each with its module; slow ones come first."""


class Migration(Protocol):
    """Upgrades a service's databases."""

    def __call__(self, plan: Plan, *, is_new: bool) -> None:
        """Upgrade; *is_new* means that this was never completed, so that data may be dropped."""


def bring_up(plans: Sequence[Plan], say: Callable[[str], None]) -> None:
    """Set up and start all parts of the labs that do not exist or run yet.

    Args:
        plans: The plans of labs side by side; all of them use the environment of the first.
        say: Prints a line.

    Raises:
        LabError: A task failed; or OpenStack is running in versions other than those of the lock.
    """
    folder = plans[0].folder
    tasks = _installed(folder)
    for number, plan in enumerate(plans, 1):
        if number > 1:
            packages.share_environment(folder, plan.folder)
        tasks += of_lab(number, [*_ground(plan), *_openstack(plan), *_blazar(plan), *_finish(plan)])
    run_all(tasks, say)


def install(folder: Folder, say: Callable[[str], None]) -> None:
    """Install the missing packages, as the first part of :func:`bring_up`; raises the same error."""
    run_all(_installed(folder), say)


def is_up(plan: Plan) -> bool:
    """Return whether everything is up already."""
    return (
        plan.folder.details.exists()
        and details.read(plan.folder).hosts == plan.hosts
        and packages.are_installed(plan.folder)
        and is_done(plan.folder, "blazar schema", blazar.schema_version())
        and all(service.answers() for service in all_services(plan).values())
    )


def _running_in_environment(folder: Folder) -> str | None:
    """Return the name of a running service that uses the environment of a lab and of those beside it."""
    for plan in read_all(folder):
        programs = str(plan.folder.environment)
        for service in all_services(plan).values():
            if service.command[0].startswith(programs) and service.is_running:
                return service.name
    return None


def _installed(folder: Folder) -> list[Task]:
    """Return the tasks that install packages; raises LabError if another version of them runs."""
    if not packages.are_installed(folder) and (running := _running_in_environment(folder)):
        raise LabError(f"other versions are to be installed now, but {running} runs: make cloud-down first")
    return [
        Task(name="Debian packages", run=partial(packages.install_debian_packages, folder)),
        Task(name="environment", run=partial(packages.install_environment, folder)),
    ]


def _ground(plan: Plan) -> list[Task]:
    """Return the tasks for the infrastructure of OpenStack."""
    broker = {service.name: service for service in rabbitmq.services(plan)}
    return [
        _configured("mariadb", mariadb.configure, plan),
        Task(
            name="mariadb data",
            run=lambda: "made" if mariadb.make_data(plan) else None,
            after=("Debian packages", "mariadb configuration"),
        ),
        *(_started(service, "mariadb data") for service in mariadb.services(plan)),
        _configured("rabbitmq", rabbitmq.configure, plan),
        _started(broker["epmd"], "Debian packages"),
        _started(broker["rabbitmq"], "epmd", "rabbitmq configuration"),
    ]


def _openstack(plan: Plan) -> list[Task]:
    """Return the tasks for the APIs, the accounts, other parts of Nova and Cinder, and the contents."""
    tasks = []
    for api, module in _APIS.items():
        service = {each.name: each for each in module.services(plan)}[api]
        tasks += [
            _configured(api, module.configure, plan, "environment"),
            _migrated(api, module.make_schema, plan, packages.fingerprint()),
            _started(service, f"{api} schema", "rabbitmq"),
        ]
    nova_parts = {each.name: each for each in nova.services(plan) if each.name != "nova-api"}
    cinder_parts = [each for each in cinder.services(plan) if each.name != "cinder"]
    return [
        *tasks,
        Task(name="agents", run=partial(neutron.record_agents, plan), after=("neutron schema",)),
        _once("accounts", identity.furnish, plan, "keystone", version=packages.fingerprint()),
        _started(nova_parts.pop("nova-conductor"), "nova-api schema", "rabbitmq"),
        *(_started(each, "nova-conductor", "accounts", "placement") for each in nova_parts.values()),
        *(_started(each, "cinder schema", "rabbitmq") for each in cinder_parts),
        _once(
            "contents",
            contents.ensure_all,
            plan,
            *("accounts", *_APIS),
            version=packages.fingerprint(),
        ),
    ]


def _blazar(plan: Plan) -> list[Task]:
    """Return the tasks for this repository's service, whose schema has a separate version."""
    return [
        _configured("blazar", blazar.configure, plan, "environment"),
        _migrated("blazar", blazar.make_schema, plan, blazar.schema_version()),
        *(_started(each, "blazar schema", "rabbitmq", "contents") for each in blazar.services(plan)),
    ]


def _finish(plan: Plan) -> list[Task]:
    """Return the tasks that wait for all services and write the details for tests."""

    def await_hosts() -> str | None:
        wait_until(
            lambda: contents.hosts_that_are_up(plan) >= set(plan.hosts),
            f"Nova finds {', '.join(plan.hosts)}",
            seconds=SECONDS_TO_ANSWER,
            every_seconds=1,
        )
        return f"{len(plan.hosts)} are up"

    def describe() -> None:
        found = details.collect(plan)
        details.write(plan.folder, found)
        openrc.write(plan.folder, found)

    return [
        Task(name="hosts", run=await_hosts, after=tuple(each.name for each in nova.services(plan))),
        Task(name="details", run=describe, after=("hosts", *all_services(plan))),
    ]


def _configured(name: str, configure: Callable[[Plan], None], plan: Plan, *after: str) -> Task:
    return Task(name=f"{name} configuration", run=partial(configure, plan), after=after)


def _migrated(name: str, make_schema: Migration, plan: Plan, version: str) -> Task:
    """Return the task of a schema; after an interruption it starts from an empty database."""

    def migrate(plan: Plan) -> None:
        make_schema(plan, is_new=not was_ever_done(plan.folder, f"{name} schema"))

    after = ("mariadb", f"{name} configuration")
    return _once(f"{name} schema", migrate, plan, *after, version=version)


def _once(name: str, action: Callable[[Plan], None], plan: Plan, *after: str, version: str = "") -> Task:
    """Return a task that is not repeated for the same version."""

    def run() -> str | None:
        return "made" if once(plan.folder, name, version, partial(action, plan)) else None

    return Task(name=name, run=run, after=after)


def _started(service: Service, *after: str) -> Task:
    def run() -> str | None:
        if service.answers():
            return None
        service.resume()
        service.start()
        service.wait_until_answers()
        return "started"

    return Task(name=service.name, run=run, after=after)
