"""What leases look like to clients, kept from one list to the next.

To make 5,000 leases of their rows takes most of a second, and between two lists hardly any of them changes.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Final

from blazar.domain.lease import LeaseId

MOST_CHARACTERS: Final = 16 * 2**20
"""Of about 10,000 leases of one reservation each; a character is a byte."""


class LeaseMemory:
    """Texts of leases by id and revision; safe for use by several threads.

    What it knows is never taken for what is there: who asks has read the revisions from the database. A lease
    at a revision is the same for ever, because each write moves the revision on, and no id is given to two
    leases; so nothing here has to be told of changes, by whichever manager they are, nor of deletions. What
    was asked for longest ago is forgotten first.
    """

    def __init__(self, most_characters: int = MOST_CHARACTERS) -> None:
        """Make a memory of nothing.

        Args:
            most_characters: How long the texts in it may be together.
        """
        self._most = most_characters
        self._lock = threading.Lock()
        self._known: OrderedDict[LeaseId, tuple[int, str]] = OrderedDict()
        self._characters = 0

    @property
    def characters(self) -> int:
        """Return how long the texts are together."""
        return self._characters

    def recall(self, revisions: Mapping[LeaseId, int]) -> dict[LeaseId, str]:
        """Return the texts of those leases that are known at just these revisions."""
        found = {}
        with self._lock:
            for lease_id, revision in revisions.items():
                known = self._known.get(lease_id)
                if known is not None and known[0] == revision:
                    found[lease_id] = known[1]
                    self._known.move_to_end(lease_id)
        return found

    def keep(self, lease_id: LeaseId, revision: int, text: str) -> None:
        """Know a lease's text from now on, instead of that of another revision."""
        with self._lock:
            self._forget(lease_id)
            self._known[lease_id] = (revision, text)
            self._characters += len(text)
            while self._characters > self._most:
                self._forget(next(iter(self._known)))

    def _forget(self, lease_id: LeaseId) -> None:
        known = self._known.pop(lease_id, None)
        if known is not None:
            self._characters -= len(known[1])
