"""Bugs to inject into the service, to check that the simulation finds them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, cast

from blazar.domain.lease import ResourceId
from blazar.ports.store import Store, Transaction


class _Instead:
    """Wrapper of an object that replaces some of its attributes."""

    def __init__(self, real: object, **instead: Any) -> None:
        self._real = real
        self.__dict__.update(instead)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


class _BuggyStore:
    def __init__(self, store: Store) -> None:
        self._store = store

    def read(self, *, of_one_instant: bool = True) -> Any:
        return self._store.read(of_one_instant=of_one_instant)

    @contextmanager
    def begin(self) -> Iterator[Transaction]:
        with self._store.begin() as transaction:
            yield cast("Transaction", self.broken(transaction))

    def broken(self, transaction: Transaction) -> object:
        raise NotImplementedError


class ClaimsWithoutGenerations(_BuggyStore):
    """Takes resources that were free when observed, even if they have been allocated since."""

    def broken(self, transaction: Transaction) -> object:
        def claim(expected: Mapping[ResourceId, int], changing: object = ()) -> None:
            transaction.allocations.touch(expected)

        return _Instead(transaction, allocations=_Instead(transaction.allocations, claim=claim))


class ForgetsWhatIsOutside(_BuggyStore):
    """Deletes a lease's rows at once and leaves its cloud objects behind."""

    def broken(self, transaction: Transaction) -> object:
        leases = transaction.leases

        def replace(before: Any, after: Any, now: Any) -> Any:
            changed = leases.replace(before, after, now)
            if after.is_deleting:
                for each in after.reservations:
                    transaction.allocations.remove(each.id)
                leases.delete(changed)
            return changed

        return _Instead(transaction, leases=_Instead(leases, replace=replace))
