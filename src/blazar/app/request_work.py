"""Cloud calls made while serving a request, with the caller's token, and calls to the filters."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from blazar.app.quotas import Quota
from blazar.app.usage_rules import AllHoldings, UsageRules
from blazar.booking.cloud_errors import cloud_errors_as_conflicts
from blazar.booking.context import Context, Plugin
from blazar.booking.enforcement import Enforcing
from blazar.domain.errors import CannotChange, CloudError, CloudRefusesLease, Unavailable
from blazar.domain.lease import Allocation, Lease, ReservationId
from blazar.domain.offers import Offer
from blazar.plugins.capabilities import CreatesAsLessee, ReadsAsLessee
from blazar.ports.compute import Flavor, Lessee, LesseeCompute, ServerGroup
from blazar.ports.manager import Caller

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Provided:
    plugin: CreatesAsLessee[Any]
    before: Any
    """The present spec of the reservation; None for a new one."""
    asked: Any
    """The requested spec."""
    afresh: bool
    after: Any
    """The requested spec completed with what was created for it."""


@dataclass(slots=True, kw_only=True)
class RequestWork:
    """The cloud calls of one request. Retries of the request do not repeat them."""

    context: Context
    caller: Caller
    compute: LesseeCompute
    enforcing: Enforcing
    """The operator's filters, as asked for this request."""
    quota: Quota
    """The quota check of the lease's project."""
    rules: UsageRules
    """The usage rules for the request."""
    is_dry_run: bool = False
    """True if the request must not take effect, so that nothing is created for it."""
    _held: tuple[Lease, tuple[Allocation, ...]] | None = None
    _new_ids: list[ReservationId] = field(default_factory=list)
    _seen: dict[ReservationId, tuple[Any, Any]] = field(default_factory=dict)
    _provided: dict[ReservationId, list[_Provided]] = field(default_factory=dict)

    def proposing(self, margin: timedelta = timedelta(0)) -> RequestWork:
        """Return the work for proposals to the lessee, which usage rules permit for at least *margin*."""
        return replace(self, rules=self.rules.for_proposals(margin))

    def committing(self, offer: Offer) -> RequestWork:
        """Return the work to commit an offer, with usage rules applied as of when it was requested."""
        return replace(self, rules=self.rules.as_of(offer.created_at, offer.id))

    def check_create(self, lease: Lease, holdings: AllHoldings) -> None:
        """Return if the usage rules and every filter allow the new lease. Raises the error of the first."""
        self.rules.check(lease, holdings)
        self.enforcing.check_create(lease, holdings)

    def check_update(self, current: Lease, held: AllHoldings, lease: Lease, holdings: AllHoldings) -> None:
        """Return if the usage rules and every filter allow the change. Raises as :meth:`check_create`."""
        self.rules.check(lease, holdings, current, held)
        self.enforcing.check_update(current, held, lease, holdings)

    def new_reservation_id(self, place: int) -> ReservationId:
        """Return the id of the request's new reservation at this place, the same at every attempt."""
        while len(self._new_ids) <= place:
            self._new_ids.append(ReservationId(self.context.new_id()))
        return self._new_ids[place]

    def keep_ids(self, reservation_ids: Sequence[ReservationId]) -> None:
        """Use these ids for the new reservations of the request, in this order."""
        self._new_ids[:] = reservation_ids

    def remember_held(self, lease: Lease, allocations: tuple[Allocation, ...]) -> None:
        """Keep the allocations that were read with a lease, for the first attempt to change it."""
        self._held = (lease, allocations)

    def take_held(self, lease: Lease) -> tuple[Allocation, ...] | None:
        """Return the allocations that were read with this lease, once: later attempts read them again."""
        held, self._held = self._held, None
        return held[1] if held is not None and held[0] is lease else None

    def look_up(self, plugin: Plugin, reservation_id: ReservationId, spec: Any) -> Any:
        """Return the spec completed with facts that only the lessee can see. Raises as the plugin does."""
        if not isinstance(plugin, ReadsAsLessee):
            return spec
        known = self._seen.get(reservation_id)
        if known is None or known[0] != spec:
            with cloud_errors_as_conflicts(CloudRefusesLease):
                known = self._seen[reservation_id] = (spec, plugin.look_up(spec, self.compute))
        return known[1]

    def provide(
        self, plugin: Plugin, reservation_id: ReservationId, before: Any, spec: Any, *, afresh: bool = False
    ) -> Any:
        """Return the spec completed with what was created for it; unchanged in a dry run.

        Args:
            plugin: The plugin of the resource type.
            reservation_id: The reservation.
            before: The present spec of the reservation; None for a new one.
            spec: The requested spec.
            afresh: Whether objects that the spec names may no longer exist.
        """
        if not isinstance(plugin, CreatesAsLessee) or self.is_dry_run:
            return spec
        known = self._provided.setdefault(reservation_id, [])
        if not known or (known[-1].asked, known[-1].afresh) != (spec, afresh):
            with cloud_errors_as_conflicts(CloudRefusesLease):
                after = plugin.provide(spec, reservation_id, self.compute, afresh=afresh)
            known.append(_Provided(plugin=plugin, before=before, asked=spec, afresh=afresh, after=after))
        return known[-1].after

    @contextmanager
    def undone_on_failure(self) -> Iterator[None]:
        """Undo what was created if the request fails, and re-raise the error.

        If the database does not respond, the outcome is unknown; the sweep then removes leftovers.
        """
        try:
            yield
        except Unavailable:
            raise
        except Exception:
            self._fail()
            raise

    def succeed(self, lease: Lease) -> None:
        """Remove what was created for specs that the lease does not have, or no longer has."""
        final = {each.id: each for each in lease.reservations}
        for reservation_id, provided in self._provided.items():
            plugin = provided[0].plugin
            kept = final[reservation_id].spec
            for spec in (spec for each in provided for spec in (each.before, each.after)):
                if spec is not None:
                    self._withdraw(plugin, spec, kept)

    def _fail(self) -> None:
        for provided in self._provided.values():
            for each in provided:
                self._withdraw(each.plugin, each.after, each.before)

    def _withdraw(self, plugin: CreatesAsLessee[Any], spec: Any, kept: Any) -> None:
        try:
            plugin.withdraw(self.context.cloud, spec, kept)
        except CloudError as error:
            # It is found at the end of its reservation, or by the sweep if the reservation does not exist.
            _logger.warning("cannot remove what a request created in the cloud: reason=%s", error)


def request_work(
    context: Context, caller: Caller, project_id: str | None, *, is_dry_run: bool = False
) -> RequestWork:
    """Return the cloud calls of a request of *caller* for a lease of a project."""
    lessee = Lessee(project_id=caller.project_id or "", token=caller.token)
    compute = context.cloud.compute_for(lessee)
    return RequestWork(
        context=context,
        caller=caller,
        compute=compute if caller.project_id == project_id else _Stranger(compute),
        enforcing=Enforcing(context=context),
        quota=Quota(context=context, project_id=project_id),
        rules=UsageRules(context=context, caller=caller, project_id=project_id),
        is_dry_run=is_dry_run,
    )


class _Stranger:
    """The access of a caller from another project, such as an operator, that changes the lease."""

    def __init__(self, compute: LesseeCompute) -> None:
        self._compute = compute

    def find_flavor(self, flavor_id: str) -> Flavor | None:
        return self._compute.find_flavor(flavor_id)

    def list_flavors(self) -> tuple[Flavor, ...]:
        return self._compute.list_flavors()

    def create_server_group(self, name: str, policy: str) -> ServerGroup:
        raise CannotChange(
            "affinity: the change needs another server group, and only members of the lease's project can"
            f" create one ({name}, {policy})"
        )
