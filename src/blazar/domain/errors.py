"""The error tree.

::

    BlazarError
    ├── BadRequest                 the request is malformed or contradicts itself
    │   ├── MissingParameter
    │   ├── InvalidParameter
    │   │   ├── InvalidDate
    │   │   └── InvalidRequirement
    │   └── ...
    ├── Unauthorized, Forbidden
    ├── NotFound
    │   ├── LeaseNotFound, OfferNotFound, ...
    ├── OfferExpired               what the request relies on existed and no longer does
    ├── Conflict                   the request is valid, but the present state forbids it
    │   ├── NotEnoughResources
    │   ├── InvalidLeaseStatus, CannotChange, ...
    │   ├── IdempotencyKeyReused, AlreadyAnswered
    │   ├── OfferCommitted, OfferOutdated, TooManyOffers
    │   └── ConcurrentUpdate
    ├── Unavailable                try again later
    ├── UnknownMethod              between the API and managers only
    ├── OwnerMismatch              likewise
    └── CloudError                 raised by adapters only
        ├── CloudNotFound, CloudConflict, CloudRefused
        └── CloudUnavailable

Every class has a stable ``code``. Clients and the RPC layer identify an error by its code, so a code never
changes. One table, in ``blazar.api.faults``, gives the HTTP statuses. Errors of one resource type
are in the module ``errors`` of its plugin.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import ClassVar

RETRY_AFTER_SECONDS = 5
"""Delay before a request that was refused because of a temporary state should be repeated."""


class BlazarError(Exception):
    """An error that is reported to the caller; ``message`` describes it in one sentence.

    The field ``retry_after``, if present, is the number of seconds after which to repeat the request.
    """

    code: ClassVar[str] = "internal"

    def __init__(self, message: str, **fields: object) -> None:
        super().__init__(message)
        self.message = message
        self.fields: dict[str, object] = fields


class BadRequest(BlazarError):
    """The request contradicts the contract; the caller must change it."""

    code = "bad-request"


class MissingParameter(BadRequest):
    """A required key is absent; ``names`` lists the missing keys."""

    code = "missing-parameter"

    def __init__(self, *names: str) -> None:
        # Published tests compare this text.
        super().__init__(f"Missing parameter {', '.join(names)}", names=list(names))


class InvalidParameter(BadRequest):
    """A value has the wrong type or is out of range; ``name`` is its key."""

    code = "invalid-parameter"

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"{name}: {problem}", name=name)


class InvalidDate(InvalidParameter):
    """A date does not have the documented format."""

    code = "invalid-date"

    def __init__(self, name: str, value: object) -> None:
        # Published tests compare this text.
        BlazarError.__init__(
            self,
            f"{value} is an invalid date. Required format: %Y-%m-%d %H:%M ({name})",
            name=name,
        )


class InvalidPeriod(BadRequest):
    """The dates are well formed, but are not an allowed period."""

    code = "invalid-period"


class BeforeEndOutsideLease(BadRequest):
    """``before_end_date`` is not strictly between the start and the end."""

    code = "before-end-outside-lease"


class InvalidRange(BadRequest):
    """``min`` is greater than ``max``."""

    code = "invalid-range"


class InvalidRequirement(InvalidParameter):
    """A requirement expression is invalid: its structure, or an unknown key."""

    code = "invalid-requirement"


class UnsupportedResourceType(BadRequest):
    """No plugin is loaded for the requested resource type."""

    code = "unsupported-resource-type"


class UsageDenied(BadRequest):
    """The operator's usage rules do not allow the lease or its change; status 400."""

    code = "usage-denied"


class Unauthorized(BlazarError):
    """The request has no valid credentials."""

    code = "unauthorized"


class Forbidden(BlazarError):
    """Policy does not allow the request; the message names the rule."""

    code = "forbidden"


class LeaseTooLong(Forbidden):
    """The requested lease is longer than the operator allows; status 403, as clients expect."""

    code = "lease-too-long"


class QuotaExceeded(Forbidden):
    """The request exceeds the project's limits; status 403, as in other OpenStack services."""

    code = "quota-exceeded"


class ExtensionTooLong(BadRequest):
    """The change would make a lease longer than the operator allows; status 400, as clients expect."""

    code = "extension-too-long"


class NotFound(BlazarError):
    """The named object does not exist."""

    code = "not-found"


class LeaseNotFound(NotFound):
    """No lease has this id, or it was deleted."""

    code = "lease-not-found"

    def __init__(self, lease_id: str) -> None:
        super().__init__(f"Lease not found: lease_id {lease_id}", lease_id=lease_id)


class OfferNotFound(NotFound):
    """The caller's project has no offer with this id; old offers are deleted."""

    code = "offer-not-found"

    def __init__(self, offer_id: str) -> None:
        super().__init__(f"offer_id: the project has no offer {offer_id}", offer_id=offer_id)


class Conflict(BlazarError):
    """The request is well formed, but the present state forbids it."""

    code = "conflict"


class NotEnoughResources(Conflict):
    """Fewer resources than requested fit and are free throughout the window.

    The HTTP status depends on the microversion and on ``[api] shortage_status``.
    """

    code = "not-enough-resources"


