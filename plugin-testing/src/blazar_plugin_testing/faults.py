"""Faults of a run: cloud calls and commits that fail, and steps that are taken twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

from blazar.booking.context import Plugin
from blazar.cloud.simulated.faults import FaultKind, FaultRule, FaultScript, Moment, SimulatedCrash
from blazar.db.store import SqlStore
from blazar.domain.errors import ConcurrentUpdate, Unavailable
from blazar.plugins.capabilities import ActsBeforeEnd
from blazar.plugins.contract import Outcome
from blazar.ports.store import Store, Transaction

CLOUD_FAULTS: Mapping[str, Callable[[int], FaultRule]] = {
    "fails": lambda nth: FaultRule(kind=FaultKind.STATUS, status=503, nth=nth),
    "reply-lost": lambda nth: FaultRule(kind=FaultKind.LOSE_REPLY, nth=nth),
    "killed": lambda nth: FaultRule(kind=FaultKind.CRASH, when=Moment.AFTER, nth=nth),
    "not-found": lambda nth: FaultRule(kind=FaultKind.STATUS, status=404, nth=nth),
    "conflict": lambda nth: FaultRule(kind=FaultKind.STATUS, status=409, nth=nth),
    "refused": lambda nth: FaultRule(kind=FaultKind.STATUS, status=400, nth=nth),
}
"""Faults of one cloud call, by name; the argument counts calls from when the rule is added.

A kill strikes after the call took effect: a kill before a call is a kill after the call or commit before it.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitFault:
    """The exception raised by the *nth* commit; ``is_lost`` if nothing was committed."""

    raises: Callable[[], BaseException]
    is_lost: bool


COMMIT_FAULTS: Mapping[str, CommitFault] = {
    "killed": CommitFault(raises=lambda: SimulatedCrash("at a commit"), is_lost=False),
    "fails": CommitFault(raises=lambda: Unavailable("connection lost"), is_lost=True),
    "reply-lost": CommitFault(raises=lambda: Unavailable("connection lost"), is_lost=False),
    "deadlock": CommitFault(raises=lambda: ConcurrentUpdate("deadlock"), is_lost=True),
}
"""Faults of one commit, by name."""


class WatchedFaults(FaultScript):
    """A fault script that calls *look* before every call, and from which users can be exempt."""

    def __init__(self, look: Callable[[], None]) -> None:
        super().__init__()
        self.seen = 0
        self._acts: dict[str, Callable[[], object]] = {}
        self._look = look
        self._is_exempt = False

    def before(self, operation: str, act: Callable[[], object]) -> None:
        """Call *act* once, just before the next call of *operation*."""
        self._acts[operation] = act

    @contextmanager
    def exempt(self) -> Iterator[None]:
        """Exempt the calls inside from faults and from the count."""
        before, self._is_exempt = self._is_exempt, True
        try:
            yield
        finally:
            self._is_exempt = before

    def decide(self, operation: str) -> FaultRule | None:
        """Count a call of the service, and return the rule that applies to it, if any."""
        if self._is_exempt:
            return None
        self.seen += 1
        with self.exempt():
            self._look()
        self._acts.pop(operation, lambda: None)()
        return super().decide(operation)


class ScriptedStore:
    """A store whose commits can fail."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store
        self._fault: CommitFault | None = None
        self._countdown = 0
        self.commits = 0
        self.has_struck = False
        self._overtake: Callable[[], object] | None = None

    @property
    def is_armed(self) -> bool:
        """Return whether a fault is armed that has not struck yet."""
        return self._fault is not None

    def arm(self, fault: CommitFault, nth: int) -> None:
        """Let the *nth* commit from now on fail."""
        self._fault, self._countdown = fault, nth

    def overtake(self, act: Callable[[], object]) -> None:
        """Call *act* just before the next writing transaction begins, as a concurrent change."""
        self._overtake = act

    def disarm(self) -> None:
        """Let all commits succeed."""
        self._fault = None

    @contextmanager
    def begin(self) -> Iterator[Transaction]:
        """Begin a transaction that may write."""
        overtake, self._overtake = self._overtake, None
        if overtake is not None:
            overtake()
        with self._store.begin() as transaction:
            yield cast("Transaction", _ScriptedTransaction(transaction, self))

    @contextmanager
    def read(self, *, of_one_instant: bool = True) -> Iterator[Transaction]:
        """Begin a transaction that only reads."""
        with self._store.read(of_one_instant=of_one_instant) as transaction:
            yield transaction

    def commit(self, transaction: Transaction) -> None:
        """Commit, unless the armed fault prevents it."""
        self.commits += 1
        fault = self._fault
        if fault is not None:
            self._countdown -= 1
        if fault is None or self._countdown > 0:
            transaction.commit()
            return
        self._fault, self.has_struck = None, True
        if not fault.is_lost:
            transaction.commit()
        raise fault.raises()


class _ScriptedTransaction:
    def __init__(self, transaction: Transaction, store: ScriptedStore) -> None:
        self._transaction = transaction
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transaction, name)

    def commit(self) -> None:
        self._store.commit(self._transaction)


class Repeating:
    """A plugin that takes every step twice, the second time with the same observation.

    To ``isinstance`` it has the class of the plugin, and so the same capabilities.
    """

    def __init__(self, plugin: Plugin) -> None:
        self._plugin = plugin

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return self._plugin.__class__

    def __getattr__(self, name: str) -> Any:
        return getattr(self._plugin, name)

    def make(self, *arguments: Any) -> Outcome:
        """Take the step twice."""
        self._plugin.make(*arguments)
        return self._plugin.make(*arguments)

    def remove(self, *arguments: Any) -> Outcome:
        """Take the step twice."""
        self._plugin.remove(*arguments)
        return self._plugin.remove(*arguments)

    def before_end(self, *arguments: Any) -> Outcome:
        """Take the action twice."""
        assert isinstance(self._plugin, ActsBeforeEnd)
        self._plugin.before_end(*arguments)
        return self._plugin.before_end(*arguments)


def _witness(store: ScriptedStore) -> Store:
    return store
