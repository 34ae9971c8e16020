"""Parts of the cases of long tests, which take turns over runs.

A run tries one part, by default a random one, so a few runs try all cases. ``BLAZAR_TEST_TURN`` names the
turn, to repeat a run; pytest prints it at the start.
"""

from __future__ import annotations

import os
import random
from typing import Final

VARIABLE: Final = "BLAZAR_TEST_TURN"
_TURNS: Final = 6
"""A multiple of the number of parts of each test, so that all parts are equally likely."""


def choose_turn() -> int:
    """Return the turn of this run, which the processes that it starts will have, too."""
    return int(os.environ.setdefault(VARIABLE, str(random.randrange(_TURNS))))


def part(of: int) -> int:
    """Return the part of this run, from 0 on, for cases in *of* parts."""
    return choose_turn() % of


def is_due(number: int, of: int) -> bool:
    """Return whether the case with this number belongs to the part of this run."""
    return number % of == part(of)
