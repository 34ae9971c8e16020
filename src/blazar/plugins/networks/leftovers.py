"""Leftovers of reservations of network segments: networks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from blazar.domain.errors import CloudConflict
from blazar.domain.lease import is_canonical_id
from blazar.plugins.contract import Waiting
from blazar.plugins.leftovers import LeftoverKind, Sweep
from blazar.plugins.networks.names import reservations_of
from blazar.plugins.networks.segments import NETWORKS, segment_of
from blazar.plugins.networks.teardown import remove_network


class NetworkLeftovers:
    """Marked networks on registered segments that no running reservation holds.

    Such a network appears if Neutron completes its creation after the reservation is over. The mark is a tag
    or, without tags, the description. Lessees can edit both, so the database takes precedence: a network is
    never a leftover while a reservation of its project holds the segment. Lessees cannot choose segments, so
    a network on a registered one was made by the service or by an operator.
    """

    name: ClassVar[str] = "network"

    def __init__(self, sweep: Sweep) -> None:
        self._store, self._clock, self._cloud = sweep.store, sweep.clock, sweep.cloud

    def candidates(self) -> Mapping[str, str | None]:
        """Return the ids of the networks. Neutron is not called if no segment is registered."""
        with self._store.read() as transaction:
            registered = transaction.plugin_resources.list(NETWORKS.name)
        types = sorted({str(each.facts["network_type"]) for each in registered})
        marked = [
            (network, owners)
            for each in types
            for network in self._cloud.segments.list_networks(each)
            if (owners := [key for key in reservations_of(network) if is_canonical_id(key)])
        ]
        if not marked:
            return {}
        # Read after the cloud, so that networks of a lease that starts meanwhile are not leftovers.
        with self._store.read() as transaction:
            registered = transaction.plugin_resources.list(NETWORKS.name)
            holders = transaction.allocations.list_holders(NETWORKS.name)
        now = self._clock.now()
        projects = {
            segment_of(each.facts): {
                holder.project_id for holder in holders.get(each.id, ()) if holder.start <= now
            }
            for each in registered
        }
        return {
            network.id: owners[0]
            for network, owners in marked
            if len(owners) == 1
            and network.project_id not in projects.get(network.segment, {network.project_id})
        }

    def remove(self, name: str) -> bool:
        """Delete a network with everything that is on it; it may take several sweeps."""
        outcome = remove_network(self._cloud, name)
        if isinstance(outcome, Waiting):
            raise CloudConflict(outcome.reason)
        return True


if TYPE_CHECKING:

    def _witness(kind: type[NetworkLeftovers]) -> type[LeftoverKind]:
        return kind
