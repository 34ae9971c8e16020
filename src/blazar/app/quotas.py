"""Keeping a project within its limits, in the transaction that reserves something for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from blazar.booking.context import Context
from blazar.domain.errors import ConcurrentUpdate, QuotaExceeded, Unavailable
from blazar.domain.quotas import find_excess, is_more
from blazar.ports.store import Transaction


@dataclass(slots=True, kw_only=True)
class Quota:
    """The limits of the project for whose lease one request is made.

    Limits are read before the transaction begins, and may be a little old. Before a request is refused they
    are read anew, so that a limit which has been raised counts at once. While they cannot be read, nothing
    is refused that makes no amount larger.
    """

    context: Context
    project_id: str | None
    _limits: Mapping[str, int] | None = None
    _is_fresh: bool = False
    _problem: Unavailable | None = None

    def prepare(self) -> None:
        """Find out what the limits are, if there are any; not to be called inside of a transaction."""
        if self.context.limits is None or not self.project_id or self._limits is not None:
            return
        self._problem = None
        try:
            self._limits = self.context.limits.get(self.project_id, fresh=self._is_fresh)
        except Unavailable as error:
            self._problem = error

    @contextmanager
    def kept(self, transaction: Transaction) -> Iterator[None]:
        """Have what is written inside counted; nobody else reserves for the project meanwhile.

        Raises:
            QuotaExceeded: It would be too much; the transaction is not to be committed.
            ConcurrentUpdate: It would be too much by limits that may be old: begin again, with ``prepare``.
            Unavailable: It would be more than before, and nobody can say what the limits are.
        """
        if not self.project_id or not (self._limits or self._problem):
            yield
            return
        now = self.context.clock.now()
        transaction.quotas.lock(self.project_id)
        before = transaction.quotas.reserved(self.project_id, now)
        yield
        after = transaction.quotas.reserved(self.project_id, now)
        if self._problem is not None:
            if is_more(before, after, now):
                raise self._problem
            return
        excess = find_excess(before, after, self._limits or {}, now)
        if excess and not self._is_fresh:
            self._limits, self._is_fresh = None, True
            raise ConcurrentUpdate("The project's limits may have changed meanwhile")
        if excess:
            raise QuotaExceeded(
                f"Quota of the project exceeded: {'; '.join(map(str, excess))}",
                limits=[each.name for each in excess],
            )
