"""Quota checks, made in the transaction that reserves resources for a project."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from blazar.booking.context import Context
from blazar.domain.errors import ConcurrentUpdate, QuotaExceeded, Unavailable
from blazar.domain.quotas import Excess, Held, Reserved, find_excess, is_more
from blazar.ports.store import Transaction


@dataclass(slots=True, kw_only=True)
class Quota:
    """The limits of the project that owns the lease of one request.

    Limits are read before the transaction begins and may be slightly outdated. Before a request is refused,
    they are read again, so that a raised limit takes effect at once. While the limits are not available,
    only requests that increase an amount are refused.
    """

    context: Context
    project_id: str | None
    _limits: Mapping[str, int] | None = None
    _is_fresh: bool = False
    _problem: Unavailable | None = None

    def prepare(self) -> None:
        """Read the limits, if limits are enabled; must not be called inside a transaction."""
        if self.context.limits is None or not self.project_id or self._limits is not None:
            return
        self._problem = None
        try:
            self._limits = self.context.limits.get(self.project_id, fresh=self._is_fresh)
        except Unavailable as error:
            self._problem = error

    def check_new(self, held: Sequence[Held]) -> None:
        """Refuse a new lease that exceeds the known limits, before more work is spent on it.

        The binding check is :meth:`kept`; this method refuses nothing that :meth:`kept` would allow.

        Raises:
            QuotaExceeded: The lease would exceed the limits.
        """
        self.prepare()
        if not self.project_id or not self._limits:
            return
        now = self.context.shared_now()
        with self.context.store.read() as transaction:
            before = transaction.quotas.reserved(self.project_id, now)
        after = Reserved(leases=before.leases + 1, held=(*before.held, *held))
        if not find_excess(before, after, self._limits, self.context.quota_units, now):
            return
        if not self._is_fresh:
            self._limits, self._is_fresh = None, True
            self.prepare()
        excess = find_excess(before, after, self._limits or {}, self.context.quota_units, now)
        if excess:
            raise _exceeded(excess)

    def make_check(self) -> Callable[[Sequence[Held], int], bool]:
        """Return a function that tells whether the limits allow more allocations, in a number of new leases.

        It compares with what the project has reserved now, and reads nothing.
        """
        self.prepare()
        limits, context, now = self._limits, self.context, self.context.clock.now()
        if not self.project_id or not limits:
            return lambda held, leases: True
        with context.store.read() as transaction:
            before = transaction.quotas.reserved(self.project_id, now)

        def is_allowed(held: Sequence[Held], leases: int) -> bool:
            after = Reserved(leases=before.leases + leases, held=(*before.held, *held))
            return not find_excess(before, after, limits, context.quota_units, now)

        return is_allowed

    @contextmanager
    def kept(self, transaction: Transaction) -> Iterator[None]:
        """Check the quota for what is written in the block; concurrent reservations of the project wait.

        Raises:
            QuotaExceeded: The limits would be exceeded; the transaction must not be committed.
            ConcurrentUpdate: Possibly outdated limits would be exceeded: retry, starting with ``prepare``.
            Unavailable: An amount would increase, and the limits are not available.
        """
        if not self.project_id or not (self._limits or self._problem):
            yield
            return
        now = self.context.shared_now()
        transaction.quotas.lock(self.project_id)
        before = transaction.quotas.reserved(self.project_id, now)
        yield
        after = transaction.quotas.reserved(self.project_id, now)
        if self._problem is not None:
            if is_more(before, after, self.context.quota_units, now):
                raise self._problem
            return
        excess = find_excess(before, after, self._limits or {}, self.context.quota_units, now)
        if excess and not self._is_fresh:
            self._limits, self._is_fresh = None, True
            raise ConcurrentUpdate("The project's limits may have changed concurrently")
        if excess:
            raise _exceeded(excess)


def _exceeded(excess: Sequence[Excess]) -> QuotaExceeded:
    return QuotaExceeded(
        f"Quota of the project exceeded: {'; '.join(map(str, excess))}",
        limits=[each.name for each in excess],
    )
