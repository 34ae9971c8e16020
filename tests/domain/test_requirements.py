"""Requirement expressions: their meaning, those that are refused, and that no condition is lost."""

from __future__ import annotations

import json
from typing import Any

import pytest

from blazar.domain.errors import InvalidRequirement
from blazar.domain.expressions import MAX_CONDITIONS, MAX_DEPTH, MAX_TEXT_LENGTH, parse
from blazar.domain.requirements import (
    Condition,
    Fact,
    Operator,
    Requirement,
    unknown_keys,
)

VCPUS = Condition("vcpus", Operator.GE, "32")
RACK = Condition("rack", Operator.EQ, "r1")
MEMORY = Condition("memory_mb", Operator.GT, "65536")


def parsed(text: object) -> Requirement:
    return parse(text, field="resource_properties")


def nested(depth: int) -> list[Any]:
    expression: list[Any] = ["==", "$rack", "r1"]
    for _ in range(depth):
        expression = ["and", expression]
    return expression


# --- accepted ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [None, "", "[]", " [ ] ", []])
def test_nothing_is_required_by_an_empty_expression(text: object) -> None:
    requirement = parsed(text)

    assert requirement == Requirement(())
    assert requirement.matches({})
    assert requirement.keys == frozenset()


@pytest.mark.parametrize("sign", ["==", "=", "!=", ">=", "<=", ">", "<"])
def test_every_operator_is_understood(sign: str) -> None:
    operator = Operator("==" if sign == "=" else sign)

    assert parsed(json.dumps([sign, "$vcpus", "8"])).conditions == (Condition("vcpus", operator, "8"),)


@pytest.mark.parametrize(
    "text",
    [
        '["and", [">=", "$vcpus", "32"], ["==", "$rack", "r1"], [">", "$memory_mb", "65536"]]',
        '["and", [">=", "$vcpus", "32"], ["and", ["=", "$rack", "r1"], [">", "$memory_mb", "65536"]]]',
        '["and", ["and", ["and", [">=", "$vcpus", "32"], ["=", "$rack", "r1"]]],'
        ' [">", "$memory_mb", "65536"]]',
        json.dumps(
            [
                "and",
                '[">=", "$vcpus", "32"]',
                json.dumps(["and", '["==", "$rack", "r1"]', [">", "$memory_mb", "65536"]]),
            ]
        ),
    ],
)
def test_no_condition_of_a_nested_and_is_lost(text: str) -> None:
    assert parsed(text).conditions == (VCPUS, RACK, MEMORY)
    assert parsed(json.loads(text)).conditions == (VCPUS, RACK, MEMORY)


def test_a_value_may_contain_blanks_dollars_and_any_script() -> None:
    (condition,) = parsed('["==", "$gpu.model", " $Tésla V100 "]').conditions

    assert condition == Condition("gpu.model", Operator.EQ, " $Tésla V100 ")


def test_two_expressions_are_joined_with_and() -> None:
    both = Requirement((VCPUS,)) & Requirement((RACK, MEMORY))

    assert both.conditions == (VCPUS, RACK, MEMORY)
    assert both.keys == {"vcpus", "rack", "memory_mb"}


def test_unknown_keys_are_named_in_order() -> None:
    requirement = Requirement((VCPUS, RACK, MEMORY, RACK))

    assert unknown_keys(requirement, {"vcpus"}) == ("memory_mb", "rack")
    assert unknown_keys(requirement, {"vcpus", "rack", "memory_mb"}) == ()


