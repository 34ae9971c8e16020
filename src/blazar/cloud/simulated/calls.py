"""The execution of calls to the simulated cloud."""

from __future__ import annotations

import functools
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from blazar.cloud.simulated import codec
from blazar.cloud.simulated.faults import FaultRule, FaultScript, Moment
from blazar.cloud.simulated.state import CloudState
from blazar.domain.errors import CloudUnavailable
from blazar.ports.clock import Clock

ArgsT = ParamSpec("ArgsT")
ResultT = TypeVar("ResultT")
ServiceT = TypeVar("ServiceT", bound="Service")


class Calls:
    """Executor of calls: counts a call, waits for its duration, applies faults, and runs its effect.

    Only the effect runs under the lock, so calls with a duration overlap as in a real cloud.
    """

    def __init__(
        self,
        clock: Clock,
        faults: FaultScript,
        *,
        call_duration: timedelta,
        state_file: Path | None,
        is_read_only: bool = False,
    ) -> None:
        self._clock = clock
        self._faults = faults
        self._call_duration = call_duration
        self._state_file = state_file
        self._is_read_only = is_read_only
        self._state = CloudState() if state_file is None else codec.load(state_file)
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._is_saved_later = False

    @property
    def counts(self) -> Counter[str]:
        """Return a copy of the number of calls by operation."""
        with self._lock:
            return Counter(self._counts)

    @property
    def state(self) -> CloudState:
        """Return the state; to be used only in an effect, that is, under the lock."""
        return self._state

    def now(self) -> datetime:
        """Return the present instant of the cloud's clock."""
        return self._clock.now()

    def run(self, operation: str, effect: Callable[[], ResultT], *, writes: bool) -> ResultT:
        """Return the result of *effect*, unless the script has a fault for the call.

        Raises:
            CloudError: From the effect or from the script.
            SimulatedCrash: From the script.
        """
        with self._lock:
            self._counts[operation] += 1
        rule = self._faults.decide(operation)
        self._pause(self._call_duration)
        self._misbehave(rule, operation, Moment.BEFORE)
        try:
            with self.exclusive(writes=writes):
                return effect()
        finally:
            # A lost reply is lost even if it is an error.
            self._misbehave(rule, operation, Moment.AFTER)

    @contextmanager
    def exclusive(self, *, writes: bool = True) -> Iterator[CloudState]:
        """Lock the state for one thread, and write it to the file afterwards if *writes*.

        Raises:
            CloudUnavailable: The cloud is read-only, or the file cannot be written.
        """
        if writes and self._is_read_only:
            raise CloudUnavailable(
                "the simulated cloud belongs to a running service and cannot be changed here"
            )
        with self._lock:
            self._state.forget_deleted_servers(self._clock.now())
            self._state.finish_volume_work(self._clock.now())
            yield self._state
            if writes:
                self._save()

    @contextmanager
    def saved_once(self) -> Iterator[None]:
        """Write the state to the file once, at the end, instead of after each change.

        If the process ends earlier, the file has none of the changes.

        Raises:
            CloudUnavailable: The file cannot be written.
        """
        self._is_saved_later = True
        try:
            yield
        finally:
            self._is_saved_later = False
            with self._lock:
                self._save()

    def _save(self) -> None:
        if self._state_file is None or self._is_saved_later:
            return
        try:
            codec.save(self._state, self._state_file)
        except OSError as error:
            raise CloudUnavailable(f"the simulated cloud cannot be saved: {error}") from error

    def _misbehave(self, rule: FaultRule | None, operation: str, moment: Moment) -> None:
        if rule is None:
            return
        self._pause(rule.delay_at(moment))
        failure = rule.failure_at(moment, operation)
        if failure is not None:
            raise failure

    def _pause(self, duration: timedelta) -> None:
        if duration > timedelta(0):
            self._clock.wait(threading.Event(), duration)


class Service:
    """One service of the cloud; its methods are decorated with :func:`reads` or :func:`writes`."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    @property
    def _state(self) -> CloudState:
        return self._calls.state


class _Marker(Protocol):
    def __call__(
        self, method: Callable[Concatenate[ServiceT, ArgsT], ResultT], /
    ) -> Callable[Concatenate[ServiceT, ArgsT], ResultT]: ...


def reads(operation: str) -> _Marker:
    """Decorate a method as an operation that does not change the cloud."""
    return _marker(operation, writes=False)


def writes(operation: str) -> _Marker:
    """Decorate a method as an operation that changes the cloud."""
    return _marker(operation, writes=True)


def _marker(operation: str, *, writes: bool) -> _Marker:
    def mark(
        method: Callable[Concatenate[ServiceT, ArgsT], ResultT], /
    ) -> Callable[Concatenate[ServiceT, ArgsT], ResultT]:
        @functools.wraps(method)
        def call(service: ServiceT, /, *args: ArgsT.args, **kwargs: ArgsT.kwargs) -> ResultT:
            return service._calls.run(operation, lambda: method(service, *args, **kwargs), writes=writes)

        return call

    return mark