class InvalidLeaseStatus(Conflict):
    """The lease cannot be changed in its present status, which is in ``status``."""

    code = "invalid-lease-status"

    def __init__(self, lease_id: str, status: str, *, may_settle: bool) -> None:
        """Create the error; if the status *may_settle*, the same request can succeed later."""
        wait = f"try again in {RETRY_AFTER_SECONDS} seconds; " if may_settle else ""
        super().__init__(
            f"Lease {lease_id} is {status} and cannot be changed now; {wait}only its name can be changed"
            " in every status",
            lease_id=lease_id,
            status=status,
            **({"retry_after": RETRY_AFTER_SECONDS} if may_settle else {}),
        )

    @property
    def may_settle(self) -> bool:
        """Return whether the same request can succeed later."""
        return "retry_after" in self.fields


class CannotChange(Conflict):
    """The request would change a parameter that is fixed, or fixed in this phase."""

    code = "cannot-change"


class CloudDisagrees(Conflict):
    """Nova or Placement refuses a necessary step; no relevant state has changed."""

    code = "cloud-disagrees"


class CloudRefusesLease(CloudDisagrees):
    """Nova refuses the lessee an object that the reservation needs, such as a server group."""

    code = "cloud-refuses-lease"


class ConcurrentUpdate(Conflict):
    """Other transactions were faster, several times in a row; the same request may succeed now.

    ``stale`` contains the ids of resources whose generation has changed since they were read.
    """

    code = "concurrent-update"
    stale: frozenset[str] = frozenset()

    def __init__(self, message: str, *, stale: Collection[str] = (), **fields: object) -> None:
        super().__init__(message, **fields)
        self.stale = frozenset(stale)


class IdempotencyKeyReused(Conflict):
    """The same ``Idempotency-Key`` was sent with a different request, which took effect."""

    code = "idempotency-key-reused"

    def __init__(self) -> None:
        super().__init__(
            "Idempotency-Key: this key was already used for a different request; send a new key with a new"
            " request"
        )


class AlreadyAnswered(Conflict):
    """A concurrent request with the same ``Idempotency-Key`` took effect; its answer is stored."""

    code = "already-answered"


class AlreadyExecuted(Conflict):
    """The message broker has delivered a request twice, and another manager has executed it."""

    code = "already-executed"


class OfferCommitted(Conflict):
    """The offer was committed before: it is a lease now, or it has changed its lease."""

    code = "offer-committed"

    def __init__(self, offer_id: str, lease_id: str | None = None) -> None:
        result = f"lease {lease_id} was changed" if lease_id else "it is now the lease with the same id"
        super().__init__(f"offer_id: offer {offer_id} was committed before; {result}", offer_id=offer_id)


class OfferOutdated(Conflict):
    """The lease was changed after the offer for it was made; the offer no longer holds anything."""

    code = "offer-outdated"

    def __init__(self, offer_id: str, lease_id: str) -> None:
        text = f"offer_id: lease {lease_id} was changed since offer {offer_id} was made; request another one"
        super().__init__(text, offer_id=offer_id)


class OfferExpired(BlazarError):
    """The offer can no longer be committed; request another one."""

    code = "offer-expired"

    def __init__(self, offer_id: str) -> None:
        super().__init__(
            f"offer_id: offer {offer_id} has expired and holds nothing any more; request another offer",
            offer_id=offer_id,
        )


class Unavailable(BlazarError):
    """The service cannot answer now; the same request may succeed later."""

    code = "unavailable"


class LimitsUnavailable(Unavailable):
    """The project's limits are not available now."""

    code = "limits-unavailable"


class EnforcementUnavailable(Unavailable):
    """The operator's usage rules cannot be evaluated now."""

    code = "enforcement-unavailable"


class UnknownMethod(BlazarError):
    """The manager does not have the requested method, because it is older than the API; it did nothing.

    The API then uses methods that older managers have. Clients never see this error.
    """

    code = "unknown-method"

    def __init__(self, method: str) -> None:
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
    """Base of the errors that cloud adapters raise."""

    code = "cloud"


class CloudNotFound(CloudError):
    """The object does not exist in the cloud, or was deleted."""

    code = "cloud-not-found"


class CloudConflict(CloudError):
    """The cloud refuses because of its state: a duplicate, an object in use, a stale generation."""

    code = "cloud-conflict"


class CloudRefused(CloudError):
    """The cloud will never accept this request in this form (bad request, forbidden, over quota)."""

    code = "cloud-refused"


class CloudUnavailable(CloudError):
    """No usable answer: a timeout, a broken connection, 5xx, 429. The call may have taken effect."""

    code = "cloud-unavailable"


def _by_code(root: type[BlazarError]) -> dict[str, type[BlazarError]]:
    found = {root.code: root}
    for child in root.__subclasses__():
        found |= _by_code(child)
    return found


def rebuild(code: str, message: str, fields: Mapping[str, object]) -> BlazarError:
    """Return an error that another process raised; an unknown code gives a plain ``BlazarError``."""
    kind = _by_code(BlazarError).get(code, BlazarError)
    error = kind.__new__(kind)
    BlazarError.__init__(error, message, **fields)
    return error
