"""What a lab is made of: its conditions, a manager's process, and what notifications reach."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from engine.faults import FaultyHosts, RepeatingHosts

from blazar.app.context import Context
from blazar.domain.errors import Unavailable
from blazar.manager.service import ManagerService
from blazar.plugins.hosts.plugin import Hosts
from blazar.ports.compute import Flavor
from blazar.reconcile.loop import Reconciler
from blazar.settings import HostSettings, LeaseSettings, Settings

if TYPE_CHECKING:
    from blazar.ports.notifier import Notifier
    from blazar.ports.waker import Waker


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
    """How a lab is to be: its size, its rules, and how long things take."""

    hosts: int = 3
    cleaning_time: timedelta = timedelta(0)
    server_deletion_time: timedelta = timedelta(0)
    before_end_lead: timedelta = timedelta(0)
    preemption_notice: timedelta = timedelta(0)
    zone: str = ""
    """The availability zone that all hosts belong to while they are not reserved; empty for none."""
    faulty_step: str = ""
    """``make`` or ``before_end``: the plugin has a bug there, which shows at *faulty_host* or always."""
    faulty_host: str = ""
    takes_steps_twice: bool = False
    is_restless: bool = False
    """Everything is looked at once more after every instant, for no reason."""

    @property
    def settings(self) -> Settings:
        return Settings(
            leases=LeaseSettings(
                cleaning_time=self.cleaning_time,
                before_end_lead=self.before_end_lead,
                delete_wait=timedelta(0),
            ),
            hosts=HostSettings(preemption_notice=self.preemption_notice),
        )


def make_plugin(conditions: Conditions) -> Hosts:
    """Return the plugin, with the bug or the habit that is asked for."""
    settings = conditions.settings.hosts
    if conditions.faulty_step:
        return FaultyHosts(settings, conditions.faulty_step, conditions.faulty_host)
    return RepeatingHosts(settings) if conditions.takes_steps_twice else Hosts(settings)


class Sent:
    """Receives notifications; may be told to refuse."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()
        self.statuses: dict[tuple[str, str], list[object]] = defaultdict(list)
        self.is_broken = False

    def notify(self, event_type: str, payload: Mapping[str, object]) -> None:
        if self.is_broken:
            raise Unavailable("the broker is gone")
        key = str(payload["lease_id"]), event_type
        self.counts[key] += 1
        self.statuses[key].append(payload["status"])


class Silent:
    """Wakes nobody: the lab looks by itself."""

    def wake(self) -> None:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class LabManager:
    """One manager process: what a kill takes away."""

    name: str
    context: Context
    service: ManagerService
    reconciler: Reconciler


def lease_body(
    name: str, start: str, end: str, *counts: tuple[int, int] | None, **keys: object
) -> Mapping[str, object]:
    """Return a request for a lease, by default for one host; see :meth:`Lab.create`."""
    reservations = [
        {
            "resource_type": "physical:host",
            "min": each[0],
            "max": each[1],
            "hypervisor_properties": "",
            "resource_properties": "",
            **keys,
        }
        for each in counts or ((1, 1),)
        if each is not None
    ]
    return {"name": name, "start_date": start, "end_date": end, "reservations": reservations}


if TYPE_CHECKING:
    _: tuple[Notifier, Waker] = (Sent(), Silent())
