"""The choice of floating IPs, against brute force."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import HOUR, at, make_floatingip, window

from blazar.domain.availability import Availability, Shuffle
from blazar.domain.bookings import LONG_FREE, Booking
from blazar.domain.errors import CannotChange, InvalidParameter
from blazar.domain.health import HEALTHY, Diagnosis, Health
from blazar.domain.interval import Interval
from blazar.domain.lease import ReservationId, ResourceId
from blazar.plugins.contract import Wish
from blazar.plugins.floatingips.choice import choose_floatingips
from blazar.plugins.floatingips.errors import NotEnoughFloatingIPs
from blazar.plugins.floatingips.spec import FloatingIPSpec

OWN = ReservationId("own")
OTHER = ReservationId("other")
FAILED = Diagnosis(health=Health.FAILED, problem="gone")


@dataclass(frozen=True, kw_only=True)
class Row:
    """A floating IP and its bookings."""

    number: int
    network_id: str = "network"
    diagnosis: Diagnosis = HEALTHY
    bookings: tuple[tuple[ReservationId, Interval], ...] = ()

    @property
    def id(self) -> ResourceId:
        return ResourceId(f"fip-{self.number}")

    def free_around(self, wanted: Interval) -> timedelta:
        """Return how long it is free before or after the window, whichever is shorter."""
        around = [wanted.start - each.end for _, each in self.bookings if each.end <= wanted.start]
        around += [each.start - wanted.end for _, each in self.bookings if each.start >= wanted.end]
        return min(around, default=LONG_FREE)


def address(number: int) -> str:
    return f"203.0.113.{200 + number}"


def ids(*numbers: int) -> list[ResourceId]:
    return [ResourceId(f"fip-{number}") for number in numbers]


def index_of(rows: Sequence[Row]) -> Availability:
    index = Availability()
    for row in rows:
        floatingip = make_floatingip(row.number, network_id=row.network_id, diagnosis=row.diagnosis)
        bookings = [
            Booking(resource_id=row.id, reservation_id=owner, window=each) for owner, each in row.bookings
        ]
        index.put(floatingip.as_resource(), bookings)
    return index


def make_wish(
    amount: int, *required: int, held: Sequence[int] = (), taken: Sequence[int] = (), **fields: Any
) -> Wish[FloatingIPSpec]:
    """Return a wish for hours 4 to 6."""
    spec = FloatingIPSpec(
        network_id="network", amount=amount, required=tuple(address(number) for number in required)
    )
    defaults: dict[str, Any] = {"window": window(4, 6), "now": at(0), "ignoring": frozenset({OWN})}
    return Wish(
        spec=spec,
        held=dict.fromkeys(ids(*held)),
        beside=dict.fromkeys(ids(*taken), (None,)),
        **{**defaults, **fields},
    )


def chosen(wish: Wish[FloatingIPSpec], *rows: Row) -> list[ResourceId]:
    found = choose_floatingips(wish, index_of(rows))
    assert set(found.values()) <= {None}
    return list(found)


ALL = [Row(number=number) for number in range(1, 5)]


def booked(number: int, start: float = 4, end: float = 6, owner: ReservationId = OTHER) -> Row:
    return Row(number=number, bookings=((owner, window(start, end)),))


def test_they_are_chosen_in_the_order_of_their_addresses() -> None:
    assert chosen(make_wish(2), *reversed(ALL)) == ids(1, 2)


def test_a_wish_for_none_gets_none() -> None:
    assert chosen(make_wish(0), *ALL) == []


def test_what_is_required_comes_first_and_what_is_held_after_it() -> None:
    assert chosen(make_wish(3, 4, held=[3]), *ALL) == ids(4, 3, 1)


def test_all_that_are_required_are_had() -> None:
    assert sorted(chosen(make_wish(2, 4, 2), *ALL)) == ids(2, 4)


def test_fewer_than_before_are_kept_without_looking_for_others() -> None:
    assert chosen(make_wish(1, held=[2, 3], ignoring=frozenset({OWN})), *ALL) == ids(2)


def test_other_networks_have_other_addresses() -> None:
    rows = [Row(number=1, network_id="other"), *ALL[1:]]

    assert chosen(make_wish(1), *rows) == ids(2)
    with pytest.raises(InvalidParameter, match=r"^required_floatingips: not registered .*203\.0\.113\.201"):
        chosen(make_wish(1, 1), *rows)


def test_an_unknown_network_is_refused_by_key() -> None:
    with pytest.raises(InvalidParameter, match=r"^network_id: no floating IP of network network"):
        chosen(make_wish(1), Row(number=1, network_id="other"))


@pytest.mark.parametrize(
    "row",
    [booked(1), booked(1, 1, 5), booked(1, 5, 9), booked(1, 4.5, 5), Row(number=1, diagnosis=FAILED)],
)
def test_what_is_not_free_is_passed_over_and_cannot_be_required(row: Row) -> None:
    assert chosen(make_wish(3), row, *ALL[1:]) == ids(2, 3, 4)
    with pytest.raises(NotEnoughFloatingIPs, match=r"required_floatingips: not available .*203\.0\.113\.201"):
        chosen(make_wish(1, 1), row, *ALL[1:])


@pytest.mark.parametrize("row", [booked(1, 1, 4), booked(1, 6, 8), booked(1, owner=OWN)])
def test_what_only_touches_or_is_its_own_is_not_in_the_way(row: Row) -> None:
    assert chosen(make_wish(1, 1), row) == ids(1)


@pytest.mark.parametrize("row", [booked(1, 1, 4), booked(1, 6, 8)])
def test_cleaning_time_is_owed_between_two_uses(row: Row) -> None:
    with pytest.raises(NotEnoughFloatingIPs):
        chosen(make_wish(1, 1, cleaning_time=HOUR), row)


def test_weakness_10_cleaning_time_is_owed_for_what_is_kept_too() -> None:
    with pytest.raises(NotEnoughFloatingIPs, match="reserved for another lease in the new period"):
        chosen(make_wish(1, held=[1], is_active=True, cleaning_time=HOUR), booked(1, 6, 8), *ALL[1:])


def test_when_an_active_reservation_shrinks_addresses_on_ports_stay() -> None:
    wish = make_wish(2, 4, held=[1, 2, 3, 4], is_active=True, in_use=dict.fromkeys(ids(3), 1))

    assert chosen(wish, *ALL) == ids(4, 3)


def test_an_active_reservation_does_not_shrink_below_what_is_in_use_and_the_refusal_names_it() -> None:
    wish = make_wish(2, 4, held=[1, 2, 3, 4], is_active=True, in_use=dict.fromkeys(ids(2, 3), 1))

    with pytest.raises(
        CannotChange, match=r"^amount: 2 would .* in use: 203\.0\.113\.202, 203\.0\.113\.203$"
    ):
        chosen(wish, *ALL)


def test_what_is_excluded_or_another_reservations_is_passed_over() -> None:
    wish = make_wish(2, taken=[1], excluded=frozenset(ids(2)))

    assert chosen(wish, *ALL) == ids(3, 4)
    with pytest.raises(NotEnoughFloatingIPs):
        chosen(make_wish(1, 1, taken=[1]), *ALL)
    with pytest.raises(NotEnoughFloatingIPs):
        chosen(make_wish(1, 1, excluded=frozenset(ids(1))), *ALL)


def test_too_few_are_refused_with_how_many_there_are() -> None:
    text = r"5 asked for \(amount\), 4 of network network are free from 2031-01-01 04:00 to 2031-01-01 06:00"
    with pytest.raises(NotEnoughFloatingIPs, match=text) as refusal:
        chosen(make_wish(5), *ALL)

    assert refusal.value.fields == {"amount": 5, "available": 4}


def test_what_has_failed_is_kept_where_it_is_held() -> None:
    """Healing replaces it if possible."""
    assert chosen(make_wish(1, held=[1]), Row(number=1, diagnosis=FAILED), *ALL[1:]) == ids(1)


def test_many_addresses_are_not_all_named() -> None:
    with pytest.raises(InvalidParameter, match=r"203\.0\.113\.211, .*203\.0\.113\.215 and 3 more$"):
        chosen(make_wish(9, *range(11, 19)), *ALL)


def test_others_are_chosen_at_random_after_a_concurrent_choice() -> None:
    found = {
        tuple(chosen(make_wish(2, 3, shuffle=Shuffle(chance=random.Random(seed))), *ALL))
        for seed in range(30)
    }

    assert {each[0] for each in found} == {"fip-3"}
    assert {each[1] for each in found} == set(ids(1, 2, 4))


ROWS = st.lists(
    st.tuples(
        st.sampled_from(["network", "network", "other"]),
        st.sampled_from([HEALTHY, HEALTHY, FAILED]),
        st.lists(
            st.tuples(
                st.sampled_from([OWN, OTHER]),
                st.tuples(st.integers(1, 8), st.integers(1, 3)).map(lambda each: window(each[0], sum(each))),
            ),
            max_size=2,
        ).map(tuple),
    ),
    max_size=7,
).map(
    lambda rows: [
        Row(number=number, network_id=network_id, diagnosis=diagnosis, bookings=bookings)
        for number, (network_id, diagnosis, bookings) in enumerate(rows)
    ]
)
NUMBERS = st.sets(st.integers(0, 6), max_size=3).map(sorted)


@given(ROWS, st.integers(0, 4), NUMBERS, NUMBERS, NUMBERS, st.none() | NUMBERS, st.integers(0, 2))
def test_the_choice_is_right_whatever_is_booked(
    rows: list[Row],
    amount: int,
    required: list[int],
    held: list[int],
    taken: list[int],
    in_use: list[int] | None,
    cleaning_hours: int,
) -> None:
    is_active = in_use is not None
    used = set(in_use or ()) & set(held)
    wish = make_wish(
        amount,
        *required,
        held=held,
        taken=taken,
        is_active=is_active,
        in_use=dict.fromkeys(ids(*used), 1),
        cleaning_time=cleaning_hours * HOUR,
    )

    def is_suitable(row: Row) -> bool:
        is_in_the_way = any(
            owner != OWN and each.widened(wish.cleaning_time).overlaps(wish.window)
            for owner, each in row.bookings
        )
        is_sound = row.diagnosis is HEALTHY or row.number in held
        return row.network_id == "network" and not is_in_the_way and is_sound and row.number not in taken

    suitable = [row.number for row in rows if is_suitable(row)]
    others = [each for each in suitable if each not in required]
    free = {row.number: row.free_around(wish.window) for row in rows}
    order = [
        *sorted(required),
        *sorted((each for each in others if each in held), key=lambda each: each not in used),
        *sorted((each for each in others if each not in held), key=lambda each: -free[each]),
    ]
    best = ids(*order[: max(amount, len(required))])
    can_be_had = set(required) <= set(suitable) and len(best) == amount and amount >= len(required)
    if is_active:
        can_be_had = can_be_had and set(held) <= set(suitable) and set(ids(*used)) <= set(best)

    if len(required) <= amount and can_be_had and any(row.network_id == "network" for row in rows):
        found = choose_floatingips(wish, index_of(rows))
        assert sorted(found) == sorted(best)
        assert list(found) == best
    elif len(required) <= amount:
        with pytest.raises((CannotChange, NotEnoughFloatingIPs, InvalidParameter)):
            choose_floatingips(wish, index_of(rows))
