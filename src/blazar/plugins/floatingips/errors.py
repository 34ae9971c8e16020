"""Errors about floating IPs. The table of HTTP statuses in ``blazar.api.faults`` lists them too."""

from __future__ import annotations

from blazar.domain.errors import Conflict, NotEnoughResources, NotFound


class NotEnoughFloatingIPs(NotEnoughResources):
    """Fewer floating IPs than requested are free throughout the window, or the requested ones are not."""

    code = "not-enough-floatingips"


class FloatingIPNotFound(NotFound):
    """No registered floating IP has this id."""

    code = "floatingip-not-found"

    def __init__(self, floatingip_id: str) -> None:
        super().__init__(f"Floating IP not found: floatingip_id {floatingip_id}", floatingip_id=floatingip_id)


class FloatingIPAlreadyRegistered(Conflict):
    """This address of this network is already registered."""

    code = "floatingip-already-registered"


class FloatingIPInUse(Conflict):
    """Neutron has already allocated the address, so it cannot be registered."""

    code = "floatingip-in-use"


class FloatingIPReserved(Conflict):
    """The floating IP cannot be removed because it has allocations."""

    code = "floatingip-reserved"
