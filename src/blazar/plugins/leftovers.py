"""Leftovers: objects in the cloud that carry the service's mark, but belong to no live reservation.

Plugins find candidates and remove leftovers; the sweep decides which candidates are leftovers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from blazar.domain.lease import ResourceId
from blazar.domain.maintenance import outside_pool
from blazar.ports.clock import Clock
from blazar.ports.cloud import Cloud
from blazar.ports.compute import Aggregate
from blazar.ports.store import Store


@dataclass(slots=True, kw_only=True)
class Sweep:
    """The input of one sweep, which all kinds of leftovers share; used by one thread."""

    cloud: Cloud
    store: Store
    clock: Clock
    check_claim: Callable[[], None]
    """Called before each longer step; an exception from it ends the sweep."""

    _aggregates: tuple[Aggregate, ...] | None = field(default=None, init=False)

    # Not a cached_property: before Python 3.12, all instances share its lock, so that a call to Nova that
    # hangs would block the sweeps of all other threads.
    def aggregates(self) -> tuple[Aggregate, ...]:
        """Return Nova's aggregates; read once per sweep. Raises CloudUnavailable."""
        if self._aggregates is None:
            self._aggregates = self.cloud.aggregates.list_aggregates()
        return self._aggregates

    def outside_pool(self) -> frozenset[ResourceId]:
        """Return the resources that are out of their pool now because of maintenance."""
        now = self.clock.now()
        with self.store.read() as transaction:
            return outside_pool(transaction.maintenances.list(ending_after=now), now)


class LeftoverKind(Protocol):
    """One kind of leftover; created for each sweep."""

    @property
    def name(self) -> str:
        """Return the name of the kind for operators; one word."""

    def candidates(self) -> Mapping[str, str | None]:
        """Return possible leftovers by their name within the kind.

        Returns:
            The id of the reservation that each belongs to: it is not a leftover while that reservation has
            items in the cloud. None for a leftover in any case.

        Raises:
            CloudError: They cannot be read; the sweep continues with the other kinds.
        """

    def remove(self, name: str) -> bool:
        """Remove a leftover, for good or until it appears again; return whether it was removed.

        Raises:
            CloudNotFound: It no longer exists.
            CloudConflict, CloudRefused: It cannot be removed, now or ever.
        """
