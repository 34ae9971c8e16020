"""Preparation of requested reservations for the search: complete what only the caller sees, make wishes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from blazar.app.leases.requests import NewReservation
from blazar.app.properties import hidden_in_request
from blazar.app.request_work import RequestWork
from blazar.booking.search import Found, Search
from blazar.booking.specs import booked_window, requirement_of
from blazar.domain.interval import Interval
from blazar.domain.quotas import Held
from blazar.domain.requirements import Requirement
from blazar.plugins.contract import Wish


def looked_up(work: RequestWork, reservations: Sequence[NewReservation]) -> tuple[NewReservation, ...]:
    """Return the reservations completed with facts that only the caller can see. Raises as the plugins do."""
    return tuple(replace(each, spec=work.look_up(each.plugin, each.id, each.spec)) for each in reservations)


def searches_for(
    work: RequestWork, reservations: Sequence[NewReservation], window: Interval
) -> tuple[Search, ...]:
    """Return the searches for resources of new reservations in a window."""
    return tuple(_search(work, each, window) for each in reservations)


def held_by(reservations: Sequence[NewReservation], window: Interval, found: Found) -> Sequence[Held]:
    """Return what reservations would hold for the window of a lease, for the project's quota."""
    return [
        Held(resource_type=each.resource_type, window=booked, count=1, share=share)
        for each, chosen in zip(reservations, found.chosen, strict=True)
        for booked in [booked_window(each.plugin, each.spec, window)]
        for share in chosen.values()
    ]


GrantCheck = Callable[[Sequence[NewReservation], Sequence[tuple[Interval, Found]]], bool]


def make_grant_check(work: RequestWork) -> GrantCheck:
    """Return a function that tells whether quota and usage rules allow new leases, all of them together.

    Its arguments are their reservations, and for each lease its window and what was found for it.
    """
    is_within_quota = work.quota.make_check()

    def is_granted(reservations: Sequence[NewReservation], leases: Sequence[tuple[Interval, Found]]) -> bool:
        held = [one for each in leases for one in held_by(reservations, *each)]
        return is_within_quota(held, len(leases)) and is_permitted(work, reservations, leases)

    return is_granted


def is_permitted(
    work: RequestWork, reservations: Sequence[NewReservation], leases: Sequence[tuple[Interval, Found]]
) -> bool:
    """Return whether the usage rules that count uses allow new leases, all of them together."""
    types = [each.resource_type for each in reservations]
    return work.rules.allows_together(
        [(window, [*zip(types, found.chosen, strict=True)]) for window, found in leases]
    )


def _search(work: RequestWork, reservation: NewReservation, window: Interval) -> Search:
    context = work.context
    requirement = requirement_of(reservation.plugin, reservation.spec)
    if reservation.grouping is not None:
        requirement &= reservation.grouping.requirement
    search = Search(
        plugin=reservation.plugin,
        wish=Wish(
            spec=reservation.spec,
            window=window,
            now=context.clock.now(),
            cleaning_time=context.settings.leases.cleaning_time,
            hidden=hidden_in_request(context, work.caller, requirement, Requirement()),
        ),
        grouping=reservation.grouping,
    )
    return work.rules.restrict(search)
