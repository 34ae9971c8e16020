"""Parts of an environment: its conditions, its plugins, and requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import cast

import sqlalchemy as sa
from reconcile.faults import FaultyHosts

from blazar.booking.context import Plugin
from blazar.db import tables
from blazar.manager.plugins import load_plugins
from blazar.plugins.hosts.settings import HostSettings
from blazar.ports.compute import Flavor
from blazar.settings import HealingSettings, LeaseSettings, Settings
from blazar_plugin_testing.faults import Repeating

TRAITS = ("HW_CPU_X86_AVX2",)
"""The traits of every host."""
PLUGINS = (
    "physical.host.plugin",
    "virtual.instance.plugin",
    "flavor.instance.plugin",
    "virtual.floatingip.plugin",
)
LEASE_TABLES = (
    tables.answers,
    tables.offer_allocations,
    tables.offers,
    tables.allocations,
    tables.events,
    tables.reservations,
    tables.leases,
    tables.work,
    tables.journal,
    tables.outbox,
    tables.sweep_findings,
)
"""The tables that are emptied if the next environment has the same hosts."""


def forget_leases(connection: sa.Connection) -> None:
    """Delete everything but the environment's hosts, and set their health to healthy."""
    for table in LEASE_TABLES:
        connection.execute(sa.delete(table))
    connection.execute(sa.delete(tables.resource_changes))  # each new index reads the last thousand of them
    connection.execute(sa.delete(tables.floatingips))
    connection.execute(sa.delete(tables.resources).where(tables.resources.c.collection == "floatingip"))
    connection.execute(sa.update(tables.resources).values(health="sound", problem=None))


PREEMPTIBLE = Flavor(
    id="preemptible",
    name="preemptible",
    vcpus=1,
    memory_mb=1,
    disk_gb=0,
    is_public=True,
    extra_specs={"blazar:preemptible": "true"},
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """The settings of an environment: its size, its rules, and the duration of operations."""

    hosts: int = 3
    floatingips: int = 0
    cleaning_time: timedelta = timedelta(0)
    server_deletion_time: timedelta = timedelta(0)
    before_end_lead: timedelta = timedelta(0)
    before_end_wait: timedelta = timedelta(0)
    before_end_grace: timedelta = timedelta(0)
    preemption_notice: timedelta = timedelta(0)
    healing_interval: timedelta = timedelta(hours=1)
    zone: str = ""
    """The availability zone of all hosts while they are not reserved; empty for none."""
    faulty_step: str = ""
    """The method of the hosts plugin that has a bug.

    One of ``observe``, ``wanted``, ``make``, ``remove`` and ``before_end``. The bug affects *faulty_host*, or
    every host if that is empty.
    """
    faulty_host: str = ""
    faulty_error: Callable[[], Exception] = ZeroDivisionError
    takes_steps_twice: bool = False
    is_restless: bool = False
    """Every lease is reconciled once more after each step, without a reason."""

    @property
    def settings(self) -> Settings:
        return Settings(
            leases=LeaseSettings(
                cleaning_time=self.cleaning_time,
                before_end_lead=self.before_end_lead,
                before_end_wait=self.before_end_wait,
                before_end_grace=self.before_end_grace,
                delete_wait=timedelta(0),
                update_wait=timedelta(0),
            ),
            healing=HealingSettings(interval=self.healing_interval),
            own=(HostSettings(preemption_notice=self.preemption_notice),),
        )


def make_plugins(conditions: Conditions) -> Mapping[str, Plugin]:
    """Return the plugins, with the bug or the repeated steps that the conditions ask for."""
    plugins = load_plugins(PLUGINS, conditions.settings)
    if conditions.faulty_step:
        hosts = FaultyHosts(
            conditions.settings.of(HostSettings),
            conditions.faulty_step,
            conditions.faulty_host,
            conditions.faulty_error,
        )
        return {**plugins, "physical:host": hosts}
    if conditions.takes_steps_twice:
        return {key: cast("Plugin", Repeating(each)) for key, each in plugins.items()}
    return plugins


def hosts(minimum: int, maximum: int) -> Mapping[str, object]:
    """Return a reservation of hosts."""
    return {
        "resource_type": "physical:host",
        "min": minimum,
        "max": maximum,
        "hypervisor_properties": "",
        "resource_properties": "",
    }


Asked = tuple[int, int] | Mapping[str, object] | None
"""(min, max) of a reservation of hosts, or all keys of a reservation; None for no reservation."""


def lease_body(name: str, start: str, end: str, *asked: Asked, **keys: object) -> Mapping[str, object]:
    """Return the body of a request for a lease, by default for one host; see :meth:`ReconcilerEnv.create`."""
    reservations = [
        {**(each if isinstance(each, Mapping) else hosts(*each)), **keys}
        for each in asked or ((1, 1),)
        if each is not None
    ]
    return {"name": name, "start_date": start, "end_date": end, "reservations": reservations}
