"""The description of one plugin that the contract suite needs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar, cast

from blazar.booking.context import Plugin
from blazar.cloud.simulated.cloud import SimulatedCloud
from blazar.cloud.simulated.faults import FaultRule, Moment
from blazar.manager.service import ManagerService
from blazar.plugins.contract import JsonObject
from blazar_plugin_testing.clocks import ManualClock
from blazar_plugin_testing.faults import WatchedFaults

TargetT = TypeVar("TargetT")


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudEnv:
    """The simulated cloud, the clock and the faults that a harness gets at the start of a test."""

    clock: ManualClock
    cloud: SimulatedCloud
    faults: WatchedFaults

    def watched(self, target: TargetT, name: str) -> TargetT:
        """Return a wrapped client of a plugin's own external service, so that its calls can be made to fail.

        Args:
            target: The object whose methods make one request each.
            name: The prefix of its operations in messages.
        """
        return cast(TargetT, _Watched(target, name, self.faults))


class Harness(ABC):
    """One plugin, a request for it, and its resources; a new one for every test."""

    body: ClassVar[JsonObject]
    """The keys of a reservation, without ``resource_type``; the resources suffice for two of them."""
    changes: ClassVar[JsonObject]
    """A possible change of it before its start."""
    everything: ClassVar[JsonObject]
    """Keys that, together with ``body``, request all resources, so that no other ``body`` fits."""
    refused: ClassVar[tuple[tuple[str, JsonObject], ...]]
    """Keys that a refusal must name, each with keys that make ``body`` an invalid request."""
    less: ClassVar[JsonObject | None] = None
    """The keys to which an active reservation can be reduced; None if the plugin releases nothing."""

    @abstractmethod
    def set_up(self, env: CloudEnv) -> None:
        """Create the resources; nothing is reserved."""

    @abstractmethod
    def make_plugin(self, env: CloudEnv) -> Plugin:
        """Return a new plugin, as a process that starts does."""

    def register(self, service: ManagerService) -> None:
        """Register the resources, as operators do; not needed for resources that a plugin discovers."""
        return

    @abstractmethod
    def snapshot(self, env: CloudEnv) -> object:
        """Return everything that exists in the cloud, for comparison, without use of the plugin."""

    def put_strangers(self, env: CloudEnv) -> None:
        """Create objects of others that are similar to the plugin's own; nothing by default."""
        return


class _Watched:
    """A proxy that passes calls on, unless the script has a fault for them."""

    def __init__(self, target: object, name: str, faults: WatchedFaults) -> None:
        self._target = target
        self._name = name
        self._faults = faults

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._target, name)
        if not callable(found):
            return found
        operation = f"{self._name}.{name}"

        def call(*arguments: Any, **keywords: Any) -> Any:
            rule = self._faults.decide(operation)
            _misbehave(rule, operation, Moment.BEFORE)
            try:
                return found(*arguments, **keywords)
            finally:
                # A lost reply is lost even if it is an error.
                _misbehave(rule, operation, Moment.AFTER)

        return call


def _misbehave(rule: FaultRule | None, operation: str, moment: Moment) -> None:
    failure = rule.failure_at(moment, operation) if rule else None
    if failure is not None:
        raise failure
