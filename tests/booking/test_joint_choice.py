"""Choices for several reservations of one request, against brute force over all distributions of hosts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product
from random import Random

import numpy as np
from booking.test_grouped_choice import HOSTS, INSTANCES, MACHINES, Machine, make_index, make_wish, slots
from hypothesis import given
from hypothesis import strategies as st

from blazar.booking.joint_choice import Part, choose_together
from blazar.domain.grouping import Grouping
from blazar.domain.joint_units import assign
from blazar.domain.search_budget import Budget
from blazar.plugins.hosts.spec import HostSpec

RACKS = st.sampled_from([None, "r1", "r2"])
RANGES = st.tuples(st.integers(1, 3), st.integers(0, 2), RACKS)
SLOTS = st.tuples(st.integers(1, 5), st.sampled_from([None, False, True]))
SPREAD = Grouping(spread="rack")
KNOWN = [Machine(rack, None, 1, 0, is_booked=True, is_reservable=False) for rack in ("r1", "r2")]


def spec_of(least: int, more: int, rack: str | None) -> HostSpec:
    terms = "" if rack is None else f'["==", "$rack", "{rack}"]'
    return HostSpec(minimum=least, maximum=least + more, hypervisor_properties="", resource_properties=terms)


def is_possible(
    machines: Sequence[Machine],
    hosts: Sequence[tuple[int, int, str | None]],
    asked: tuple[int, bool | None],
    is_spread: bool,
) -> bool:
    """Return whether hosts can be distributed among the reservations of hosts and that of slots."""
    amount, affinity = asked
    racks = {each.rack for each in machines if each.is_reservable and each.rack is not None}
    most = -(-amount // max(1, len(racks)))
    for owners in product(range(len(hosts) + 1), repeat=len(machines)):
        of_slots = [each.slots for each, owner in zip(machines, owners, strict=True) if owner == len(hosts)]
        if affinity is False:
            of_slots = [min(each, 1) for each in of_slots]
        if is_spread:
            in_racks = Counter[str]()
            for each, units in zip(
                (each for each, owner in zip(machines, owners, strict=True) if owner == len(hosts)),
                of_slots,
                strict=True,
            ):
                if each.rack is not None:
                    in_racks[each.rack] += units
            of_slots = [min(most, units) for units in in_racks.values()]
        if (max(of_slots, default=0) if affinity else sum(of_slots)) < amount:
            continue
        if all(
            sum(
                owner == number and each.slots > 0 and not each.used and rack in (None, each.rack)
                for each, owner in zip(machines, owners, strict=True)
            )
            >= least
            for number, (least, _, rack) in enumerate(hosts)
        ):
            return True
    return False


@given(
    MACHINES.filter(lambda each: len(each) < 6),
    st.lists(RANGES, min_size=1, max_size=3),
    SLOTS,
    st.booleans(),
    st.randoms(),
)
def test_what_fits_is_found(
    machines: list[Machine],
    hosts: list[tuple[int, int, str | None]],
    asked: tuple[int, bool | None],
    is_spread: bool,
    chance: Random,
) -> None:
    is_spread &= not asked[1]
    index = make_index([*machines, *KNOWN])
    parts = [Part(plugin=HOSTS, wish=make_wish(spec_of(*each)), grouping=None, view=index) for each in hosts]
    grouping = SPREAD if is_spread else None
    parts.append(Part(plugin=INSTANCES, wish=make_wish(slots(*asked)), grouping=grouping, view=index))
    order = list(range(len(parts)))
    chance.shuffle(order)

    found = choose_together([parts[each] for each in order], Budget.unlimited())

    assert (found is not None) == is_possible(machines, hosts, asked, is_spread)
    if found is None:
        return
    chosen = {number: found[order.index(number)] for number in order}
    for number, (least, more, rack) in enumerate(hosts):
        assert least <= len(chosen[number]) <= least + more
        assert all(rack in (None, machines[int(key)].rack) for key in chosen[number])
    assert sum(share.slots for share in chosen[len(hosts)].values() if share is not None) == asked[0]
    keys = [key for holdings in chosen.values() for key in holdings]
    assert len(keys) == len(set(keys)), "no host is in two reservations"


def test_hosts_are_kept_out_of_the_only_rack_that_slots_can_have() -> None:
    machines = [
        Machine(rack, None, 8, 0, is_booked=False, is_reservable=True) for rack in ("r1", "r2", "r1", "r2")
    ]
    view = make_index([*machines, *KNOWN])
    instances = [
        Part(plugin=INSTANCES, wish=make_wish(slots(*asked)), grouping=each, view=view)
        for asked, each in (((1, None), SPREAD), ((2, False), Grouping(same="rack")))
    ]
    hosts = Part(plugin=HOSTS, wish=make_wish(spec_of(2, 1, None)), grouping=None, view=view)

    found = choose_together([instances[0], hosts, instances[1]], Budget.unlimited())

    assert found is not None
    assert [len(each) for each in found] == [1, 2, 2]


@given(
    MACHINES.filter(lambda each: len(each) < 6),
    st.lists(st.tuples(RANGES, st.booleans()), min_size=1, max_size=3),
)
def test_together_they_get_as_many_hosts_as_possible(
    machines: list[Machine], asked: list[tuple[tuple[int, int, str | None], bool]]
) -> None:
    """The second of each pair says whether all hosts of the reservation must be in one rack."""
    index = make_index([*machines, *KNOWN])
    parts = [
        Part(
            plugin=HOSTS,
            wish=make_wish(spec_of(*each)),
            grouping=Grouping(same="rack") if is_same else None,
            view=index,
        )
        for each, is_same in asked
    ]

    found = choose_together(parts, Budget.unlimited())

    assert sum(map(len, found or ())) == most_hosts(machines, asked)


def most_hosts(machines: Sequence[Machine], asked: Sequence[tuple[tuple[int, int, str | None], bool]]) -> int:
    """Return the largest number of hosts that reservations can get together; 0 if one is refused."""
    free = [each for each in machines if each.slots and not each.used]
    most = 0
    for owners in product(range(len(asked) + 1), repeat=len(free)):
        racks = [
            [each.rack for each, owner in zip(free, owners, strict=True) if owner == number]
            for number in range(len(asked))
        ]
        if all(is_granted(*each, own) for each, own in zip(asked, racks, strict=True)):
            most = max(most, sum(map(len, racks)))
    return most


def is_granted(wanted: tuple[int, int, str | None], is_same: bool, racks: list[str | None]) -> bool:
    """Return whether hosts in these racks are what a reservation asks for."""
    least, more, rack = wanted
    if not least <= len(racks) <= least + more or (rack is not None and set(racks) != {rack}):
        return False
    return not is_same or (len(set(racks)) == 1 and racks[0] is not None)


@given(
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 5)), min_size=1, max_size=6),
    st.lists(st.integers(0, 3), min_size=1, max_size=3),
)
def test_the_cheapest_resources_are_assigned(resources: list[tuple[int, int]], least: list[int]) -> None:
    """The bits of the first number say which needs can use a resource; the second one is its cost."""
    usable = [np.array([bool(bits >> number & 1) for bits, _ in resources]) for number in range(len(least))]
    costs = np.array([cost for _, cost in resources])
    sums = [
        sum(cost for (_, cost), owner in zip(resources, owners, strict=True) if owner < len(least))
        for owners in product(range(len(least) + 1), repeat=len(resources))
        if all(owners.count(number) == each for number, each in enumerate(least))
        and all(owner == len(least) or usable[owner][each] for each, owner in enumerate(owners))
    ]

    found = assign(usable, least, costs)

    if found is None:
        assert sums == []
        return
    assert [int(each.sum()) for each in found] == least
    assert all(not (mask & ~can).any() for mask, can in zip(found, usable, strict=True))
    assert sum(int(costs[each].sum()) for each in found) == min(sums)
