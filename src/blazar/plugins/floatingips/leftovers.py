"""Leftovers of floating IP reservations: floating IPs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

from blazar.domain.lease import is_canonical_id
from blazar.plugins.floatingips.floatingip import FloatingIP as Registered
from blazar.plugins.floatingips.floatingip import addresses_by_network
from blazar.plugins.floatingips.store import FLOATING_IP_STORE
from blazar.plugins.floatingips.teardown import delete_with_uses
from blazar.plugins.leftovers import LeftoverKind, Sweep
from blazar.plugins.neutron_tags import MARK, named_reservations
from blazar.ports.network import FloatingIP


class FloatingIPLeftovers:
    """Marked floating IPs at registered addresses that no running reservation holds, in use or not.

    The mark is a tag, or the description if Neutron created the floating IP after its manager gave up.

    Lessees can edit tags, so the database takes precedence: a floating IP is never a leftover while a
    reservation of its project holds the address, and one at an unregistered address does not belong to this
    service.
    """

    name: ClassVar[str] = "floatingip"

    def __init__(self, sweep: Sweep) -> None:
        self._store, self._clock = sweep.store, sweep.clock
        self._networks = sweep.cloud.networks
        self._found: Mapping[str, FloatingIP] = {}

    def candidates(self) -> Mapping[str, str | None]:
        """Return the ids of the floating IPs. Neutron is not called if no floating IP is registered."""
        with self._store.read() as transaction:
            registered = transaction.of(FLOATING_IP_STORE).list()
        if not registered:
            return {}
        marked = tuple(self._marked(registered))
        # Read after the cloud, so that addresses of a lease that starts meanwhile are not leftovers.
        with self._store.read() as transaction:
            registered = transaction.of(FLOATING_IP_STORE).list()
            holders = transaction.allocations.list_holders(FLOATING_IP_STORE.collection)
        now = self._clock.now()
        projects = {
            (each.network_id, each.address): {
                holder.project_id for holder in holders.get(each.id, ()) if holder.start <= now
            }
            for each in registered
        }
        self._found = {
            each.id: each
            for each in marked
            if each.project_id not in projects.get(_place(each), {each.project_id})
        }
        owners = {key: _reservations(each) for key, each in self._found.items()}
        return {key: ids[0] for key, ids in owners.items() if len(ids) == 1}

    def _marked(self, registered: Iterable[Registered]) -> Iterator[FloatingIP]:
        tagged = self._networks.list_floating_ips(tags=frozenset({MARK}))
        yield from tagged
        known = {each.id for each in tagged}
        for network_id, addresses in addresses_by_network(registered).items():
            for found in self._networks.list_floating_ips(network_id=network_id, addresses=addresses):
                if found.id not in known and named_reservations(frozenset({found.description})):
                    yield found

    def remove(self, name: str) -> bool:
        """Delete a floating IP, also one that is in use."""
        delete_with_uses(self._networks, self._found[name])
        return True


def _place(found: FloatingIP) -> tuple[str, str]:
    return found.floating_network_id, found.address


def _reservations(found: FloatingIP) -> list[str]:
    """Return the ids of the reservations in the tags or, without tags, in the description."""
    names = named_reservations(found.tags) or named_reservations(frozenset({found.description}))
    return [each for each in names if is_canonical_id(each)]


if TYPE_CHECKING:

    def _witness(kind: type[FloatingIPLeftovers]) -> type[LeftoverKind]:
        return kind
