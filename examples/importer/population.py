"""A large installation with leases of every type in every status, most of them consistent."""

from __future__ import annotations

from datetime import datetime, timedelta

from installation import Asked, OldInstallation, flavors, floatingips, hosts, id_of, instances

HOSTS = 60
ADDRESSES = 60
_SLOT_HOSTS = 30
"""Hosts above this number are for instances; hosts up to it are reserved as a whole."""
_DAY = timedelta(days=1)
_PARALLEL = 30

Window = tuple[datetime, datetime]


class Population:
    """Leases that never conflict: no two leases have the same resource on the same day."""

    def __init__(self, installation: OldInstallation) -> None:
        self._installation = installation
        self._numbers = {"past": 0, "open": 0, "ahead": 0}
        self._count = 0

    def add_resources(self) -> None:
        """Add hosts with properties, and floating IPs."""
        for number in range(1, HOSTS + 1):
            self._installation.host(number)
        for number in range(ADDRESSES):
            self._installation.floatingip(number)

    def add(self, count: int, when: str, status: str, **options: object) -> None:
        """Add leases of every type.

        Args:
            count: The number of leases of each type.
            when: ``past``, ``open`` or ``ahead``.
            status: The status of all of these leases.
            **options: Options of :meth:`~installation.OldInstallation.lease`.
        """
        for _ in range(count):
            number = self._numbers[when]
            self._numbers[when] += 1
            start, end = self._window(when, number)
            for asked in self._all_types(number):
                self._count += 1
                name = f"lease {self._count}"
                self._installation.lease(name, start, end, asked, status=status, **options)  # type: ignore[arg-type]

    def _window(self, when: str, number: int) -> Window:
        now, days = self._installation.now, number // _PARALLEL + 1
        match when:
            case "past":
                return now - (days + 1) * _DAY, now - days * _DAY - timedelta(hours=1)
            case "open":
                return now - timedelta(hours=2), now + timedelta(hours=6)
        return now + days * _DAY, now + (days + 1) * _DAY - timedelta(hours=1)

    def _all_types(self, number: int) -> tuple[Asked, ...]:
        place = number % _PARALLEL
        slots, address = str(_SLOT_HOSTS + 1 + place), id_of(f"floating IP {place}")
        return (
            hosts(str(1 + place)),
            instances(slots, slots, affinity=(None, True)[number % 2]),
            flavors(slots),
            floatingips(address),
        )


def populate(installation: OldInstallation) -> None:
    """Add the resources and leases of a consistent installation, and leases that are stuck."""
    people = Population(installation)
    people.add_resources()
    people.add(190, "past", "TERMINATED")
    people.add(45, "ahead", "PENDING")
    people.add(12, "open", "ACTIVE")
    people.add(3, "ahead", "UPDATING", events=("UNDONE", "UNDONE"), reserved="pending")
    people.add(3, "open", "UPDATING")
    people.add(3, "open", "STARTING")
    people.add(3, "past", "TERMINATING")
    people.add(3, "ahead", "CREATING")
    people.add(3, "ahead", "DELETING")
    people.add(3, "past", "ERROR", events=("DONE", "ERROR"))
    people.add(3, "open", "ERROR")
    people.add(2, "open", "ERROR", events=("DONE", "IN_PROGRESS"), reserved="active")
    people.add(2, "ahead", "ERROR", events=("UNDONE", "UNDONE"), reserved="pending")
    people.add(2, "open", "PENDING")
    people.add(3, "past", "ACTIVE")
