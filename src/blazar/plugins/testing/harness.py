"""What the contract suite has to know of one plugin."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar, cast

from blazar.booking.context import Plugin
from blazar.cloud.simulated.cloud import SimulatedCloud
from blazar.cloud.simulated.faults import FaultRule, Moment
from blazar.manager.service import ManagerService
from blazar.plugins.contract import JsonObject
from blazar.plugins.testing.clocks import ManualClock
from blazar.plugins.testing.faults import WatchedFaults

TargetT = TypeVar("TargetT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """Everything that is not the service, as a test begins."""

    clock: ManualClock
    cloud: SimulatedCloud
    faults: WatchedFaults

    def watched(self, target: TargetT, name: str) -> TargetT:
        """Return a plugin's own way to the outside, so that the suite has its calls go wrong, too.

        Args:
            target: The object whose methods are one request each, such as the client of a service.
            name: What its calls are named after in messages.
        """
        return cast(TargetT, _Watched(target, name, self.faults))


class Harness(ABC):
    """One plugin, a request for it, and its resources; made anew for every test."""

    body: ClassVar[JsonObject]
    """What a reservation asks for, without ``resource_type``; there is enough for two of them."""
    changes: ClassVar[JsonObject]
    """A change of it before its start that can be had."""
    everything: ClassVar[JsonObject]
    """What asks, together with ``body``, for all there is, so that nothing is left for another ``body``."""
    refused: ClassVar[tuple[tuple[str, JsonObject], ...]]
    """Keys that a refusal has to name, each with what makes ``body`` a request that is to be refused."""
    less: ClassVar[JsonObject | None] = None
    """What an active reservation can be reduced to; None if it cannot be."""

    @abstractmethod
    def set_up(self, outside: Outside) -> None:
        """Have an outside in which there are resources, and nothing is reserved."""

    @abstractmethod
    def make_plugin(self, outside: Outside) -> Plugin:
        """Return a new plugin, as a process makes it when it starts."""

    def register(self, service: ManagerService) -> None:
        """Register the resources, as operators do; what a plugin has in stock needs none of that."""
        return

    @abstractmethod
    def snapshot(self, outside: Outside) -> object:
        """Return what exists outside, in detail, for comparison; not asked of the plugin."""

    def put_strangers(self, outside: Outside) -> None:
        """Have there what belongs to others, but may be taken for ours at first sight; by default nothing."""
        return


class _Watched:
    """Passes calls on, unless the script has something against it."""

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
                # A lost reply is lost, also where the reply is an error.
                _misbehave(rule, operation, Moment.AFTER)

        return call


def _misbehave(rule: FaultRule | None, operation: str, moment: Moment) -> None:
    failure = rule.failure_at(moment, operation) if rule else None
    if failure is not None:
        raise failure
