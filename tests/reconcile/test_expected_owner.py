"""Changes for which the API states the expected owner of the lease."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, cast

import pytest
import sqlalchemy as sa
from clocks import ManualClock
from reconcile.questions import everything
from reconcile.reconciler_env import LESSEE, ReconcilerEnv
from reconcile.test_clock_skew import BEHIND, LIMIT
from statements import counted

from blazar.db import tables
from blazar.domain.errors import BadRequest, InvalidDate, LeaseNotFound, OwnerMismatch, Unavailable
from blazar.manager.service import ManagerService
from blazar.ports.manager import Caller
from blazar.ports.store import Store, Transaction
from blazar_plugin_testing.faults import ScriptedStore

OWN = {"project_id": "project", "user_id": "user"}
ADMIN = Caller(user_id="operator", project_id="operators", roles=("admin",))
WRONG: list[dict[str, Any]] = [
    {"project_id": "elsewhere", "user_id": "user"},
    {"project_id": "project", "user_id": "colleague"},
    {"project_id": "user", "user_id": "project"},
    {"project_id": None, "user_id": None},
    {"project_id": "", "user_id": ""},
    {"project_id": "PROJECT", "user_id": "user"},
    {"project_id": "project ", "user_id": "user"},
    {"project_id": "%", "user_id": "%"},
    {"project_id": ["project"], "user_id": "user"},
    {"project_id": True, "user_id": True},
]
Change = Callable[[ManagerService, str, dict[str, Any]], object]
CHANGES: dict[str, Change] = {
    "update": lambda manager, lease, owner: manager.update_owned_lease(
        LESSEE, lease, owner, {"end_date": "2031-13-99"}
    ),
    "rename": lambda manager, lease, owner: manager.update_owned_lease(LESSEE, lease, owner, {"name": "b"}),
    "nothing": lambda manager, lease, owner: manager.update_owned_lease(LESSEE, lease, owner, {}),
    "delete": lambda manager, lease, owner: manager.delete_owned_lease(LESSEE, lease, owner),
}


class CountingStore:
    """A store that counts the transactions that only read."""

    def __init__(self, store: ScriptedStore) -> None:
        self._store = store
        self.begin = store.begin
        self.reads = 0

    def read(self, *, of_one_instant: bool = True) -> AbstractContextManager[Transaction]:
        self.reads += 1
        return self._store.read(of_one_instant=of_one_instant)


every_change = pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)


@every_change
@pytest.mark.parametrize("owner", WRONG, ids=str)
def test_a_wrong_owner_changes_nothing_and_the_real_one_is_named(
    env: ReconcilerEnv, change: Change, owner: dict[str, Any]
) -> None:
    lease = env.create("a", 1, 2)
    before = everything(env)

    with pytest.raises(OwnerMismatch) as caught:
        change(env.manager.service, lease, owner)

    assert caught.value.fields == OWN
    assert "project" not in caught.value.message
    assert everything(env) == before


@every_change
@pytest.mark.parametrize("owner", [{}, {"project_id": "project"}, {**OWN, "domain_id": "d"}], ids=str)
def test_an_owner_that_is_not_whole_changes_nothing(
    env: ReconcilerEnv, change: Change, owner: dict[str, Any]
) -> None:
    lease = env.create("a", 1, 2)
    before = everything(env)

    with pytest.raises(BadRequest):
        change(env.manager.service, lease, owner)

    assert everything(env) == before


@every_change
def test_a_missing_lease_is_missing_with_any_owner(env: ReconcilerEnv, change: Change) -> None:
    for owner in (OWN, WRONG[0]):
        with pytest.raises(LeaseNotFound):
            change(env.manager.service, "5b0c8f4e-61d7-4f0a-9c55-2d3a7be01f10", owner)


@every_change
def test_the_owner_is_checked_before_the_managers_clock(env: ReconcilerEnv, change: Change) -> None:
    lease = env.create("a", 1, 2)
    wrong = env.new_manager(ManualClock(env.clock.now() - BEHIND), LIMIT)
    wrong.reconciler.compare_clocks()

    with pytest.raises(OwnerMismatch):
        change(wrong.service, lease, WRONG[0])
    with pytest.raises(LeaseNotFound):
        change(wrong.service, "nowhere", OWN)
    with pytest.raises(Unavailable, match="clock of this manager is wrong"):
        change(wrong.service, lease, OWN)


def test_the_right_owner_changes_and_deletes_for_any_caller(env: ReconcilerEnv) -> None:
    lease = env.create("a", 1, 2)

    with pytest.raises(InvalidDate):
        CHANGES["update"](env.manager.service, lease, OWN)
    changed = env.manager.service.update_owned_lease(ADMIN, lease, OWN, {"end_date": env.date(3)})
    env.manager.service.delete_owned_lease(ADMIN, lease, OWN)

    assert (changed["project_id"], changed["user_id"]) == ("project", "user")
    assert env.leases() == ()


@pytest.mark.parametrize("change", [CHANGES["rename"], CHANGES["delete"]], ids=["update", "delete"])
def test_the_owner_is_checked_again_in_a_retry(env: ReconcilerEnv, change: Change) -> None:
    lease = env.create("a", 1, 2)
    after: list[object] = []

    def give_away() -> None:
        # No request does this. It stands for an id that names another lease now.
        with env.engine.begin() as connection:
            leases = tables.leases
            values = {"project_id": "elsewhere", "revision": leases.c.revision + 1}
            connection.execute(sa.update(leases).where(leases.c.id == lease).values(values))
        after.append(everything(env))

    env.store.overtake(give_away)
    with pytest.raises(OwnerMismatch) as caught:
        change(env.manager.service, lease, OWN)

    assert caught.value.fields["project_id"] == "elsewhere"
    assert [everything(env)] == after


@pytest.mark.parametrize("change", [CHANGES["rename"], CHANGES["delete"]], ids=["update", "delete"])
def test_a_lease_that_is_deleted_during_the_change_is_missing(env: ReconcilerEnv, change: Change) -> None:
    lease = env.create("a", 1, 2)
    rival = env.new_manager().service

    env.store.overtake(lambda: rival.delete_owned_lease(LESSEE, lease, OWN))
    with pytest.raises(LeaseNotFound):
        change(env.manager.service, lease, OWN)

    assert env.leases() == ()


def test_a_change_that_was_overtaken_is_made_to_the_lease_as_it_is_then(env: ReconcilerEnv) -> None:
    lease = env.create("a", 1, 2)
    manager, rival = env.manager.service, env.new_manager().service

    env.store.overtake(lambda: rival.update_owned_lease(LESSEE, lease, OWN, {"name": "b"}))
    manager.update_owned_lease(LESSEE, lease, OWN, {"end_date": env.date(3)})

    assert (env.lease(lease).name, env.lease(lease).end) == ("b", env.instant(3))


@pytest.mark.parametrize("change", [CHANGES["rename"], CHANGES["delete"]], ids=["update", "delete"])
def test_a_change_reads_the_lease_once(env: ReconcilerEnv, change: Change) -> None:
    lease = env.create("a", 1, 2)
    manager = env.manager.service
    with counted(env.engine) as reading:
        manager.get_lease(LESSEE, lease)

    with counted(env.engine) as expecting, pytest.raises(OwnerMismatch):
        change(manager, lease, WRONG[0])
    store = CountingStore(env.store)
    change(ManagerService(replace(env.manager.context, store=cast("Store", store))), lease, OWN)

    assert expecting.count("SELECT") == reading.count("SELECT")
    assert store.reads == 1
