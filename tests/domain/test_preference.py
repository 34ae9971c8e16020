"""Scarce properties and ranks of sizes."""

from __future__ import annotations

import pytest

from blazar.domain.preference import scarce_properties, size_ranks


def scarce(name: str, *values: str | None) -> list[bool] | None:
    """Return for each resource whether its value of a property is scarce; None if no value is."""
    found = scarce_properties([{} if each is None else {name: each} for each in values])
    return found[name].tolist() if name in found else None


def test_what_few_have_is_scarce() -> None:
    assert scarce("gpu", "a100", None, None, None, None) == [True, False, False, False, False]
    assert scarce("gpu", "a100", None, None, None) is None


@pytest.mark.parametrize("no", ["False", "no", "0", "none", ""])
def test_to_say_that_there_is_none_is_to_have_none(no: str) -> None:
    assert scarce("gpu", "a100", no, no, no, None) == [True, False, False, False, False]
    assert scarce("gpu", no, *["a100"] * 9) is None


def test_a_rare_value_among_others_is_scarce() -> None:
    assert scarce("arch", "arm64", *["x86_64"] * 8) == [True, *[False] * 8]


@pytest.mark.parametrize(
    "values", [("r1", "r1", "r2", "r2"), ("s1", "s2", "s3", "s4", "s5", "s6"), ("r1", "r2", "r2")]
)
def test_what_all_have_in_their_own_way_is_not_scarce(values: tuple[str, ...]) -> None:
    assert scarce("rack", *values) is None


def test_where_there_is_no_resource_nothing_is_scarce() -> None:
    found = scarce_properties([None, {"gpu": "a100"}, *[{}] * 4, None])

    assert found["gpu"].tolist() == [False, True, False, False, False, False, False]
    assert scarce_properties([None]) == {}


def test_a_resource_is_as_large_as_its_largest_number() -> None:
    standard, much_memory, small, many_vcpus = (32, 128), (16, 1024), (16, 64), (128, 128)

    ranks = size_ranks([standard, much_memory, small, many_vcpus, standard, None]).tolist()

    assert ranks[2] < ranks[0] == ranks[4] < ranks[3] < ranks[1]


def test_resources_without_sizes_are_alike() -> None:
    assert size_ranks([(), None, ()]).tolist() == [0, 0, 0]
    assert size_ranks([]).tolist() == []
