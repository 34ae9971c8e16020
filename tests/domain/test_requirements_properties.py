"""Requirement expressions against brute force: any facts, any nesting, and round trips."""

from __future__ import annotations

import json
import operator
from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from blazar.domain.errors import InvalidRequirement
from blazar.domain.expressions import parse, render
from blazar.domain.requirements import AnyOf, Condition, Exists, Fact, Not, Operator, Requirement, Term


def parsed(text: object) -> Requirement:
    return parse(text, field="resource_properties")


def _requirements(terms: st.SearchStrategy[Term]) -> st.SearchStrategy[Requirement]:
    return st.builds(Requirement, st.lists(terms, min_size=1, max_size=3).map(tuple))


KEYS = st.sampled_from(["vcpus", "rack", "memory_mb", "reservable", "gpu.model"])
WORDS = st.sampled_from(["8", "08", "10", "-3", "8.0", "8.5", "r1", "R1", "true", "0", "null", "nan", "1e3"])
VALUES = (
    WORDS
    | st.from_regex(r"\A-?[0-9]{1,30}(\.[0-9]{1,9})?\Z")
    | st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), min_size=1)
)
CONDITIONS = st.builds(Condition, KEYS, st.sampled_from(Operator), VALUES)
LEAVES: st.SearchStrategy[Term] = CONDITIONS | st.builds(Exists, KEYS)
TERMS = st.recursive(
    LEAVES,
    lambda terms: (
        st.builds(AnyOf, st.lists(_requirements(terms), min_size=1, max_size=3).map(tuple))
        | st.builds(Not, _requirements(terms))
    ),
    max_leaves=6,
)
REQUIREMENTS = st.builds(Requirement, st.lists(TERMS, max_size=6).map(tuple))
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
    return all(holds(each, facts) for each in requirement.conditions)


def holds(term: Term, facts: dict[str, Fact]) -> bool:
    match term:
        case Exists():
            return term.key in facts
        case AnyOf():
            return any(brute_force(each, facts) for each in term.requirements)
        case Not():
            return not brute_force(term.requirement, facts)
        case Condition():
            return term.key in facts and compares(term, facts[term.key])


def compares(condition: Condition, fact: Fact) -> bool:
    """Compare as fractions if possible, otherwise as text."""
    left: Any = fact
    right: Any = condition.value
    if left is None:
        return (condition.operator.value, right) == ("==", "null")
    if isinstance(left, bool):
        left = str(left).lower()
        right = {"1": "true", "0": "false"}.get(
            right, right.lower() if right.lower() in ("true", "false") else right
        )
    elif rational(left) is not None and rational(right) is not None:
        left, right = rational(left), rational(right)
    else:
        left = str(left)
    return bool(SIGNS[condition.operator.value](left, right))


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
