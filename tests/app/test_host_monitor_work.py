"""Occasions for a check of hosts: registration, notifications from Nova, polling, and a manager's start."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import timedelta

import pytest
from app.conftest import EnvWith
from app.http_env import HttpEnv, good, quiet_settings
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

from blazar.domain.health import Health
from blazar.plugins.hosts.monitor import HOST_CHECK, notice_change
from blazar.reconcile.loop import Reconciler
from blazar.reconcile.outbox import OutboxSender
from blazar.settings import Settings


@pytest.fixture
def env(env_with: EnvWith) -> HttpEnv:
    """Return an environment with two hosts that is checked only on request."""
    return watched(env_with(monitored(is_listening=True)))


class TestRegistration:
    def test_a_host_that_is_disabled_at_registration_is_not_allocated(self, env: HttpEnv) -> None:
        env.cloud.add_hypervisor("h9")
        env.cloud.set_host_state("h9", is_enabled=False)

        answer = good(env.post("/os-hosts", {"name": "h9"}), 201)

        assert not answer["host"]["reservable"]
        assert health_of(env, "h9")[0] is Health.DISABLED

    def test_what_happens_to_a_host_while_it_is_registered_is_seen(self, env: HttpEnv) -> None:
        env.register("h9")
        env.cloud.set_host_state("h9", is_up=False)

        env.clock.advance(timedelta(seconds=1))
        env.work()

        assert health_of(env, "h9") == (Health.FAILED, "its compute service h9 is down")

    def test_without_a_monitor_hosts_are_not_checked(self, env_with: EnvWith) -> None:
        env = env_with(quiet_settings())
        env.cloud.add_hypervisor("h9")
        env.cloud.set_host_state("h9", is_up=False)

        answer = good(env.post("/os-hosts", {"name": "h9"}), 201)

        assert answer["host"]["reservable"]
        assert HOST_CHECK not in due(env)


class TestNews:
    """Notifications about compute services."""

    def test_news_of_a_registered_host_bring_about_a_look(self, env: HttpEnv) -> None:
        env.cloud.set_host_state("h1", is_enabled=False)

        assert notice_change(env.context, "h1")

        env.clock.advance(timedelta(seconds=1))
        env.work()
        assert health_of(env) == DISABLED

    def test_many_news_bring_about_one_look(self, env: HttpEnv) -> None:
        calls = env.cloud.calls["compute.list_hypervisors"]

        for _ in range(10):
            notice_change(env.context, "h1")
            notice_change(env.context, "h2")
        env.clock.advance(timedelta(seconds=1))
        env.work()

        assert env.cloud.calls["compute.list_hypervisors"] == calls + 1
        assert HOST_CHECK not in due(env)

    def test_news_are_not_believed(self, env: HttpEnv) -> None:
        before = told(env)

        notice_change(env.context, "h1")
        env.clock.advance(timedelta(seconds=1))
        env.work()

        assert told(env) == before

    @pytest.mark.parametrize("name", ["h", "h1.example.org", "unknown", "", "%", "x" * 5000])
    def test_news_of_others_do_not_matter(self, env: HttpEnv, name: str) -> None:
        before = env.snapshot()

        assert not notice_change(env.context, name)

        assert env.snapshot() == before


class TestPolling:
    @pytest.fixture
    def env(self, env_with: EnvWith) -> HttpEnv:
        """Return an environment whose manager polls Nova and has just started."""
        env = env_with(monitored(is_polling=True))
        env.register("h1", "h2")
        env.work()
        return env

    def test_nova_is_asked_again_and_again(self, env: HttpEnv) -> None:
        env.clock.advance(timedelta(seconds=1))
        env.work()
        calls = env.cloud.calls["compute.list_hypervisors"]

        env.pass_time(10)

        assert env.cloud.calls["compute.list_hypervisors"] - calls in (4, 5)

    def test_weakness_43_a_service_that_falls_silent_is_seen_within_the_interval(self, env: HttpEnv) -> None:
        env.pass_time(1)
        env.cloud.set_host_state("h1", is_up=False)

        env.pass_time(1 + INTERVAL / timedelta(minutes=1))

        assert health_of(env) == DOWN

    @pytest.mark.parametrize("status", [503, 403, 409])
    def test_weakness_43_an_error_of_nova_is_no_error_of_ours_and_the_look_is_made_again(
        self, env: HttpEnv, status: int
    ) -> None:
        env.pass_time(1)
        env.cloud.set_host_state("h1", is_up=False)

        with env.failing("compute.list_hypervisors", status=status):
            env.pass_time(8)
        assert health_of(env) == HEALTHY

        env.pass_time(8 + 2)
        assert health_of(env) == DOWN


class TestManagers:
    """A manager's actions at its start."""

    @staticmethod
    def start(env: HttpEnv, settings: Settings) -> None:
        context = replace(env.context, settings=settings)
        sender = OutboxSender(context.store, context.clock, env.sent, {})
        reconciler = Reconciler(context, "another", sender, threading.Event())
        reconciler.plan_periodic_tasks()
        reconciler.run_due()

    @pytest.mark.parametrize("monitor", ["is_polling", "is_listening"])
    def test_it_looks_at_once(self, env: HttpEnv, monitor: str) -> None:
        env.cloud.set_host_state("h1", is_up=False)

        self.start(env, monitored(**{monitor: True}))

        assert health_of(env) == DOWN
        again = {"is_polling": env.clock.now() + INTERVAL, "is_listening": None}
        assert due(env).get(HOST_CHECK) == again[monitor]

    def test_hosts_are_healthy_again_once_the_monitor_is_off(self, env: HttpEnv) -> None:
        for name in ("h1", "h2"):
            env.cloud.set_host_state(name, is_up=False)
        look(env)
        calls = dict(env.cloud.calls)

        self.start(env, quiet_settings())

        assert {health_of(env, name) for name in ("h1", "h2")} == {HEALTHY}
        assert HOST_CHECK not in due(env)
        assert env.cloud.calls["compute.list_hypervisors"] <= calls["compute.list_hypervisors"] + 1
