"""Port: registered floating IPs in the database; errors as in :mod:`blazar.ports.store`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from blazar.domain.lease import ResourceId
from blazar.domain.paging import Page
from blazar.plugins.floatingips.floatingip import FloatingIP
from blazar.ports.store import StoreKey


@dataclass(frozen=True, slots=True, kw_only=True)
class FloatingIPFilter:
    """Conditions on the floating IPs of a list; None for no condition."""

    network_id: str | None = None
    address: str | None = None
    """In canonical form."""
    is_reservable: bool | None = None


class FloatingIPStore(Protocol):
    """Registered floating IPs."""

    def find(self, floatingip_id: str) -> FloatingIP | None:
        """Return a floating IP, or None."""

    def find_by_address(self, network_id: str, address: str) -> FloatingIP | None:
        """Return the floating IP of this network and canonical address, or None."""

    def list(self) -> tuple[FloatingIP, ...]:
        """Return all floating IPs, oldest first."""

    def list_page(self, which: FloatingIPFilter, page: Page) -> Sequence[ResourceId]:
        """Return the ids of a page of floating IPs. Raises InvalidParameter if the marker is unknown."""

    def get_many(self, floatingip_ids: Collection[ResourceId]) -> tuple[FloatingIP, ...]:
        """Return these floating IPs; those that are gone are omitted."""

    def insert(self, floatingip: FloatingIP) -> None:
        """Add a floating IP. Raises FloatingIPAlreadyRegistered."""

    def insert_many(self, floatingips: Sequence[FloatingIP]) -> None:
        """Add many floating IPs, in three statements."""

    def delete(self, floatingip_id: ResourceId) -> None:
        """Delete a floating IP."""


FLOATING_IP_STORE: Final[StoreKey[FloatingIPStore]] = StoreKey("floatingip")
