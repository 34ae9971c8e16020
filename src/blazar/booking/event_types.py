"""What is notified of leases; ``doc/reference/notifications.md`` describes all of it.

The first seven are those of the existing service (behaviour 2.7), the others are this one's.
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
"""The notice before the end was given, and will be given again, because the end was moved."""
FAILED: Final = "lease.error"
"""Something of the lease could not be had."""
DEGRADED: Final = "lease.degraded"
"""Resources of the lease have failed; its flags say whether others have taken their place."""
HEALED: Final = "lease.healed"
"""Nothing is wrong with the lease's resources any more."""

ALL: Final = (
    CREATED,
    UPDATED,
    DELETED,
    STARTED,
    BEFORE_END,
    ENDED,
    BEFORE_END_REVOKED,
    FAILED,
    DEGRADED,
    HEALED,
)
