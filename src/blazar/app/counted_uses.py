"""The uses of a project, by the usage rules that count them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta

from blazar.booking.context import Context
from blazar.domain.availability import Availability
from blazar.domain.interval import Interval
from blazar.domain.lease import Holdings
from blazar.domain.rules.parts import parts_of
from blazar.domain.rules.rule import COUNTING, Rule
from blazar.domain.rules.uses import Use
from blazar.ports.store import Transaction

ByRule = Mapping[str, Sequence[Use]]


@dataclass(slots=True, kw_only=True)
class CountedUses:
    """The uses of a project, read once, and again in the transaction that books more."""

    context: Context
    project_id: str | None
    covering: Callable[[str], Sequence[Rule]]
    """Returns the rules that cover a resource type, for the project and the caller."""
    _uses: Sequence[Use] | None = None
    _is_locked: bool = False
    _known: dict[tuple[str | None, bool], ByRule] = field(default_factory=dict)
    """The uses by other leases; many trials of a request need them."""

    @property
    def matter(self) -> bool:
        """Return whether any rule counts uses of the project."""
        return bool(self.project_id) and any(self._counting(each) for each in self.context.plugins)

    def read(self) -> Sequence[Use]:
        """Return all uses, as last read."""
        if self._uses is None:
            if not self.matter:
                return ()
            for collection in {each.collection for each in self.context.plugins.values()}:
                self.context.indexes[collection].refresh()
            with self.context.store.read() as transaction:
                self._uses = self._read(transaction)
        return self._uses

    @contextmanager
    def locked(self, transaction: Transaction) -> Iterator[None]:
        """Read the uses again; other bookings of the project wait from now on until the transaction ends.

        In the block, nothing else is read from the database.
        """
        assert self.project_id is not None
        transaction.quotas.lock(self.project_id)
        self._uses, self._known = self._read(transaction), {}
        self._is_locked = True
        try:
            yield
        finally:
            self._is_locked = False

    @contextmanager
    def view(self, resource_type: str) -> Iterator[Availability]:
        """Yield the resources of a type: the current ones, or in a locked block, as last read."""
        index = self.context.indexes[self.context.plugins[resource_type].collection]
        with index.searching_on() if self._is_locked else index.searching() as view:
            yield view

    def by_others(self, own_id: str | None, *, enforced_only: bool) -> ByRule:
        """Return the same as :meth:`by_rule` for the uses of all leases and offers but one."""
        key = (own_id, enforced_only)
        if key not in self._known:
            others = [each for each in self.read() if each.lease_id != own_id]
            self._known[key] = self.by_rule(others, enforced_only=enforced_only)
        return self._known[key]

    def by_rule(self, uses: Collection[Use], *, enforced_only: bool) -> ByRule:
        """Return, by the name of each rule, the given uses that it counts: those about which it decides."""
        found: dict[str, list[Use]] = {}
        for resource_type in {each.resource_type for each in uses} & self.context.plugins.keys():
            rules = [each for each in self._counting(resource_type) if each.is_enforced or not enforced_only]
            if not rules:
                continue
            own = [each for each in uses if each.resource_type == resource_type]
            with self.view(resource_type) as view:
                positions = [view.position_of(each.resource_id) for each in own]
                for part in parts_of(rules, view):
                    inside = [
                        each
                        for each, position in zip(own, positions, strict=True)
                        if position is not None and part.which[position]
                    ]
                    for rule in part.deciding.values() if inside else ():
                        found.setdefault(rule.name, []).extend(inside)
        return found

    def _counting(self, resource_type: str) -> Sequence[Rule]:
        return [each for each in self.covering(resource_type) if each.kind in COUNTING]

    def _read(self, transaction: Transaction) -> Sequence[Use]:
        now = self.context.shared_now()
        since = now - (self.context.rules.longest_cool_down or timedelta(0))
        return transaction.uses.of_project(str(self.project_id), now, since)


def uses_of(
    lease_id: str, user_id: str | None, window: Interval, held: Sequence[tuple[str, Holdings]]
) -> list[Use]:
    """Return the uses of a lease with these holdings, each preceded by the type of its reservation."""
    return [
        Use(
            lease_id=lease_id,
            user_id=user_id,
            resource_type=resource_type,
            resource_id=resource_id,
            window=window,
            units=1 if share is None else share.slots,
        )
        for resource_type, holdings in held
        for resource_id, share in holdings.items()
    ]
