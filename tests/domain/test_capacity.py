"""How many slots a host has room for, whatever provider Placement takes each of them from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blazar.domain.capacity import Demand, Share, count_slots
from blazar.domain.providers import HostInventory, HostProvider

A, B = "CUSTOM_A", "CUSTOM_B"


def make_provider(
    name: str = "root", traits: Sequence[str] = (), **inventories: int | HostInventory
) -> HostProvider:
    return HostProvider(
        uuid=name,
        name=name,
        parent_uuid=None if name == "root" else "root",
        inventories={
            key: HostInventory(total=each) if isinstance(each, int) else each
            for key, each in inventories.items()
        },
        traits=frozenset(traits),
    )


def share(slots: int, demand: Demand | None = None, **amounts: int) -> Share:
    return Share(slots=slots, demand=demand or Demand.of(amounts))


def count(providers: Sequence[HostProvider], *moments: Sequence[Share], **amounts: int) -> int:
    return count_slots(providers, Demand.of(amounts), moments)


# What Placement may do, played through to the end.

Items = tuple[tuple[int, int], ...]
"""What is still to be placed: pairs of amount and number."""


def is_never_stuck(free: tuple[int, ...], items: Items) -> bool:
    """Return whether all items find a provider, in whatever order and whichever is taken."""
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
    """Return how many more items of an amount are safe; -1 if not even the others are."""
    for slots in range(sum(capacities) // amount + 2):
        items = {**beside, amount: beside.get(amount, 0) + slots}
        if not is_never_stuck(tuple(capacities), tuple(sorted(items.items()))):
            return slots - 1
    raise AssertionError("there is always an end")


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
        assert slots == max(safe, 0), "refused though nothing could go wrong"


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
        vcpus = HostInventory(total=8, reserved=1, allocation_ratio=1.5)

        assert count([make_provider(VCPU=vcpus)], VCPU=1) == 10

    @pytest.mark.parametrize(("amount", "slots"), [(1, 0), (2, 4), (3, 0), (4, 2), (6, 1), (8, 0)])
    def test_one_slot_may_ask_for_certain_amounts_only(self, amount: int, slots: int) -> None:
        vcpus = HostInventory(total=8, min_unit=2, max_unit=6, step_size=2)

        assert count([make_provider(VCPU=vcpus)], VCPU=amount) == slots

    def test_every_class_is_needed(self) -> None:
        host = [make_provider(VCPU=8, MEMORY_MB=1000)]

        assert count(host, VCPU=1, MEMORY_MB=300) == 3
        assert count(host, VCPU=1, DISK_GB=1) == 0
        assert count([], VCPU=1) == 0

    def test_what_is_booked_one_after_the_other_does_not_add_up(self) -> None:
        host = [make_provider(VCPU=8)]

        assert count(host, [share(2, VCPU=2)], [share(1, VCPU=3)], [], VCPU=2) == 2

    def test_a_host_that_shrank_has_room_for_nobody(self) -> None:
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

        # Placement may take the two others from the old device.
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
        with pytest.raises(ValueError, match="must need something"):
            Demand.of(amounts)
