"""Event types of lease notifications, as described in ``doc/reference/notifications.md``.

The first seven have the names that consumers of the existing service know; the others are new.
"""

from __future__ import annotations

from typing import Final

CREATED: Final = "lease.create"
UPDATED: Final = "lease.update"
DELETED: Final = "lease.delete"
STARTED: Final = "lease.event.start_lease"
BEFORE_END: Final = "lease.event.before_end_lease"
ENDED: Final = "lease.event.end_lease"
BEFORE_END_REVOKED: Final = "lease.event.before_end_lease.stop"
"""The before-end notice was sent and will be sent again, because the end was moved."""
BEFORE_END_FAILED: Final = "lease.event.before_end_lease.error"
"""The before-end action failed; the payload has the reasons."""
FAILED: Final = "lease.error"
"""A resource of the lease could not be provided."""
DEGRADED: Final = "lease.degraded"
"""Resources of the lease have failed; its flags say whether they were replaced."""
HEALED: Final = "lease.healed"
"""All resources of the lease are healthy again."""
MAINTENANCE: Final = "lease.maintenance"
"""Maintenance of resources that the lease keeps was planned or changed; the payload has its dates."""
NO_SHOW: Final = "lease.no_show"
"""The lease is not used, and will be ended; the payload says when."""

ALL: Final = (
    CREATED,
    UPDATED,
    DELETED,
    STARTED,
    BEFORE_END,
    ENDED,
    BEFORE_END_REVOKED,
    BEFORE_END_FAILED,
    FAILED,
    DEGRADED,
    HEALED,
    MAINTENANCE,
    NO_SHOW,
)
