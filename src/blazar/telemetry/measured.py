"""Wrappers around ports that measure calls without changing them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, cast

from blazar.domain.errors import BlazarError, CloudError, Unavailable
from blazar.ports import metrics
from blazar.ports.enforcement import EstimatesCost, LimitsDuration
from blazar.ports.meter import Meter

if TYPE_CHECKING:
    from datetime import timedelta

    from blazar.ports.block_storage import ProjectStorage
    from blazar.ports.cloud import Cloud
    from blazar.ports.compute import Lessee, LesseeCompute
    from blazar.ports.enforcement import Cost, EnforcementFilter, JsonObject, LeaseUsage, Occasion
    from blazar.ports.manager import Manager
    from blazar.ports.outbox import Notifier

OK = "ok"
SENT, FAILED = "sent", "failed"

Call = Callable[[], Any]


class _Around:
    """A proxy that passes each method call to *call*, with the method's name and the call itself.

    To ``isinstance`` it has the class of the inner object, so that a plugin keeps its capabilities.
    """

    def __init__(self, inner: Any, call: Callable[[str, Call], Any]) -> None:
        self._inner = inner
        self._call = call

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return self._inner.__class__

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if not callable(found):
            return found
        call = self._call
        return lambda *args, **kwargs: call(name, lambda: found(*args, **kwargs))


def measured_manager(manager: Manager, meter: Meter) -> Manager:
    """Return *manager* with its requests counted and timed, in the process that serves them."""

    def call(method: str, request: Call) -> Any:
        start, outcome = time.perf_counter(), BlazarError.code
        try:
            result = request()
            outcome = OK
            return result
        except BlazarError as error:
            outcome = error.code
            raise
        finally:
            meter.observe(metrics.REQUEST_SECONDS, time.perf_counter() - start, method)
            meter.count(metrics.REQUESTS, method, outcome)

    return cast("Manager", _Around(manager, call))


def measured_managers(managers: Manager, meter: Meter) -> Manager:
    """Return *managers*, as the API sees them over the bus, with calls timed and failures counted."""

    def call(method: str, request: Call) -> Any:
        start = time.perf_counter()
        try:
            return request()
        except Unavailable as error:
            # An unreachable filter is reported by a manager, so the manager did answer.
            if type(error) is Unavailable:
                meter.count(metrics.MANAGER_CALL_FAILURES, method)
            raise
        finally:
            meter.observe(metrics.MANAGER_CALL_SECONDS, time.perf_counter() - start, method)

    return cast("Manager", _Around(managers, call))


_SERVICES: Mapping[str, str] = dict.fromkeys(
    ("hypervisors", "aggregates", "servers", "images", "flavors", "server_groups"), "compute"
)
"""The services under which the calls of a port are counted, where it is not the port's own name."""


class _MeasuredCloud:
    """A cloud with timed operations and counted errors."""

    def __init__(self, cloud: Cloud, meter: Meter) -> None:
        self._cloud = cloud
        self._meter = meter

    def __getattr__(self, name: str) -> object:
        """Return a port of the cloud, which is measured from now on."""
        port = getattr(self._cloud, name)
        measured = port if name == "executor" else self._measured(_SERVICES.get(name, name), port)
        setattr(self, name, measured)
        return measured

    def compute_for(self, lessee: Lessee) -> LesseeCompute:
        """Return the part of Nova that is called with a lessee's token. No I/O."""
        return cast("LesseeCompute", self._measured("lessee", self._cloud.compute_for(lessee)))

    def storage_in(self, project_id: str) -> ProjectStorage:
        """Return Cinder as a member of a project uses it. No I/O."""
        return cast("ProjectStorage", self._measured("project_storage", self._cloud.storage_in(project_id)))

    def _measured(self, service: str, port: object) -> object:
        def call(operation: str, request: Call) -> Any:
            start = time.perf_counter()
            try:
                return request()
            except CloudError as error:
                self._meter.count(metrics.CLOUD_CALL_FAILURES, service, operation, error.code)
                raise
            finally:
                seconds = time.perf_counter() - start
                self._meter.observe(metrics.CLOUD_CALL_SECONDS, seconds, service, operation)

        return _Around(port, call)


