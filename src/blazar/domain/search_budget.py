"""The work that one search for times may do, so that no request delays others for long."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Final

MAX_ATTEMPTS: Final = 200
"""The number of candidates that are confirmed; a search with more of them says that it is not complete."""
MAX_CHOICES: Final = 4_000
"""The number of choices of resources by plugins. One candidate may take hundreds of them if several
reservations have to be chosen together, or if each of them may have a range of units."""


@dataclass(slots=True)
class Budget:
    """The work that is left to a search; all parts of the search draw from it."""

    attempts: int = MAX_ATTEMPTS
    """The candidates that may still be confirmed."""
    choices: int = MAX_CHOICES
    """The choices of resources that may still be made; may become negative, since those for one window are
    completed."""
    is_short: bool = False
    """Whether any work was left out, so that there may be better results."""

    @classmethod
    def unlimited(cls) -> Budget:
        """Return the budget of a request that must be answered exactly."""
        return cls(attempts=sys.maxsize, choices=sys.maxsize)

    def has_attempts(self) -> bool:
        """Return whether another candidate may be confirmed; if not, the search is short of work."""
        return self._has(min(self.attempts, self.choices))

    def has_choices(self) -> bool:
        """Return whether another choice may be made; if not, the search is short of work."""
        return self._has(self.choices)

    def _has(self, left: int) -> bool:
        if left <= 0:
            self.is_short = True
        return left > 0
