"""Offers for changes of leases by several managers at the same time: none that is open is lost."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, cast

import pytest
from databases import KINDS
from reconcile.parts import Conditions, lease_body
from reconcile.reconciler_env import EnvOn, ReconcilerEnv
from reconcile.test_offers_contested import CALLER, TTL, held_twice, unlimited

from blazar.domain.errors import (
    Conflict,
    LeaseNotFound,
    NotEnoughResources,
    OfferCommitted,
    OfferExpired,
    OfferNotFound,
    OfferOutdated,
)
from blazar.domain.offers import EXPIRY_GRACE
from blazar.manager.service import ManagerService
from blazar.ports.manager import JsonObject

every_database = pytest.mark.parametrize("kind", KINDS)
SECOND = timedelta(seconds=1)


def create(env: ReconcilerEnv, service: ManagerService, start: float = 1, end: float = 2) -> str:
    return str(service.create_lease(CALLER, lease_body("a", env.date(start), env.date(end)))["id"])


def hold(service: ManagerService, lease_id: str, **body: object) -> dict[str, Any]:
    found = service.create_lease_offer(CALLER, lease_id, None, None, {"ttl_seconds": TTL, **body})
    return cast("dict[str, Any]", found["offer"])


def take(service: ManagerService, lease_id: str, offer_id: str) -> JsonObject:
    return service.commit_lease_offer(CALLER, lease_id, None, offer_id)


@dataclass
class Tally:
    """The results of a race."""

    counts: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)

    def race(self, env: ReconcilerEnv, managers: list[ManagerService], seed: int) -> None:
        """Create leases, hold longer times or more hosts for them, and commit or delete that, anywhere."""
        chance = random.Random(seed)
        for _ in range(8):
            start = chance.randint(1, 3)
            try:
                lease_id = create(env, chance.choice(managers), start, start + 1)
            except NotEnoughResources:
                self.counts["no lease"] += 1
                continue
            self._extend(env, managers, chance, lease_id, start)
            if chance.random() < 0.7:
                chance.choice(managers).delete_lease(CALLER, lease_id)

    def _extend(
        self,
        env: ReconcilerEnv,
        managers: list[ManagerService],
        chance: random.Random,
        lease_id: str,
        start: float,
    ) -> None:
        [reservation] = env.lease(lease_id).reservations
        more: JsonObject = {"reservations": [{"id": reservation.id, "min": 2, "max": 2}]}
        body = chance.choice([{"end_date": env.date(start + 2)}, more])
        try:
            made = hold(chance.choice(managers), lease_id, **body)
        except NotEnoughResources:
            self.counts["refused"] += 1
            return
        self.counts["offers"] += 1
        if chance.random() < 0.3:
            chance.choice(managers).delete_offer(CALLER, made["id"])
            return
        try:
            take(chance.choice(managers), lease_id, made["id"])
        except Conflict as error:
            self.lost.append(f"{made['id']}: {error.message}")
            return
        self.counts["commits"] += 1
        with pytest.raises(OfferCommitted):
            take(chance.choice(managers), lease_id, made["id"])


@every_database
def test_offers_for_leases_that_race_are_neither_lost_nor_held_twice(kind: str, env_on: EnvOn) -> None:
    env = env_on(kind)
    env.reset(Conditions(hosts=6))
    managers = [unlimited(env, env.new_manager()) for _ in range(3)]
    tally, barrier = Tally(), threading.Barrier(5)

    def client(seed: int) -> None:
        barrier.wait()
        tally.race(env, managers, seed)

    with ThreadPoolExecutor(5) as executor:
        for each in [executor.submit(client, seed) for seed in range(5)]:
            each.result()

    assert tally.lost == []
    assert held_twice(env) == []
    assert tally.counts["commits"] >= 5
    with env.store.read() as transaction:
        assert transaction.offers.list_open(CALLER.project_id, env.clock.now()) == []


@every_database
def test_of_two_offers_for_a_lease_at_once_one_is_committed(kind: str, env_on: EnvOn) -> None:
    env = env_on(kind)
    env.reset(Conditions(hosts=1))
    managers = [unlimited(env, env.new_manager()) for _ in range(4)]
    lease_id = create(env, managers[0])
    made = [hold(each, lease_id, end_date=env.date(3 + place)) for place, each in enumerate(managers)]
    barrier = threading.Barrier(4)

    def commit(place: int) -> str:
        barrier.wait()
        try:
            return str(take(managers[place], lease_id, made[place]["id"])["end_date"])
        except OfferOutdated:
            return "outdated"

    with ThreadPoolExecutor(4) as executor:
        answers = sorted(executor.map(commit, range(4)))

    assert answers[1:] == ["outdated"] * 3
    [lease] = env.leases()
    assert answers[0] == lease.end.replace(tzinfo=None).isoformat(timespec="microseconds")
    [allocation] = env.rows().allocations
    with env.store.read() as transaction:
        [held] = transaction.allocations.of_reservations([lease.reservations[0].id])
        assert transaction.allocations.count_on(held.resource_id) == 1
    assert (held.window.start, held.window.end) == (lease.start, lease.end)
    assert allocation is not None


@every_database
@pytest.mark.parametrize("rival", ["commit", "delete", "update", "delete lease"])
def test_a_commit_that_is_overtaken_says_so(kind: str, rival: str, env_on: EnvOn) -> None:
    env = env_on(kind)
    env.reset(Conditions(hosts=1))
    other = unlimited(env, env.new_manager())
    lease_id = create(env, other)
    made = hold(env.manager.service, lease_id, end_date=env.date(3))
    rivals: dict[str, tuple[Callable[[], object], type[Exception]]] = {
        "commit": (lambda: take(other, lease_id, made["id"]), OfferCommitted),
        "delete": (lambda: other.delete_offer(CALLER, made["id"]), OfferNotFound),
        "update": (lambda: other.update_lease(CALLER, lease_id, {"end_date": env.date(4)}), OfferOutdated),
        "delete lease": (lambda: other.delete_lease(CALLER, lease_id), LeaseNotFound),
    }
    act, expected = rivals[rival]
    env.store.overtake(act)

    with pytest.raises(expected):
        take(env.manager.service, lease_id, made["id"])

    ends = [each.end for each in env.leases()]
    hours = {"commit": [3], "delete": [2], "update": [4], "delete lease": []}[rival]
    assert [f"{each:%Y-%m-%d %H:%M}" for each in ends] == [env.date(hour) for hour in hours]


@every_database
@pytest.mark.parametrize("rival", ["update", "delete lease"])
def test_no_offer_is_made_for_a_lease_as_it_no_longer_is(kind: str, rival: str, env_on: EnvOn) -> None:
    env = env_on(kind)
    env.reset(Conditions(hosts=1))
    other = unlimited(env, env.new_manager())
    lease_id = create(env, other)
    if rival == "update":
        env.store.overtake(lambda: other.update_lease(CALLER, lease_id, {"end_date": env.date(3)}))
        made = hold(env.manager.service, lease_id, end_date=env.date(4))
        with env.store.read() as transaction:
            stored = transaction.offers.find(made["id"])
        assert stored is not None
        [held] = stored.allocations
        assert f"{held.window.start:%Y-%m-%d %H:%M}" == env.date(3)
        take(other, lease_id, made["id"])
    else:
        env.store.overtake(lambda: other.delete_lease(CALLER, lease_id))
        with pytest.raises(LeaseNotFound):
            hold(env.manager.service, lease_id, end_date=env.date(4))
        create(env, other, 1, 4)


@every_database
def test_a_lease_keeps_its_time_when_an_offer_for_it_expires_everywhere(kind: str, env_on: EnvOn) -> None:
    env = env_on(kind)
    env.reset(Conditions(hosts=1))
    other = unlimited(env, env.new_manager())
    lease_id = create(env, other)
    made = hold(env.manager.service, lease_id, end_date=env.date(4))
    for manager in (env.manager.service, other):
        with pytest.raises(NotEnoughResources):
            create(env, manager, 2, 3)
    env.clock.advance(TTL * SECOND + EXPIRY_GRACE)

    with pytest.raises(OfferExpired):
        take(other, lease_id, made["id"])

    for manager in (env.manager.service, other):
        with pytest.raises(NotEnoughResources):
            create(env, manager, 1.5, 2)
    create(env, other, 2, 3)
    create(env, env.manager.service, 3, 4)
