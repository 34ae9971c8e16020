"""Cache of leases in the form in which clients list them.

Building leases from their rows is most of the work of a list, and few leases change between two lists.
``bench/processor`` prints the work of a manager's first list, which reads everything, and of later ones.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Final

from blazar.domain.lease import LeaseId

MOST_CHARACTERS: Final = 16 * 2**20
"""Enough for about 10,000 leases with one reservation each; a character takes one byte."""


class LeaseCache:
    """Texts of leases by id and revision; thread-safe.

    Entries are valid only at the revision that the caller has just read from the database. A lease at a given
    revision never changes, because each write increases the revision and ids are not reused. The cache
    therefore needs no notice of changes or deletions, by any manager. The least recently used entries are
    dropped first.
    """

    def __init__(self, most_characters: int = MOST_CHARACTERS) -> None:
        """Create an empty cache.

        Args:
            most_characters: Maximum total length of the texts.
        """
        self._most = most_characters
        self._lock = threading.Lock()
        self._known: OrderedDict[LeaseId, tuple[int, str]] = OrderedDict()
        self._characters = 0

    @property
    def characters(self) -> int:
        """Return the total length of the texts."""
        return self._characters

    def recall(self, revisions: Mapping[LeaseId, int]) -> dict[LeaseId, str]:
        """Return the texts of the leases that are cached at exactly these revisions."""
        found = {}
        with self._lock:
            for lease_id, revision in revisions.items():
                known = self._known.get(lease_id)
                if known is not None and known[0] == revision:
                    found[lease_id] = known[1]
                    self._known.move_to_end(lease_id)
        return found

    def keep(self, lease_id: LeaseId, revision: int, text: str) -> None:
        """Cache a lease's text, replacing the text of any other revision."""
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
