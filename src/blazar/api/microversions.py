"""The version of the API that a request selects; handlers read it in ``Call.version``.

1.0 is the version of published clients, and is frozen. Changes in 1.1:

- The status of a shortage of resources is 409 (:data:`STATUS_OF_SHORTAGES`).
- Requirements have more operators, numbers without quotes, and a short form (``app/leases/limits.py``).
- Lessees can search for the times at which a lease is possible (:data:`AVAILABILITY`).
- A refusal says why, and what is possible instead (``app/leases/refusals.py``).
- A request to create or change a lease may be a dry run (:data:`DRY_RUN`).
- A request to create a lease may have an idempotency key (:data:`IDEMPOTENCY_KEYS`).
- Lessees can read what can be reserved, and how much of it is free over time (:data:`AVAILABILITY`).
- Reservations can be added to a lease and removed from it before it starts, and chosen resources released
  or, if others have booked them, dropped or replaced (``app/leases/changes.py``).
- Lessees can list the resources that their leases hold, and how to use them (:data:`LEASE_ALLOCATIONS`).
- Lessees can read the history of their leases (:data:`LEASE_HISTORY`).
- Lessees can make offers, which hold resources for a short time (:data:`OFFERS`).
- Lists have pages, an order and filters (:data:`PAGES`).
- Operators keep leases away from resources under maintenance (:data:`MAINTENANCE`).
- Usage of reserved resources can be read (:data:`USAGE`).
- Lessees can create feeds for calendar programs (:data:`FEEDS`).
- Lessees and operators subscribe to notices (:data:`SUBSCRIPTIONS`).
- Operators read why registered resources cannot be reserved (``booking/views.py``).
- Operators register resources of types that the existing service does not have (:data:`NEW_COLLECTIONS`).
"""

from __future__ import annotations

import re

import falcon

from blazar.ports.manager import OLDEST_API

SERVICE = "reservation"
HEADER = "OpenStack-API-Version"
MIN_VERSION = OLDEST_API
MAX_VERSION = (1, 1)
DEFAULT_VERSION = OLDEST_API

STATUS_OF_SHORTAGES = (1, 1)
"""First version in which a request for more than is available gets a 409."""
DRY_RUN = (1, 1)
"""First version in which ``dry_run`` is not ignored."""
IDEMPOTENCY_KEYS = (1, 1)
"""First version in which the header ``Idempotency-Key`` is not ignored."""
LEASE_ALLOCATIONS = (1, 1)
"""First version with ``/v1/leases/{lease_id}/allocations`` and ``/v1/leases/{lease_id}/resources``."""
AVAILABILITY = (1, 1)
"""First version in which lessees can ask when something is free."""
LEASE_HISTORY = (1, 1)
"""First version with ``/v1/leases/{lease_id}/history``."""
OFFERS = (1, 1)
"""First version with ``/v1/offers``, offers for leases, and ``offer_id`` in a request for a lease."""
PAGES = (1, 1)
"""First version in which lists have pages, and refuse unknown parameters."""
MAINTENANCE = (1, 1)
"""First version with ``/v1/maintenance``."""
USAGE = (1, 1)
"""First version with ``/v1/usage``."""
FEEDS = (1, 1)
"""First version with ``/v1/feeds``; the calendars of feeds have no version."""
SUBSCRIPTIONS = (1, 1)
"""First version with ``/v1/subscriptions``."""
NEW_COLLECTIONS = (1, 1)
"""First version with the collections of resource types that the existing service does not have."""

_SYNTAX = re.compile(r"([1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})")

Version = tuple[int, int]


def text(version: Version) -> str:
    """Return a version as ``major.minor``."""
    return f"{version[0]}.{version[1]}"


def negotiate(header: str | None) -> Version:
    """Return the version that the header's last entry for this service requests; the default without one.

    Entries for other services, and entries that name no service, are ignored.

    Raises:
        falcon.HTTPBadRequest: The entry is not a version.
        falcon.HTTPNotAcceptable: The version is not served.
    """
    entries = [entry.split(None, 1) for entry in (header or "").split(",")]
    asked = [entry[1].strip() for entry in entries if len(entry) == 2 and entry[0].lower() == SERVICE]
    if not asked:
        return DEFAULT_VERSION
    if asked[-1] == "latest":
        return MAX_VERSION
    return _served(asked[-1])


def requested_version(req: falcon.Request) -> Version:
    """Return the negotiated version of a request; the default if the request was refused earlier."""
    version: Version = getattr(req.context, "version", DEFAULT_VERSION)
    return version


def _served(asked: str) -> Version:
    match = _SYNTAX.fullmatch(asked)
    if match is None:
        raise falcon.HTTPBadRequest(description=f"API version {asked[:64]} is not written as major.minor")
    version = int(match[1]), int(match[2])
    if not MIN_VERSION <= version <= MAX_VERSION:
        raise falcon.HTTPNotAcceptable(
            description=f"API version {asked} is not served: "
            f"the lowest is {text(MIN_VERSION)}, the highest {text(MAX_VERSION)}"
        )
    return version
