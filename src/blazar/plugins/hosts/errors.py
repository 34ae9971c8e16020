"""Errors about hosts. The table of HTTP statuses in ``blazar.api.faults`` lists them too."""

from __future__ import annotations

from blazar.domain.errors import BadRequest, Conflict, NotEnoughResources, NotFound


class NotEnoughHosts(NotEnoughResources):
    """Fewer hosts than requested are suitable and free throughout the window."""

    code = "not-enough-hosts"


class HostReferenceMissing(BadRequest):
    """A request to register a host has neither ``name`` nor ``id``."""

    code = "host-reference-missing"


class CapabilityKeyTooLong(BadRequest):
    """The name of an extra capability is longer than 64 characters."""

    code = "capability-key-too-long"

    def __init__(self, name: str) -> None:
        # Published tests compare this text.
        super().__init__(f"Extra capability key too long: {name[:64]}…", name=name[:64])


class HostNotFound(NotFound):
    """No registered host has this id, or Nova has no hypervisor with this name."""

    code = "host-not-found"

    def __init__(self, host_id: str) -> None:
        super().__init__(f"Host not found: host_id {host_id}", host_id=host_id)


class PropertyNotFound(NotFound):
    """No resource property has this name."""

    code = "property-not-found"

    def __init__(self, name: str) -> None:
        super().__init__(f"Resource property not found: {name}", name=name)


class FreepoolNotFound(NotFound):
    """Nova has no aggregate with the freepool's name; an operator must create it."""

    code = "freepool-not-found"

    def __init__(self, name: str) -> None:
        super().__init__(f"Nova has no aggregate named {name} (the freepool)", name=name)


class ProviderNotFound(NotFound):
    """Placement has no resource provider for a host."""

    code = "provider-not-found"


class AmbiguousHostName(Conflict):
    """Several hypervisors have the short name that a registration gives."""

    code = "ambiguous-host-name"


class HostHasServers(Conflict):
    """Servers run on a host that would be registered or removed."""

    code = "host-has-servers"


class HostAlreadyRegistered(Conflict):
    """The host is already registered, or is already in the freepool."""

    code = "host-already-registered"


class HostReserved(Conflict):
    """The host cannot be removed because it has allocations."""

    code = "host-reserved"


class CapabilityInUse(Conflict):
    """The request would change or remove a capability that reservations depend on."""

    code = "capability-in-use"
