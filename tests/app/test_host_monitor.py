"""Hosts that fail, are disabled, disappear and return, as the host monitor detects them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
import sqlalchemy as sa
from app.conftest import WorldWith
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
from app.world import World, good, shortage
from statements import counted

from blazar.booking.scheduling import HOST_CHECK
from blazar.cloud.simulated.faults import FaultKind, FaultRule
from blazar.db.tables import sweep_findings
from blazar.domain.errors import CloudUnavailable
from blazar.domain.health import Health
from blazar.reconcile.periodic.host_monitor import UNLISTED, check_hosts, notice_change


@pytest.fixture
def world(world_with: WorldWith) -> World:
    """Return a world with two hosts that is checked only on request."""
    return watched(world_with(monitored(is_listening=True)))


def is_reservable(world: World, name: str) -> bool:
    found = {each["hypervisor_hostname"]: each for each in good(world.get("/os-hosts"))["hosts"]}
    return bool(found[name]["reservable"])


Change = Callable[[World], object]

STATES: dict[str, tuple[Change, tuple[Health, str]]] = {
    "sound": (lambda world: world.cloud.set_host_state("h1", is_up=True, is_enabled=True), HEALTHY),
    "down": (lambda world: world.cloud.set_host_state("h1", is_up=False, is_enabled=True), DOWN),
    "disabled": (lambda world: world.cloud.set_host_state("h1", is_up=True, is_enabled=False), DISABLED),
    "down and disabled": (
        lambda world: world.cloud.set_host_state("h1", is_up=False, is_enabled=False),
        DOWN,
    ),
    "disabled with a reason": (
        lambda world: world.cloud.set_host_state(
            "h1", is_up=True, is_enabled=False, disabled_reason="new disks"
        ),
        (Health.DISABLED, "its compute service h1 is disabled: new disks"),
    ),
}


@pytest.mark.parametrize("after", STATES)
@pytest.mark.parametrize("before", STATES)
def test_every_state_is_seen_after_every_other(world: World, before: str, after: str) -> None:
    STATES[before][0](world)
    look(world)

    STATES[after][0](world)
    look(world)

    assert health_of(world) == STATES[after][1]
    assert health_of(world, "h2") == HEALTHY
    steps = [HEALTHY, STATES[before][1], STATES[after][1]]
    changes = [
        f"h1: {old[0]} -> {new[0]}" + (f": {new[1]}" if new[1] else "")
        for old, new in pairwise(steps)
        if old != new
    ]
    assert told(world) == changes


@pytest.mark.parametrize("state", STATES)
def test_a_look_without_news_writes_nothing_and_costs_one_call(world: World, state: str) -> None:
    STATES[state][0](world)
    look(world)
    before, calls = world.snapshot(), dict(world.cloud.calls)

    look_later(world)

    assert world.snapshot() == before
    made = {name: count - calls.get(name, 0) for name, count in world.cloud.calls.items()}
    assert {name: count for name, count in made.items() if count} == {"compute.list_hypervisors": 1}


def test_the_number_of_calls_and_statements_does_not_grow_with_the_hosts(world: World) -> None:
    def cost() -> tuple[int, int]:
        calls = sum(world.cloud.calls.values())
        with counted(world.engine) as statements:
            look(world)
        return sum(world.cloud.calls.values()) - calls, statements.count("SELECT", "UPDATE", "INSERT")

    before = cost()
    world.register(*(f"more-{number}" for number in range(10)))

    assert cost() == before
    assert before[0] == 1


def test_without_hosts_nova_is_not_asked(world_with: WorldWith) -> None:
    world = world_with(monitored(is_polling=True))

    look(world)

    assert not world.cloud.calls


def test_weakness_43_who_has_been_promised_a_disabled_host_keeps_it(world: World) -> None:
    lease = world.create(60, 120)
    (host_id,) = world.booked(lease)
    with world.context.store.read() as transaction:
        host = transaction.hosts.find(host_id)
    assert host is not None

    world.cloud.set_host_state(host.hypervisor_hostname, is_enabled=False)
    look(world)
    world.pass_time(30)

    assert not is_reservable(world, host.hypervisor_hostname)
    assert world.booked(lease) == {host_id}
    assert not world.lease(lease["id"])["degraded"]
    world.pass_time(61)
    assert world.members(lease) == {host.service_name}


def test_only_healthy_hosts_are_allocated_to_new_leases(world: World) -> None:
    for change, _ in STATES.values():
        change(world)
        look(world)
        assert is_reservable(world, "h1") is (health_of(world)[0] is Health.HEALTHY)
    asked: dict[str, Any] = {"hypervisor_properties": '["==", "$hypervisor_hostname", "h1"]'}
    shortage(world.post("/leases", world.wish(**asked)))

    STATES["sound"][0](world)
    look(world)

    assert world.post("/leases", world.wish(**asked)).status_code == 201


class TestVanishing:
    """A host that Nova does not list."""

    @pytest.fixture(autouse=True)
    def _vanished(self, world: World) -> None:
        world.cloud.remove_hypervisor("h1")

    def test_it_is_disabled_at_first_and_has_failed_when_that_lasts(self, world: World) -> None:
        look(world)
        assert health_of(world) == MISSED

        look_later(world)
        assert health_of(world) == VANISHED
        assert told(world) == [f"h1: sound -> disabled: {UNLISTED}", f"h1: disabled -> failed: {UNLISTED}"]

        before = world.snapshot()
        look_later(world)
        assert world.snapshot() == before

    def test_many_looks_at_the_same_time_are_no_proof(self, world: World) -> None:
        for _ in range(5):
            look(world)
            world.clock.advance(INTERVAL / 6)

        assert health_of(world) == MISSED

    def test_the_deciding_check_is_made_without_polling(self, world: World) -> None:
        look(world)
        assert due(world)[HOST_CHECK] == world.clock.now() + INTERVAL

        world.clock.advance(INTERVAL)
        world.work()

        assert health_of(world) == VANISHED
        assert HOST_CHECK not in due(world)

    def test_it_is_sound_at_once_when_it_is_listed_again(self, world: World) -> None:
        look(world)
        world.cloud.add_hypervisor("h1")
        look(world)
        assert health_of(world) == HEALTHY

        world.clock.advance(INTERVAL)
        world.cloud.remove_hypervisor("h1")
        look(world)

        assert health_of(world) == MISSED  # A second absence, counted from now.

    def test_what_has_failed_does_not_get_better_by_that(self, world: World) -> None:
        world.cloud.set_host_state("h2", is_up=False)
        look(world)
        world.cloud.remove_hypervisor("h2")

        look(world)

        assert health_of(world, "h2") == VANISHED

    def test_an_empty_answer_counts_as_an_absence_of_all(self, world: World) -> None:
        world.cloud.remove_hypervisor("h2")

        look(world)
        assert {health_of(world, name) for name in ("h1", "h2")} == {MISSED}

        look_later(world)
        assert {health_of(world, name) for name in ("h1", "h2")} == {VANISHED}

    def test_the_absence_of_a_host_that_was_removed_is_forgotten(self, world: World) -> None:
        look(world)
        (host,) = [e for e in good(world.get("/os-hosts"))["hosts"] if e["hypervisor_hostname"] == "h1"]
        assert world.ask("DELETE", f"/os-hosts/{host['id']}").status_code == 204

        look(world)

        with world.engine.connect() as connection:
            assert connection.execute(sa.select(sweep_findings)).all() == []


def test_a_cloud_that_does_not_answer_changes_nothing(world: World) -> None:
    STATES["down"][0](world)
    world.cloud.faults.add(FaultRule(kind=FaultKind.STATUS, operation="compute.list_hypervisors", times=1))
    before = world.snapshot()

    with pytest.raises(CloudUnavailable):
        look(world)
    assert world.snapshot() == before

    look(world)
    assert health_of(world) == DOWN


def test_what_before_each_raises_ends_the_look_with_what_was_noted_so_far(world: World) -> None:
    for name in ("h1", "h2"):
        world.cloud.set_host_state(name, is_up=False)
    chances = iter([True, False])

    def check_claim() -> None:
        if not next(chances):
            raise CloudUnavailable("stop")

    with pytest.raises(CloudUnavailable, match="stop"):
        check_hosts(world.context, "manager", check_claim)

    assert {health_of(world, name)[0] for name in ("h1", "h2")} == {Health.FAILED, Health.HEALTHY}


def test_weakness_43_a_compute_service_may_have_another_name_than_its_hypervisor(world: World) -> None:
    world.cloud.add_hypervisor("node-7.example.org", service_host="node-7")
    good(world.post("/os-hosts", {"name": "node-7.example.org"}), 201)
    world.cloud.set_host_state("node-7.example.org", is_up=False)

    assert notice_change(world.context, "node-7")
    world.clock.advance(timedelta(seconds=1))
    world.work()

    assert health_of(world, "node-7.example.org") == (
        Health.FAILED,
        "its compute service node-7 is down",
    )
