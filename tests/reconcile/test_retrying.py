"""Repetition of a use case after concurrent updates."""

from __future__ import annotations

from datetime import timedelta

import pytest
from reconcile.reconciler_env import ReconcilerEnv

from blazar.booking.retrying import retrying
from blazar.domain.errors import ConcurrentUpdate

CONFLICT = ConcurrentUpdate("changed concurrently")


@pytest.mark.parametrize("seed", range(20))
def test_a_cluster_in_which_all_transactions_fail_for_a_second_is_waited_for(
    env: ReconcilerEnv, seed: int
) -> None:
    env.manager.context.random.seed(seed)
    until = env.clock.now() + timedelta(seconds=1)

    def once(attempt: int) -> int:
        if env.clock.now() < until:
            raise CONFLICT
        return attempt

    assert retrying(env.manager.context, once) > 1


def test_requests_that_compete_are_repeated_soon(env: ReconcilerEnv) -> None:
    began = env.clock.now()

    def once(attempt: int) -> int:
        if attempt < 8:
            raise CONFLICT
        return attempt

    assert retrying(env.manager.context, once) == 8
    assert env.clock.now() - began <= timedelta(milliseconds=8 * 20)


def test_the_last_error_is_raised(env: ReconcilerEnv) -> None:
    attempts = []

    def once(attempt: int) -> None:
        attempts.append(attempt)
        raise CONFLICT

    with pytest.raises(ConcurrentUpdate):
        retrying(env.manager.context, once, attempts=5)
    assert attempts == [0, 1, 2, 3, 4]
