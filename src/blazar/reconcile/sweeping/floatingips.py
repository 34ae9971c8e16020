"""What reservations of floating IPs leave behind: the floating IPs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from blazar.plugins.floatingips.names import MARK, reservation_tag
from blazar.plugins.slots.names import is_reservation_id
from blazar.ports.network import FloatingIP
from blazar.reconcile.sweeping.kinds import Surroundings

if TYPE_CHECKING:
    from blazar.reconcile.sweeping.kinds import Kind


class FloatingIPs:
    """Floating IPs whose tags say that they are one reservation's, attached or not."""

    name: ClassVar[str] = "floatingip"

    def __init__(self, surroundings: Surroundings) -> None:
        self._surroundings = surroundings
        self._networks = surroundings.context.cloud.networks
        self._found: Mapping[str, FloatingIP] = {}

    def candidates(self) -> Mapping[str, str | None]:
        """Return their ids; Neutron is not asked where no floating IP is registered."""
        with self._surroundings.context.store.read() as transaction:
            if not transaction.floatingips.has_any():
                return {}
        self._found = {each.id: each for each in self._networks.list_floating_ips(tags=frozenset({MARK}))}
        owners = {key: _reservations(each) for key, each in self._found.items()}
        return {key: ids[0] for key, ids in owners.items() if len(ids) == 1}

    def remove(self, name: str) -> bool:
        """Take a floating IP off its port and delete it."""
        if self._found[name].port_id is not None:
            self._networks.detach_floating_ip(name)
        self._networks.delete_floating_ip(name)
        return True


def _reservations(found: FloatingIP) -> list[str]:
    """Return the ids of the reservations that the tags name."""
    prefix = reservation_tag("")
    ids = [each.removeprefix(prefix) for each in found.tags if each.startswith(prefix)]
    return [each for each in ids if is_reservation_id(each)]


if TYPE_CHECKING:

    def _witness(kind: type[FloatingIPs]) -> type[Kind]:
        return kind
