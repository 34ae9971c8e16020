"""Expressions of API 1.1: more operators, values without quotes, and the short form."""

from __future__ import annotations

import json

import pytest

from blazar.domain.errors import InvalidRequirement
from blazar.domain.expressions import MAX_CONDITIONS, MAX_DEPTH, parse, render
from blazar.domain.requirements import Fact, Requirement
from blazar.domain.short_expressions import render_short


def parsed(text: object) -> Requirement:
    return parse(text, field="resource_properties")


KNOWN = "known are: and = == != >= <= > <, and from API 1.1 on or not in between exists"
HOSTS: dict[str, dict[str, Fact]] = {
    "a": {"gpu": "a100", "memory_mb": 65536, "rack": "r1", "ssd": True},
    "h": {"gpu": "h100", "memory_mb": 131072, "rack": "r2"},
    "p": {"memory_mb": 1024, "rack": "r,|1"},
}


def matching(text: str) -> str:
    """Return which of the three hosts match."""
    return "".join(name for name, facts in HOSTS.items() if parsed(text).matches(facts))


# --- meaning -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('["or", ["==", "$gpu", "a100"], ["==", "$rack", "r2"]]', "ah"),
        ('["or", ["==", "$gpu", "none"]]', ""),
        ('["or", ["and", ["==", "$gpu", "h100"], ["==", "$rack", "r1"]], ["<", "$memory_mb", 2000]]', "p"),
        ('["not", ["==", "$gpu", "a100"]]', "hp"),
        ('["!=", "$gpu", "a100"]', "h"),
        ('["not", ["or", ["==", "$gpu", "a100"], ["==", "$gpu", "h100"]]]', "p"),
        ('["not", "[\\"==\\", \\"$gpu\\", \\"a100\\"]"]', "hp"),
        ('["in", "$gpu", ["a100", "h100"]]', "ah"),
        ('["in", "$memory_mb", [1024, 65536]]', "ap"),
        ('["between", "$memory_mb", 65536, "131072"]', "ah"),
        ('["between", "$memory_mb", 65537, 131071]', ""),
        ('["exists", "$gpu"]', "ah"),
        ('["not", ["exists", "$gpu"]]', "p"),
        ('["==", "$ssd", true]', "a"),
        ('[">", "$memory_mb", 1024.5]', "ah"),
    ],
)
def test_the_operators_of_1_1(text: str, expected: str) -> None:
    assert matching(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gpu=a100", "a"),
        ("gpu==a100", "a"),
        ("$gpu=a100", "a"),
        ("gpu!=a100", "h"),
        ("memory_mb>=65536", "ah"),
        ("memory_mb>65536", "h"),
        ("memory_mb<=65536", "ap"),
        ("memory_mb<65536", "p"),
        (" gpu = a100 , memory_mb >= 65536 ", "a"),
        ("gpu=a100|h100", "ah"),
        ("gpu!=a100|h100", ""),
        ("gpu!=a100|v100", "h"),
        ("memory_mb=65536..131072", "ah"),
        ("gpu", "ah"),
        ("!gpu", "p"),
        ("!gpu,memory_mb", "p"),
        ('rack="r,|1"', "p"),
        ('rack="r1"|"r2"', "ah"),
        ('rack="r1 or r2"', ""),
        ("rack=oregon", ""),
    ],
)
def test_the_short_form(text: str, expected: str) -> None:
    assert matching(text) == expected


def test_quotes_and_backslashes_can_be_written_in_quoted_values() -> None:
    assert parsed(r'model="5\" disk \\ tray"').matches({"model": '5" disk \\ tray'})


def test_a_range_in_quotes_is_text() -> None:
    requirement = parsed('version="1..2"')

    assert requirement.matches({"version": "1..2"})
    assert not requirement.matches({"version": "1.5"})


@pytest.mark.parametrize(
    "text",
    ["gpu=a100|h100,memory_mb=1..5,!fast,ssd", '["not", ["in", "$gpu", ["a", "b"]]]', '["exists", "$a"]'],
)
def test_what_was_parsed_can_be_rendered(text: str) -> None:
    assert parsed(render(parsed(text))) == parsed(text)


def test_keys_and_conditions_are_found_at_any_depth() -> None:
    requirement = parsed(
        '["or", ["==", "$a", "1"], ["not", ["and", ["exists", "$b"], ["in", "$c", ["1", "2"]]]]]'
    )

    assert requirement.keys == {"a", "b", "c"}
    assert requirement.count == 4


