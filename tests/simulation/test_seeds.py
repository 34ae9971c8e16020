"""The first seeds, each a different run of several managers; `make simulate` runs more."""

from __future__ import annotations

import turns
from simulation.playing import play_all, story

SEEDS = range(1, 51)
PARTS = 2
"""A run of the tests tries every second seed."""


def test_whatever_a_seed_has_in_store_is_lived_through() -> None:
    due = [each for each in SEEDS if turns.is_due(each, PARTS)]

    failed = [story(each) for each in play_all(due) if each.error]

    assert not failed, "\n\n".join(failed)
