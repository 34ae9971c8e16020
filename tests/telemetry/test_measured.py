"""Wrappers that measure calls to a port."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum
from types import SimpleNamespace
from typing import Any, cast

import pytest
from clocks import ManualClock
from telemetry.counting import Counts

from blazar.cloud.simulated import SimulatedCloud
from blazar.cloud.simulated.faults import FaultKind, FaultRule
from blazar.domain.errors import (
    CloudConflict,
    CloudNotFound,
    CloudUnavailable,
    EnforcementUnavailable,
    Unavailable,
    UsageDenied,
)
from blazar.plugins.contract import Done, Refused, Unusable, Waiting
from blazar.plugins.hosts.errors import NotEnoughHosts
from blazar.ports import metrics
from blazar.ports.compute import Lessee
from blazar.ports.enforcement import Occasion
from blazar.ports.manager import Caller, Manager
from blazar.telemetry.measured import (
    MeasuredFilter,
    MeasuredNotifier,
    measured_cloud,
    measured_manager,
    measured_managers,
    measured_plugin,
)

CALLER = Caller(user_id="u", project_id="p")


class Answering:
    """An object whose methods all return one value or raise one error."""

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def method(*args: object, **kwargs: object) -> object:
            if isinstance(self.answer, Exception):
                raise self.answer
            return self.answer

        return method


class TestManager:
    def test_requests_are_counted_by_what_came_of_them(self) -> None:
        counts, inner = Counts(), Answering({"id": "1"})
        manager = measured_manager(cast("Manager", inner), counts)

        assert manager.get_lease(CALLER, "1") == {"id": "1"}
        for error in (NotEnoughHosts("none"), RuntimeError("unexpected")):
            inner.answer = error
            with pytest.raises(type(error)):
                manager.create_lease(CALLER, {})

        assert counts.of(metrics.REQUESTS) == {
            ("get_lease", "ok"): 1,
            ("create_lease", "not-enough-hosts"): 1,
            ("create_lease", "internal"): 1,
        }
        observed = counts.values(metrics.REQUEST_SECONDS)
        assert {key: len(values) for key, values in observed.items()} == {
            ("get_lease",): 1,
            ("create_lease",): 2,
        }

    def test_the_api_counts_calls_without_an_answer_and_not_what_a_manager_answers(self) -> None:
        counts, inner = Counts(), Answering(None)
        managers = measured_managers(cast("Manager", inner), counts)

        for error in (Unavailable("no answer"), EnforcementUnavailable("an answer"), NotEnoughHosts("none")):
            inner.answer = error
            with pytest.raises(type(error)):
                managers.create_lease(CALLER, {})

        assert counts.of(metrics.MANAGER_CALL_FAILURES) == {("create_lease",): 1}
        assert len(counts.values(metrics.MANAGER_CALL_SECONDS)[("create_lease",)]) == 3


class TestCloud:
    def test_operations_are_timed_and_errors_counted(self) -> None:
        counts, inner = Counts(), SimulatedCloud(ManualClock())
        cloud = measured_cloud(inner, counts)

        made = cloud.aggregates.create_aggregate("a", None, {})
        with pytest.raises(CloudConflict):
            cloud.aggregates.create_aggregate("a", None, {})
        with pytest.raises(CloudNotFound):
            cloud.aggregates.delete_aggregate(made.id + 1)
        inner.faults.add(FaultRule(kind=FaultKind.STATUS, status=503))
        with pytest.raises(CloudUnavailable):
            cloud.placement.list_resource_classes()
        with pytest.raises(CloudUnavailable):
            cloud.compute_for(Lessee(project_id="p")).find_flavor("f")

        assert counts.of(metrics.CLOUD_CALL_FAILURES) == {
            ("compute", "create_aggregate", "cloud-conflict"): 1,
            ("compute", "delete_aggregate", "cloud-not-found"): 1,
            ("placement", "list_resource_classes", "cloud-unavailable"): 1,
            ("lessee", "find_flavor", "cloud-unavailable"): 1,
        }
        observed = counts.values(metrics.CLOUD_CALL_SECONDS)
        assert {key: len(values) for key, values in observed.items()} == {
            ("compute", "create_aggregate"): 2,
            ("compute", "delete_aggregate"): 1,
            ("placement", "list_resource_classes"): 1,
            ("lessee", "find_flavor"): 1,
        }


class Kind(IntEnum):
    MEMBER = 3


class Steps:
    """The part of a plugin that runs steps."""

    resource_type = "physical:host"
    collection = "host"

    def __init__(self) -> None:
        self.outcome: object = Done()

    def decode(self, stored: Mapping[str, object]) -> object:
        return stored

    def make(self, cloud: object, assignment: object, item: object, seen: object) -> object:
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome

    remove = make


class TestPlugin:
    def test_steps_are_counted_by_kind_and_by_what_came_of_them(self) -> None:
        counts, steps = Counts(), Steps()
        plugin = measured_plugin(steps, counts)
        member, other = SimpleNamespace(kind=Kind.MEMBER, scope="host-17"), SimpleNamespace()

        for outcome in (Done(), Waiting(None, "w"), Refused("r"), Unusable("u")):  # type: ignore[arg-type]
            steps.outcome = outcome
            assert plugin.make(None, None, member, None) is outcome
        steps.outcome = CloudConflict("c")
        with pytest.raises(CloudConflict):
            plugin.remove(None, None, other, None)

        assert counts.of(metrics.STEPS) == {
            ("physical:host", "make", "member", "done"): 1,
            ("physical:host", "make", "member", "waiting"): 1,
            ("physical:host", "make", "member", "refused"): 1,
            ("physical:host", "make", "member", "unusable"): 1,
            ("physical:host", "remove", "simplenamespace", "failed"): 1,
        }

    def test_all_else_is_the_plugins_own(self) -> None:
        plugin = measured_plugin(Steps(), Counts())

        assert (plugin.resource_type, plugin.collection) == ("physical:host", "host")
        assert plugin.decode({"min": 1}) == {"min": 1}


def test_notifications_are_sent_or_failed() -> None:
    counts, inner = Counts(), Answering(None)
    notifier = MeasuredNotifier(cast("Any", inner), counts)

    notifier.notify("lease.create", {})
    inner.answer = Unavailable("away")
    with pytest.raises(Unavailable):
        notifier.notify("lease.create", {})

    assert counts.of(metrics.NOTIFICATIONS) == {("lease.create", "sent"): 1, ("lease.create", "failed"): 1}


def test_filters_allow_refuse_or_fail() -> None:
    counts, inner = Counts(), Answering(None)
    found = MeasuredFilter(cast("Any", inner), "Limit", counts)
    usage: Any = None

    found.check_create(usage, "k")
    found.check_update(usage, usage, "k")
    found.deliver(Occasion.ON_END, {}, "k")
    for error in (UsageDenied("no"), EnforcementUnavailable("away"), RuntimeError("unexpected")):
        inner.answer = error
        with pytest.raises(type(error)):
            found.check_create(usage, "k")
        with pytest.raises(type(error)):
            found.deliver(Occasion.ON_END, {}, "k")

    assert counts.of(metrics.FILTER_CHECKS) == {
        ("Limit", "create", "allowed"): 1,
        ("Limit", "update", "allowed"): 1,
        ("Limit", "create", "refused"): 1,
        ("Limit", "create", "failed"): 2,
    }
    assert counts.of(metrics.FILTER_MESSAGES) == {
        ("Limit", "on-end", "sent"): 1,
        ("Limit", "on-end", "failed"): 3,
    }
    assert len(counts.values(metrics.FILTER_CHECK_SECONDS)[("Limit",)]) == 5
