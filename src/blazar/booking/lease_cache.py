"""Cache of leases as text, as clients list them.

Building leases from their rows is most of the work of a list, and few leases change between two lists. A
manager reads the newest leases when it starts.
``bench/processor`` prints the work of a manager's first list, which reads everything, and of later ones.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from typing import Final, TypeVar

MOST_CHARACTERS: Final = 16 * 2**20
"""Enough for about 10,000 leases with one reservation each; a character takes one byte."""

_NEARLY_FULL: Final = 0.75

KeyT = TypeVar("KeyT", bound=Hashable)


class LeaseCache:
    """Texts of leases by id, or id and form, and by revision; thread-safe.

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
        self._known: OrderedDict[Hashable, tuple[object, str]] = OrderedDict()
        self._characters = 0

    @property
    def characters(self) -> int:
        """Return the total length of the texts."""
        return self._characters

    @property
    def is_nearly_full(self) -> bool:
        """Return whether the texts need most of the space, so that further ones would soon replace others."""
        return self._characters > self._most * _NEARLY_FULL

    def recall(self, revisions: Mapping[KeyT, object]) -> dict[KeyT, str]:
        """Return the texts that are cached at exactly these revisions."""
        found = {}
        with self._lock:
            for key, revision in revisions.items():
                known = self._known.get(key)
                if known is not None and known[0] == revision:
                    found[key] = known[1]
                    self._known.move_to_end(key)
        return found

    def keep(self, key: Hashable, revision: object, text: str) -> None:
        """Cache a text, replacing that of any other revision."""
        with self._lock:
            self._forget(key)
            self._known[key] = (revision, text)
            self._characters += len(text)
            while self._characters > self._most:
                self._forget(next(iter(self._known)))

    def _forget(self, key: Hashable) -> None:
        known = self._known.pop(key, None)
        if known is not None:
            self._characters -= len(known[1])
