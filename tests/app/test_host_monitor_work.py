"""Occasions for a check of hosts: registration, notifications from Nova, polling, and a manager's start."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import timedelta

import pytest
from app.conftest import WorldWith
from app.monitoring import (
    DISABLED,
    DOWN,
    HEALTHY,
    INTERVAL,
    due,
    health_of,
    look,
    monitored,
    told,
    watched,
)
from app.world import World, good, quiet_settings

from blazar.booking.scheduling import HOST_CHECK
from blazar.domain.health import Health
from blazar.reconcile.loop import Reconciler
from blazar.reconcile.outbox import OutboxSender
from blazar.reconcile.periodic.host_monitor import notice_change
from blazar.settings import Settings


@pytest.fixture
def world(world_with: WorldWith) -> World:
    """Return a world with two hosts that is checked only on request."""
    return watched(world_with(monitored(is_listening=True)))


class TestRegistration:
    def test_a_host_that_is_disabled_at_registration_is_not_allocated(self, world: World) -> None:
        world.cloud.add_hypervisor("h9")
        world.cloud.set_host_state("h9", is_enabled=False)

        answer = good(world.post("/os-hosts", {"name": "h9"}), 201)

        assert not answer["host"]["reservable"]
        assert health_of(world, "h9")[0] is Health.DISABLED

    def test_what_happens_to_a_host_while_it_is_registered_is_seen(self, world: World) -> None:
        world.register("h9")
        world.cloud.set_host_state("h9", is_up=False)

        world.clock.advance(timedelta(seconds=1))
        world.work()

        assert health_of(world, "h9") == (Health.FAILED, "its compute service h9 is down")

    def test_without_a_monitor_hosts_are_not_checked(self, world_with: WorldWith) -> None:
        world = world_with(quiet_settings())
        world.cloud.add_hypervisor("h9")
        world.cloud.set_host_state("h9", is_up=False)

        answer = good(world.post("/os-hosts", {"name": "h9"}), 201)

        assert answer["host"]["reservable"]
        assert HOST_CHECK not in due(world)


class TestNews:
    """Notifications about compute services."""

    def test_news_of_a_registered_host_bring_about_a_look(self, world: World) -> None:
        world.cloud.set_host_state("h1", is_enabled=False)

        assert notice_change(world.context, "h1")

        world.clock.advance(timedelta(seconds=1))
        world.work()
        assert health_of(world) == DISABLED

    def test_many_news_bring_about_one_look(self, world: World) -> None:
        calls = world.cloud.calls["compute.list_hypervisors"]

        for _ in range(10):
            notice_change(world.context, "h1")
            notice_change(world.context, "h2")
        world.clock.advance(timedelta(seconds=1))
        world.work()

        assert world.cloud.calls["compute.list_hypervisors"] == calls + 1
        assert HOST_CHECK not in due(world)

    def test_news_are_not_believed(self, world: World) -> None:
        before = told(world)

        notice_change(world.context, "h1")
        world.clock.advance(timedelta(seconds=1))
        world.work()

        assert told(world) == before

    @pytest.mark.parametrize("name", ["h", "h1.example.org", "unknown", "", "%", "x" * 5000])
    def test_news_of_others_do_not_matter(self, world: World, name: str) -> None:
        before = world.snapshot()

        assert not notice_change(world.context, name)

        assert world.snapshot() == before


class TestPolling:
    @pytest.fixture
    def world(self, world_with: WorldWith) -> World:
        """Return a world whose manager polls Nova and has just started."""
        world = world_with(monitored(is_polling=True))
        world.register("h1", "h2")
        world.work()
        return world

    def test_nova_is_asked_again_and_again(self, world: World) -> None:
        world.clock.advance(timedelta(seconds=1))
        world.work()
        calls = world.cloud.calls["compute.list_hypervisors"]

        world.pass_time(10)

        assert world.cloud.calls["compute.list_hypervisors"] - calls in (4, 5)

    def test_weakness_43_a_service_that_falls_silent_is_seen_within_the_interval(self, world: World) -> None:
        world.pass_time(1)
        world.cloud.set_host_state("h1", is_up=False)

        world.pass_time(1 + INTERVAL / timedelta(minutes=1))

        assert health_of(world) == DOWN

    @pytest.mark.parametrize("status", [503, 403, 409])
    def test_weakness_43_an_error_of_nova_is_no_error_of_ours_and_the_look_is_made_again(
        self, world: World, status: int
    ) -> None:
        world.pass_time(1)
        world.cloud.set_host_state("h1", is_up=False)

        with world.failing("compute.list_hypervisors", status=status):
            world.pass_time(8)
        assert health_of(world) == HEALTHY

        world.pass_time(8 + 2)
        assert health_of(world) == DOWN


class TestManagers:
    """A manager's actions at its start."""

    @staticmethod
    def start(world: World, settings: Settings) -> None:
        context = replace(world.context, settings=settings)
        sender = OutboxSender(context.store, context.clock, world.sent, {})
        reconciler = Reconciler(context, "another", sender, threading.Event())
        reconciler.plan_chores()
        reconciler.run_due()

    @pytest.mark.parametrize("monitor", ["is_polling", "is_listening"])
    def test_it_looks_at_once(self, world: World, monitor: str) -> None:
        world.cloud.set_host_state("h1", is_up=False)

        self.start(world, monitored(**{monitor: True}))

        assert health_of(world) == DOWN
        again = {"is_polling": world.clock.now() + INTERVAL, "is_listening": None}
        assert due(world).get(HOST_CHECK) == again[monitor]

    def test_hosts_are_healthy_again_once_the_monitor_is_off(self, world: World) -> None:
        for name in ("h1", "h2"):
            world.cloud.set_host_state(name, is_up=False)
        look(world)
        calls = dict(world.cloud.calls)

        self.start(world, quiet_settings())

        assert {health_of(world, name) for name in ("h1", "h2")} == {HEALTHY}
        assert HOST_CHECK not in due(world)
        assert world.cloud.calls["compute.list_hypervisors"] <= calls["compute.list_hypervisors"] + 1