# --- refused -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('["or"]', '"or" needs at least one condition'),
        ('["or", []]', "at [1]: an expression must not contain an empty list"),
        (
            '["or", ["xor", "$a", "1"]]',
            "at [1][0]: unknown operator 'xor'; known are: and = == != >= <= > <, ",
        ),
        ('["not"]', '"not" needs one condition; got 0'),
        ('["not", ["exists", "$a"], ["exists", "$b"]]', '"not" needs one condition; got 2'),
        ('["in", "$a"]', 'a condition is ["in", "$key", ["value", …]]; got 2 elements'),
        ('["in", "$a", []]', 'at [2]: "in" needs a list of values, got a list'),
        ('["in", "$a", ["1", null]]', "at [2][1]: a value must be text in quotes, got null"),
        ('["between", "$a", 1]', 'a condition is ["between", "$key", lowest, highest]; got 3 elements'),
        ('["between", "$a", 1, ""]', "at [3]: a value must not be empty"),
        ('["exists", "a"]', "at [1]: a key must be text that begins with"),
        ('["exists"]', 'a condition is ["exists", "$key"]; got 1 elements'),
        ("gpu=", "at character 5: expected a value"),
        ("gpu=a100,", "at character 10: expected the name of a property"),
        ("=a100", "at character 1: expected the name of a property"),
        ("gpu=a100 memory_mb>=4", "at character 19: expected a comma, got '>'; put text"),
        ("gpu a100", "at character 5: expected a comma, got 'a'"),
        ("memory_mb>=1|2", "at character 13: several values need = or !=, not >="),
        ("memory_mb=1..x", "at character 11: a range is lowest..highest, both numbers"),
        ('gpu="a100', "at character 5: the quotes are not closed"),
        ('gpu=""', "at character 5: a value must not be empty"),
        ('gpu="a" b', "at character 9: expected a comma, got 'b'"),
        ("gpu=a100 or rack", "at character 10: or is no operator; write a comma for and, | between values"),
        ("gpu=a100|v100 AND rack", "at character 15: AND is no operator"),
        ("gpu=a|", "at character 7: expected a value"),
        ("!", "at character 2: expected the name of a property"),
    ],
)
def test_a_malformed_expression_is_refused_with_its_position(text: str, problem: str) -> None:
    with pytest.raises(InvalidRequirement) as caught:
        parsed(text)

    assert problem in caught.value.message


def test_nesting_and_the_number_of_conditions_are_bounded() -> None:
    deep: object = ["exists", "$a"]
    for _ in range(MAX_DEPTH + 1):
        deep = ["not", deep]

    with pytest.raises(InvalidRequirement, match="nested deeper than 32"):
        parsed(json.dumps(deep))
    with pytest.raises(InvalidRequirement, match="more than 1000 conditions"):
        parsed(json.dumps(["in", "$a", ["1"] * (MAX_CONDITIONS + 1)]))
    with pytest.raises(InvalidRequirement, match="more than 1000 conditions"):
        parsed(",".join(["a"] * (MAX_CONDITIONS + 1)))


# --- API 1.0 -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("vcpus > 8", "not JSON: 'vcpus > 8'"),
        ("9" * 5000, f"not JSON: '{'9' * 40}'…"),
        (
            '["or", ["==", "$a", "8"]]',
            "at [0]: unknown operator 'or'; " + KNOWN,
        ),
        (
            '["and", ["exists", "$a"]]',
            "at [1][0]: unknown operator 'exists'; " + KNOWN,
        ),
        ('["==", "$vcpus", 8]', "at [2]: a value must be text in quotes, got a number"),
        ('["==", "$vcpus", true]', "at [2]: a value must be text in quotes, got true"),
    ],
)
def test_a_requirement_says_why_1_0_refuses_its_expression(text: str, problem: str) -> None:
    new, old = parsed(text), parsed('["==", "$a", "8"]')

    assert new.refusal_at_1_0 == ("resource_properties", problem)
    assert old.refusal_at_1_0 is None
    assert (old & new).refusal_at_1_0 == (new & old).refusal_at_1_0 == new.refusal_at_1_0


@pytest.mark.parametrize(
    "text",
    [
        "gpu=a100",
        "gpu!=a100",
        "memory_mb>=65536",
        "gpu=a100|h100",
        "ssd",
        'rack="r,|1"',
        'a="8..9"',
        'a="b or c"',
    ],
)
def test_a_term_is_rendered_in_the_short_form(text: str) -> None:
    (term,) = parsed(text).conditions

    assert render_short(term) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('["==", "$name", "say \\"hi\\""]', r'name="say \"hi\""'),
        ('["not", ["==", "$gpu", "a100"]]', "not (gpu=a100)"),
        (
            '["or", ["==", "$gpu", "a100"], ["and", ["==", "$rack", "r2"], ["exists", "$ssd"]]]',
            "(gpu=a100) or (rack=r2,ssd)",
        ),
    ],
)
def test_a_term_without_short_form_is_rendered_in_words(text: str, expected: str) -> None:
    (term,) = parsed(text).conditions

    assert render_short(term) == expected
