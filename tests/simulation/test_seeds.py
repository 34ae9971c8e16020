"""The first seeds, each a different run of several managers; `make simulate` runs more."""

from __future__ import annotations

import pytest
from simulation.playing import play_all, story

SEEDS = range(1, 51)
TOGETHER = 25


@pytest.mark.parametrize("first", SEEDS[::TOGETHER], ids=lambda first: f"{first}-{first + TOGETHER - 1}")
def test_whatever_a_seed_has_in_store_is_lived_through(first: int) -> None:
    failed = [story(each) for each in play_all(range(first, first + TOGETHER)) if each.error]

    assert not failed, "\n\n".join(failed)