# --- refused -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("['==', '$vcpus', '8']", "not JSON"),
        ("   ", "not JSON"),
        ("\x00", "not JSON"),
        ('["==", "$vcpus", "8"', "', at character 21"),
        ('["==" "$vcpus", "8"]', "', at character 7"),
        ("{}", "expected a list, got an object"),
        ('{"and": []}', "expected a list, got an object"),
        ('"text"', "expected a list, got 'text'"),
        ('""', "expected a list, got ''"),
        (json.dumps('["==", "$vcpus", "8"]'), "expected a list, got '["),
        ("8", "expected a list, got a number"),
        ("8.5", "expected a list, got a number"),
        ("NaN", "expected a list, got a number"),
        ("true", "expected a list, got true"),
        ("null", "expected a list, got null"),
        ("[[]]", "at [0]: unknown operator a list"),
        ('[["==", "$vcpus", "8"]]', "at [0]: unknown operator a list"),
        ('["and"]', '"and" needs at least one condition'),
        ('["and", []]', "at [1]: an expression must not contain"),
        ('["and", ["==", "$vcpus", "8"], []]', "at [2]: an expression must not contain"),
        ('["and", ["==", "$vcpus", "8"], ["and"]]', 'at [2]: "and" needs'),
        ('["and", ["==", "$vcpus", "8"], ["and", []]]', "at [2][1]: an expression must not contain"),
        ('["and", ""]', "at [1]: not JSON"),
        ('["and", "[]"]', "at [1]: an expression must not contain"),
        ('["and", "8"]', "at [1]: expected a list, got a number"),
        ('["and", null]', "at [1]: expected a list, got null"),
        ('["and", "and"]', "at [1]: not JSON"),
        ('["AND", ["==", "$vcpus", "8"]]', "at [0]: unknown operator 'AND'"),
        ('["in", "$vcpus", "8"]', "at [2]: \"in\" needs a list of values, got '8'"),
        ('["<>", "$vcpus", "8"]', "at [0]: unknown operator '<>'"),
        ('[8, "$vcpus", "8"]', "at [0]: unknown operator a number"),
        ('["==", "$vcpus"]', "got 2 elements"),
        ('["=="]', "got 1 elements"),
        ('["==", "$vcpus", "8", "9"]', "got 4 elements"),
        ('["==", "vcpus", "8"]', "at [1]: a key must be text that begins with"),
        ('["==", "", "8"]', "at [1]: a key must be text that begins with"),
        ('["==", 8, "8"]', "at [1]: a key must be text that begins with"),
        ('["==", "$", "8"]', "at [1]: a key needs at least one character"),
        ('["==", "$v cpus", "8"]', "at [1]: a key must not contain blanks"),
        ('["==", "$vcpus ", "8"]', "at [1]: a key must not contain blanks"),
        ('["==", "$ vcpus", "8"]', "at [1]: a key must not contain blanks"),
        ('["==", "$v\\u00a0cpus", "8"]', "at [1]: a key must not contain blanks"),
        ('["==", "$vc\\u0000pus", "8"]', "at [1]: '$vc\\x00pus' contains an invalid character"),
        ('["==", "$vcpus", ""]', "at [2]: a value must not be empty"),
        ('["==", "$vcpus", null]', "at [2]: a value must be text in quotes, got null"),
        ('["==", "$vcpus", ["8"]]', "at [2]: a value must be text in quotes, got a list"),
        ('["==", "$rack", "a\\u0000b"]', "at [2]: 'a\\x00b' contains an invalid character"),
        ('["==", "$rack", "\\ud800"]', "at [2]: '\\ud800' contains an invalid character"),
        ('["and", ["==", "$a", "1"], ["and", ["==", "$b", "2"], ["==", "$c", {}]]]', "at [2][2][2]: a value"),
        (json.dumps(["and", '["==", "c", "3"]']), "at [1][1]: a key"),
    ],
)
def test_a_malformed_expression_is_refused_saying_what_and_where(text: str, problem: str) -> None:
    with pytest.raises(InvalidRequirement) as caught:
        parsed(text)

    assert caught.value.message.startswith("resource_properties: ")
    assert problem in caught.value.message
    assert caught.value.fields == {"name": "resource_properties"}
    caught.value.message.encode()


@pytest.mark.parametrize("value", [8, 1.5, True, False, {}, {"and": []}, ("==", "$vcpus", "8"), b"[]", 0])
def test_a_value_that_is_neither_text_nor_a_list_is_refused(value: object) -> None:
    with pytest.raises(InvalidRequirement, match="expected a list"):
        parsed(value)


def test_nesting_is_allowed_up_to_a_bound() -> None:
    assert parsed(json.dumps(nested(MAX_DEPTH))).conditions == (RACK,)
    assert parsed(nested(MAX_DEPTH)).conditions == (RACK,)


@pytest.mark.parametrize(
    "text",
    [json.dumps(nested(MAX_DEPTH + 1)), nested(MAX_DEPTH + 1), nested(500), "[" * 60_000, '["and",' * 9_000],
)
def test_deeper_nesting_is_refused_cleanly(text: object) -> None:
    with pytest.raises(InvalidRequirement, match=r"nested deeper than 32|not JSON") as caught:
        parsed(text)

    assert len(caught.value.message) < 300


