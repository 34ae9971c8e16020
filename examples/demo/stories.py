"""The leases of the demonstration: their requests, the actions on them, and the expected statuses."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

NETWORK = "NETWORK"
"""Placeholder in a reservation for the id of the cloud's network, which is known after the start."""
_SETTLED = frozenset({"PENDING", "ACTIVE", "TERMINATED", "ERROR", "gone"})
_OVER = frozenset({"TERMINATED", "ERROR", "gone"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """The request for a lease, as a user types it, and the actions on the lease.

    Attributes:
        name: The lease's name.
        about: The feature that it shows.
        starts_in_minutes: Minutes from the request to the start; None for an immediate start.
        ends_in_minutes: Minutes from the request to the end.
        reservations: The values of ``--reservation``.
        extend_by: The value of ``--prolong-for`` after the lease has become active; None for no extension.
        is_deleted: Whether the lease is deleted after it has become active.
        is_struck: Whether the service is killed in the middle of the lease's start.
        expected: The statuses that last for a while, in order: those of the API, ``refused`` and ``gone``.
    """

    name: str
    about: str
    reservations: tuple[str, ...]
    ends_in_minutes: int
    starts_in_minutes: int | None = None
    extend_by: str | None = None
    is_deleted: bool = False
    is_struck: bool = False
    expected: tuple[str, ...] = ("PENDING", "ACTIVE", "TERMINATED")


@dataclass(slots=True)
class Story:
    """A lease and its observed statuses."""

    script: Script
    statuses: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    done: set[str] = field(default_factory=set)

    @property
    def name(self) -> str:
        """Return the lease's name."""
        return self.script.name

    def see(self, status: str) -> None:
        """Record a status if it is new."""
        if not self.statuses or self.statuses[-1] != status:
            self.statuses.append(status)

    def is_first(self, act: str) -> bool:
        """Return whether *act* was not done before, and record it as done."""
        is_first = act not in self.done
        self.done.add(act)
        return is_first

    @property
    def is_over(self) -> bool:
        """Return whether no further status is expected."""
        last = self.statuses[-1]
        if self.script.is_struck:
            return "strike" in self.done and last == "ACTIVE"
        return last in _OVER or (last,) == self.script.expected

    @property
    def went_well(self) -> bool:
        """Return whether the lease behaved as its script describes."""
        asked = {
            "extend": self.script.extend_by,
            "delete": self.script.is_deleted,
            "strike": self.script.is_struck,
        }
        is_complete = {act for act, is_asked in asked.items() if is_asked} <= self.done
        return is_complete and tuple(_settled(self.statuses)) == self.script.expected


def _settled(statuses: Collection[str]) -> list[str]:
    """Return the statuses that last for a while; transient ones are seen only by chance."""
    return [each for each in statuses if each in _SETTLED or each == "refused"]


def _on_host(name: str) -> tuple[str]:
    expression = f'["==", "$hypervisor_hostname", "{name}"]'
    return (f"resource_type=physical:host, min=1, max=1, hypervisor_properties={expression}",)


SCRIPTS = (
    Script(
        name="starts-now",
        about="starts now, and ends",
        reservations=_on_host("host-1"),
        ends_in_minutes=4,
    ),
    Script(
        name="in-the-future",
        about="lies in the future",
        reservations=_on_host("host-2"),
        starts_in_minutes=60,
        ends_in_minutes=90,
        expected=("PENDING",),
    ),
    Script(
        name="back-to-back",
        about="begins when the first ends, on the same host",
        reservations=_on_host("host-1"),
        starts_in_minutes=4,
        ends_in_minutes=7,
    ),
    Script(
        name="is-refused",
        about="wants the host of the first at the same time",
        reservations=_on_host("host-1"),
        ends_in_minutes=3,
        expected=("refused",),
    ),
    Script(
        name="is-extended",
        about="is extended by 4 minutes while active",
        reservations=_on_host("host-2"),
        ends_in_minutes=3,
        extend_by="4m",
    ),
    Script(
        name="is-deleted",
        about="is deleted while active",
        reservations=_on_host("host-3"),
        ends_in_minutes=30,
        is_deleted=True,
        expected=("PENDING", "ACTIVE", "gone"),
    ),
    Script(
        name="instances",
        about="three instances on different hosts",
        reservations=(
            "resource_type=virtual:instance, vcpus=4, memory_mb=8192, disk_gb=20, amount=3, affinity=False, "
            'resource_properties=["==", "$rack", "r2"]',
        ),
        ends_in_minutes=4,
    ),
    Script(
        name="floating-ips",
        about="two floating IPs, one of them a certain one",
        reservations=(
            f"resource_type=virtual:floatingip, network_id={NETWORK}, amount=2, "
            'required_floatingips=["203.0.113.202"]',
        ),
        ends_in_minutes=4,
    ),
    Script(
        name="networks",
        about="two networks on VLANs of their own",
        reservations=("resource_type=network, network_name=lab, amount=2",),
        ends_in_minutes=4,
    ),
    Script(
        name="storage",
        about="200 GiB in a storage pool",
        reservations=("resource_type=virtual:volume, gibibytes=200, volume_name=scratch",),
        ends_in_minutes=4,
    ),
    Script(
        name="storage-node",
        about="a whole storage pool",
        reservations=("resource_type=physical:storage, min=1, max=1",),
        ends_in_minutes=4,
    ),
    Script(
        name="outlives-a-crash",
        about="the service is killed in the middle of its start",
        reservations=(
            'resource_type=physical:host, min=4, max=4, resource_properties=["==", "$rack", "r2"]',
        ),
        starts_in_minutes=3,
        ends_in_minutes=30,
        is_struck=True,
        expected=("PENDING", "ACTIVE"),
    ),
)
