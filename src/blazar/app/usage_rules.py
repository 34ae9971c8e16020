"""Usage rules for the requests of a caller: permits for searches, and the check of what was chosen."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import combinations
from typing import Final

from blazar.app.counted_uses import ByRule, CountedUses, uses_of
from blazar.app.properties import hidden_names
from blazar.booking.context import Context
from blazar.booking.search import Search, count_refusals
from blazar.booking.visibility import visibility_rules
from blazar.domain.dates import minute_of
from blazar.domain.interval import Interval
from blazar.domain.lease import Holdings, Lease, ReservationId
from blazar.domain.lifecycle import has_started
from blazar.domain.rules.permit import Permit, stacking_refusal
from blazar.domain.rules.refusal_texts import refusal_text
from blazar.domain.rules.rule import COUNTING, CoolDown, Kind, Rule, Stacking
from blazar.domain.rules.times import Refusal, Request
from blazar.domain.rules.uses import Use, is_too_close
from blazar.domain.rules.visibility import hiding_rules
from blazar.ports.manager import Caller
from blazar.ports.store import Transaction

MARGIN: Final = timedelta(minutes=10)
"""The time for which alternatives stay possible with regard to lead times; lessees read them first."""

_NOTHING: Final[Mapping[ReservationId, Holdings]] = {}

_logger = logging.getLogger(__name__)

AllHoldings = Mapping[ReservationId, Holdings]
Held = Sequence[tuple[str, Holdings]]
"""Holdings of reservations, each preceded by the resource type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Booking:
    """A reservation with the resources that were chosen for it, and those that it has before a change."""

    resource_type: str
    chosen: Holdings
    held: Holdings = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class UsageRules:
    """The rules for one request; all of its searches and checks see the same present."""

    context: Context
    caller: Caller
    project_id: str | None
    """The project of the lease."""
    delay: timedelta | None = None
    """As in :class:`~blazar.domain.rules.times.Request`."""
    requested_at: datetime | None = None
    """When the lease was requested; None for now."""
    own_id: str | None = None
    """The offer that becomes the lease; what it holds are the lease's uses."""
    _counted: CountedUses = field(init=False)
    _logged: set[tuple[str, str]] = field(default_factory=set)
    _hidden: frozenset[str] | None = None

    def __post_init__(self) -> None:
        self._counted = CountedUses(context=self.context, project_id=self.project_id, covering=self._covering)

    def for_proposals(self, margin: timedelta = timedelta(0)) -> UsageRules:
        """Return the rules for times that are proposed to the lessee, and stay possible for some time."""
        return replace(self, delay=margin)

    def as_of(self, instant: datetime, own_id: str) -> UsageRules:
        """Return the rules for committing an offer that was requested at an instant."""
        return replace(self, requested_at=instant, own_id=own_id)

    def permit_for(self, resource_type: str, before: Lease | None = None) -> Permit | None:
        """Return the permit of a reservation; None if no rule that is enforced covers it.

        Args:
            resource_type: Its type.
            before: The lease before the change; None for a new lease.
        """
        rules = tuple(each for each in self._covering(resource_type) if each.is_enforced)
        return self._permit(rules, before, enforced_only=True) if rules else None

    def restrict(self, search: Search) -> Search:
        """Return the search of a new reservation with the rules for it."""
        permit = self.permit_for(search.plugin.resource_type)
        return replace(search, permit=permit, project_id=self.project_id)

    def check(
        self, lease: Lease, holdings: AllHoldings, before: Lease | None = None, held: AllHoldings = _NOTHING
    ) -> None:
        """Check a lease with the resources that were chosen; log what rules in mode ``log`` would refuse.

        Args:
            lease: The lease, after the change if it is one.
            holdings: What each reservation holds from now on.
            before: The lease before the change; None for a new lease.
            held: What each reservation holds before the change.

        Raises:
            RuleForbidsLease, RuleForbidsChange: A rule that is enforced refuses it.
        """
        if not self.context.rules:
            return
        window = Interval.at_least_an_instant(lease.start, lease.end)
        bookings = [
            Booking(
                resource_type=each.resource_type,
                chosen=holdings.get(each.id, {}),
                held=held.get(each.id, {}),
            )
            for each in lease.reservations
        ]
        refusals = self._refusals(bookings, window, before, lease.user_id)
        for resource_type, refusal in refusals:
            if not refusal.rule.is_enforced:
                self._log(lease, resource_type, refusal)
        enforced = [each for each in refusals if each[1].rule.is_enforced]
        if enforced:
            count_refusals(self.context, enforced)
            raise self._permit((), before, enforced_only=True).error_of(enforced)

    def check_locked(
        self,
        transaction: Transaction,
        lease: Lease,
        holdings: AllHoldings,
        before: Lease | None = None,
        held: AllHoldings = _NOTHING,
    ) -> None:
        """Check a lease again in the transaction that stores it, if rules count what the project uses.

        Other bookings of the project wait until the transaction ends, so that two of them cannot exceed a
        limit together. Arguments and errors are those of :meth:`check`.
        """
        if self._counted.matter:
            with self._counted.locked(transaction):
                self.check(lease, holdings, before, held)

    def allows_change(self, before: Lease, window: Interval, bookings: Sequence[Booking]) -> bool:
        """Return whether :meth:`check` would allow a change; nothing is logged."""
        if not self.context.rules:
            return True
        refusals = self._refusals(bookings, window, before, before.user_id)
        return not any(refusal.rule.is_enforced for _, refusal in refusals)

    def allows_together(self, leases: Sequence[tuple[Interval, Held]]) -> bool:
        """Return whether rules that count uses permit new leases, all of them together."""
        if not self._counted.matter:
            return True
        new = [uses_of(f"new-{number}", self.caller.user_id, *each) for number, each in enumerate(leases)]
        user_id = self.caller.user_id
        if self._stacking_refusals([each for own in new for each in own], None, user_id, enforced_only=True):
            return False
        by_rule = [self._counted.by_rule(each, enforced_only=True) for each in new]
        limits = {each.name: each.limit for each in self.context.rules.all}
        return not any(
            is_too_close(first.window, second.window, limit.gap)
            for one, other in combinations(by_rule, 2)
            for name in one.keys() & other.keys()
            if isinstance(limit := limits[name], CoolDown)
            for first in one[name]
            for second in other[name]
            if not limit.same_resource or first.resource_id == second.resource_id
        )

    def _refusals(
        self, bookings: Sequence[Booking], window: Interval, before: Lease | None, user_id: str | None
    ) -> Sequence[tuple[str, Refusal]]:
        """Return the refusals by rules that are enforced, and those by rules that are not.

        The latter are what these rules would refuse if they were enforced.
        """
        found: list[tuple[str, Refusal]] = []
        for each in bookings:
            found += [(each.resource_type, refusal) for refusal in self._refusals_of(each, window, before)]
        if self._counted.matter:
            held = [(each.resource_type, each.chosen) for each in bookings]
            new = uses_of("", user_id, window, held)
            found += self._stacking_refusals(new, before, user_id, enforced_only=True)
            logged = self._stacking_refusals(new, before, user_id, enforced_only=False)
            found += [each for each in logged if not each[1].rule.is_enforced]
        return list(dict.fromkeys(found))

    def _refusals_of(self, booking: Booking, window: Interval, before: Lease | None) -> Sequence[Refusal]:
        rules = self._covering(booking.resource_type)
        if not booking.chosen:
            return []
        if not rules:
            return self._logged_hidden(booking)
        enforced = tuple(each for each in rules if each.is_enforced)
        chosen, held = booking.chosen.keys(), booking.held.keys()
        permit = self._permit(enforced, before, enforced_only=True)
        everything = self._permit(rules, before, enforced_only=False) if len(enforced) < len(rules) else None
        with self._counted.view(booking.resource_type) as view:
            found = [*permit.refusals(view, window, chosen, held)]
            if everything is not None:
                refused = everything.refusals(view, window, chosen, held)
                found += [each for each in refused if not each.rule.is_enforced]
        return [*found, *self._logged_hidden(booking)]

    def _logged_hidden(self, booking: Booking) -> Sequence[Refusal]:
        """Return the refusals of rules that would hide new resources of a reservation but are only logged."""
        collection = self.context.plugins[booking.resource_type].collection
        rules = visibility_rules(self.context, collection, enforced_only=False)
        if all(each.is_enforced for each in rules):
            return []
        with self._counted.view(booking.resource_type) as view:
            hiding = hiding_rules(rules, view, self.project_id, booking.chosen.keys() - booking.held.keys())
        return [Refusal(rule=each, key="reservations") for each in hiding if not each.is_enforced]

    def _stacking_refusals(
        self, new: Sequence[Use], before: Lease | None, user_id: str | None, *, enforced_only: bool
    ) -> list[tuple[str, Refusal]]:
        """Return the refusals of resource hours: those of other leases, and of a lease before and after."""
        now = self._request(before).now
        by_rule = [
            self._by_others(before, enforced_only=enforced_only),
            self._counted.by_rule(self._own(before), enforced_only=enforced_only),
            self._counted.by_rule(new, enforced_only=enforced_only),
        ]
        found = []
        for rule in self.context.rules.all:
            if not isinstance(rule.limit, Stacking) or rule.name not in by_rule[2]:
                continue
            counted = [_of_user(rule, each.get(rule.name, ()), user_id) for each in by_rule]
            refusal = stacking_refusal(rule, counted[0], counted[1], counted[2], now)
            if refusal is not None:
                found.append((by_rule[2][rule.name][0].resource_type, refusal))
        return found

    def _by_others(self, before: Lease | None, *, enforced_only: bool) -> ByRule:
        """Return the uses by other leases of the project."""
        own_id = self.own_id if before is None else before.id
        return self._counted.by_others(own_id, enforced_only=enforced_only)

    def _own(self, before: Lease | None) -> list[Use]:
        """Return the present uses by the lease that is changed."""
        uses = () if before is None else self._counted.read()
        return [each for each in uses if before is not None and each.lease_id == before.id]

    def _log(self, lease: Lease, resource_type: str, refusal: Refusal) -> None:
        """Log once for each request what a rule would refuse."""
        key = (resource_type, refusal.rule.name)
        if key in self._logged:
            return
        self._logged.add(key)
        count_refusals(self.context, [(resource_type, refusal)])
        _logger.info(
            "usage rule would refuse: rule=%s kind=%s lease_id=%s project_id=%s resource_type=%s reason=%s",
            refusal.rule.name,
            refusal.rule.kind.value,
            lease.id,
            lease.project_id,
            resource_type,
            refusal_text(refusal),
        )

    def _covering(self, resource_type: str) -> tuple[Rule, ...]:
        return tuple(
            each
            for each in self.context.rules.all
            if each.kind is not Kind.ONLY_FOR
            and each.scope.covers(resource_type, self.project_id, self.caller.roles)
        )

    def _permit(self, rules: tuple[Rule, ...], before: Lease | None, *, enforced_only: bool) -> Permit:
        uses: dict[str, Sequence[Use]] = {}
        if any(each.kind in COUNTING for each in rules):
            user_id = self.caller.user_id if before is None else before.user_id
            counted = self._by_others(before, enforced_only=enforced_only)
            for rule in rules:
                if rule.name in counted:
                    uses[rule.name] = _of_user(rule, counted[rule.name], user_id)
        return Permit(rules=rules, request=self._request(before), uses=uses, is_shown=self._is_shown)

    def _request(self, before: Lease | None) -> Request:
        now = self.context.shared_now() if self.requested_at is None else self.requested_at
        request = Request(now=now, delay=self.delay)
        if before is None:
            return request
        window = Interval.at_least_an_instant(before.start, before.end)
        has_begun = has_started(before) or before.start <= minute_of(now)
        return replace(request, before=window, has_begun=has_begun)

    def _is_shown(self, rule: Rule) -> bool:
        """Return whether the caller may see all properties in the requirement of a rule."""
        if self._hidden is None:
            self._hidden = hidden_names(self.context, self.caller)
        return rule.scope.resources.keys.isdisjoint(self._hidden)


def _of_user(rule: Rule, uses: Collection[Use], user_id: str | None) -> list[Use]:
    """Return the uses that a rule counts for a user."""
    is_per_user = isinstance(rule.limit, Stacking) and rule.limit.per_user
    return [each for each in uses if not is_per_user or each.user_id == user_id]