def test_nesting_by_text_in_text_counts_like_any_other() -> None:
    # Quoting doubles the backslashes at every level, so nested text reaches the length limit much earlier.
    expression: object = nested(MAX_DEPTH - 3)
    for _ in range(3):
        expression = ["and", json.dumps(expression)]

    assert parsed(expression).conditions == (RACK,)
    with pytest.raises(InvalidRequirement, match="nested deeper"):
        parsed(["and", json.dumps(expression)])


def test_as_many_conditions_as_the_bound_are_accepted_and_one_more_is_refused() -> None:
    item = ["==", "$rack", "r1"]

    assert len(parsed(json.dumps(["and"] + [item] * MAX_CONDITIONS)).conditions) == MAX_CONDITIONS
    with pytest.raises(InvalidRequirement, match="more than 1000 conditions"):
        parsed(json.dumps(["and"] + [item] * (MAX_CONDITIONS + 1)))


def test_text_that_is_too_long_is_refused_without_repeating_it() -> None:
    long = json.dumps(["==", "$rack", "r" * MAX_TEXT_LENGTH])

    with pytest.raises(InvalidRequirement, match="longer than 65536") as caught:
        parsed(long)

    assert len(caught.value.message) < 100
    with pytest.raises(InvalidRequirement, match=r"at \[1\]: longer than 65536"):
        parsed(["and", long])


# --- meaning of conditions ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("actual", "sign", "value", "expected"),
    [
        # numbers
        (8, "==", "8", True),
        (16384, "==", "16384.0", True),
        (10, ">", "8", True),
        ("10", ">", "8", True),
        ("8", "==", "8.00", True),
        (-4, "<", "-3", True),
        (0.1, "==", "0.1", True),
        (1e30, ">", "5", True),
        (2**53 + 1, "==", str(2**53), False),
        (2**53 + 1, ">", str(2**53), True),
        ("9007199254740993", "!=", "9007199254740992", True),
        (0, "==", "-0", True),
        # not numbers
        ("10", "<", "0x8", False),
        ("1000", "==", "1_000", False),
        ("nan", "==", "nan", True),
        ("inf", ">", "5", True),
        (float("inf"), "==", "inf", True),
        (float("nan"), "==", "nan", True),
        (1000, "==", "1e3", False),
        (8, "==", " 8", False),
        (8, "==", "\u0668", False),
        (8, "==", "eight", False),
        (8, "!=", "eight", True),
        # text
        ("QEMU", "==", "qemu", False),
        ("QEMU", "!=", "qemu", True),
        ("a", ">", "Z", True),
        ("r1", "<", "r10", True),
        ("r1", "<=", "r1", True),
        ("r9", ">=", "10", True),
        # booleans
        (True, "==", "true", True),
        (True, "==", "TRUE", True),
        (True, "==", "1", True),
        (True, "==", "False", False),
        (True, "!=", "false", True),
        (False, "==", "0", True),
        (False, "==", "False", True),
        (False, "<", "true", True),
        (True, "==", "yes", False),
        (True, "!=", "yes", True),
        ("True", "==", "true", False),
        # null
        (None, "==", "null", True),
        (None, "!=", "null", False),
        (None, "==", "x", False),
        (None, "!=", "x", False),
        (None, "<", "x", False),
        (None, "==", "NULL", False),
        ("x", "!=", "null", True),
        (8, "!=", "null", True),
        ("null", "==", "null", True),
        ("", "==", "null", False),
    ],
)
def test_a_fact_is_compared_as_what_it_is(actual: Fact, sign: str, value: str, expected: bool) -> None:
    assert Condition("key", Operator(sign), value).holds(actual) is expected


@pytest.mark.parametrize(
    ("sign", "value", "expected"),
    [
        ("==", "qemu", True),
        ("!=", "Qemu", False),
        ("==", "kvm", False),
        ("<", "qemu", True),
        (">", "QEMu", False),
    ],
)
def test_equality_of_text_ignores_case_only_for_the_keys_that_say_so(
    sign: str, value: str, expected: bool
) -> None:
    requirement = Requirement((Condition("hypervisor_type", Operator(sign), value),))

    matches = requirement.matches({"hypervisor_type": "QEMU"}, casefold_keys=frozenset({"hypervisor_type"}))

    assert matches is expected


@pytest.mark.parametrize("sign", list(Operator))
def test_a_candidate_that_lacks_the_key_never_matches(sign: Operator) -> None:
    assert not Requirement((Condition("gpu_model", sign, "null"),)).matches({"rack": "r1"})
