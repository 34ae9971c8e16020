"""Facts, requirements and order of the in-memory index."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import at, window

from blazar.domain.availability import Availability, Resource, Shuffle
from blazar.domain.booking_rows import Mask
from blazar.domain.bookings import Booking
from blazar.domain.lease import ResourceId
from blazar.domain.requirements import AnyOf, Condition, Exists, Fact, Not, Operator, Requirement

EMPTY = Requirement()


def make_resource(resource_id: str, **fields: object) -> Resource:
    defaults = {"generation": 0, "is_reservable": True, "facts": {}}
    return Resource(id=ResourceId(resource_id), **{**defaults, **fields})  # type: ignore[arg-type]


def ids_in(index: Availability, mask: Mask) -> list[str]:
    return [index.resource_at(each).id for each in index.in_order(mask)]


def equals(key: str, value: str) -> Requirement:
    return Requirement((Condition(key, Operator.EQ, value),))


class TestFacts:
    def test_an_unknown_resource_has_no_place(self) -> None:
        index = Availability()

        assert index.get(ResourceId("1")) is None
        assert not index.mask_of([ResourceId("1")]).any()
        with pytest.raises(KeyError):
            index.generation_of(ResourceId("1"))
        assert not index.put_bookings(ResourceId("1"), 1, [])

    def test_a_dropped_resource_matches_nothing_and_may_come_back(self) -> None:
        index = Availability()
        booking = Booking(resource_id=ResourceId("1"), reservation_id=None, window=window(0, 9))
        index.put(make_resource("1", facts={"rack": "a"}), [booking])
        index.drop(ResourceId("1"))
        index.drop(ResourceId("1"))

        assert not index.matching(EMPTY).any()
        assert not index.reservable().any()
        assert index.known_facts() == frozenset()
        with pytest.raises(KeyError):
            index.resource_at(0)

        index.put(make_resource("1", facts={"room": "b"}), [])

        assert ids_in(index, index.matching(EMPTY)) == ["1"]
        assert index.known_facts() == {"room"}
        free = index.free(window(1, 2), now=at(0), cleaning_time=timedelta(0))
        assert ids_in(index, free) == ["1"]

    @pytest.mark.parametrize(("before", "after"), [(True, 1), (1, True), ("8", 8), (False, 0), (1, 1.0)])
    def test_a_changed_fact_is_noticed_though_it_equals_the_old_one(self, before: Fact, after: Fact) -> None:
        index, texts = Availability(), ("true", "false", "1", "0", "8", "1.0", "1!")
        wishes = [
            Requirement((Condition("x", sign, text),))
            for sign in (Operator.EQ, Operator.LT)
            for text in texts
        ]
        index.put(make_resource("1", facts={"x": before}), [])
        for wish in wishes:
            index.matching(wish)

        index.put(make_resource("1", facts={"x": after}), [])

        assert [bool(index.matching(each)[0]) for each in wishes] == [
            each.matches({"x": after}) for each in wishes
        ]

    def test_a_resource_that_is_put_out_of_service_is_not_reservable(self) -> None:
        index = Availability()
        index.put(make_resource("1"), [])
        assert index.reservable().all()

        index.put(make_resource("1", is_reservable=False), [])

        assert not index.reservable().any()

    def test_answers_stay_right_however_many_requirements_were_asked(self) -> None:
        index = Availability()
        for number in range(600):
            index.put(make_resource(str(number), facts={"n": number}), [])

        for number in [*range(600), *range(600)]:
            matching = index.matching(equals("n", str(number)))
            assert [index.resource_at(int(each)).id for each in matching.nonzero()[0]] == [str(number)]


KEYS = st.sampled_from(["rack", "vcpus", "type"])
VALUES = st.sampled_from(
    [
        "1",
        "1.0",
        "true",
        "True",
        "QEMU",
        "qemu",
        "null",
        "0",
        "8",
        "1!",
        "ß",
        "SS",
        "nan",
        "-3",
        "01",
        "\U0001f600",
    ]
)


def _requirements(terms: st.SearchStrategy[Any]) -> st.SearchStrategy[Requirement]:
    return st.builds(Requirement, st.lists(terms, min_size=1, max_size=3).map(tuple))


FACT_VALUES: st.SearchStrategy[Fact] = (
    VALUES
    | st.sampled_from([0, 1, 8, 0.0, 1.0, 0.5, float("nan"), float("inf"), 2**70, -3])
    | st.booleans()
    | st.none()
)
CONDITIONS = st.builds(Condition, KEYS, st.sampled_from(Operator), VALUES) | st.builds(Exists, KEYS)
TERMS = st.recursive(
    CONDITIONS,
    lambda terms: (
        st.builds(AnyOf, st.lists(_requirements(terms), min_size=1, max_size=3).map(tuple))
        | st.builds(Not, _requirements(terms))
    ),
    max_leaves=4,
)
REQUIREMENTS = st.builds(Requirement, st.lists(TERMS, max_size=3).map(tuple))


@given(
    st.lists(st.dictionaries(KEYS, FACT_VALUES), min_size=1, max_size=12),
    st.lists(REQUIREMENTS, min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(0, 11), st.dictionaries(KEYS, FACT_VALUES)), max_size=4),
)
def test_requirements_choose_the_resources_whose_facts_match(
    facts: list[dict[str, Fact]],
    requirements: list[Requirement],
    updates: list[tuple[int, dict[str, Fact]]],
) -> None:
    index = Availability(casefold_facts={"type"})
    for number, each in enumerate(facts):
        index.put(make_resource(str(number), facts=each), [])

    for number, update in [(0, facts[0]), *updates]:
        if number < len(facts):
            facts[number] = update
            index.put(make_resource(str(number), facts=update), [])
        for requirement in requirements:
            expected = [requirement.matches(each, casefold_keys={"type"}) for each in facts]
            assert index.matching(requirement).tolist() == expected
    assert index.known_facts() == {key for each in facts for key in each}


class TestOrder:
    def test_small_resources_come_first_then_low_numbers(self) -> None:
        index = Availability()
        for resource_id, size in (
            ("10", (8, 1)),
            ("node-a", (8, 1)),
            ("2", (8, 1)),
            ("1", (16, 0)),
            ("3", (8, 0)),
        ):
            index.put(make_resource(resource_id, size=size), [])

        ordered = [index.resource_at(each).id for each in index.in_order(index.matching(EMPTY))]

        assert ordered == ["3", "2", "10", "node-a", "1"]

    def test_only_what_the_mask_has_is_in_order_though_resources_come_and_go(self) -> None:
        index = Availability()
        for resource_id in ("1", "2", "3", "10", "node-a"):
            index.put(make_resource(resource_id), [])
        index.in_order(index.matching(EMPTY))
        index.drop(ResourceId("2"))
        index.put(make_resource("4"), [])
        wanted = index.mask_of([ResourceId("10"), ResourceId("2"), ResourceId("4")])

        assert [index.resource_at(each).id for each in index.in_order(wanted)] == ["4", "10"]

    def test_a_changed_size_changes_the_order(self) -> None:
        index = Availability()
        for resource_id in ("1", "2"):
            index.put(make_resource(resource_id, size=(1,)), [])
        index.in_order(index.matching(EMPTY))

        index.put(make_resource("1", size=(2,)), [])

        assert [index.resource_at(each).id for each in index.in_order(index.matching(EMPTY))] == ["2", "1"]

    def test_shuffled_it_is_the_same_resources_in_another_order(self) -> None:
        index = Availability()
        for number in range(50):
            index.put(make_resource(str(number)), [])
        mask = index.matching(EMPTY)

        orders = [list(index.in_order(mask, Shuffle(chance=random.Random(seed)))) for seed in range(3)]

        assert all(sorted(each) == list(range(50)) for each in orders)
        assert len({tuple(each) for each in orders}) == 3

    def test_shuffled_among_equals_small_resources_come_before_large_ones(self) -> None:
        index = Availability()
        for number in range(40):
            index.put(make_resource(str(number), size=(number % 2,)), [])
        mask = index.matching(EMPTY)

        orders = [
            list(index.in_order(mask, Shuffle(chance=random.Random(seed), equals_only=True)))
            for seed in range(3)
        ]

        small = {position for position in range(40) if index.resource_at(position).size == (0,)}
        assert all(set(each[:20]) == small and sorted(each) == list(range(40)) for each in orders)
        assert len({tuple(each) for each in orders}) == 3
