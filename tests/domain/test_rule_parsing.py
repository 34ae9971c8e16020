"""Rule files: every key as it is understood, and the error of every mistake."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from blazar.domain.rules.parsing import RuleProblem, keys_of, parse_rules
from blazar.domain.rules.rule import (
    CoolDown,
    Extension,
    Horizon,
    Kind,
    LeadTime,
    Longest,
    OnlyFor,
    Rule,
    Rules,
    Shortest,
    Stacking,
)
from blazar.domain.rules.wording import in_words, sentence_of

TYPES = ("physical:host", "virtual:instance")
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def parsed(*rules: object) -> Rules:
    return parse_rules({"rules": list(rules)}, TYPES)


def rule(**keys: Any) -> Rule:
    (found,) = parsed({"name": "r", **keys}).all
    return found


@pytest.mark.parametrize(
    ("keys", "limit"),
    [
        ({"kind": "horizon", "start_days": 30}, Horizon(start=30 * DAY)),
        ({"kind": "horizon", "end_hours": 5, "start_minutes": 7}, Horizon(start=HOUR * 7 / 60, end=5 * HOUR)),
        ({"kind": "lead_time", "lead_minutes": 60}, LeadTime(lead=HOUR)),
        ({"kind": "longest", "longest_hours": 72}, Longest(longest=3 * DAY)),
        ({"kind": "shortest", "shortest_days": 1}, Shortest(shortest=DAY)),
        ({"kind": "extension", "last_hours": 48}, Extension(last=2 * DAY)),
        (
            {"kind": "extension", "most_days": 7, "beyond_longest": True},
            Extension(most=7 * DAY, beyond_longest=True),
        ),
        ({"kind": "cool_down", "cool_down_hours": 12}, CoolDown(gap=12 * HOUR)),
        (
            {"kind": "cool_down", "cool_down_days": 1, "same_resource": True},
            CoolDown(gap=DAY, same_resource=True),
        ),
        ({"kind": "only_for", "only_for_projects": ["p"]}, OnlyFor(projects=frozenset({"p"}))),
        ({"kind": "stacking", "most_hours": 500}, Stacking(most_hours=500)),
        (
            {"kind": "stacking", "most_hours": 0, "period_days": 30, "per": "user"},
            Stacking(most_hours=0, period=30 * DAY, per_user=True),
        ),
        ({"kind": "longest", "unlimited": True}, None),
    ],
)
def test_the_limit_of_each_kind(keys: dict[str, Any], limit: object) -> None:
    assert rule(**keys).limit == limit
    assert rule(**keys).kind == keys["kind"]


def test_what_a_rule_is_about() -> None:
    scope = rule(
        kind="longest",
        longest_hours=1,
        applies_to={
            "resource_types": ["physical:host"],
            "resources": "gpu=a100,memory_mb>=65536",
            "projects": ["p1"],
            "roles": ["member"],
        },
        exempt_projects=["p2"],
        mode="log",
    ).scope

    assert scope.resource_types == {"physical:host"}
    assert scope.resources.keys == {"gpu", "memory_mb"}
    assert scope.projects == {"p1"}
    assert scope.roles == {"member"}
    assert scope.exempt_projects == {"p2"}
    assert scope.covers("physical:host", "p1", ["reader", "member"])
    assert not scope.covers("virtual:instance", "p1", ["member"])
    assert not scope.covers("physical:host", "p3", ["member"])
    assert not scope.covers("physical:host", "p1", ["reader"])
    assert not rule(kind="longest", longest_hours=1, exempt_projects=["p"]).scope.covers("x", "p", ())
    assert rule(kind="longest", longest_hours=1).scope.covers("anything", None, ())


def test_rules_are_enforced_unless_they_are_to_be_logged() -> None:
    assert rule(kind="longest", longest_hours=1).is_enforced
    assert rule(kind="longest", longest_hours=1, mode="enforce").is_enforced
    assert not rule(kind="longest", longest_hours=1, mode="log").is_enforced


def test_the_order_of_the_file_is_kept() -> None:
    names = ["z", "a", "m"]

    found = parsed(*({"name": each, "kind": "longest", "longest_hours": 1} for each in names))

    assert [each.name for each in found.all] == names
    assert not parsed()


LONGEST = {"name": "r", "kind": "longest", "longest_hours": 1}


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "the file must have a list named rules"),
        (None, "the file must have a list named rules"),
        ({"rules": [], "more": 1}, "more: is unknown here"),
        ({}, "rules: must be a list, got nothing"),
        ({"rules": {"a": 1}}, "rules: must be a list, got an object"),
        ({"rules": ["longest"]}, "rule 1: must be an object with name and kind, got 'longest'"),
        ({"rules": [{"kind": "longest"}]}, "rule 1: name: must be a text of 1 to 64 characters, got nothing"),
        ({"rules": [{"name": 5}]}, "rule 1: name: .* got 5"),
        ({"rules": [{"name": "a\nb"}]}, "rule 1: name: "),
        ({"rules": [LONGEST, LONGEST]}, "rule 2: name: r is also the name of an earlier rule"),
        ({"rules": [{"name": "r"}]}, r"rule 1 \(r\): kind: must be one of horizon, .* got nothing"),
        ({"rules": [{"name": "r", "kind": "size"}]}, r"rule 1 \(r\): kind: must be one of .* got 'size'"),
    ],
)
def test_a_malformed_document(document: object, message: str) -> None:
    with pytest.raises(RuleProblem, match=f"^{message}"):
        parse_rules(document, TYPES)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"kind": "longest"}, "longest_hours: is missing; also longest_minutes or longest_days"),
        ({"kind": "longest", "longest_hours": "3"}, "longest_hours: must be a whole number .* got '3'"),
        ({"kind": "longest", "longest_hours": 0}, "longest_hours: must be a whole number from 1 "),
        ({"kind": "longest", "longest_hours": 1.5}, "longest_hours: must be a whole number .* got 1.5"),
        ({"kind": "longest", "longest_hours": True}, "longest_hours: must be a whole number .* got true"),
        ({"kind": "longest", "longest_days": 10**9}, "longest_days: must be a whole number from 1 to 36500"),
        (
            {"kind": "longest", "longest_days": 1, "longest_hours": 24},
            "longest_hours and longest_days: only one",
        ),
        ({"kind": "longest", "longest_hours": 1, "lead_hours": 1}, "lead_hours: is unknown here; known are "),
        ({"kind": "longest", "longest_hours": 1, 5: 1}, "5: is unknown here"),
        ({"kind": "longest", "longest_hours": 1, "unlimited": True}, "longest_hours: cannot be given with"),
        ({"kind": "longest", "unlimited": "yes"}, "unlimited: must be true or false, got 'yes'"),
        ({"kind": "only_for"}, "only_for_projects: is missing: a list of ids of projects"),
        (
            {"kind": "only_for", "only_for_projects": ["p"], "exempt_projects": ["q"]},
            "exempt_projects: cannot be given here; only_for_projects names the projects",
        ),
        (
            {"kind": "only_for", "only_for_projects": ["p"], "applies_to": {"roles": ["r"]}},
            "applies_to: roles: cannot be given here",
        ),
        ({"kind": "stacking"}, "most_hours: must be a whole number from 0 to 1000000000, got nothing"),
        (
            {"kind": "stacking", "most_hours": 1, "per": "role"},
            "per: must be one of project, user; got 'role'",
        ),
        ({"kind": "cool_down"}, "cool_down_hours: is missing; also cool_down_minutes or cool_down_days"),
        ({"kind": "horizon"}, "start_days: is missing, and so is end_days"),
        ({"kind": "extension", "beyond_longest": True}, "last_hours: is missing, and so is most_hours"),
        (
            {"kind": "extension", "last_hours": 1, "beyond_longest": 1},
            "beyond_longest: must be true or false, got 1",
        ),
        ({**LONGEST, "mode": "dry-run"}, "mode: must be one of enforce, log; got 'dry-run'"),
        ({**LONGEST, "mode": None}, "mode: must be one of enforce, log; got nothing"),
        ({**LONGEST, "exempt_projects": "p1"}, "exempt_projects: must be a list with at least one text"),
        ({**LONGEST, "exempt_projects": []}, "exempt_projects: must be a list with at least one text"),
        ({**LONGEST, "exempt_projects": [17]}, "exempt_projects: must have texts only, got 17; put it in"),
        ({**LONGEST, "applies_to": ["x"]}, "applies_to: must be an object, got a list"),
        ({**LONGEST, "applies_to": {"type": 1}}, "applies_to: type: is unknown here; known are resource_ty"),
        (
            {**LONGEST, "applies_to": {"resource_types": ["host"]}},
            "applies_to: resource_types: no enabled plugin serves host; enabled types: physical:host, virt",
        ),
        ({**LONGEST, "applies_to": {"resources": ""}}, "applies_to: resources: must be an expression"),
        ({**LONGEST, "applies_to": {"resources": "gpu="}}, "applies_to: resources: not JSON: .* at charac"),
        ({**LONGEST, "applies_to": {"resources": ["==", "$gpu", "a"]}}, "applies_to: resources: must be an"),
    ],
)
def test_a_mistake_in_a_rule_is_named_with_rule_and_key(keys: dict[Any, Any], message: str) -> None:
    with pytest.raises(RuleProblem, match=rf"^rule 2 \(r\): {message}"):
        parse_rules({"rules": [{**LONGEST, "name": "first"}, {"name": "r", **keys}]}, TYPES)


def test_each_kind_names_the_keys_that_only_it_has() -> None:
    assert keys_of(Kind.LEAD_TIME) == ("lead_minutes", "lead_hours", "lead_days")
    assert all(keys_of(each) for each in Kind)


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (timedelta(minutes=1), "1 minute"),
        (timedelta(minutes=90), "90 minutes"),
        (HOUR, "1 hour"),
        (2 * DAY, "48 hours"),
        (3 * DAY, "3 days"),
        (36 * HOUR, "36 hours"),
        (DAY * 4 + HOUR, "97 hours"),
    ],
)
def test_durations_in_words(duration: timedelta, text: str) -> None:
    assert in_words(duration) == text


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ({"kind": "longest", "longest_hours": 5}, "all resource types: a lease lasts at most 5 hours"),
        (
            {
                "kind": "shortest",
                "shortest_minutes": 30,
                "applies_to": {"resource_types": list(TYPES), "resources": "gpu=a100|h100"},
            },
            "physical:host, virtual:instance with gpu=a100|h100: a lease lasts at least 30 minutes",
        ),
        (
            {"kind": "horizon", "start_days": 30, "end_days": 60},
            "all resource types: a lease starts at most 30 days ahead and ends at most 60 days ahead",
        ),
        (
            {"kind": "extension", "last_hours": 48, "most_days": 7, "beyond_longest": True},
            "all resource types: a lease that has started can be extended only in its last 48 hours, by at"
            " most 7 days at a time, also beyond the longest lease",
        ),
        ({"kind": "lead_time", "unlimited": True}, "all resource types: no limit (lead time)"),
        (
            {"kind": "cool_down", "cool_down_hours": 12, "same_resource": True},
            "all resource types: at least 12 hours lie between two leases of the same resource of a project",
        ),
        (
            {"kind": "stacking", "most_hours": 500, "period_days": 30, "per": "user"},
            "all resource types: a user books at most 500 resource hours ahead in any 30 days",
        ),
    ],
)
def test_a_rule_as_a_sentence(keys: dict[str, Any], sentence: str) -> None:
    assert sentence_of(rule(**keys)) == sentence


def test_a_sentence_need_not_name_the_properties() -> None:
    found = rule(**{**LONGEST, "applies_to": {"resources": "secret=1"}})

    assert sentence_of(found, with_resources=False) == (
        "all resource types on some resources: a lease lasts at most 1 hour"
    )
