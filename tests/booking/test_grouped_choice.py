"""Choices with one value of a fact, and spread over its values, against brute force over all choices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import at, window

from blazar.booking.grouped_choice import choose, most_grouped
from blazar.domain.availability import Availability, Resource
from blazar.domain.bookings import Booking
from blazar.domain.capacity import Demand, Share
from blazar.domain.errors import InvalidParameter, NotEnoughResources
from blazar.domain.grouping import Grouping
from blazar.domain.lease import Holdings, ReservationId, ResourceId
from blazar.domain.providers import HostProvider, Inventory
from blazar.plugins.contract import Wish
from blazar.plugins.hosts.plugin import Hosts
from blazar.plugins.hosts.settings import HostSettings
from blazar.plugins.hosts.spec import HostSpec
from blazar.plugins.instances.plugin import Instances
from blazar.plugins.instances.spec import InstanceSpec

HOSTS, INSTANCES = Hosts(HostSettings()), Instances(HostSettings())
WINDOW = window(4, 6)
OWN, OTHER = ReservationId("own"), ReservationId("other")
SLOT = Demand.of({"VCPU": 2})
RACKS, ZONES = (None, "r1", "r2", "r3"), (None, "z1", "z2")
GROUPINGS = [
    Grouping(same="rack"),
    Grouping(spread="rack"),
    Grouping(same="zone", spread="rack"),
    Grouping(same="rack", spread="zone"),
]


def slots(amount: int, affinity: bool | None) -> InstanceSpec:
    return InstanceSpec(
        vcpus=2, memory_mb=1, disk_gb=0, amount=amount, affinity=affinity, resource_properties=""
    )


@dataclass(frozen=True)
class Machine:
    """A host for at most *capacity* slots, of which others use some, or all of it if it is booked."""

    rack: str | None
    zone: str | None
    capacity: int
    used: int
    is_booked: bool
    is_reservable: bool

    @property
    def facts(self) -> dict[str, str]:
        named = {"rack": self.rack, "zone": self.zone}
        return {key: value for key, value in named.items() if value is not None}

    @property
    def slots(self) -> int:
        return max(0, self.capacity - self.used) if self.is_reservable and not self.is_booked else 0


MACHINES = st.lists(
    st.builds(
        Machine,
        st.sampled_from(RACKS),
        st.sampled_from(ZONES),
        st.integers(1, 3),
        st.integers(0, 2),
        st.booleans(),
        st.sampled_from([True, True, True, False]),
    ),
    min_size=1,
    max_size=7,
)


def make_index(machines: Sequence[Machine]) -> Availability:
    index = Availability()
    for number, each in enumerate(machines):
        key = ResourceId(str(number))
        tree = HostProvider(
            uuid=key,
            name=key,
            inventories={"VCPU": Inventory(total=2 * each.capacity), "MEMORY_MB": Inventory(total=100)},
            traits=frozenset(),
        )
        shares: list[Share | None] = [None] if each.is_booked else []
        if each.used and not each.is_booked:
            shares = [Share(slots=each.used, demand=SLOT)]
        bookings = [
            Booking(resource_id=key, reservation_id=OTHER, window=WINDOW, share=share) for share in shares
        ]
        facts = {**each.facts, "hypervisor_hostname": key}
        resource = Resource(
            id=key, generation=0, is_reservable=each.is_reservable, facts=facts, providers=(tree,)
        )
        index.put(resource, bookings)
    return index


# Facts that others have too, so that the names are known, of machines that cannot be reserved.
UNUSABLE = [Machine("r9", "z9", 1, 0, is_booked=False, is_reservable=False)]


def make_wish(spec: Any, **fields: Any) -> Wish[Any]:
    return Wish(**{"spec": spec, "window": WINDOW, "now": at(0), "ignoring": frozenset({OWN}), **fields})


def pools(machines: Sequence[Machine], same: str | None) -> Iterator[Sequence[Machine]]:
    """Yield the machines among which all units may be."""
    if same is None:
        yield machines
        return
    for value in {each.facts[same] for each in machines if same in each.facts}:
        yield [each for each in machines if each.facts.get(same) == value]


def limit_of(units: int, machines: Sequence[Machine], spread: str) -> int:
    values = {each.facts[spread] for each in machines if spread in each.facts and each.is_reservable}
    return -(-units // max(1, len(values)))


def is_spread(chosen: Sequence[tuple[Machine, int]], pool: Sequence[Machine], spread: str) -> bool:
    total = sum(units for _, units in chosen)
    found: Counter[str] = Counter()
    for each, units in chosen:
        if units and spread not in each.facts:
            return False
        found[each.facts.get(spread, "")] += units
    return max(found.values(), default=0) <= limit_of(total, pool, spread)


def is_grouped(chosen: Sequence[tuple[Machine, int]], machines: Sequence[Machine], asked: Grouping) -> bool:
    """Return whether units on machines are as a grouping asks for, by its definition."""
    used = [each for each, units in chosen if units]
    return any(
        all(each in pool for each in used) and (asked.spread is None or is_spread(chosen, pool, asked.spread))
        for pool in pools(machines, asked.same)
    )


def most_hosts(machines: Sequence[Machine], asked: Grouping, most: int) -> int:
    """Return the largest number of free hosts with a grouping."""
    free = [each for each in machines if each.is_reservable and not each.is_booked and not each.used]
    for units in range(min(most, len(free)), 0, -1):
        for chosen in combinations(free, units):
            if is_grouped([(each, 1) for each in chosen], machines, asked):
                return units
    return 0


def has_slots(machines: Sequence[Machine], asked: Grouping, amount: int, affinity: bool | None) -> bool:
    most = [min(each.slots, 1) if affinity is False else each.slots for each in machines]
    for units in product(*(range(each + 1) for each in most)):
        if sum(units) != amount or (affinity and sum(each > 0 for each in units) != 1):
            continue
        if is_grouped([*zip(machines, units, strict=True)], machines, asked):
            return True
    return False


def chosen_units(machines: Sequence[Machine], found: Holdings) -> list[tuple[Machine, int]]:
    return [(machines[int(key)], 1 if share is None else share.slots) for key, share in found.items()]


@given(MACHINES, st.sampled_from(GROUPINGS), st.integers(1, 4), st.integers(0, 3))
def test_hosts(machines: list[Machine], asked: Grouping, least: int, more: int) -> None:
    machines = machines + UNUSABLE
    index, plugin = make_index(machines), HOSTS
    spec = HostSpec(minimum=least, maximum=least + more, hypervisor_properties="", resource_properties="")
    most = most_hosts(machines, asked, least + more)

    assert most_grouped(plugin, make_wish(spec), index, asked) == most
    if most < least:
        with pytest.raises(NotEnoughResources):
            choose(plugin, make_wish(spec), index, asked)
        return
    found = choose(plugin, make_wish(spec), index, asked)

    assert len(found) == most
    assert is_grouped(chosen_units(machines, found), machines, asked)
    again = choose(plugin, make_wish(spec, held=found), index, asked)
    assert again.keys() == found.keys()
    active = choose(plugin, make_wish(spec, held=found, is_active=True), index, asked)
    assert active.keys() == found.keys()


@given(MACHINES, st.sampled_from(GROUPINGS), st.integers(1, 6), st.sampled_from([None, False, True]))
def test_slots(machines: list[Machine], asked: Grouping, amount: int, affinity: bool | None) -> None:
    if asked.spread is not None and affinity:
        affinity = None
    machines = machines + UNUSABLE
    index, plugin, spec = make_index(machines), INSTANCES, slots(amount, affinity)

    if not has_slots(machines, asked, amount, affinity):
        with pytest.raises(NotEnoughResources):
            choose(plugin, make_wish(spec), index, asked)
        return
    found = choose(plugin, make_wish(spec), index, asked)

    chosen = chosen_units(machines, found)
    assert sum(units for _, units in chosen) == amount
    assert all(units <= each.slots for each, units in chosen)
    assert is_grouped(chosen, machines, asked)
    assert dict(choose(plugin, make_wish(spec, held=found), index, asked)) == dict(found)


FREE = [Machine(rack, "z1", 1, 0, is_booked=False, is_reservable=True) for rack in ("r1", "r1", "r2", "r3")]


def ids(found: Holdings) -> str:
    return "".join(sorted(found))


def hosts(least: int, most: int | None = None) -> HostSpec:
    return HostSpec(minimum=least, maximum=most or least, hypervisor_properties="", resource_properties="")


def test_the_smallest_group_that_suffices_is_used() -> None:
    index = make_index(FREE)

    assert ids(choose(HOSTS, make_wish(hosts(1)), index, Grouping(same="rack"))) in ("2", "3")
    assert ids(choose(HOSTS, make_wish(hosts(2)), index, Grouping(same="rack"))) == "01"
    assert ids(choose(HOSTS, make_wish(hosts(1, 2)), index, Grouping(same="rack"))) == "01"


def test_a_failed_host_is_replaced_in_its_group_or_by_another_group() -> None:
    two_racks = [Machine(rack, "z1", 1, 0, False, True) for rack in ("r1", "r1", "r1", "r2", "r2")]
    index = make_index([replace(two_racks[0], is_reservable=False), *two_racks[1:]])
    grouping, one, two = Grouping(same="rack"), ResourceId("0"), ResourceId("1")

    assert ids(choose(HOSTS, make_wish(hosts(2), held={two: None}), index, grouping)) == "12"
    rest = make_wish(hosts(2), held={two: None}, excluded=frozenset({ResourceId("2"), one}))
    assert ids(choose(HOSTS, rest, index, grouping)) == "34"
    with pytest.raises(NotEnoughResources):
        choose(HOSTS, replace(rest, is_active=True), index, grouping)


def test_an_active_reservation_grows_where_it_has_the_least() -> None:
    held = {ResourceId("0"): None, ResourceId("2"): None}
    wish = make_wish(hosts(3), held=held, is_active=True)

    assert ids(choose(HOSTS, wish, make_index(FREE), Grouping(spread="rack"))) == "023"


def test_an_active_reservation_shrinks_among_what_it_has() -> None:
    held = dict.fromkeys(ResourceId(each) for each in "023")
    wish = make_wish(hosts(2), held=held, is_active=True, in_use={ResourceId("3"): 1})

    found = choose(HOSTS, wish, make_index(FREE), Grouping(spread="rack"))

    assert len(found) == 2
    assert found.keys() <= held.keys()
    assert ResourceId("3") in found


def test_the_refusal_says_how_much_there_is() -> None:
    index = make_index(FREE)

    with pytest.raises(
        NotEnoughResources, match="3 asked for with the same rack; at most 2 with one value of it fit"
    ):
        choose(HOSTS, make_wish(hosts(3)), index, Grouping(same="rack"))
    with pytest.raises(
        NotEnoughResources, match="spread over rack with at most 2 for each value of it; at most 4 fit"
    ):
        choose(HOSTS, make_wish(hosts(5)), index, Grouping(spread="rack"))


@pytest.mark.parametrize("key", ["same", "spread"])
def test_names_that_nothing_has_and_hidden_ones_are_refused_alike(key: str) -> None:
    index, wish = make_index(FREE), make_wish(hosts(1), hidden=frozenset({"rack"}))

    for name in ("rack", "shelf"):
        with pytest.raises(InvalidParameter, match=f"{key}: no resource has a property named {name}"):
            choose(HOSTS, wish, index, Grouping(**{key: name}))
