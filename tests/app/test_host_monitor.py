"""Hosts that fail, are disabled, disappear and return, as the host monitor detects them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
import sqlalchemy as sa
from app.conftest import EnvWith
from app.http_env import HttpEnv, good, shortage
from app.monitoring import (
    DISABLED,
    DOWN,
    HEALTHY,
    INTERVAL,
    MISSED,
    VANISHED,
    due,
    health_of,
    look,
    look_later,
    monitored,
    told,
    watched,
)
from statements import counted

from blazar.cloud.simulated.faults import FaultKind, FaultRule
from blazar.db.tables import sweep_findings
from blazar.domain.errors import CloudUnavailable
from blazar.domain.health import Health
from blazar.plugins.hosts.monitor import HOST_CHECK, UNLISTED, check_hosts, notice_change
from blazar.plugins.hosts.store import HOST_STORE


@pytest.fixture
def env(env_with: EnvWith) -> HttpEnv:
    """Return an environment with two hosts that is checked only on request."""
    return watched(env_with(monitored(is_listening=True)))


def is_reservable(env: HttpEnv, name: str) -> bool:
    found = {each["hypervisor_hostname"]: each for each in good(env.get("/os-hosts"))["hosts"]}
    return bool(found[name]["reservable"])


Change = Callable[[HttpEnv], object]

STATES: dict[str, tuple[Change, tuple[Health, str]]] = {
    "sound": (lambda env: env.cloud.set_host_state("h1", is_up=True, is_enabled=True), HEALTHY),
    "down": (lambda env: env.cloud.set_host_state("h1", is_up=False, is_enabled=True), DOWN),
    "disabled": (lambda env: env.cloud.set_host_state("h1", is_up=True, is_enabled=False), DISABLED),
    "down and disabled": (
        lambda env: env.cloud.set_host_state("h1", is_up=False, is_enabled=False),
        DOWN,
    ),
    "disabled with a reason": (
        lambda env: env.cloud.set_host_state("h1", is_up=True, is_enabled=False, disabled_reason="new disks"),
        (Health.DISABLED, "its compute service h1 is disabled: new disks"),
    ),
}


@pytest.mark.parametrize("after", STATES)
@pytest.mark.parametrize("before", STATES)
def test_every_state_is_seen_after_every_other(env: HttpEnv, before: str, after: str) -> None:
    STATES[before][0](env)
    look(env)

    STATES[after][0](env)
    look(env)

    assert health_of(env) == STATES[after][1]
    assert health_of(env, "h2") == HEALTHY
    steps = [HEALTHY, STATES[before][1], STATES[after][1]]
    changes = [
        f"h1: {old[0]} -> {new[0]}" + (f": {new[1]}" if new[1] else "")
        for old, new in pairwise(steps)
        if old != new
    ]
    assert told(env) == changes


@pytest.mark.parametrize("state", STATES)
def test_a_look_without_news_writes_nothing_and_costs_one_call(env: HttpEnv, state: str) -> None:
    STATES[state][0](env)
    look(env)
    before, calls = env.snapshot(), dict(env.cloud.calls)

    look_later(env)

    assert env.snapshot() == before
    made = {name: count - calls.get(name, 0) for name, count in env.cloud.calls.items()}
    assert {name: count for name, count in made.items() if count} == {"compute.list_hypervisors": 1}


def test_the_number_of_calls_and_statements_does_not_grow_with_the_hosts(env: HttpEnv) -> None:
    def cost() -> tuple[int, int]:
        calls = sum(env.cloud.calls.values())
        with counted(env.engine) as statements:
            look(env)
        return sum(env.cloud.calls.values()) - calls, statements.count("SELECT", "UPDATE", "INSERT")

    before = cost()
    env.register(*(f"more-{number}" for number in range(10)))

    assert cost() == before
    assert before[0] == 1


def test_without_hosts_nova_is_not_asked(env_with: EnvWith) -> None:
    env = env_with(monitored(is_polling=True))

    look(env)

    assert not env.cloud.calls


def test_weakness_43_who_has_been_promised_a_disabled_host_keeps_it(env: HttpEnv) -> None:
    lease = env.create(60, 120)
    (host_id,) = env.booked(lease)
    with env.context.store.read() as transaction:
        host = transaction.of(HOST_STORE).find(host_id)
    assert host is not None

    env.cloud.set_host_state(host.hypervisor_hostname, is_enabled=False)
    look(env)
    env.pass_time(30)

    assert not is_reservable(env, host.hypervisor_hostname)
    assert env.booked(lease) == {host_id}
    assert not env.lease(lease["id"])["degraded"]
    env.pass_time(61)
    assert env.members(lease) == {host.service_name}


def test_only_healthy_hosts_are_allocated_to_new_leases(env: HttpEnv) -> None:
    for change, _ in STATES.values():
        change(env)
        look(env)
        assert is_reservable(env, "h1") is (health_of(env)[0] is Health.HEALTHY)
    asked: dict[str, Any] = {"hypervisor_properties": '["==", "$hypervisor_hostname", "h1"]'}
    shortage(env.post("/leases", env.wish(**asked)))

    STATES["sound"][0](env)
    look(env)

    assert env.post("/leases", env.wish(**asked)).status_code == 201


class TestVanishing:
    """A host that Nova does not list."""

    @pytest.fixture(autouse=True)
    def _vanished(self, env: HttpEnv) -> None:
        env.cloud.remove_hypervisor("h1")

    def test_it_is_disabled_at_first_and_has_failed_when_that_lasts(self, env: HttpEnv) -> None:
        look(env)
        assert health_of(env) == MISSED

        look_later(env)
        assert health_of(env) == VANISHED
        assert told(env) == [f"h1: sound -> disabled: {UNLISTED}", f"h1: disabled -> failed: {UNLISTED}"]

        before = env.snapshot()
        look_later(env)
        assert env.snapshot() == before

    def test_many_looks_at_the_same_time_are_no_proof(self, env: HttpEnv) -> None:
        for _ in range(5):
            look(env)
            env.clock.advance(INTERVAL / 6)

        assert health_of(env) == MISSED

    def test_the_deciding_check_is_made_without_polling(self, env: HttpEnv) -> None:
        look(env)
        assert due(env)[HOST_CHECK] == env.clock.now() + INTERVAL

        env.clock.advance(INTERVAL)
        env.work()

        assert health_of(env) == VANISHED
        assert HOST_CHECK not in due(env)

    def test_it_is_sound_at_once_when_it_is_listed_again(self, env: HttpEnv) -> None:
        look(env)
        env.cloud.add_hypervisor("h1")
        look(env)
        assert health_of(env) == HEALTHY

        env.clock.advance(INTERVAL)
        env.cloud.remove_hypervisor("h1")
        look(env)

        assert health_of(env) == MISSED  # A second absence, counted from now.

    def test_what_has_failed_does_not_get_better_by_that(self, env: HttpEnv) -> None:
        env.cloud.set_host_state("h2", is_up=False)
        look(env)
        env.cloud.remove_hypervisor("h2")

        look(env)

        assert health_of(env, "h2") == VANISHED

    def test_an_empty_answer_counts_as_an_absence_of_all(self, env: HttpEnv) -> None:
        env.cloud.remove_hypervisor("h2")

        look(env)
        assert {health_of(env, name) for name in ("h1", "h2")} == {MISSED}

        look_later(env)
        assert {health_of(env, name) for name in ("h1", "h2")} == {VANISHED}

    def test_the_absence_of_a_host_that_was_removed_is_forgotten(self, env: HttpEnv) -> None:
        look(env)
        (host,) = [e for e in good(env.get("/os-hosts"))["hosts"] if e["hypervisor_hostname"] == "h1"]
        assert env.ask("DELETE", f"/os-hosts/{host['id']}").status_code == 204

        look(env)

        with env.engine.connect() as connection:
            assert connection.execute(sa.select(sweep_findings)).all() == []


def test_a_cloud_that_does_not_answer_changes_nothing(env: HttpEnv) -> None:
    STATES["down"][0](env)
    env.cloud.faults.add(FaultRule(kind=FaultKind.STATUS, operation="compute.list_hypervisors", times=1))
    before = env.snapshot()

    with pytest.raises(CloudUnavailable):
        look(env)
    assert env.snapshot() == before

    look(env)
    assert health_of(env) == DOWN


def test_what_before_each_raises_ends_the_look_with_what_was_noted_so_far(env: HttpEnv) -> None:
    for name in ("h1", "h2"):
        env.cloud.set_host_state(name, is_up=False)
    chances = iter([True, False])

    def check_claim() -> None:
        if not next(chances):
            raise CloudUnavailable("stop")

    with pytest.raises(CloudUnavailable, match="stop"):
        check_hosts(env.context, "manager", check_claim)

    assert {health_of(env, name)[0] for name in ("h1", "h2")} == {Health.FAILED, Health.HEALTHY}


def test_weakness_43_a_compute_service_may_have_another_name_than_its_hypervisor(env: HttpEnv) -> None:
    env.cloud.add_hypervisor("node-7.example.org", service_host="node-7")
    good(env.post("/os-hosts", {"name": "node-7.example.org"}), 201)
    env.cloud.set_host_state("node-7.example.org", is_up=False)

    assert notice_change(env.context, "node-7")
    env.clock.advance(timedelta(seconds=1))
    env.work()

    assert health_of(env, "node-7.example.org") == (
        Health.FAILED,
        "its compute service node-7 is down",
    )
