"""Faults of the simulated cloud, decided for each call, and the same in every run.

A :class:`FaultScript` is a list of rules. From the time at which it was added, each rule counts the calls
that its ``operation`` matches, and strikes at those that ``nth`` or ``every`` selects; without these keys,
at each of them. If several rules select a call, only the first one strikes.

As JSON, for instance in the fault script file of a service::

    {"rules": [
        {"kind": "error", "operation": "compute.add_host", "nth": 3, "error": "cloud-conflict"},
        {"kind": "status", "operation": "placement.*", "every": 5, "status": 503},
        {"kind": "lose_reply", "operation": "compute.create_aggregate", "times": 2},
        {"kind": "late", "delay_seconds": 2.5, "every": 10},
        {"kind": "crash", "nth": 17, "when": "before"}
    ]}

Keys of a rule; only ``kind`` is required:

``kind``
    ``error``: the call fails with ``error`` and has no effect.
    ``status``: the same, with the error that an HTTP ``status`` of OpenStack stands for: 404 is
    CloudNotFound, 409 CloudConflict; 401, 408, 425, 429 and 5xx are CloudUnavailable, any other
    4xx CloudRefused.
    ``lose_reply``: the call takes effect, but fails with CloudUnavailable.
    ``late``: the call takes ``delay_seconds`` longer, before or after its effect.
    ``crash``: :class:`SimulatedCrash` is raised, before or after the effect.
``operation``
    Service and method (``compute.add_host``), or a pattern with ``*`` for several. The service is
    ``compute`` for all ports of Nova and Glance, otherwise the name of the port.
    The default is ``*``: every call counts.
``nth``, ``every``
    The matching calls, counted from 1: only the *nth*; or every *every*-th.
``times``
    The maximum number of strikes. The default is no limit.
``error``
    The code of a cloud error (``cloud-not-found``, ``cloud-conflict``, ``cloud-refused``,
    ``cloud-unavailable``). The default is the last.
``status``
    From 400 to 599; the default is 503.
``delay_seconds``
    From 0 to 86400, on the cloud's clock.
``when``
    ``before`` or ``after`` the effect, for ``late`` and ``crash``. The default is ``after``.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any

from blazar.cloud.statuses import error_of_status
from blazar.domain.errors import CloudConflict, CloudError, CloudNotFound, CloudRefused, CloudUnavailable
from blazar.ports.block_storage import BlockStorage, ProjectStorage
from blazar.ports.compute import Aggregates, Flavors, Hypervisors, LesseeCompute, ServerGroups, Servers
from blazar.ports.identity import Projects, Trusts, Users
from blazar.ports.images import Images
from blazar.ports.network import Networks
from blazar.ports.placement import Placement
from blazar.ports.segments import Segments

OPERATIONS: frozenset[str] = frozenset(
    f"{service}.{name}"
    for service, port in (
        *(("compute", port) for port in (Hypervisors, Aggregates, Servers, Images, Flavors, ServerGroups)),
        ("lessee", LesseeCompute),
        ("placement", Placement),
        ("networks", Networks),
        ("segments", Segments),
        ("block_storage", BlockStorage),
        ("project_storage", ProjectStorage),
        ("projects", Projects),
        ("users", Users),
        ("trusts", Trusts),
    )
    for name in dir(port)
    if not name.startswith("_")
)
"""The names of all operations: service, and method of a port."""

ERRORS: Mapping[str, type[CloudError]] = {
    each.code: each for each in (CloudNotFound, CloudConflict, CloudRefused, CloudUnavailable)
}
"""The errors that a rule may name, by code."""


_LONGEST_DELAY_SECONDS = 86_400


class SimulatedCrash(BaseException):
    """The caller is killed at this point. Like a kill, it cannot be caught by ``except Exception``."""


class FaultKind(StrEnum):
    """The kinds of faults; see the module."""

    ERROR = "error"
    STATUS = "status"
    LOSE_REPLY = "lose_reply"
    LATE = "late"
    CRASH = "crash"


class Moment(StrEnum):
    """Before or after the effect of a call."""

    BEFORE = "before"
    AFTER = "after"


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultRule:
    """One fault. Raises ValueError, with the name of the field, for invalid values."""

    kind: FaultKind
    operation: str = "*"
    nth: int | None = None
    every: int | None = None
    times: int | None = None
    error: type[CloudError] = CloudUnavailable
    status: int = 503
    delay: timedelta = timedelta(0)
    when: Moment = Moment.AFTER

    def __post_init__(self) -> None:
        if not any(fnmatchcase(name, self.operation) for name in OPERATIONS):
            raise ValueError(f"operation: {self.operation!r} matches no operation")
        for name in ("nth", "every", "times"):
            count = getattr(self, name)
            if count is not None and count < 1:
                raise ValueError(f"{name}: must be at least 1, not {count}")
        if self.nth is not None and self.every is not None:
            raise ValueError("every: cannot be combined with nth")
        if not 400 <= self.status <= 599:
            raise ValueError(f"status: must lie between 400 and 599, not {self.status}")
        if self.delay < timedelta(0):
            raise ValueError("delay: must not be negative")

    def picks(self, call: int) -> bool:
        """Return whether the rule strikes at the *call*-th of the calls that it matches."""
        if self.nth is not None:
            return call == self.nth
        return call % (self.every or 1) == 0

    def delay_at(self, moment: Moment) -> timedelta:
        """Return the delay of the call at this moment."""
        return self.delay if self.kind is FaultKind.LATE and self.when is moment else timedelta(0)

    def failure_at(self, moment: Moment, operation: str) -> BaseException | None:
        """Return the exception that the call raises at this moment, if any."""
        message = f"{operation} failed by script ({self.kind})"
        match self.kind, moment:
            case FaultKind.ERROR, Moment.BEFORE:
                return self.error(message)
            case FaultKind.STATUS, Moment.BEFORE:
                return error_of_status(self.status)(f"{message}, status {self.status}")
            case FaultKind.LOSE_REPLY, Moment.AFTER:
                return CloudUnavailable(message)
            case FaultKind.CRASH, self.when:
                return SimulatedCrash(message)
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Firing:
    """The application of a rule; ``call`` is the number of the call among all calls of the script."""

    rule: FaultRule
    operation: str
    call: int


@dataclass(slots=True)
class _Tally:
    rule: FaultRule
    seen: int = 0
    struck: int = 0

    def strikes(self, operation: str) -> bool:
        if not fnmatchcase(operation, self.rule.operation):
            return False
        self.seen += 1
        spent = self.rule.times is not None and self.struck >= self.rule.times
        return not spent and self.rule.picks(self.seen)


@dataclass(slots=True)
class _Record:
    tallies: list[_Tally] = field(default_factory=list)
    fired: list[Firing] = field(default_factory=list)
    calls: int = 0


class FaultScript:
    """The active rules; they may be changed at any time, from any thread."""

    def __init__(self, rules: Iterable[FaultRule] = ()) -> None:
        self._lock = threading.Lock()
        self._record = _Record(tallies=[_Tally(rule) for rule in rules])

    @classmethod
    def from_json(cls, text: str) -> FaultScript:
        """Return the script from a JSON document.

        Raises:
            ValueError: The text is not such a document; the message names the rule and the key.
        """
        document = json.loads(text)
        rules = document.get("rules") if isinstance(document, dict) else None
        if not isinstance(rules, list):
            raise ValueError('rules: the document must be {"rules": [...]}')
        if unknown := sorted(set(document) - {"rules"}):
            raise ValueError(f"{unknown[0]}: unknown key")
        return cls(_rule(index, each) for index, each in enumerate(rules))

    @property
    def rules(self) -> tuple[FaultRule, ...]:
        """Return the active rules, in order."""
        with self._lock:
            return tuple(tally.rule for tally in self._record.tallies)

    @property
    def fired(self) -> tuple[Firing, ...]:
        """Return all firings so far, in order."""
        with self._lock:
            return tuple(self._record.fired)

    def add(self, rule: FaultRule) -> None:
        """Append a rule; it counts calls from now on."""
        with self._lock:
            self._record.tallies.append(_Tally(rule))

    def clear(self) -> None:
        """Remove all rules; the record of firings is kept."""
        with self._lock:
            self._record.tallies.clear()

    def decide(self, operation: str) -> FaultRule | None:
        """Count a call, and return the rule that strikes at it, if any."""
        with self._lock:
            record = self._record
            record.calls += 1
            # All rules count the call, including those after the one that strikes.
            striking = [tally for tally in record.tallies if tally.strikes(operation)]
            if not striking:
                return None
            striking[0].struck += 1
            rule = striking[0].rule
            record.fired.append(Firing(rule=rule, operation=operation, call=record.calls))
            return rule


def _error(code: str) -> type[CloudError]:
    if code not in ERRORS:
        raise ValueError(f"{code!r} is not one of {', '.join(ERRORS)}")
    return ERRORS[code]


def _duration(seconds: float) -> timedelta:
    if not 0 <= seconds <= _LONGEST_DELAY_SECONDS:
        raise ValueError(f"must lie between 0 and {_LONGEST_DELAY_SECONDS}, not {seconds}")
    return timedelta(seconds=seconds)


@dataclass(frozen=True, slots=True)
class _Key:
    field: str
    types: tuple[type, ...]
    convert: Callable[[Any], object]


_KEYS: Mapping[str, _Key] = {
    "kind": _Key("kind", (str,), FaultKind),
    "operation": _Key("operation", (str,), str),
    "nth": _Key("nth", (int,), int),
    "every": _Key("every", (int,), int),
    "times": _Key("times", (int,), int),
    "error": _Key("error", (str,), _error),
    "status": _Key("status", (int,), int),
    "delay_seconds": _Key("delay", (int, float), _duration),
    "when": _Key("when", (str,), Moment),
}


def _rule(index: int, body: object) -> FaultRule:
    where = f"rules[{index}]"
    if not isinstance(body, dict):
        raise ValueError(f"{where}: must be an object")
    if "kind" not in body:
        raise ValueError(f"{where}.kind: is missing")
    try:
        fields = dict(_field(key, value) for key, value in body.items())
        return FaultRule(**fields)
    except ValueError as error:
        raise ValueError(f"{where}.{error}") from error


def _field(name: str, value: object) -> tuple[str, Any]:
    key = _KEYS.get(name)
    if key is None:
        raise ValueError(f"{name}: unknown key")
    # In Python, bool is an int, but in JSON, true is not a number.
    if not isinstance(value, key.types) or isinstance(value, bool):
        raise ValueError(f"{name}: {value!r} is of the wrong type")
    try:
        return key.field, key.convert(value)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
