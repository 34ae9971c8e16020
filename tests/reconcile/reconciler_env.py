"""A whole service on a manual clock: managers that can be killed, a cloud and a database."""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sa
from databases import empty_tables
from reconcile import floatingips, invariants
from reconcile.parts import (
    PREEMPTIBLE,
    TRAITS,
    Asked,
    Conditions,
    forget_leases,
    lease_body,
)
from reconcile.simulated_env import SimulatedEnv

from blazar.db import tables
from blazar.domain.lease import LeaseId
from blazar.plugins.slots.names import provider_name
from blazar.ports.compute import Server
from blazar_plugin_testing.faults import WatchedFaults
from blazar_plugin_testing.service_env import LESSEE, NothingToStrike

FREEPOOL = "freepool"

__all__ = ["FREEPOOL", "LESSEE", "EnvOn", "NothingToStrike", "ReconcilerEnv"]


class ReconcilerEnv(SimulatedEnv):
    """A service with registered hosts; :meth:`reset` starts another one on the same database."""

    def __init__(self, engine: sa.Engine) -> None:
        super().__init__(engine)
        self.reset(Conditions())

    def reset(self, conditions: Conditions) -> None:
        """Start again with a new cloud, registered hosts and no leases."""
        self.conditions = conditions
        faults = WatchedFaults(lambda: invariants.check_hosts_are_somewhere(self))
        self.begin(faults, server_deletion_time=conditions.server_deletion_time)
        self.host_names = []
        self.violations = []
        self.manager = self.new_manager()
        self.cloud.add_aggregate(FREEPOOL)
        for number in range(1, conditions.hosts + 1):
            zone = conditions.zone or None
            self.cloud.add_hypervisor(f"host-{number}", availability_zone=zone, traits=TRAITS)
            self.host_names.append(f"host-{number}")
        if not self._restore_hosts():
            empty_tables(self.engine)
            for name in self.host_names:
                self.manager.service.create_host(LESSEE, {"name": name})
        floatingips.register(self)
        self.violations.clear()

    def _restore_hosts(self) -> bool:
        """Return whether the database already has these hosts; if so, empty the rest and restore them."""
        with self.engine.begin() as connection:
            known = sorted(connection.scalars(sa.select(tables.hosts.c.service_name)))
            if known != sorted(self.host_names):
                return False
            forget_leases(connection)
        with self.faults.exempt():
            cloud, placement = self.cloud, self.cloud.placement
            freepool = cloud.aggregates.list_aggregates()[0]
            for name in self.host_names:
                root = placement.find_provider(name)
                assert root is not None
                placement.create_provider(provider_name(name), root.uuid)
                cloud.aggregates.add_host(freepool.id, name)
        return True

    # Actions of a lessee. Like clients, they repeat requests whose answers were lost.

    def create(self, name: str, start: float | str, end: float, *asked: Asked, **keys: object) -> LeaseId:
        """Create a lease, by default for one host, and return its ID.

        Args:
            name: A unique name.
            start: Hours since the beginning, or ``now``.
            end: Hours since the beginning.
            *asked: (min, max) of each reservation, or all its keys; None for no reservation at all.
            **keys: Further keys of every reservation.
        """
        body = lease_body(name, self.date(start), self.date(end), *asked, **keys)
        return self.request_lease(name, body)

    def resize(self, lease_id: str, minimum: int, maximum: int) -> None:
        """Change the number of hosts of a lease's only reservation."""
        reservation = self.lease(lease_id).reservations[0]
        self.update(lease_id, reservations=[{"id": reservation.id, "min": minimum, "max": maximum}])

    def boot_preemptible(self, host_name: str) -> Server:
        """Boot a preemptible server of another project on a host."""
        with self.faults.exempt():
            if self.cloud.flavors.find_flavor(PREEMPTIBLE.id) is None:
                self.cloud.flavors.create_flavor(PREEMPTIBLE)
        return self.cloud.boot_server("spot", "stranger", flavor_id=PREEMPTIBLE.id, service_host=host_name)

    def boot(
        self, host_name: str, *, project_id: str = "project", reservation_id: str | None = None
    ) -> Server:
        """Boot a server, on the given host or with the reservation's hint."""
        forced = None if reservation_id else host_name
        return self.cloud.boot_server(
            f"server-on-{host_name}", project_id, service_host=forced, reservation_id=reservation_id
        )

    def remove_server(self, server: Server) -> None:
        """Delete a server as its owner would."""
        with self.faults.exempt():
            self.cloud.servers.delete_server(server.id)

    # Time.

    def at(self, hours: float) -> None:
        """Advance the clock, then check that every lease is as its window requires."""
        self.run_until(hours)
        if self.arm is None:
            invariants.check_settled(self, may_fail=self.may_fail)

    def run_due(self) -> None:
        """Run what is due now; a manager that is killed is replaced."""
        super().run_due()
        if self.conditions.is_restless:
            with self.engine.begin() as connection:
                now = self.clock.now()
                unclaimed = tables.work.c.claim_deadline.is_(None)
                connection.execute(sa.update(tables.work).where(unclaimed).values(due_at=now))
            super().run_due()


EnvOn = Callable[[str], ReconcilerEnv]
"""Return an environment on a kind of database."""
