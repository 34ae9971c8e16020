"""The number of instances that fit on a host, for any choice of providers that Placement makes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blazar.domain.capacity import Amounts, Demand, Group, Share, count_slots
from blazar.domain.providers import HostProvider, Inventory

A, B = "CUSTOM_A", "CUSTOM_B"


def make_provider(
    name: str = "root", traits: Sequence[str] = (), **inventories: int | Inventory
) -> HostProvider:
    return HostProvider(
        uuid=name,
        name=name,
        parent_uuid=None if name == "root" else "root",
        inventories={
            key: Inventory(total=each) if isinstance(each, int) else each for key, each in inventories.items()
        },
        traits=frozenset(traits),
    )


def share(slots: int, demand: Demand | None = None, **amounts: int) -> Share:
    return Share(slots=slots, demand=demand or Demand.of(amounts))


def count(providers: Sequence[HostProvider], *moments: Sequence[Share], **amounts: int) -> int:
    return count_slots(providers, Demand.of(amounts), moments)


# All choices that Placement may make, tried exhaustively.

Free = tuple[tuple[tuple[str, int], ...], ...]
"""The free amount of each class, by provider."""

Items = tuple[tuple[int, int], ...]
"""The items still to be placed: pairs of amount and number."""


def is_never_stuck(free: tuple[int, ...], items: Items) -> bool:
    """Return whether all items fit, for any order of items and any choice of providers."""
    todo, seen = [(free, items)], set()
    while todo:
        state = todo.pop()
        if state in seen:
            continue
        seen.add(state)
        left, waiting = state
        for amount, number in waiting:
            if number == 0:
                continue
            roomy = [index for index, each in enumerate(left) if each >= amount]
            if not roomy:
                return False
            fewer = tuple((size, each - (size == amount)) for size, each in waiting)
            for index in roomy:
                less = tuple(each - amount * (place == index) for place, each in enumerate(left))
                todo.append((less, fewer))
    return True


def most_by_brute_force(capacities: Sequence[int], amount: int, beside: Mapping[int, int]) -> int:
    """Return how many more items of an amount always fit; -1 if the others alone may not fit."""
    for slots in range(sum(capacities) // amount + 2):
        items = {**beside, amount: beside.get(amount, 0) + slots}
        if not is_never_stuck(tuple(capacities), tuple(sorted(items.items()))):
            return slots - 1
    raise AssertionError("capacity is limited")


CAPACITIES = st.lists(st.integers(0, 6), min_size=1, max_size=3)


@given(CAPACITIES, st.integers(1, 4), st.dictionaries(st.integers(1, 4), st.integers(1, 2), max_size=2))
def test_no_choice_of_placement_leaves_a_slot_without_room(
    capacities: list[int], amount: int, beside: dict[int, int]
) -> None:
    providers = [make_provider(str(index), VGPU=each) for index, each in enumerate(capacities)]
    others = [share(number, VGPU=size) for size, number in beside.items()]

    slots = count(providers, others, VGPU=amount)

    safe = most_by_brute_force(capacities, amount, beside)
    assert slots <= max(safe, 0)
    if len(capacities) == 1 or beside.keys() <= {amount}:
        assert slots == max(safe, 0), "refused although every choice fits"


def placements(free: Free, demand: Demand) -> Iterator[Free]:
    """Yield each state that can remain after Placement places one instance of a demand."""
    parts: list[tuple[Amounts, bool]] = [((each,), False) for each in demand.ungrouped]
    parts += [(group.amounts, demand.is_isolated) for group in demand.groups]
    todo: list[tuple[Free, int, frozenset[int]]] = [(free, 0, frozenset())]
    while todo:
        left, number, taken = todo.pop()
        if number == len(parts):
            yield left
            continue
        amounts, is_isolated = parts[number]
        for index, each in enumerate(left):
            room = {name: dict(each).get(name, 0) - amount for name, amount in amounts}
            if min(room.values()) < 0 or (is_isolated and index in taken):
                continue
            less = tuple(sorted({**dict(each), **room}.items()))
            after = (*left[:index], less, *left[index + 1 :])
            todo.append((after, number + 1, taken | {index} if is_isolated else taken))


def can_place_all(free: Free, slots: Mapping[Demand, int]) -> bool:
    """Return whether all instances fit, for any order and any choice of providers."""
    todo = [(free, tuple(slots.items()))]
    seen = set()
    while todo:
        state = todo.pop()
        if state in seen:
            continue
        seen.add(state)
        left, waiting = state
        for demand, number in waiting:
            if number:
                after = set(placements(left, demand))
                if not after:
                    return False
                fewer = tuple((each, n - (each == demand)) for each, n in waiting)
                todo += [(each, fewer) for each in after]
    return True


def group(**amounts: int) -> Group:
    return Group(amounts=tuple(sorted(amounts.items())))


GROUPS = st.sampled_from(
    [group(VGPU=1), group(VGPU=2), group(NIC=1), group(VGPU=1, NIC=1), group(VGPU=2, NIC=1)]
)
DEMANDS = st.builds(
    lambda plain, groups, is_isolated: Demand.of(plain, groups=groups, is_isolated=is_isolated),
    st.sampled_from([{}, {"VGPU": 1}, {"NIC": 1}]),
    st.lists(GROUPS, min_size=1, max_size=2),
    st.booleans(),
)


@settings(max_examples=150)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=3),
    DEMANDS,
    st.dictionaries(DEMANDS | st.just(Demand.of({"VGPU": 1})), st.integers(1, 2), max_size=1),
)
def test_no_choice_of_placement_leaves_a_group_without_a_provider(
    capacities: list[tuple[int, int]], demand: Demand, beside: dict[Demand, int]
) -> None:
    providers = [make_provider(str(i), VGPU=gpu, NIC=nic) for i, (gpu, nic) in enumerate(capacities)]
    free = tuple((("NIC", nic), ("VGPU", gpu)) for gpu, nic in capacities)
    others = [share(number, each) for each, number in beside.items()]

    slots = count_slots(providers, demand, [others])

    if slots and can_place_all(free, beside):
        assert can_place_all(free, {**beside, demand: beside.get(demand, 0) + slots})
    elif not beside and len(capacities) == 1 and len(demand.groups) == 1:
        assert not can_place_all(free, {demand: 1}), "refused although every choice fits"


class TestGroups:
    GPUS = (
        make_provider(VCPU=8),
        make_provider("gpu-1", VGPU=4, traits=["CUSTOM_NEW"]),
        make_provider("gpu-2", VGPU=4),
        make_provider("gpu-3", VGPU=1, NIC=1),
    )

    @pytest.mark.parametrize(
        ("groups", "is_isolated", "slots"),
        [
            ([group(VGPU=4)], False, 2),
            ([group(VGPU=1)], False, 9),
            ([group(VGPU=1), group(VGPU=1)], False, 4),
            ([group(VGPU=1, NIC=1)], False, 1),
            ([group(VGPU=5)], False, 0),
            ([group(VGPU=4), group(VGPU=4)], True, 1),
            ([group(VGPU=1), group(VGPU=1), group(VGPU=1), group(VGPU=1)], True, 0),
            ([replace(group(VGPU=1), required_traits=frozenset({"CUSTOM_NEW"}))], False, 4),
            ([replace(group(VGPU=1), forbidden_traits=frozenset({"CUSTOM_NEW"}))], False, 5),
        ],
    )
    def test_a_group_comes_from_one_provider(
        self, groups: list[Group], is_isolated: bool, slots: int
    ) -> None:
        demand = Demand.of({"VCPU": 1}, groups=groups, is_isolated=is_isolated)

        # Never more than the root provider has VCPUs for.
        assert count_slots(self.GPUS, demand, ()) == min(slots, 8)

    def test_all_that_a_slot_takes_is_added_up(self) -> None:
        demand = Demand.of({"VCPU": 1, "VGPU": 1}, groups=[group(VGPU=2), group(VGPU=1)])

        assert demand.amounts == (("VCPU", 1), ("VGPU", 4))
        assert demand.ungrouped == (("VCPU", 1), ("VGPU", 1))
        assert demand == Demand.of({"VGPU": 1, "VCPU": 1}, groups=[group(VGPU=1), group(VGPU=2)])


@given(
    st.integers(0, 20),
    st.integers(1, 5),
    st.lists(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 5)), max_size=3), max_size=3),
)
def test_one_provider_is_filled_to_the_last_unit(
    total: int, amount: int, moments: list[list[tuple[int, int]]]
) -> None:
    shares = [[share(slots, VCPU=size) for slots, size in each] for each in moments]
    peak = max((sum(slots * size for slots, size in each) for each in moments), default=0)

    assert count([make_provider(VCPU=total)], *shares, VCPU=amount) == max(0, (total - peak) // amount)


class TestInventories:
    def test_overcommit_and_what_is_reserved_count(self) -> None:
        vcpus = Inventory(total=8, reserved=1, allocation_ratio=1.5)

        assert count([make_provider(VCPU=vcpus)], VCPU=1) == 10

    @pytest.mark.parametrize(("amount", "slots"), [(1, 0), (2, 4), (3, 0), (4, 2), (6, 1), (8, 0)])
    def test_one_slot_may_ask_for_certain_amounts_only(self, amount: int, slots: int) -> None:
        vcpus = Inventory(total=8, min_unit=2, max_unit=6, step_size=2)

        assert count([make_provider(VCPU=vcpus)], VCPU=amount) == slots

    def test_every_class_is_needed(self) -> None:
        host = [make_provider(VCPU=8, MEMORY_MB=1000)]

        assert count(host, VCPU=1, MEMORY_MB=300) == 3
        assert count(host, VCPU=1, DISK_GB=1) == 0
        assert count([], VCPU=1) == 0

    def test_what_is_booked_one_after_the_other_does_not_add_up(self) -> None:
        host = [make_provider(VCPU=8)]

        assert count(host, [share(2, VCPU=2)], [share(1, VCPU=3)], [], VCPU=2) == 2

    def test_a_host_that_shrank_has_no_room(self) -> None:
        assert count([make_provider(VCPU=4)], [share(3, VCPU=2)], VCPU=1) == 0

    def test_classes_may_come_from_different_providers(self) -> None:
        host = [make_provider(VCPU=8), make_provider("gpu-1", VGPU=2), make_provider("gpu-2", VGPU=2)]

        assert count(host, VCPU=1, VGPU=1) == 4
        assert count(host, VCPU=1, VGPU=2) == 2
        assert count(host, VCPU=1, VGPU=3) == 0


class TestTraits:
    HOST = (
        make_provider(VCPU=8, traits=["HW_CPU_X86_AVX2"]),
        make_provider("old", VGPU=2, traits=["CUSTOM_OLD"]),
        make_provider("new", VGPU=4, traits=["CUSTOM_NEW"]),
    )

    @pytest.mark.parametrize(
        ("required", "forbidden", "slots"),
        [
            ((), (), 6),
            (["HW_CPU_X86_AVX2"], (), 6),
            (["HW_CPU_X86_AVX512F"], (), 0),
            (["CUSTOM_NEW"], (), 4),
            (["CUSTOM_NEW", "HW_CPU_X86_AVX2"], (), 4),
            (["CUSTOM_NEW", "CUSTOM_OLD"], (), 0),
            ((), ["CUSTOM_OLD"], 4),
            ((), ["CUSTOM_OLD", "CUSTOM_NEW"], 0),
            ((), ["HW_CPU_X86_AVX2"], 0),
            ((), ["HW_CPU_X86_AVX512F"], 6),
        ],
    )
    def test_providers_without_them_give_nothing(
        self, required: Sequence[str], forbidden: Sequence[str], slots: int
    ) -> None:
        demand = Demand.of({"VCPU": 1, "VGPU": 1}, required, forbidden)

        assert count_slots(self.HOST, demand, ()) == slots

    def test_what_may_come_from_anywhere_leaves_room_for_what_may_not(self) -> None:
        picky = Demand.of({"VGPU": 1}, ["CUSTOM_OLD"])

        # Placement may take the other two from the old device.
        assert count_slots(self.HOST, picky, [[share(1, VGPU=1)]]) == 1
        assert count_slots(self.HOST, picky, [[share(2, VGPU=1)]]) == 0
        assert count_slots(self.HOST, Demand.of({"VGPU": 1}), [[share(1, picky)]]) == 1

    def test_what_was_promised_before_its_provider_went_still_counts(self) -> None:
        gone = Demand.of({"VCPU": 2}, ["CUSTOM_GONE"])

        assert count(self.HOST, [share(3, gone)], VCPU=1) == 2


class TestDemand:
    def test_equal_demands_are_equal_values_however_they_are_written(self) -> None:
        one = Demand.of({"VCPU": 1, "MEMORY_MB": 2, "DISK_GB": 0}, ["T", "S"])

        assert one == Demand.of({"MEMORY_MB": 2, "VCPU": 1}, ["S", "T"])
        assert one.amounts == (("MEMORY_MB", 2), ("VCPU", 1))

    @pytest.mark.parametrize("amounts", [{}, {"VCPU": 0}, {"VCPU": 1, "DISK_GB": -1}])
    def test_a_slot_needs_something(self, amounts: Mapping[str, int]) -> None:
        with pytest.raises(ValueError, match="needs an amount above 0"):
            Demand.of(amounts)
