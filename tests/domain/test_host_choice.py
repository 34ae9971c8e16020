"""Which hosts a reservation gets, against brute force; and what its spec may say."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import HOUR, at, window

from blazar.domain.availability import Availability, Resource, Shuffle
from blazar.domain.bookings import Booking
from blazar.domain.errors import (
    BadRequest,
    InvalidParameter,
    InvalidRange,
    InvalidRequirement,
    MissingParameter,
    NotEnoughHosts,
)
from blazar.domain.interval import Interval
from blazar.domain.lease import ReservationId, ResourceId
from blazar.plugins.contract import Wish
from blazar.plugins.hosts.choice import choose_hosts
from blazar.plugins.hosts.spec import HostSpec, encode_spec, parse_spec, revise_spec

OWN = ReservationId("own")
OTHER = ReservationId("other")


def make_spec(minimum: int = 1, maximum: int = 1, properties: str = "", **fields: Any) -> HostSpec:
    return HostSpec(
        minimum=minimum, maximum=maximum, hypervisor_properties=properties, resource_properties="", **fields
    )


@dataclass(frozen=True, kw_only=True)
class HostFacts:
    """A host and who has booked it when."""

    id: ResourceId
    vcpus: int = 8
    is_reservable: bool = True
    bookings: tuple[tuple[ReservationId, Interval], ...] = ()

    @property
    def order(self) -> tuple[int, int]:
        return self.vcpus, int(self.id)


def make_index(hosts: list[HostFacts]) -> Availability:
    index = Availability()
    for host in hosts:
        resource = Resource(
            id=host.id,
            generation=0,
            is_reservable=host.is_reservable,
            facts={"vcpus": host.vcpus},
            size=(host.vcpus,),
        )
        bookings = [
            Booking(resource_id=host.id, reservation_id=owner, window=each) for owner, each in host.bookings
        ]
        index.put(resource, bookings)
    return index


def make_wish(spec: HostSpec, *, held: str = "", taken: str = "", **fields: Any) -> Wish[HostSpec]:
    """Return a wish for the hours 4 to 6; *held* and *taken* are ids of one digit."""
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
        cleaning_time=cleaning_time,
        shuffle=None if seed is None else Shuffle(chance=random.Random(seed)),
    )
    suitable = sorted(
        (each for each in hosts if is_suitable(each, wish, least_vcpus)), key=lambda each: each.order
    )
    keepable = [each.id for each in suitable if each.id in held]
    addable = [each.id for each in suitable if each.id not in held and each.is_reservable]
    is_possible = len(keepable) + len(addable) >= minimum
    if is_active:
        is_possible = is_possible and held == set(keepable) and len(held) <= maximum

    try:
        chosen = tuple(choose_hosts(wish, make_index(hosts)))
    except NotEnoughHosts:
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

    def test_an_active_reservation_gives_nothing_up(self) -> None:
        index = make_index(hosts_of(4, 4, 4))

        with pytest.raises(NotEnoughHosts) as refused:
            choose_hosts(make_wish(make_spec(1, 1), held="01", is_active=True), index)

        assert (refused.value.fields["in_use"], refused.value.fields["would_remain"]) == (2, 1)

    def test_an_active_reservation_does_not_survive_a_host_that_nobody_knows(self) -> None:
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


BODY = {"min": 1, "max": 2, "hypervisor_properties": "", "resource_properties": None}
RACK = '["==", "$rack", "r1"]'


def refusal(body: Mapping[str, object]) -> BadRequest:
    with pytest.raises(BadRequest) as refused:
        parse_spec(body)
    return refused.value


def without(*keys: str, **fields: object) -> dict[str, object]:
    return {**{key: value for key, value in BODY.items() if key not in keys}, **fields}


class TestParsing:
    def test_a_spec_keeps_what_was_sent(self) -> None:
        spec = parse_spec({**BODY, "resource_properties": RACK, "before_end": "snapshot", "unknown": 1})

        assert spec == HostSpec(
            minimum=1, maximum=2, hypervisor_properties="", resource_properties=RACK, before_end="snapshot"
        )
        assert encode_spec(spec) == {
            "min": 1,
            "max": 2,
            "hypervisor_properties": "",
            "resource_properties": RACK,
            "before_end": "snapshot",
        }
        assert spec.requirement.keys == {"rack"}

    def test_both_expressions_are_required_together(self) -> None:
        spec = parse_spec(
            {**BODY, "hypervisor_properties": '[">", "$vcpus", "4"]', "resource_properties": RACK}
        )

        assert spec.requirement.matches({"vcpus": 8, "rack": "r1"})
        assert not spec.requirement.matches({"vcpus": 4, "rack": "r1"})
        assert not spec.requirement.matches({"vcpus": 8, "rack": "r2"})

    def test_counts_may_be_numeric_text(self) -> None:
        spec = parse_spec({**BODY, "min": "2", "max": "10"})

        assert (spec.minimum, spec.maximum) == (2, 10)
        assert encode_spec(spec)["max"] == 10

    def test_an_expression_may_be_a_list(self) -> None:
        spec = parse_spec({**BODY, "resource_properties": ["==", "$rack", "r1"]})

        assert spec.resource_properties == RACK

    def test_the_default_before_end_action_is_the_sites(self) -> None:
        assert parse_spec(BODY).before_end == "default"

    @pytest.mark.parametrize(
        "count",
        [
            *("x", "", "-", "--5", "1-", "+1", " 1", "1.0", "0x1", "\N{ARABIC-INDIC DIGIT THREE}", "1" * 40),
            *(True, 1.0, [1], {}),
            *(0, -1, "0", "-1", 2**31, str(2**31)),
        ],
    )
    @pytest.mark.parametrize("key", ["min", "max"])
    def test_a_count_is_a_positive_whole_number(self, key: str, count: object) -> None:
        error = refusal({**BODY, key: count})

        assert isinstance(error, InvalidParameter)
        assert error.fields["name"] == key

    @pytest.mark.parametrize("action", [None, "destroy", "Snapshot", 0, []])
    def test_an_unknown_before_end_action_is_refused(self, action: object) -> None:
        assert refusal({**BODY, "before_end": action}).fields["name"] == "before_end"

    @pytest.mark.parametrize(
        ("body", "error", "names"),
        [
            (without("min", "max"), MissingParameter, ["min"]),
            (without("max", min=None), MissingParameter, ["min"]),
            (without("max", min="1"), MissingParameter, ["max"]),
            (without("resource_properties", min="x", max=1), InvalidParameter, "min"),
            (without("resource_properties", max="x"), InvalidParameter, "max"),
            (without("hypervisor_properties", min=3), InvalidRange, None),
            (
                without("hypervisor_properties", "resource_properties", before_end="x"),
                MissingParameter,
                ["hypervisor_properties", "resource_properties"],
            ),
            (
                without("resource_properties", hypervisor_properties="x"),
                MissingParameter,
                ["resource_properties"],
            ),
            (without(before_end="x", hypervisor_properties="x"), InvalidParameter, "before_end"),
            (
                without(hypervisor_properties="x", resource_properties="x"),
                InvalidRequirement,
                "hypervisor_properties",
            ),
            (without(resource_properties="x"), InvalidRequirement, "resource_properties"),
        ],
    )
    def test_the_first_problem_is_reported(
        self, body: dict[str, object], error: type[BadRequest], names: object
    ) -> None:
        refused = refusal(body)

        assert type(refused) is error
        assert refused.fields.get("names", refused.fields.get("name")) == names

    @given(
        st.dictionaries(
            st.sampled_from([*BODY, "before_end"]),
            st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.text()),
        )
    )
    def test_nothing_that_is_sent_is_worse_than_a_bad_request(self, body: dict[str, object]) -> None:
        try:
            spec = parse_spec(body)
        except BadRequest:
            return
        assert parse_spec(encode_spec(spec)) == spec


class TestRevising:
    def test_keys_that_are_not_sent_keep_their_value(self) -> None:
        spec = make_spec(1, 2, RACK, before_end="snapshot")

        assert revise_spec(spec, {"id": "x", "resource_type": "physical:host"}) == spec
        assert revise_spec(spec, {"max": "3"}) == replace(spec, maximum=3)
        assert revise_spec(spec, {"hypervisor_properties": None}) == replace(spec, hypervisor_properties=None)
        assert revise_spec(spec, {"before_end": ""}) == replace(spec, before_end="")

    @pytest.mark.parametrize("changes", [{"min": 3}, {"min": 2, "max": 1}])
    def test_the_range_is_checked_with_what_is_stored(self, changes: dict[str, object]) -> None:
        with pytest.raises(InvalidRange):
            revise_spec(make_spec(1, 2), changes)

    @pytest.mark.parametrize(
        ("changes", "error"),
        [
            ({"min": None}, MissingParameter),
            ({"max": 0}, InvalidParameter),
            ({"before_end": None}, InvalidParameter),
            ({"resource_properties": "x"}, InvalidRequirement),
            ({"before_end": "x", "resource_properties": "x", "min": 5}, InvalidRange),
        ],
    )
    def test_what_a_new_reservation_may_not_say_a_change_may_not_either(
        self, changes: dict[str, object], error: type[BadRequest]
    ) -> None:
        with pytest.raises(error):
            revise_spec(make_spec(1, 2), changes)
