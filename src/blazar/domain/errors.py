"""The one tree of errors.

::

    BlazarError
    ├── BadRequest                 the request cannot be understood or is not allowed by its own terms
    │   ├── MissingParameter
    │   ├── InvalidParameter
    │   │   ├── InvalidDate
    │   │   └── InvalidRequirement
    │   └── ...
    ├── Unauthorized, Forbidden
    ├── NotFound
    │   ├── LeaseNotFound, HostNotFound, PropertyNotFound, ...
    ├── Conflict                   the request is valid, but the present state forbids it
    │   ├── NotEnoughResources     and under it NotEnoughHosts, NotEnoughFloatingIPs
    │   ├── InvalidLeaseStatus, CannotChange, ...
    │   └── ConcurrentUpdate
    ├── Unavailable                try again later
    ├── UnknownMethod              between the API and managers only
    ├── OwnerMismatch              likewise
    └── CloudError                 raised by adapters only
        ├── CloudNotFound, CloudConflict, CloudRefused
        └── CloudUnavailable

Every class has a stable ``code``: clients and the RPC layer identify an error by it, so a code never
changes. HTTP statuses live in one table, in ``blazar.api.faults``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

RETRY_AFTER_SECONDS = 5
"""Delay before a request that was refused because of a temporary state should be repeated."""


class BlazarError(Exception):
    """Something that the caller is told about; ``message`` says it in one sentence."""

    code: ClassVar[str] = "internal"

    def __init__(self, message: str, **fields: object) -> None:
        super().__init__(message)
        self.message = message
        self.fields: dict[str, object] = fields


class BadRequest(BlazarError):
    """The request contradicts the contract; the caller must change it."""

    code = "bad-request"


class MissingParameter(BadRequest):
    """A required key is absent; ``names`` says which."""

    code = "missing-parameter"

    def __init__(self, *names: str) -> None:
        # The text is compared by published tests (rest-api 4.6).
        super().__init__(f"Missing parameter {', '.join(names)}", names=list(names))


class InvalidParameter(BadRequest):
    """A value is of the wrong type or outside its range; ``name`` says which key it is."""

    code = "invalid-parameter"

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"{name}: {problem}", name=name)


class InvalidDate(InvalidParameter):
    """A date is not written as the contract asks."""

    code = "invalid-date"

    def __init__(self, name: str, value: object) -> None:
        # The text is compared by published tests (rest-api 4.6).
        BlazarError.__init__(
            self,
            f"{value} is an invalid date. Required format: %Y-%m-%d %H:%M ({name})",
            name=name,
        )


class InvalidPeriod(BadRequest):
    """Dates that are well written but do not make a period that can be had."""

    code = "invalid-period"


class BeforeEndOutsideLease(BadRequest):
    """``before_end_date`` does not lie strictly between the start and the end."""

    code = "before-end-outside-lease"


class InvalidRange(BadRequest):
    """``min`` is greater than ``max``."""

    code = "invalid-range"


class InvalidRequirement(InvalidParameter):
    """A requirement expression cannot be used: its shape, or a key nobody knows."""

    code = "invalid-requirement"


class UnsupportedResourceType(BadRequest):
    """No plugin is loaded for the resource type asked for."""

    code = "unsupported-resource-type"


class CapabilityKeyTooLong(BadRequest):
    """The name of an extra capability is longer than 64 characters."""

    code = "capability-key-too-long"

    def __init__(self, name: str) -> None:
        # The text is compared by published tests (rest-api 4.6).
        super().__init__(f"Extra capability key too long: {name[:64]}…", name=name[:64])


class UsageDenied(BadRequest):
    """The operator's rules about usage do not allow the lease or its change; 400 (rest-api 8)."""

    code = "usage-denied"


class HostReferenceMissing(BadRequest):
    """POST of a host names neither ``name`` nor ``id``."""

    code = "host-reference-missing"


class Unauthorized(BlazarError):
    """The caller did not say who they are, or not believably."""

    code = "unauthorized"


class Forbidden(BlazarError):
    """Policy does not allow it; the message names the rule."""

    code = "forbidden"


