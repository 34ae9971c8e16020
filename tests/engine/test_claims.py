"""Taking claims: several managers are after the same work, and none waits for another."""

from __future__ import annotations

from datetime import timedelta

import pytest
from engine.lab import Lab

from blazar.domain.errors import Unavailable
from blazar.plugins.testing.faults import COMMIT_FAULTS
from blazar.reconcile.claims import ClaimKeeper

DURATION = timedelta(seconds=10)


def keeper(lab: Lab, name: str) -> ClaimKeeper:
    return ClaimKeeper(lab.store, lab.clock, name, DURATION)


@pytest.fixture
def due(lab: Lab) -> list[str]:
    """Return the ids of four leases that are due, the most urgent first."""
    leases = [lab.create(f"lease {number}", 1, 2, None) for number in range(4)]
    lab.jump(1)
    with lab.store.read() as transaction:
        keys = [each.key for each in transaction.work.list_due(lab.clock.now(), 10)]
    assert sorted(keys) == sorted(leases)
    return keys


def test_as_many_are_taken_as_are_wanted_the_most_urgent_first(lab: Lab, due: list[str]) -> None:
    assert [each.key for each in keeper(lab, "one").take(3)] == due[:3]
    assert [each.key for each in keeper(lab, "other").take(3)] == due[3:]


def test_what_another_was_faster_at_is_made_up_for(lab: Lab, due: list[str]) -> None:
    one, other = keeper(lab, "one"), keeper(lab, "other")
    lab.store.overtake(lambda: other.take(1))

    assert [each.key for each in one.take(2)] == due[1:3]


def test_what_is_held_is_handed_out_though_the_next_claim_fails(lab: Lab, due: list[str]) -> None:
    one = keeper(lab, "one")
    lab.store.arm(COMMIT_FAULTS["fails"], 2)

    claims = one.take(4)

    assert [each.key for each in claims] == due[:1]
    one.check(claims[0])


def test_a_first_claim_that_fails_is_an_error(lab: Lab, due: list[str]) -> None:
    lab.store.arm(COMMIT_FAULTS["fails"], 1)

    with pytest.raises(Unavailable):
        keeper(lab, "one").take(4)
