"""The choice of hosts, against brute force."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import HOUR, at, window

from blazar.domain.availability import Availability, Resource, Shuffle
from blazar.domain.bookings import LONG_FREE, Booking
from blazar.domain.errors import CannotChange, InvalidRequirement
from blazar.domain.interval import Interval
from blazar.domain.lease import ReservationId, ResourceId
from blazar.plugins.contract import Wish
from blazar.plugins.hosts.choice import choose_hosts
from blazar.plugins.hosts.errors import NotEnoughHosts
from blazar.plugins.hosts.spec import HostSpec

OWN = ReservationId("own")
OTHER = ReservationId("other")


def make_spec(minimum: int = 1, maximum: int = 1, properties: str = "", **fields: Any) -> HostSpec:
    return HostSpec(
        minimum=minimum, maximum=maximum, hypervisor_properties=properties, resource_properties="", **fields
    )


@dataclass(frozen=True, kw_only=True)
class HostFacts:
    """A host and its bookings."""

    id: ResourceId
    vcpus: int = 8
    is_reservable: bool = True
    bookings: tuple[tuple[ReservationId, Interval], ...] = ()

    capabilities: Mapping[str, str] = field(default_factory=dict)
    memory: int = 1

    @property
    def order(self) -> tuple[int, int]:
        return self.vcpus, int(self.id)

    def order_of_new(self, wanted: Interval) -> tuple[int, timedelta, int]:
        """Return the sort key of a host without properties: size, free time around the window, number."""
        around = [wanted.start - each.end for _, each in self.bookings if each.end <= wanted.start]
        around += [each.start - wanted.end for _, each in self.bookings if each.start >= wanted.end]
        return self.vcpus, -min(around, default=LONG_FREE), int(self.id)


def make_index(hosts: list[HostFacts]) -> Availability:
    index = Availability()
    for host in hosts:
        resource = Resource(
            id=host.id,
            generation=0,
            is_reservable=host.is_reservable,
            facts={**host.capabilities, "vcpus": host.vcpus, "hypervisor_hostname": f"host-{host.id}"},
            size=(host.vcpus, host.memory),
            properties=host.capabilities,
        )
        bookings = [
            Booking(resource_id=host.id, reservation_id=owner, window=each) for owner, each in host.bookings
        ]
        index.put(resource, bookings)
    return index


def make_wish(spec: HostSpec, *, held: str = "", taken: str = "", **fields: Any) -> Wish[HostSpec]:
    """Return a wish for hours 4 to 6; *held* and *taken* are ids of one digit."""
    defaults: dict[str, Any] = {"window": window(4, 6), "now": at(0), "ignoring": frozenset({OWN})}
    return Wish(
        spec=spec,
        held=dict.fromkeys(map(ResourceId, held)),
        beside={ResourceId(each): (None,) for each in taken},
        **{**defaults, **fields},
    )


def hosts_of(*sizes: int) -> list[HostFacts]:
    return [HostFacts(id=ResourceId(str(number)), vcpus=size) for number, size in enumerate(sizes)]


def is_suitable(host: HostFacts, wish: Wish[HostSpec], least_vcpus: int) -> bool:
    in_the_way = any(
        owner not in wish.ignoring and each.widened(wish.cleaning_time).overlaps(wish.window)
        for owner, each in host.bookings
    )
    return host.vcpus >= least_vcpus and not in_the_way and host.id not in wish.beside


def in_order_of_keeping(hosts: list[HostFacts], wish: Wish[HostSpec]) -> list[ResourceId]:
    hosts.sort(key=lambda each: (each.id not in wish.in_use, not each.is_reservable))
    return [each.id for each in hosts]


HOSTS = st.lists(
    st.tuples(
        st.sampled_from([2, 4, 8]),
        st.booleans() | st.just(True),
        st.lists(
            st.tuples(
                st.sampled_from([OWN, OTHER]),
                st.tuples(st.integers(1, 8), st.integers(1, 3)).map(lambda each: window(each[0], sum(each))),
            ),
            max_size=2,
        ).map(tuple),
    ),
    max_size=8,
).map(
    lambda rows: [
        HostFacts(id=ResourceId(str(number)), vcpus=vcpus, is_reservable=reservable, bookings=bookings)
        for number, (vcpus, reservable, bookings) in enumerate(rows)
    ]
)
ID_SETS = st.frozensets(st.integers(0, 9).map(str).map(ResourceId), max_size=4)


@given(
    hosts=HOSTS,
    least_vcpus=st.sampled_from([0, 4, 8, 9]),
    counts=st.tuples(st.integers(1, 4), st.integers(0, 4)),
    held=ID_SETS,
    taken=ID_SETS,
    is_active=st.booleans(),
    in_use=ID_SETS,
    cleaning_time=st.sampled_from([timedelta(0), HOUR]),
    seed=st.none() | st.integers(0, 3),
)
def test_the_choice_is_the_best_there_is_and_refused_only_if_there_is_none(
    hosts: list[HostFacts],
    least_vcpus: int,
    counts: tuple[int, int],
    held: frozenset[ResourceId],
    taken: frozenset[ResourceId],
    is_active: bool,
    in_use: frozenset[ResourceId],
    cleaning_time: timedelta,
    seed: int | None,
) -> None:
    minimum, maximum = counts[0], sum(counts)
    properties = f'[">=", "$vcpus", "{least_vcpus}"]' if least_vcpus else ""
    wish = replace(
        make_wish(make_spec(minimum, maximum, properties)),
        held=dict.fromkeys(held),
        beside=dict.fromkeys(taken - held, (None,)),
        is_active=is_active,
        in_use=dict.fromkeys(held & in_use, 1) if is_active else {},
        cleaning_time=cleaning_time,
        shuffle=None if seed is None else Shuffle(chance=random.Random(seed)),
    )
    suitable = sorted(
        (each for each in hosts if is_suitable(each, wish, least_vcpus)), key=lambda each: each.order
    )
    keepable = in_order_of_keeping([each for each in suitable if each.id in held], wish)
    suitable.sort(key=lambda each: each.order_of_new(wish.window))
    addable = [each.id for each in suitable if each.id not in held and each.is_reservable]
    is_possible = len(keepable) + len(addable) >= minimum
    if is_active:
        is_possible = is_possible and held == set(keepable) and len(wish.in_use) <= maximum

    try:
        chosen = tuple(choose_hosts(wish, make_index(hosts)))
    except (CannotChange, NotEnoughHosts):
        assert not is_possible
        return

    assert is_possible
    assert len(chosen) == len(set(chosen)) == min(maximum, len(keepable) + len(addable))
    kept = keepable[:maximum]
    assert list(chosen[: len(kept)]) == kept
    if seed is None:
        assert list(chosen[len(kept) :]) == addable[: maximum - len(kept)]
    else:
        assert set(chosen[len(kept) :]) <= set(addable)


class TestChoice:
    def test_small_hosts_are_given_before_large_ones_then_low_numbers(self) -> None:
        index = make_index(hosts_of(8, 4, 8, 2))

        assert tuple(choose_hosts(make_wish(make_spec(1, 3)), index)) == ("3", "1", "0")

    def test_hosts_with_scarce_properties_are_kept_for_those_who_ask_for_them(self) -> None:
        gpus = [HostFacts(id=ResourceId(str(each)), capabilities={"gpu": "a100"}) for each in range(2)]
        plain = [HostFacts(id=ResourceId(str(each)), vcpus=64) for each in range(2, 10)]
        index = make_index([*gpus, *plain])

        assert tuple(choose_hosts(make_wish(make_spec(2, 2)), index)) == ("2", "3")
        assert tuple(choose_hosts(make_wish(make_spec(9, 9)), index))[-1] == "0"
        asking = make_spec(1, 1, '["==", "$gpu", "a100"]')
        assert tuple(choose_hosts(make_wish(asking), index)) == ("0",)

    @pytest.mark.parametrize("seed", range(5))
    @pytest.mark.parametrize("equals_only", [True, False])
    def test_chance_does_not_take_scarce_properties_either(self, seed: int, equals_only: bool) -> None:
        gpus = [HostFacts(id=ResourceId(str(each)), capabilities={"gpu": "a100"}) for each in range(2)]
        plain = [HostFacts(id=ResourceId(str(each))) for each in range(2, 10)]
        shuffle = Shuffle(chance=random.Random(seed), equals_only=equals_only)

        chosen = choose_hosts(make_wish(make_spec(8, 8), shuffle=shuffle), make_index([*gpus, *plain]))

        assert set(chosen) == set("23456789")

    def test_much_memory_is_kept_though_its_host_has_few_vcpus(self) -> None:
        hosts = [HostFacts(id=ResourceId("0"), vcpus=4, memory=64)]
        hosts += [HostFacts(id=ResourceId(str(each)), vcpus=8, memory=8) for each in (1, 2)]

        assert tuple(choose_hosts(make_wish(make_spec(1, 3)), make_index(hosts))) == ("1", "2", "0")

    def test_among_equal_hosts_those_come_first_that_are_free_for_long_before_and_after(self) -> None:
        times = {"0": [(2, 4)], "1": [(6, 8)], "2": [(1, 2)], "3": [(2, 3), (8, 9)], "4": [(7, 8)], "5": []}
        hosts = [
            HostFacts(id=ResourceId(key), bookings=tuple((OTHER, window(start, end)) for start, end in found))
            for key, found in times.items()
        ]

        chosen = tuple(choose_hosts(make_wish(make_spec(1, 6)), make_index(hosts)))

        assert chosen == ("5", "2", "3", "4", "0", "1")

    def test_a_host_that_should_have_been_released_comes_last(self) -> None:
        hosts = hosts_of(4, 4)
        hosts[0] = replace(hosts[0], bookings=((OTHER, window(1, 2)),))
        wish = make_wish(make_spec(1, 2), now=at(2.5), window=window(9 * 24, 9 * 24 + 1))

        assert tuple(choose_hosts(wish, make_index(hosts))) == ("1", "0")

    def test_what_is_held_comes_first_though_it_is_larger(self) -> None:
        index = make_index(hosts_of(2, 2, 64))

        assert tuple(choose_hosts(make_wish(make_spec(1, 2), held="2"), index)) == ("2", "0")

    def test_a_held_host_stays_though_it_was_put_out_of_service(self) -> None:
        hosts = hosts_of(4, 4)
        hosts[0] = replace(hosts[0], is_reservable=False)

        assert tuple(choose_hosts(make_wish(make_spec(1, 2), held="0"), make_index(hosts))) == ("0", "1")

    def test_no_host_goes_to_two_reservations_of_one_request_even_if_held(self) -> None:
        index = make_index(hosts_of(4, 4))

        assert tuple(choose_hosts(make_wish(make_spec(1, 1), held="0", taken="0"), index)) == ("1",)

    def test_an_active_reservation_releases_idle_hosts_first_and_failed_ones_before_them(self) -> None:
        hosts = hosts_of(4, 4, 4, 4)
        hosts[1] = replace(hosts[1], is_reservable=False)
        wishes = [
            make_wish(make_spec(1, maximum), held="0123", is_active=True, in_use={ResourceId("2"): 1})
            for maximum in (3, 2, 1)
        ]

        assert [tuple(choose_hosts(each, make_index(hosts))) for each in wishes] == [
            ("2", "0", "3"),
            ("2", "0"),
            ("2",),
        ]

    def test_an_active_reservation_keeps_hosts_in_use_and_the_refusal_names_them(self) -> None:
        index = make_index(hosts_of(4, 4, 4))
        in_use = {ResourceId("1"): 2, ResourceId("2"): 1}

        with pytest.raises(CannotChange, match=r"^max: 1 is less than the 2 hosts .*: host-1, host-2$"):
            choose_hosts(make_wish(make_spec(1, 1), held="012", is_active=True, in_use=in_use), index)

    def test_an_active_reservation_gives_up_no_host_that_no_longer_fits(self) -> None:
        wish = make_wish(make_spec(1, 2, '[">=", "$vcpus", "4"]'), held="01", is_active=True)

        with pytest.raises(NotEnoughHosts) as refused:
            choose_hosts(wish, make_index(hosts_of(4, 2, 4)))

        assert (refused.value.fields["in_use"], refused.value.fields["would_remain"]) == (2, 1)

    def test_an_active_reservation_does_not_survive_an_unknown_host(self) -> None:
        with pytest.raises(NotEnoughHosts):
            choose_hosts(make_wish(make_spec(1, 2), held="7", is_active=True), make_index(hosts_of(4, 4)))

    def test_a_refusal_says_how_many_there_were_and_when(self) -> None:
        with pytest.raises(NotEnoughHosts, match="Not enough hosts available") as refused:
            choose_hosts(make_wish(make_spec(3, 5)), make_index(hosts_of(4, 4)))

        assert (refused.value.fields["min"], refused.value.fields["available"]) == (3, 2)
        assert "2031-01-01 04:00 to 2031-01-01 06:00 UTC" in refused.value.message

    def test_a_property_that_no_host_has_is_the_requests_fault(self) -> None:
        wish = make_wish(make_spec(1, 1, '["==", "$rack", "r1"]'))

        with pytest.raises(InvalidRequirement, match="rack"):
            choose_hosts(wish, make_index(hosts_of(4)))

    def test_without_hosts_a_built_in_property_is_not_the_requests_fault(self) -> None:
        wish = make_wish(make_spec(1, 1, '[">=", "$vcpus", "1"]'))

        with pytest.raises(NotEnoughHosts):
            choose_hosts(wish, make_index([]))
