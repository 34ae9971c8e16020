"""Taking claims: several managers compete for the same work without waiting for each other."""

from __future__ import annotations

from datetime import timedelta

import pytest
from reconcile.reconciler_env import ReconcilerEnv

from blazar.domain.errors import Unavailable
from blazar.reconcile.claims import ClaimKeeper
from blazar_plugin_testing.faults import COMMIT_FAULTS

DURATION = timedelta(seconds=10)


def keeper(env: ReconcilerEnv, name: str) -> ClaimKeeper:
    return ClaimKeeper(env.store, env.clock, name, DURATION)


@pytest.fixture
def due(env: ReconcilerEnv) -> list[str]:
    """Return the IDs of four leases that are due, the most urgent first."""
    leases = [env.create(f"lease {number}", 1, 2, None) for number in range(4)]
    env.jump(1)
    now = env.clock.now()
    with env.store.begin() as transaction:
        # The claims are not committed, so they have no effect.
        keys = [each.key for each in transaction.work.claim_due("test", now, now, 10)]
    assert sorted(keys) == sorted(leases)
    return keys


def test_as_many_are_taken_as_are_wanted_the_most_urgent_first(env: ReconcilerEnv, due: list[str]) -> None:
    assert [each.key for each in keeper(env, "one").take(3)] == due[:3]
    assert [each.key for each in keeper(env, "other").take(3)] == due[3:]


def test_claims_that_cannot_be_written_are_an_error_and_not_held(env: ReconcilerEnv, due: list[str]) -> None:
    env.store.arm(COMMIT_FAULTS["fails"], 1)

    with pytest.raises(Unavailable):
        keeper(env, "one").take(4)

    assert [each.key for each in keeper(env, "other").take(4)] == due
