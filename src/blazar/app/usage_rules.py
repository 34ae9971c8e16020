"""Usage rules for the requests of a caller: permits for searches, and the check of what was chosen."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from blazar.app.properties import hidden_names
from blazar.booking.context import Context
from blazar.domain.dates import minute_of
from blazar.domain.interval import Interval
from blazar.domain.lease import Holdings, Lease, Reservation, ReservationId
from blazar.domain.lifecycle import has_started
from blazar.domain.rules.permit import Permit
from blazar.domain.rules.refusal_texts import refusal_text
from blazar.domain.rules.rule import Rule
from blazar.domain.rules.times import Refusal, Request
from blazar.domain.rules.wording import expression_of, limit_view, sentence_of
from blazar.ports.manager import Caller

MARGIN: Final = timedelta(minutes=10)
"""The time for which alternatives stay possible as far as lead times matter; lessees read them first."""

_NOTHING: Final[Mapping[ReservationId, Holdings]] = {}

_logger = logging.getLogger(__name__)

JsonObject = Mapping[str, object]
AllHoldings = Mapping[ReservationId, Holdings]


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
    _logged: set[tuple[str, str]] = field(default_factory=set)
    _hidden: frozenset[str] | None = None

    def for_proposals(self, margin: timedelta = timedelta(0)) -> UsageRules:
        """Return the rules for times that are proposed to the lessee, and stay possible for some time."""
        return replace(self, delay=margin)

    def as_of(self, instant: datetime) -> UsageRules:
        """Return the rules for a request that was made earlier: for an offer that is committed."""
        return replace(self, requested_at=instant)

    def permit_for(self, resource_type: str, before: Lease | None = None) -> Permit | None:
        """Return the permit of a reservation; None if no rule that is enforced covers it.

        Args:
            resource_type: Its type.
            before: The lease before the change; None for a new lease.
        """
        rules = self._covering(resource_type, enforced_only=True)
        return self._permit(rules, before) if rules else None

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
        window = Interval.at_least_an_instant(lease.start, lease.end)
        refusals: list[tuple[str, Refusal]] = []
        for each in lease.reservations:
            chosen, own = holdings.get(each.id, {}), held.get(each.id, {})
            refused = self._refusals(each, window, chosen, before, own)
            refusals += [(each.resource_type, refusal) for refusal in refused if refusal.rule.is_enforced]
            for refusal in refused:
                if not refusal.rule.is_enforced:
                    self._log(lease, each, refusal)
        if refusals:
            raise self._permit((), before).error_of(refusals)

    def allows_change(
        self,
        before: Lease,
        window: Interval,
        holdings: Sequence[tuple[Reservation, Holdings]],
        held: AllHoldings,
    ) -> bool:
        """Return whether :meth:`check` would allow a change; nothing is logged.

        Args:
            before: The lease before the change.
            window: Its times after the change.
            holdings: What each reservation holds after the change.
            held: What each reservation holds before the change.
        """
        return not any(
            refusal.rule.is_enforced
            for each, chosen in holdings
            for refusal in self._refusals(each, window, chosen, before, held.get(each.id, {}))
        )

    def list_deciding(self) -> Sequence[tuple[Rule, Sequence[str]]]:
        """Return the rules that are enforced and decide about some resources of types that can be reserved.

        A rule after one of its kind that is about all resources of a type decides nothing for this type.
        """
        types_of: dict[Rule, list[str]] = {}
        for resource_type in sorted(self.context.plugins):
            decided = set()
            for rule in self._covering(resource_type, enforced_only=True):
                if rule.kind not in decided:
                    types_of.setdefault(rule, []).append(resource_type)
                if not rule.scope.resources.conditions:
                    decided.add(rule.kind)
        return [(each, types_of[each]) for each in self.context.rules.all if each in types_of]

    def list_views(self) -> Sequence[JsonObject]:
        """Return these rules in their order, as lessees see them."""
        return [self._view(rule, types) for rule, types in self.list_deciding()]

    def _view(self, rule: Rule, resource_types: Sequence[str]) -> JsonObject:
        is_shown = self._is_shown(rule)
        resources = rule.scope.resources
        return {
            "name": rule.name,
            "kind": rule.kind.value,
            "resource_types": resource_types,
            "covers_all_resources": not resources.conditions,
            "resources": expression_of(resources) if resources.conditions and is_shown else None,
            "summary": sentence_of(rule, with_resources=is_shown),
            "limit": None if rule.limit is None else limit_view(rule.limit),
        }

    def _refusals(
        self,
        reservation: Reservation,
        window: Interval,
        chosen: Holdings,
        before: Lease | None,
        own: Holdings,
    ) -> Sequence[Refusal]:
        """Return the refusals by rules that are enforced, and those by rules that are not.

        A rule that is not enforced refuses what it would if it were.
        """
        rules = self._covering(reservation.resource_type)
        if not rules or not chosen:
            return []
        enforced = tuple(each for each in rules if each.is_enforced)
        collection = self.context.plugin_for(reservation.resource_type).collection
        found: list[Refusal] = []
        with self.context.indexes[collection].searching() as view:
            if enforced:
                permit = self._permit(enforced, before)
                found += permit.refusals(view, window, chosen.keys(), own.keys())
            if len(enforced) < len(rules):
                permit = self._permit(rules, before)
                refused = permit.refusals(view, window, chosen.keys(), own.keys())
                found += [each for each in refused if not each.rule.is_enforced]
        return found

    def _log(self, lease: Lease, reservation: Reservation, refusal: Refusal) -> None:
        """Log once for each lease what a rule would refuse."""
        key = (reservation.id, refusal.rule.name)
        if key in self._logged:
            return
        self._logged.add(key)
        _logger.info(
            "usage rule would refuse: rule=%s kind=%s lease_id=%s project_id=%s resource_type=%s reason=%s",
            refusal.rule.name,
            refusal.rule.kind.value,
            lease.id,
            lease.project_id,
            reservation.resource_type,
            refusal_text(refusal),
        )

    def _covering(self, resource_type: str, *, enforced_only: bool = False) -> tuple[Rule, ...]:
        return tuple(
            each
            for each in self.context.rules.all
            if (each.is_enforced or not enforced_only)
            and each.scope.covers(resource_type, self.project_id, self.caller.roles)
        )

    def _permit(self, rules: tuple[Rule, ...], before: Lease | None) -> Permit:
        now = self.context.shared_now() if self.requested_at is None else self.requested_at
        request = Request(now=now, delay=self.delay)
        if before is not None:
            window = Interval.at_least_an_instant(before.start, before.end)
            has_begun = has_started(before) or before.start <= minute_of(now)
            request = replace(request, before=window, has_begun=has_begun)
        return Permit(rules=rules, request=request, is_shown=self._is_shown)

    def _is_shown(self, rule: Rule) -> bool:
        """Return whether the caller may see all properties in the requirement of a rule."""
        if self._hidden is None:
            self._hidden = hidden_names(self.context, self.caller)
        return rule.scope.resources.keys.isdisjoint(self._hidden)