class LeaseTooLong(Forbidden):
    """A lease was asked for that is longer than the operator allows; 403, as clients know it (rest-api 8)."""

    code = "lease-too-long"


class QuotaExceeded(Forbidden):
    """More was asked for than the project may reserve; 403, as in other services of OpenStack."""

    code = "quota-exceeded"


class ExtensionTooLong(BadRequest):
    """A change would make a lease longer than the operator allows; 400, as clients know it (rest-api 8)."""

    code = "extension-too-long"


class NotFound(BlazarError):
    """The thing named does not exist."""

    code = "not-found"


class LeaseNotFound(NotFound):
    """No lease has this id (any more)."""

    code = "lease-not-found"

    def __init__(self, lease_id: str) -> None:
        super().__init__(f"Lease not found: lease_id {lease_id}", lease_id=lease_id)


class HostNotFound(NotFound):
    """No registered host has this id, or Nova knows no hypervisor of this name."""

    code = "host-not-found"

    def __init__(self, host_id: str) -> None:
        super().__init__(f"Host not found: host_id {host_id}", host_id=host_id)


class FlavorNotFound(NotFound):
    """Nova has no flavor of this id, or the lessee may not see it."""

    code = "flavor-not-found"

    def __init__(self, flavor_id: str) -> None:
        super().__init__(f"Flavor not found: flavor_id {flavor_id}", flavor_id=flavor_id)


class FloatingIPNotFound(NotFound):
    """No registered floating IP has this id."""

    code = "floatingip-not-found"

    def __init__(self, floatingip_id: str) -> None:
        super().__init__(f"Floating IP not found: floatingip_id {floatingip_id}", floatingip_id=floatingip_id)


class PropertyNotFound(NotFound):
    """No resource property has this name."""

    code = "property-not-found"

    def __init__(self, name: str) -> None:
        super().__init__(f"Resource property not found: {name}", name=name)


class FreepoolNotFound(NotFound):
    """Nova has no aggregate of the freepool's name; an operator has to create it."""

    code = "freepool-not-found"

    def __init__(self, name: str) -> None:
        super().__init__(f"Nova has no aggregate named {name} (the freepool)", name=name)


class ProviderNotFound(NotFound):
    """Placement has no resource provider for a host."""

    code = "provider-not-found"


class Conflict(BlazarError):
    """The request is well formed, but the present state of things forbids it."""

    code = "conflict"


class NotEnoughResources(Conflict):
    """Fewer resources than requested fit and are free throughout the window.

    The HTTP status depends on the microversion and on ``[api] shortage_status``.
    """

    code = "not-enough-resources"


class NotEnoughHosts(NotEnoughResources):
    """Fewer hosts than requested are suitable and free throughout the window."""

    code = "not-enough-hosts"


class NotEnoughFloatingIPs(NotEnoughResources):
    """Fewer floating IPs than requested are free throughout the window, or the requested ones are not."""

    code = "not-enough-floatingips"


class FlavorNotReservable(Conflict):
    """The flavor has extra specs that forbid a reservation; ``extra_specs`` lists them."""

    code = "flavor-not-reservable"

    def __init__(self, flavor_id: str, reason: str, extra_specs: Sequence[str]) -> None:
        """Create the error; *reason* completes "extra specs that"."""
        super().__init__(
            f"Flavor {flavor_id} cannot be reserved because of extra specs that {reason}:"
            f" {', '.join(extra_specs)}",
            flavor_id=flavor_id,
            extra_specs=list(extra_specs),
        )


class InvalidLeaseStatus(Conflict):
    """The lease is in a status in which it cannot be changed; ``status`` says which."""

    code = "invalid-lease-status"

    def __init__(self, lease_id: str, status: str, *, may_settle: bool) -> None:
        """Create the error; if the status *may_settle*, the same request can succeed later."""
        wait = f"try again in {RETRY_AFTER_SECONDS} seconds; " if may_settle else ""
        super().__init__(
            f"Lease {lease_id} is {status} and cannot be {action} now; try again when it has settled",
            lease_id=lease_id,
            status=status,
            **({"retry_after": RETRY_AFTER_SECONDS} if may_settle else {}),
        )

    @property
    def may_settle(self) -> bool:
        """Return whether the same request can succeed later."""
        return "retry_after" in self.fields


