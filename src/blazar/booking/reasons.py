"""Reasons why a reservation fails or waits, as its lessee reads them.

The recorded problem is for operators: it can name servers, reservations and projects of others. A lessee gets
a sentence from these tables, never the text of the problem itself, so that a new problem discloses nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Final

from blazar.booking.context import Plugin
from blazar.domain.lease import BEFORE_END_PROBLEM, DAMAGED
from blazar.plugins.capabilities import ExplainsProblems

UNKNOWN: Final = "a resource could not be provided; operators find the details in the journal"

_OF_LEASES: Final[Mapping[str, str]] = {
    rf"^{DAMAGED}": "its stored data are damaged; it can only be deleted",
}
_OF_ALL_TYPES: Final[Mapping[str, str]] = {
    # A type's own explanation of such a problem comes first.
    rf"^{BEFORE_END_PROBLEM}": "the action before the end of the lease has not succeeded",
    "not released yet|in the aggregate of another reservation": "an earlier user still holds a resource",
    "servers .*being deleted|still in use": "servers are being deleted",
    "(?i)quota exceeded": "a quota of the project in another service is used up",
    "^the cloud does not respond": "the cloud does not respond",
    "^internal error": "an internal error occurred",
    "concurrently|does not exist yet|yet: ": "the cloud has not completed an earlier step",
    "no longer has|has been deleted": "a resource no longer exists in the cloud",
}


def reason_for_lessee(problem: str, plugins: Mapping[str, Plugin]) -> str:
    """Return the reason that a lessee may read for a recorded problem of a reservation of any type."""
    tables = chain([_OF_LEASES], _texts_of(plugins), [_OF_ALL_TYPES])
    found = ((re.search(pattern, problem), text) for each in tables for pattern, text in each.items())
    return next((match.expand(text) for match, text in found if match), UNKNOWN)


def _texts_of(plugins: Mapping[str, Plugin]) -> Iterator[Mapping[str, str]]:
    for each in plugins.values():
        if isinstance(each, ExplainsProblems):
            yield each.problem_texts
