"""Taking claims: several managers compete for the same work without waiting for each other."""

from __future__ import annotations

from datetime import timedelta

import pytest
from reconcile.lab import Lab

from blazar.domain.errors import Unavailable
from blazar.reconcile.claims import ClaimKeeper
from blazar_plugin_testing.faults import COMMIT_FAULTS

DURATION = timedelta(seconds=10)


def keeper(lab: Lab, name: str) -> ClaimKeeper:
    return ClaimKeeper(lab.store, lab.clock, name, DURATION)


@pytest.fixture
def due(lab: Lab) -> list[str]:
    """Return the IDs of four leases that are due, the most urgent first."""
    leases = [lab.create(f"lease {number}", 1, 2, None) for number in range(4)]
    lab.jump(1)
    now = lab.clock.now()
    with lab.store.begin() as transaction:
        # The claims are not committed, so they have no effect.
        keys = [each.key for each in transaction.work.claim_due("test", now, now, 10)]
    assert sorted(keys) == sorted(leases)
    return keys


def test_as_many_are_taken_as_are_wanted_the_most_urgent_first(lab: Lab, due: list[str]) -> None:
    assert [each.key for each in keeper(lab, "one").take(3)] == due[:3]
    assert [each.key for each in keeper(lab, "other").take(3)] == due[3:]


def test_claims_that_cannot_be_written_are_an_error_and_not_held(lab: Lab, due: list[str]) -> None:
    lab.store.arm(COMMIT_FAULTS["fails"], 1)

    with pytest.raises(Unavailable):
        keeper(lab, "one").take(4)

    assert [each.key for each in keeper(lab, "other").take(4)] == due