def measured_cloud(cloud: Cloud, meter: Meter) -> Cloud:
    """Return *cloud* with the operations of all its ports timed, and their errors counted."""
    return cast("Cloud", _MeasuredCloud(cloud, meter))


def measured_plugin(plugin: Any, meter: Meter) -> Any:
    """Return a resource plugin with its steps on the cloud counted by outcome."""

    def step(action: str) -> Callable[..., Any]:
        act = getattr(plugin, action)

        def take(cloud: Cloud, assignment: Any, item: Any, seen: Any) -> Any:
            outcome_name = FAILED
            try:
                outcome = act(cloud, assignment, item, seen)
                outcome_name = type(outcome).__name__.lower()
                return outcome
            finally:
                meter.count(metrics.STEPS, plugin.resource_type, action, _kind(item), outcome_name)

        return take

    around = _Around(plugin, lambda name, call: call())
    # Attributes of the proxy take precedence over those of the plugin.
    around.make, around.remove = step("make"), step("remove")  # type: ignore[attr-defined]
    return around


def _kind(item: Any) -> str:
    """Return the kind of an item, as its plugin names it; never its identity."""
    kind = getattr(item, "kind", None)
    return (kind.name if isinstance(kind, Enum) else type(item).__name__).lower()


class MeasuredNotifier:
    """A notifier with counted deliveries."""

    def __init__(self, notifier: Notifier, meter: Meter) -> None:
        self._notifier = notifier
        self._meter = meter

    def notify(self, event_type: str, payload: Mapping[str, object]) -> None:
        """Deliver a notification. Raises Unavailable on failure."""
        outcome = FAILED
        try:
            self._notifier.notify(event_type, payload)
            outcome = SENT
        finally:
            self._meter.count(metrics.NOTIFICATIONS, event_type, outcome)


class MeasuredFilter:
    """An enforcement filter with counted and timed decisions."""

    def __init__(self, inner: EnforcementFilter, name: str, meter: Meter) -> None:
        self._inner = inner
        self._name = name
        self._meter = meter

    def check_create(self, usage: LeaseUsage, key: str) -> None:
        """Return if the lease may be created. Raises as the filter does."""
        self._check("create", lambda: self._inner.check_create(usage, key))

    def check_update(self, current: LeaseUsage, usage: LeaseUsage, key: str) -> None:
        """Return if the lease may be changed. Raises as the filter does."""
        self._check("update", lambda: self._inner.check_update(current, usage, key))

    def longest_lease(self, project_id: str | None) -> timedelta | None:
        """Return the longest lease that the filter states to allow; None for no limit."""
        return self._inner.longest_lease(project_id) if isinstance(self._inner, LimitsDuration) else None

    def cost_of(self, usage: LeaseUsage) -> Cost | None:
        """Return the cost that the filter states; None if it states none. Raises as the filter does."""
        return self._inner.cost_of(usage) if isinstance(self._inner, EstimatesCost) else None

    def wants(self, occasion: Occasion, project_id: str | None) -> bool:
        """Return whether the filter wants messages about a project's leases."""
        return self._inner.wants(occasion, project_id)

    def deliver(self, occasion: Occasion, document: JsonObject, key: str) -> None:
        """Deliver a message. Raises as the filter does."""
        outcome = FAILED
        try:
            self._inner.deliver(occasion, document, key)
            outcome = SENT
        finally:
            self._meter.count(metrics.FILTER_MESSAGES, self._name, occasion.value, outcome)

    def _check(self, question: str, ask: Call) -> None:
        start, outcome = time.perf_counter(), FAILED
        try:
            ask()
            outcome = "allowed"
        except Unavailable:
            raise
        except BlazarError:
            outcome = "refused"
            raise
        finally:
            self._meter.observe(metrics.FILTER_CHECK_SECONDS, time.perf_counter() - start, self._name)
            self._meter.count(metrics.FILTER_CHECKS, self._name, question, outcome)


if TYPE_CHECKING:

    def _witness(notifier: MeasuredNotifier, each: MeasuredFilter) -> tuple[Notifier, EnforcementFilter]:
        return notifier, each
