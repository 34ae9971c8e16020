"""A manager's cache of the leases that it has listed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from blazar.booking.lease_cache import LeaseCache
from blazar.domain.lease import LeaseId

A, B, C = (LeaseId(each) for each in "abc")


def test_a_lease_is_known_at_its_revision_only() -> None:
    memory = LeaseCache()

    memory.keep(A, 1, "one")
    memory.keep(B, 1, "other")

    assert memory.recall({A: 1, C: 1}) == {A: "one"}
    assert memory.recall({A: 0}) == memory.recall({A: 2}) == {}


def test_of_a_lease_the_last_that_was_read_is_known() -> None:
    memory = LeaseCache()

    memory.keep(A, 1, "one")
    memory.keep(A, 2, "longer")

    assert memory.recall({A: 2}) == {A: "longer"}
    assert memory.recall({A: 1}) == {}
    assert memory.characters == len("longer")


def test_what_was_asked_for_longest_ago_is_forgotten() -> None:
    memory = LeaseCache(most_characters=8)
    memory.keep(A, 0, "aaaa")
    memory.keep(B, 0, "bbbb")
    memory.recall({A: 0})

    memory.keep(C, 0, "cc")

    assert memory.recall({A: 0, B: 0, C: 0}) == {A: "aaaa", C: "cc"}
    assert memory.characters == 6


def test_a_lease_that_is_too_long_is_not_kept() -> None:
    memory = LeaseCache(most_characters=8)
    memory.keep(A, 0, "aaaa")

    memory.keep(B, 0, "b" * 9)

    assert memory.recall({A: 0, B: 0}) == {}
    assert memory.characters == 0


@pytest.fixture
def hasty_threads() -> Iterator[None]:
    """Have threads interrupt each other as often as can be."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("hasty_threads")
def test_threads_that_keep_and_recall_at_once_do_not_confuse_it() -> None:
    memory = LeaseCache(most_characters=200)
    ids = [LeaseId(str(number)) for number in range(40)]

    def work(thread: int) -> None:
        for turn in range(150):
            for number, lease_id in enumerate(ids):
                if (turn + number) % 4 == thread:
                    memory.keep(lease_id, turn, f"{number}@{turn}".ljust(6 + turn % 5))
            for lease_id, text in memory.recall(dict.fromkeys(ids, turn)).items():
                assert text.strip() == f"{lease_id}@{turn}"

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))

    left = {key: text for turn in range(150) for key, text in memory.recall(dict.fromkeys(ids, turn)).items()}
    assert memory.characters == sum(map(len, left.values())) <= 200