class CannotChange(Conflict):
    """A parameter that is fixed, or fixed in this phase, was to be changed."""

    code = "cannot-change"


class HostHasServers(Conflict):
    """Servers run on a host that was to be registered or removed."""

    code = "host-has-servers"


class HostAlreadyRegistered(Conflict):
    """The host is registered, or stands in the freepool, already."""

    code = "host-already-registered"


class FloatingIPAlreadyRegistered(Conflict):
    """This address of this network is registered already."""

    code = "floatingip-already-registered"


class FloatingIPInUse(Conflict):
    """Neutron has given the address to somebody, so that it cannot be registered."""

    code = "floatingip-in-use"


class FloatingIPReserved(Conflict):
    """Allocations exist on a floating IP that was to be removed."""

    code = "floatingip-reserved"


class CloudDisagrees(Conflict):
    """Nova or Placement refuses what would have to be done; nothing that matters has changed."""

    code = "cloud-disagrees"


class HostReserved(Conflict):
    """Allocations exist on a host that was to be removed."""

    code = "host-reserved"


class CapabilityInUse(Conflict):
    """A capability that reservations rely on was to be changed or removed."""

    code = "capability-in-use"


class ConcurrentUpdate(Conflict):
    """Other transactions were faster, several times in a row; the same request may succeed now.

    ``stale`` contains the ids of resources whose generation has changed since they were read.
    """

    code = "concurrent-update"
    stale: frozenset[str] = frozenset()

    def __init__(self, message: str, *, stale: Collection[str] = (), **fields: object) -> None:
        super().__init__(message, **fields)
        self.stale = frozenset(stale)


class Unavailable(BlazarError):
    """The service cannot answer now; the same request may succeed later."""

    code = "unavailable"


class LimitsUnavailable(Unavailable):
    """Nobody can say now how much the project may reserve."""

    code = "limits-unavailable"


class EnforcementUnavailable(Unavailable):
    """Nobody can say now whether the operator's rules about usage allow it."""

    code = "enforcement-unavailable"


class UnknownMethod(BlazarError):
    """The manager does not have the requested method, because it is older than the API; it did nothing.

    The API then uses methods that older managers have. Clients never see this error.
    """

    code = "unknown-method"

    def __init__(self, method: str) -> None:
        # Older managers send this text with the code "internal".
        super().__init__(f"Unknown method {method}", method=method)


class OwnerMismatch(BlazarError):
    """The lease does not belong to the owner that the API expected; nothing was changed.

    The real owner is in ``project_id`` and ``user_id``, for the API to check its policy again. Clients never
    see this error.
    """

    code = "owner-mismatch"

    def __init__(self, lease_id: str, *, project_id: str | None, user_id: str | None) -> None:
        super().__init__(
            f"Lease {lease_id} does not belong to the expected owner", project_id=project_id, user_id=user_id
        )


class CloudError(BlazarError):
    """Base of what adapters of the cloud raise."""

    code = "cloud"


class CloudNotFound(CloudError):
    """The cloud has no such thing (any more)."""

    code = "cloud-not-found"


class CloudConflict(CloudError):
    """The cloud refuses because of its state: a duplicate, an object in use, a stale generation."""

    code = "cloud-conflict"


class CloudRefused(CloudError):
    """The cloud will never accept this request as it stands (bad request, forbidden, over quota)."""

    code = "cloud-refused"


class CloudUnavailable(CloudError):
    """No usable answer: a timeout, a broken connection, 5xx, 429. The call may have had its effect."""

    code = "cloud-unavailable"


def _by_code(root: type[BlazarError]) -> dict[str, type[BlazarError]]:
    found = {root.code: root}
    for child in root.__subclasses__():
        found |= _by_code(child)
    return found


def rebuild(code: str, message: str, fields: Mapping[str, object]) -> BlazarError:
    """Return the error that another process raised; an unknown code gives a plain ``BlazarError``."""
    kind = _by_code(BlazarError).get(code, BlazarError)
    error = kind.__new__(kind)
    BlazarError.__init__(error, message, **fields)
    return error
