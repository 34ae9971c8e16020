"""Requests with one idempotency key at the same time, at several managers: one lease is created."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from databases import KINDS
from reconcile.parts import Conditions, lease_body
from reconcile.reconciler_env import LESSEE, EnvOn, ReconcilerEnv

from blazar.db.store import SqlStore
from blazar.domain.errors import IdempotencyKeyReused, Unavailable
from blazar.manager.service import ManagerService
from blazar.ports.manager import Caller, JsonObject
from blazar_plugin_testing.faults import COMMIT_FAULTS

every_database = pytest.mark.parametrize("kind", KINDS)
CALLER = replace(LESSEE, api_version=(1, 1))


class One:
    """Limits of one lease for every project."""

    def get(self, project_id: str, *, fresh: bool = False) -> Mapping[str, int]:
        return self.get_defaults()

    def get_defaults(self) -> Mapping[str, int]:
        return {"leases": 1}


def other_managers(env: ReconcilerEnv, number: int) -> list[ManagerService]:
    """Return managers that share nothing with each other but the database."""
    contexts = [env.new_manager().context for _ in range(number)]
    stores = [SqlStore(env.engine, env.clock, env.codecs) for _ in range(number)]
    return [
        ManagerService(replace(context, store=store, limits=One()))
        for context, store in zip(contexts, stores, strict=True)
    ]


def create_once(service: ManagerService, body: JsonObject, caller: Caller = CALLER) -> JsonObject:
    return service.create_lease_once(caller, "k", body)


@every_database
def test_of_requests_at_once_one_creates_a_lease_and_all_get_its_answer(kind: str, env_on: EnvOn) -> None:
    env = env_on(kind)
    env.reset(Conditions(hosts=3))
    body = lease_body("a", env.date(1), env.date(2))
    managers = other_managers(env, 4)
    barrier = threading.Barrier(2 * len(managers))

    def ask(manager: ManagerService) -> JsonObject:
        barrier.wait()
        return create_once(manager, body)

    with ThreadPoolExecutor(2 * len(managers)) as executor:
        answers = list(executor.map(ask, managers * 2))

    (lease,) = env.leases()
    assert {str(each["lease"]["id"]) for each in answers} == {lease.id}  # type: ignore[index]
    assert all(each["lease"] == answers[0]["lease"] for each in answers)
    assert sorted(bool(each["is_replayed"]) for each in answers) == [False] + 7 * [True]
    assert len(env.rows().allocations) == 1


@every_database
@pytest.mark.parametrize("hosts", [1, 2])
def test_a_request_that_is_overtaken_by_its_repetition_gets_its_answer(
    kind: str, env_on: EnvOn, hosts: int
) -> None:
    env = env_on(kind)
    env.reset(Conditions(hosts=hosts))
    body = lease_body("a", env.date(1), env.date(2))
    (other,) = other_managers(env, 1)
    first: list[JsonObject] = []
    env.store.overtake(lambda: first.append(create_once(other, body)))

    answer = create_once(env.manager.service, body)

    assert answer == {"lease": first[0]["lease"], "is_replayed": True}
    assert not first[0]["is_replayed"]
    assert len(env.leases()) == 1


def test_a_different_request_that_is_overtaken_is_refused(env: ReconcilerEnv) -> None:
    (other,) = other_managers(env, 1)
    env.store.overtake(lambda: create_once(other, lease_body("a", env.date(1), env.date(2))))

    with pytest.raises(IdempotencyKeyReused):
        create_once(env.manager.service, lease_body("b", env.date(3), env.date(4)))

    assert [each.name for each in env.leases()] == ["a"]


def test_a_commit_without_a_confirmation_is_confirmed_by_a_repetition(env: ReconcilerEnv) -> None:
    body = lease_body("a", env.date(1), env.date(2))
    env.store.arm(COMMIT_FAULTS["reply-lost"], 1)

    with pytest.raises(Unavailable):
        create_once(env.manager.service, body)
    answer = create_once(env.manager.service, body)

    (lease,) = env.leases()
    assert answer["is_replayed"]
    assert answer["lease"]["id"] == lease.id  # type: ignore[index]
