"""Leases that are due while all workers are busy: they are marked in batches, before a worker is free."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest
from databases import KINDS
from reconcile.parts import Conditions
from reconcile.questions import events, everything
from reconcile.reconciler_env import LESSEE, EnvOn, ReconcilerEnv

from blazar.cloud.simulated.faults import SimulatedCrash
from blazar.domain.errors import ConcurrentUpdate
from blazar.domain.lease import EventStatus, EventType, LeaseStatus
from blazar.reconcile import loop, mark_in_progress
from blazar.reconcile.claims import ClaimKeeper
from blazar_plugin_testing.faults import COMMIT_FAULTS

every_database = pytest.mark.parametrize("kind", KINDS)


def statuses(env: ReconcilerEnv, leases: Sequence[str]) -> set[LeaseStatus]:
    return {env.lease(each).status for each in leases}


def some_leases(env: ReconcilerEnv, hosts: int = 4) -> list[str]:
    """Return leases that start at one and end at two, with one host each."""
    env.reset(Conditions(hosts=hosts))
    leases = [env.create(f"lease {number}", 1, 2) for number in range(hosts)]
    env.run_until(0.99)
    return [str(each) for each in leases]


@every_database
def test_all_that_start_and_end_are_marked_and_worked_on_later(kind: str, env_on: EnvOn) -> None:
    env = env_on(kind)
    leases = some_leases(env)
    manager = env.manager.reconciler

    env.jump(1)
    assert manager.mark_due_leases() == len(leases)
    assert statuses(env, leases) == {LeaseStatus.STARTING}
    assert manager.mark_due_leases() == 0
    assert env.hosts_of(leases[0]) == frozenset()

    env.at(1.5)
    assert statuses(env, leases) == {LeaseStatus.ACTIVE}

    env.jump(2)
    assert manager.mark_due_leases() == len(leases)
    assert statuses(env, leases) == {LeaseStatus.TERMINATING}
    env.at(2)
    assert statuses(env, leases) == {LeaseStatus.TERMINATED}


def test_more_than_fit_into_a_transaction_are_marked(
    env: ReconcilerEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mark_in_progress, "AT_ONCE", 2)
    monkeypatch.setattr(loop, "AT_ONCE", 2)
    leases = some_leases(env, hosts=5)
    env.jump(1)

    assert env.manager.reconciler.mark_due_leases() == len(leases)


def test_the_journal_tells_of_each_start_once(env: ReconcilerEnv) -> None:
    leases = some_leases(env)
    env.jump(1)
    env.manager.reconciler.mark_due_leases()
    env.at(1.5)

    for lease in leases:
        told = [row.reason for row in env.rows().journal if row.lease_id == lease]
        assert told.count("PENDING -> STARTING") == 1
        assert told.count("STARTING -> ACTIVE") == 1


def test_a_claimed_lease_is_left_to_its_claim_holder(env: ReconcilerEnv) -> None:
    leases = some_leases(env)
    env.jump(1)
    claims = ClaimKeeper(env.store, env.clock, "another", timedelta(seconds=10)).take(1)

    assert env.manager.reconciler.mark_due_leases() == len(leases) - 1
    assert env.lease(claims[0].key).status is LeaseStatus.PENDING


def test_neither_what_is_not_due_nor_what_is_deleted_is_marked(env: ReconcilerEnv) -> None:
    leases = some_leases(env)
    before = everything(env)
    assert env.manager.reconciler.mark_due_leases() == 0
    assert everything(env) == before

    env.at(1.5)
    env.manager.service.delete_lease(LESSEE, leases[0])
    env.jump(2)
    assert env.manager.reconciler.mark_due_leases() == len(leases) - 1
    assert env.lease(leases[0]).status is LeaseStatus.DELETING


def test_a_window_that_passed_unprocessed_starts_and_ends_at_once(env: ReconcilerEnv) -> None:
    leases = some_leases(env)
    env.jump(3)

    env.manager.reconciler.mark_due_leases()

    for lease in leases:
        assert events(env, lease)[EventType.START] is EventStatus.DONE
        assert events(env, lease)[EventType.END] is EventStatus.IN_PROGRESS
    env.at(3)


@pytest.mark.parametrize("fault", COMMIT_FAULTS)
def test_a_commit_that_goes_wrong_changes_nothing_that_matters(env: ReconcilerEnv, fault: str) -> None:
    leases = some_leases(env)
    env.jump(1)
    env.store.arm(COMMIT_FAULTS[fault], 1)

    if fault == "killed":
        with pytest.raises(SimulatedCrash):
            env.manager.reconciler.mark_due_leases()
        env.kill()
    else:
        assert env.manager.reconciler.mark_due_leases() == 0

    env.at(1.5)
    assert statuses(env, leases) == {LeaseStatus.ACTIVE}
    env.at(2)


def test_an_internal_error_is_logged_and_stops_no_work(
    env: ReconcilerEnv, monkeypatch: pytest.MonkeyPatch, unexpected_errors: list[str]
) -> None:
    leases = some_leases(env)
    env.jump(1)
    with monkeypatch.context() as patched:
        patched.setattr(mark_in_progress, "store_in_progress", lambda *arguments: 1 / 0)
        assert env.manager.reconciler.mark_due_leases() == 0

    assert "ZeroDivisionError" in unexpected_errors.pop()
    env.at(1.5)
    assert statuses(env, leases) == {LeaseStatus.ACTIVE}


def test_a_lease_that_changes_meanwhile_takes_the_others_back_and_nothing_is_lost(
    env: ReconcilerEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    leases = some_leases(env)
    env.jump(1)
    written = []

    def write_but_the_third(*arguments: object) -> object:
        written.append(arguments)
        if len(written) == 3:
            raise ConcurrentUpdate("changed concurrently")
        return write(*arguments)  # type: ignore[arg-type]

    write = mark_in_progress.store_in_progress
    monkeypatch.setattr(mark_in_progress, "store_in_progress", write_but_the_third)

    assert env.manager.reconciler.mark_due_leases() == 0
    assert statuses(env, leases) == {LeaseStatus.PENDING}
    env.at(1.5)
    assert statuses(env, leases) == {LeaseStatus.ACTIVE}
