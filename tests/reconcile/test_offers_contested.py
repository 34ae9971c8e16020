"""Offers of several managers at the same time: nothing is reserved twice, and no open offer is lost."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, cast

import pytest
from clocks import ManualClock
from databases import KINDS
from reconcile.parts import Conditions, lease_body
from reconcile.reconciler_env import LESSEE, EnvOn, ReconcilerEnv

from blazar.db.store import SqlStore
from blazar.domain.errors import Conflict, NotEnoughResources, OfferCommitted, OfferExpired, OfferNotFound
from blazar.domain.offers import EXPIRY_GRACE
from blazar.manager.service import ManagerService
from blazar.null_ports import NoMeter
from blazar.ports.manager import Caller, JsonObject
from blazar.settings import OfferSettings
from blazar_plugin_testing.service_env import ManagerProcess

every_database = pytest.mark.parametrize("kind", KINDS)
CALLER = replace(LESSEE, api_version=(1, 1))
SECOND = timedelta(seconds=1)
TTL = 60


def offer_body(env: ReconcilerEnv, start: float = 1, end: float = 2, **keys: Any) -> Mapping[str, object]:
    body = lease_body("", env.date(start), env.date(end))
    return {**body, "name": None, "ttl_seconds": TTL, **keys}


def make(service: ManagerService, body: JsonObject, caller: Caller = CALLER) -> dict[str, Any]:
    return cast("dict[str, Any]", service.create_offer(caller, None, body)["offer"])


def commit(service: ManagerService, offer_id: str, caller: Caller = CALLER) -> JsonObject:
    return service.create_lease(caller, {"offer_id": offer_id, "name": "a"})


def unlimited(env: ReconcilerEnv, manager: ManagerProcess) -> ManagerService:
    """Return a manager with connections of its own, and without a limit of offers."""
    settings = manager.context.settings
    leases = replace(settings.leases, offers=OfferSettings(per_project=0))
    return ManagerService(
        replace(
            manager.context,
            store=SqlStore(env.engine, env.clock, env.codecs),
            settings=replace(settings, leases=leases),
        )
    )


def held_twice(env: ReconcilerEnv) -> list[object]:
    with env.store.read() as transaction:
        return list(transaction.allocations.list_overlaps(10))


@dataclass
class Tally:
    """The results of a race."""

    counts: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)

    def race(self, env: ReconcilerEnv, managers: list[ManagerService], seed: int) -> None:
        """Make offers, and commit, commit twice or delete them, at any managers."""
        chance = random.Random(seed)
        for _ in range(8):
            start = chance.randint(1, 3)
            try:
                made = make(chance.choice(managers), offer_body(env, start, start + chance.randint(1, 2)))
            except NotEnoughResources:
                self.counts["refused"] += 1
                continue
            self.counts["offers"] += 1
            if chance.random() < 0.3:
                chance.choice(managers).delete_offer(CALLER, made["id"])
                continue
            try:
                commit(chance.choice(managers), made["id"])
            except Conflict as error:
                self.lost.append(f"{made['id']}: {error.message}")
                continue
            self.counts["commits"] += 1
            with pytest.raises(OfferCommitted):
                commit(chance.choice(managers), made["id"])
            if chance.random() < 0.7:
                chance.choice(managers).delete_lease(CALLER, made["id"])


@every_database
def test_offers_that_race_are_neither_lost_nor_held_twice(kind: str, env_on: EnvOn) -> None:
    env = env_on(kind)
    env.reset(Conditions(hosts=3))
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
def test_of_commits_of_one_offer_at_once_one_makes_a_lease(kind: str, env_on: EnvOn) -> None:
    env = env_on(kind)
    env.reset(Conditions(hosts=3))
    managers = [unlimited(env, env.new_manager()) for _ in range(4)]
    made, barrier = make(managers[0], offer_body(env)), threading.Barrier(4)

    def ask(manager: ManagerService) -> str:
        barrier.wait()
        try:
            return str(commit(manager, made["id"])["id"])
        except OfferCommitted:
            return "committed before"

    with ThreadPoolExecutor(4) as executor:
        answers = sorted(executor.map(ask, managers))

    assert answers == sorted([made["id"], *["committed before"] * 3])
    assert len(env.leases()) == len(env.rows().allocations) == 1


@every_database
@pytest.mark.parametrize("rival", ["commit", "delete"])
def test_a_commit_that_is_overtaken_says_so(kind: str, rival: str, env_on: EnvOn) -> None:
    env = env_on(kind)
    env.reset(Conditions(hosts=2))
    other = unlimited(env, env.new_manager())
    made = make(env.manager.service, offer_body(env))
    if rival == "commit":
        env.store.overtake(lambda: commit(other, made["id"]))
    else:
        env.store.overtake(lambda: other.delete_offer(CALLER, made["id"]))

    with pytest.raises(OfferCommitted if rival == "commit" else OfferNotFound):
        commit(env.manager.service, made["id"])

    assert len(env.leases()) == (1 if rival == "commit" else 0)


@every_database
def test_a_project_never_has_more_offers_than_it_may(kind: str, env_on: EnvOn) -> None:
    env = env_on(kind)
    env.reset(Conditions(hosts=8))
    managers = [env.new_manager() for _ in range(4)]
    limited = [
        ManagerService(
            replace(
                each.context,
                store=SqlStore(env.engine, env.clock, env.codecs),
                settings=replace(
                    each.context.settings,
                    leases=replace(each.context.settings.leases, offers=OfferSettings(per_project=2)),
                ),
            )
        )
        for each in managers
    ]
    barrier = threading.Barrier(4)

    def ask(manager: ManagerService) -> bool:
        barrier.wait()
        try:
            make(manager, offer_body(env))
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(4) as executor:
        assert sum(executor.map(ask, limited)) == 2


class TestExpiry:
    """A manager whose clock is ahead regards an offer as expired earlier than another."""

    AHEAD = 5 * SECOND

    def ahead(self, env: ReconcilerEnv) -> ManagerProcess:
        return env.new_manager(ManualClock(env.clock.now() + self.AHEAD))

    @every_database
    @pytest.mark.parametrize("hosts", [1, 2])
    @pytest.mark.parametrize("when", ["before", "meanwhile"])
    def test_without_correction_one_of_both_gets_the_host(
        self, kind: str, hosts: int, when: str, env_on: EnvOn
    ) -> None:
        env = env_on(kind)
        env.reset(Conditions(hosts=hosts))
        offers = [make(env.manager.service, offer_body(env)) for _ in range(hosts)]
        env.clock.advance((TTL - 2) * SECOND)
        rival = unlimited(env, self.ahead(env))

        def take() -> object:
            return rival.create_lease(CALLER, lease_body("b", env.date(1), env.date(2)))

        if when == "before":
            take()
        else:
            env.store.overtake(take)
        outcomes = []
        for each in offers:
            try:
                commit(env.manager.service, each["id"])
                outcomes.append("lease")
            except NotEnoughResources:
                outcomes.append("refused")

        assert sorted(outcomes) == ["lease"] * (hosts - 1) + ["refused"]
        assert held_twice(env) == []

    @every_database
    def test_with_correction_the_offer_is_kept_for_its_holder(self, kind: str, env_on: EnvOn) -> None:
        env = env_on(kind)
        env.reset(Conditions(hosts=1))
        made = make(env.manager.service, offer_body(env))
        env.clock.advance((TTL - 2) * SECOND)
        rival = self.corrected(env)

        with pytest.raises(NotEnoughResources):
            rival.create_lease(CALLER, lease_body("b", env.date(1), env.date(2)))
        commit(env.manager.service, made["id"])

        assert [each.name for each in env.leases()] == ["a"]

    def test_a_manager_that_is_corrected_commits_until_the_shared_instant(self, env: ReconcilerEnv) -> None:
        made = make(env.manager.service, offer_body(env))
        env.clock.advance(TTL * SECOND - timedelta(microseconds=1))
        rival = self.corrected(env)

        commit(rival, made["id"])

        late = make(env.manager.service, offer_body(env, 3, 4))
        env.clock.advance(TTL * SECOND)
        with pytest.raises(OfferExpired):
            commit(env.manager.service, late["id"])

    def test_what_expired_elsewhere_is_free_shortly_after(self, env: ReconcilerEnv) -> None:
        env.reset(Conditions(hosts=1))
        make(env.manager.service, offer_body(env))
        other = unlimited(env, env.new_manager())
        env.clock.advance(TTL * SECOND)
        with pytest.raises(NotEnoughResources):
            make(other, offer_body(env))

        env.clock.advance(EXPIRY_GRACE)

        assert EXPIRY_GRACE < SECOND
        make(other, offer_body(env))

    def corrected(self, env: ReconcilerEnv) -> ManagerService:
        """Return a manager whose clock is ahead, and that has measured by how much."""
        process = self.ahead(env)
        process.context.clock_guard.compare(NoMeter())
        return unlimited(env, process)
