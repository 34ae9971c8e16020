"""Requirement expressions against brute force: any facts, any nesting, and round trips."""

from __future__ import annotations

import json
import operator
from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from blazar.domain.errors import InvalidRequirement
from blazar.domain.requirements import Condition, Fact, Operator, Requirement, parse, render


def parsed(text: object) -> Requirement:
    return parse(text, field="resource_properties")


KEYS = st.sampled_from(["vcpus", "rack", "memory_mb", "reservable", "gpu.model"])
WORDS = st.sampled_from(["8", "08", "10", "-3", "8.0", "8.5", "r1", "R1", "true", "0", "null", "nan", "1e3"])
VALUES = (
    WORDS
    | st.from_regex(r"\A-?[0-9]{1,30}(\.[0-9]{1,9})?\Z")
    | st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), min_size=1)
)
CONDITIONS = st.builds(Condition, KEYS, st.sampled_from(Operator), VALUES)
REQUIREMENTS = st.builds(Requirement, st.lists(CONDITIONS, max_size=6).map(tuple))
FACTS = st.dictionaries(
    KEYS, VALUES | st.integers() | st.floats() | st.integers(-10, 10) | st.booleans() | st.none()
)
SIGNS = {
    "==": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}


def rational(value: object) -> Fraction | None:
    text = repr(value) if isinstance(value, int | float) else str(value)
    if isinstance(value, str) and not set(value) <= set("0123456789.-"):
        return None
    try:
        return Fraction(text) if text[-1] != "." and text.lstrip("-")[0] != "." else None
    except ValueError:
        return None


def brute_force(requirement: Requirement, facts: dict[str, Fact]) -> bool:
    """Check each condition, comparing as fractions if possible, otherwise as text."""
    for condition in requirement.conditions:
        if condition.key not in facts:
            return False
        left: Any = facts[condition.key]
        right: Any = condition.value
        if left is None:
            if (condition.operator.value, right) != ("==", "null"):
                return False
            continue
        if isinstance(left, bool):
            left = str(left).lower()
            right = {"1": "true", "0": "false"}.get(
                right, right.lower() if right.lower() in ("true", "false") else right
            )
        elif rational(left) is not None and rational(right) is not None:
            left, right = rational(left), rational(right)
        else:
            left = str(left)
        if not SIGNS[condition.operator.value](left, right):
            return False
    return True


@given(REQUIREMENTS, FACTS)
def test_matching_agrees_with_brute_force(requirement: Requirement, facts: dict[str, Fact]) -> None:
    assert requirement.matches(facts) is brute_force(requirement, facts)


@given(REQUIREMENTS, REQUIREMENTS, FACTS)
def test_a_conjunction_matches_when_both_sides_do(
    left: Requirement, right: Requirement, facts: dict[str, Fact]
) -> None:
    assert (left & right).matches(facts) is (left.matches(facts) and right.matches(facts))


@given(REQUIREMENTS)
def test_a_rendered_requirement_parses_back(requirement: Requirement) -> None:
    text = render(requirement)

    assert parsed(text) == requirement
    assert parsed(json.loads(text) if text else []) == requirement


@given(st.data(), st.lists(CONDITIONS, min_size=1, max_size=8))
def test_conditions_survive_any_way_of_nesting_them(data: st.DataObject, conditions: list[Condition]) -> None:
    def nest(items: list[Condition], depth: int) -> object:
        if len(items) == 1:
            expression: object = [items[0].operator.value, f"${items[0].key}", items[0].value]
        else:
            cut = data.draw(st.integers(1, len(items) - 1))
            expression = ["and", nest(items[:cut], depth + 1), nest(items[cut:], depth + 1)]
        quote = depth and data.draw(st.integers(0, 5)) == 0
        return json.dumps(expression) if quote else expression

    assert parsed(nest(conditions, 0)).conditions == tuple(conditions)


@given(st.text() | st.text(alphabet='[]"$=<>and, \\0{}u', max_size=60))
def test_any_text_is_either_parsed_or_refused(text: str) -> None:
    try:
        requirement = parsed(text)
    except InvalidRequirement as refusal:
        refusal.message.encode()
    else:
        assert parsed(render(requirement)) == requirement
