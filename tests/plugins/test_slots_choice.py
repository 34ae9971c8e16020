"""The choice of hosts for instances, by example."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, cast

import pytest
from plugins.slot_cases import OTHER, OWN, SLOT, THIN, Case, HostFacts, make_index
from samples import window

from blazar.domain.availability import Availability, Shuffle
from blazar.domain.capacity import Share
from blazar.domain.errors import CannotChange, InvalidRequirement
from blazar.domain.expressions import parse
from blazar.domain.lease import Holdings
from blazar.plugins.hosts.errors import NotEnoughHosts
from blazar.plugins.slots.choice import choose_slots

# A host of the default size has capacity for four instances.


def hosts_of(*sizes: int) -> tuple[HostFacts, ...]:
    return tuple(
        HostFacts(id=str(number), vcpus=2 * size, memory=3 * size) for number, size in enumerate(sizes)
    )


def shared(host_id: str, **fields: Any) -> HostFacts:
    """Return a host on which another reservation has a small share."""
    return HostFacts(id=host_id, bookings=((OTHER, window(5, 6), Share(slots=1, demand=THIN)),), **fields)


def test_small_hosts_come_first_and_hosts_in_use_before_them() -> None:
    hosts = (*hosts_of(4, 2, 3), shared("9", vcpus=21, memory=90))

    assert Case(hosts=hosts, amount=14).choose() == {"9": 10, "1": 2, "2": 2}


def test_slots_that_are_kept_stay_where_they_are_and_what_is_added_joins_them() -> None:
    case = Case(hosts=hosts_of(4, 4, 1), held={"1": 2, "0": 1}, amount=6)

    assert case.choose() == {"0": 4, "1": 2}


@pytest.mark.parametrize("is_active", [False, True])
def test_when_it_shrinks_as_many_hosts_as_possible_are_given_up(is_active: bool) -> None:
    hosts = hosts_of(4, 4, 4)

    few = Case(hosts=hosts, held={"0": 3, "1": 2, "2": 1}, amount=4, is_active=is_active)
    many = Case(hosts=hosts, held={"0": 1, "1": 2, "2": 3}, amount=3, is_active=is_active)

    assert few.choose() == {"0": 3, "1": 1}
    assert many.choose() == {"2": 3}


def test_a_host_is_given_up_before_one_in_use_has_fewer_slots() -> None:
    case = Case(hosts=hosts_of(4, 4), held={"0": 2, "1": 3}, in_use={"0": 1}, amount=2, is_active=True)

    assert case.choose() == {"0": 2}


def test_when_it_shrinks_what_is_in_use_stays() -> None:
    case = Case(
        hosts=hosts_of(4, 4, 4),
        held={"0": 3, "1": 2, "2": 1},
        in_use={"0": 1, "2": 1},
        amount=2,
        is_active=True,
    )

    assert case.choose() == {"0": 1, "2": 1}


def test_it_cannot_shrink_below_what_is_in_use() -> None:
    case = Case(
        hosts=hosts_of(4, 4), held={"0": 3, "1": 2}, in_use={"0": 2, "1": 2}, amount=3, is_active=True
    )

    with pytest.raises(CannotChange, match=r"^amount: 4 servers of the reservation exist") as caught:
        case.choose()

    assert caught.value.fields == {"amount": 3, "in_use": 4}


def test_who_is_counted_does_not_matter_to_a_reservation_that_grows() -> None:
    case = Case(hosts=hosts_of(4), held={"0": 1}, in_use={"0": 3}, amount=2, is_active=True)

    assert case.choose() == {"0": 2}


def test_no_slot_of_an_active_reservation_is_moved_though_there_is_room_elsewhere() -> None:
    taken = HostFacts(id="0", bookings=((OTHER, window(7, 8), None),))
    case = Case(hosts=(taken, *hosts_of(1, 4)[1:]), held={"0": 1}, amount=1)

    assert case.choose() == {"1": 1}
    with pytest.raises(NotEnoughHosts, match="Not enough hosts available: slots in use would have to be"):
        Case(hosts=case.hosts, held={"0": 1}, amount=1, is_active=True).choose()


def test_what_the_reservation_has_booked_itself_is_free_for_it() -> None:
    booked = ((OWN, window(4, 8), Share(slots=4, demand=SLOT)),)
    case = Case(hosts=(HostFacts(id="0", bookings=booked),), held={"0": 4}, amount=4, is_active=True)

    assert case.choose() == {"0": 4}


def test_slots_that_are_apart_are_on_a_host_each_though_it_has_room_for_more() -> None:
    assert Case(hosts=hosts_of(4, 4, 4), affinity=False, amount=2).choose() == {"0": 1, "1": 1}


def test_another_host_takes_all_slots_of_one_that_was_lost() -> None:
    """Instances of an active reservation that were on one host are on one host again."""
    case = Case(hosts=hosts_of(4, 4), affinity=True, amount=2, is_active=True, excluded=frozenset("0"))

    assert case.choose() == {"1": 2}


def test_slots_that_are_together_grow_on_their_host_or_not_at_all() -> None:
    case = Case(hosts=hosts_of(2, 9), held={"0": 1}, affinity=True, amount=2, is_active=True)

    assert case.choose() == {"0": 2}
    with pytest.raises(NotEnoughHosts, match=r"3 slots on one host asked for .*, at most 2 fit"):
        Case(hosts=case.hosts, held={"0": 1}, affinity=True, amount=3, is_active=True).choose()
    assert Case(hosts=case.hosts, held={"0": 1}, affinity=True, amount=3).choose() == {"1": 3}


@pytest.mark.parametrize(
    ("affinity", "amount", "message"),
    [
        (None, 10, "10 slots asked for (amount), at most 9 fit and are free"),
        (False, 4, "4 slots on different hosts asked for (amount), at most 3 fit and are free"),
        (True, 5, "5 slots on one host asked for (amount), at most 4 fit and are free"),
        (None, 2**31 - 1, "2147483647 slots asked for (amount), at most 9 fit and are free"),
    ],
)
def test_a_refusal_says_how_much_would_have_been_there(
    affinity: bool | None, amount: int, message: str
) -> None:
    with pytest.raises(NotEnoughHosts) as caught:
        Case(hosts=hosts_of(4, 2, 3, 0), affinity=affinity, amount=amount).choose()

    assert caught.value.message == (
        f"Not enough hosts available: {message} from 2031-01-01 04:00 to 2031-01-01 08:00 UTC"
    )
    assert caught.value.fields["amount"] == amount


def test_peaks_inside_of_the_window_decide_also_where_the_beginning_is_free() -> None:
    """The upper bound for a host is higher than its free capacity."""
    later = ((OTHER, window(6, 7), Share(slots=3, demand=SLOT)),)
    hosts = tuple(HostFacts(id=str(number), bookings=later) for number in range(3))

    assert Case(hosts=hosts, amount=3).choose() == {"0": 1, "1": 1, "2": 1}
    for affinity in (None, True):
        with pytest.raises(NotEnoughHosts, match="at most"):
            Case(hosts=hosts, amount=4, affinity=affinity).choose()


@pytest.mark.parametrize("affinity", [None, False])
def test_hundreds_of_hosts_are_checked_while_slots_are_lacking(affinity: bool | None) -> None:
    hosts = hosts_of(*([1] * 400))

    chosen = Case(hosts=hosts, amount=300, affinity=affinity).choose()

    assert chosen == {str(number): 1 for number in range(300)}


def test_only_as_many_hosts_are_checked_as_are_needed() -> None:
    index = Counting(make_index(hosts_of(*([1] * 1000))))

    choose(index, amount=300)

    assert 300 <= index.looked_at < 500
    assert index.questions <= 4


@pytest.mark.parametrize(("affinity", "amount"), [(None, 10**6), (False, 1001), (True, 3)])
def test_no_host_is_checked_if_bounds_forbid_it(affinity: bool | None, amount: int) -> None:
    index = Counting(make_index(hosts_of(*([2] * 1000))))

    with pytest.raises(NotEnoughHosts):
        choose(index, amount=amount, affinity=affinity)

    assert index.looked_at == 0


def choose(index: Counting, amount: int, affinity: bool | None = None) -> Holdings:
    return choose_slots(
        Case(hosts=(), amount=amount).wish,
        cast("Availability", index),
        demand=SLOT,
        amount=amount,
        affinity=affinity,
        requirement=parse(None, field=""),
    )


class Counting:
    """A wrapper of an index or its headroom that counts the hosts whose headroom is computed exactly."""

    def __init__(self, whole: Any, parent: Counting | None = None) -> None:
        self.looked_at = 0
        self.questions = 0
        self._whole = whole
        self._parent = parent

    def __getattr__(self, name: str) -> Any:
        return getattr(self._whole, name)

    def headroom(self, *arguments: Any, **fields: Any) -> Counting:
        return Counting(self._whole.headroom(*arguments, **fields), self)

    def slots(self, positions: Sequence[int]) -> Any:
        assert self._parent is not None
        self._parent.looked_at += len(positions)
        self._parent.questions += bool(len(positions))
        return self._whole.slots(positions)


def test_another_order_is_taken_at_random_among_hosts_that_are_alike() -> None:
    hosts = (*hosts_of(*([1] * 30)), shared("99", vcpus=3))

    first, second = (
        Case(hosts=hosts, amount=6, shuffle=Shuffle(chance=random.Random(seed))).choose() for seed in (1, 2)
    )

    assert first != second
    assert next(iter(first)) == next(iter(second)) == "99"


def test_a_property_that_no_host_has_is_named_and_one_that_all_hosts_could_have_is_not() -> None:
    def ask(expression: object) -> Holdings:
        return choose_slots(
            Case(hosts=(), amount=1).wish,
            make_index(hosts_of(4)),
            demand=SLOT,
            amount=1,
            affinity=None,
            requirement=parse(expression, field="resource_properties"),
        )

    with pytest.raises(InvalidRequirement, match="resource_properties: no host has a property named nope"):
        ask(["==", "$nope", "1"])
    with pytest.raises(NotEnoughHosts):
        ask(["==", "$availability_zone", "nova"])
