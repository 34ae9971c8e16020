"""Services that fail or are disabled during a test, and are restored after it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from cloudlab.blazar import POLLING_SECONDS
from cloudlab.probes import SERVICE_DOWN_SECONDS
from cloudlab.service import Service
from cloudlab.tests.actors import MICROVERSION, Actor, Json
from cloudlab.tests.end_to_end_lab import EndToEndLab
from cloudlab.waiting import wait_until

SECONDS_TO_HEAR: Final = POLLING_SECONDS * 2 / 3
"""Time within which a change is known after a notification; polling may take longer."""
SECONDS_TO_SEE: Final = SERVICE_DOWN_SECONDS + POLLING_SECONDS + 15
"""Time within which a compute service without reports is treated as failed, with all consequences."""
_SECONDS_AWAY: Final = 30
_SECONDS_TO_RECOVER: Final = 120


@dataclass(slots=True)
class Computes:
    """The compute services of the hosts."""

    lab: EndToEndLab
    _touched: set[str] = field(default_factory=set)

    def fall_silent(self, *names: str) -> None:
        """Stop nova-compute on hosts without a notification."""
        for name in names:
            self._touched.add(name)
            self.lab.openstack.service(f"nova-compute-{name}").stop()

    def break_down(self, *names: str) -> None:
        """Stop nova-compute on hosts, and report this to Nova, as a tool for high availability does."""
        self.fall_silent(*names)
        for name in names:
            self._set(name, forced_down=True)

    def disable(self, name: str, reason: str) -> None:
        """Disable a host for new servers."""
        self._touched.add(name)
        self._set(name, status="disabled", disabled_reason=reason)

    def enable(self, name: str) -> None:
        """Enable a host for new servers."""
        self._set(name, status="enabled")

    def mend(self) -> None:
        """Restore the compute services, and return after the service has noticed."""
        services = [self.lab.openstack.service(f"nova-compute-{name}") for name in sorted(self._touched)]
        for service in services:
            service.start()
        for service in services:
            service.wait_until_answers()
        for name in sorted(self._touched):
            self._set(name, forced_down=False)
            self._set(name, status="enabled")
            self.wait_until_reservable(name, True, seconds=SECONDS_TO_SEE)
        self._touched.clear()

    def wait_until_reservable(self, name: str, expected: bool, *, seconds: float) -> None:
        """Return when new leases may, or may not, get a host."""
        wait_until(
            lambda: self.lab.operator.registered()[name]["reservable"] is expected,
            f"{name} is {'' if expected else 'not '}reservable",
            seconds=seconds,
            explain=self.lab.list_hosts,
        )

    def _set(self, name: str, **changes: object) -> None:
        operator = self.lab.operator
        found = operator.compute.get(
            "/os-services", params={"host": name, "binary": "nova-compute"}, microversion=MICROVERSION
        ).json()["services"]
        (service,) = found
        operator.compute.put(f"/os-services/{service['id']}", json=changes, microversion=MICROVERSION)


def start_and_end_despite_outage(
    service: Service, lessee: Actor, reserve: Callable[[], Json], meanwhile: Callable[[], object]
) -> None:
    """Check that a service which is away for half a minute only delays the start and the end of a lease.

    Args:
        service: The service, which is stopped for the start and again for the end.
        lessee: The lessee.
        reserve: Returns a new lease that starts now.
        meanwhile: Called while the lease is active.
    """
    with away(service):
        lease = reserve()
        time.sleep(_SECONDS_AWAY)  # noqa: TID251
        assert lessee.status(lease) == "STARTING"
    lessee.wait_for_lease(lease, "ACTIVE", seconds=_SECONDS_TO_RECOVER)
    meanwhile()
    with away(service):
        lessee.reservations.put(f"/leases/{lease['id']}", json={"end_date": "now"})
        time.sleep(_SECONDS_AWAY)  # noqa: TID251
        assert lessee.status(lease) == "TERMINATING"
    lessee.wait_for_lease(lease, "TERMINATED", seconds=_SECONDS_TO_RECOVER)


@contextmanager
def away(service: Service) -> Iterator[None]:
    """Stop a service during the block; afterwards it answers again."""
    service.stop()
    try:
        yield
    finally:
        service.start()
        service.wait_until_answers()


def wait_for_flags(
    read: Callable[[], Json | None], *, seconds: float = SECONDS_TO_SEE, **expected: bool
) -> Json:
    """Return a lease when the flags of its only reservation, and ``degraded``, have these values."""

    def flags() -> Json:
        lease = read() or {"reservations": [{}]}
        (reservation,) = lease["reservations"]
        found = {**reservation, "degraded": lease.get("degraded")}
        return {name: found.get(name) for name in expected}

    wait_until(
        lambda: flags() == expected, f"flags are {expected}", seconds=seconds, explain=lambda: str(flags())
    )
    return read() or {}
