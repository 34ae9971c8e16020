"""Reasons why a reservation fails or waits, as its lessee reads them.

The recorded problem is for operators: it can name servers, reservations and projects of others. A lessee gets
a sentence from this table, never the text of the problem itself, so that a new problem discloses nothing.
"""

from __future__ import annotations

import re
from typing import Final

from blazar.domain.lease import BEFORE_END_PROBLEM, DAMAGED

UNKNOWN: Final = "a resource could not be provided; operators find the details in the journal"

_UUID: Final = r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
_OBSTACLE: Final = rf"{_UUID} \((?:has failed|has snapshots|refused|attached)\)"
"""A volume of the lessee's own, with a word of the service's own; nothing of what the cloud says."""

_TEXTS: Final = tuple(
    (re.compile(pattern), text)
    for pattern, text in (
        (rf"^{DAMAGED}", "its stored data are damaged; it can only be deleted"),
        (
            rf"(volumes that cannot be moved: {_OBSTACLE}(?:, {_OBSTACLE})*(?: and \d+ more)?)",
            r"\1",
        ),
        (r"^volumes are frozen until ([0-9: -]+ UTC)", r"volumes are kept without access until \1"),
        (r"^requested volumes cannot be created", "requested volumes cannot be created yet"),
        (r"^volumes are being moved", "volumes are being moved to an ordinary volume type"),
        (rf"^{BEFORE_END_PROBLEM}", "the action before the end of the lease has not succeeded"),
        (
            r"not released yet|in the aggregate of another reservation",
            "an earlier user still holds a resource",
        ),
        (r"preemptible", "servers of others are being removed from a resource"),
        (r"^network .* is being deleted", "a network is being deleted with everything that is on it"),
        (r"servers .*being deleted|still in use", "servers are being deleted"),
        (
            r"is in use in Neutron|^volumes of (other users occupy|others have)",
            "a resource is in use outside of all reservations",
        ),
        (r"(?i)quota exceeded", "a quota of the project in another service is used up"),
        (r"has servers that", "a resource is occupied by servers of others"),
        (r"^the cloud does not respond", "the cloud does not respond"),
        (r"^internal error", "an internal error occurred"),
        (r"concurrently|does not exist yet|yet: ", "the cloud has not completed an earlier step"),
        (r"no longer has|has been deleted|^Cinder has no pool", "a resource no longer exists in the cloud"),
    )
)


def reason_for_lessee(problem: str) -> str:
    """Return the reason that a lessee may read for a recorded problem."""
    found = ((pattern.search(problem), text) for pattern, text in _TEXTS)
    return next((match.expand(text) for match, text in found if match), UNKNOWN)
