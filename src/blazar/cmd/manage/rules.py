"""``blazar-manage rules``: the usage rules of the configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from oslo_config import cfg

from blazar.booking.context import Context
from blazar.cmd.manage.rendering import add_format, present
from blazar.domain.errors import InvalidParameter
from blazar.domain.rules.rule import OnlyFor, Rule
from blazar.domain.rules.wording import expression_of, sentence_of
from blazar.enforcement.rules_file import load_rules, read_rules


def add_parsers(parsers: Any) -> None:
    """Add the sub-commands."""
    verbs = parsers.add_parser("rules", help="usage rules").add_subparsers(required=True)
    check = verbs.add_parser("check", help="check the file of usage rules, and print them as understood")
    check.add_argument("--file", help="the file to check; [enforcement] rules_file by default")
    add_format(check)
    check.set_defaults(run=check_rules)


def check_rules(context: Context, arguments: Any) -> int:
    """Print each rule as a sentence, with the number of resources that it is about; return 0.

    Raises:
        InvalidParameter: The file is invalid; the message names the file, the rule and the key.
    """
    try:
        if arguments.file:
            rules = read_rules(Path(arguments.file), context.plugins.keys())
        else:
            rules = load_rules(cfg.CONF, context.plugins.keys())
    except ValueError as error:
        raise InvalidParameter("rules", str(error)) from error
    documents, lines = [], []
    for number, rule in enumerate(rules.all, 1):
        matching = _count_matching(context, rule)
        documents.append(_document(rule, matching))
        lines += _lines(number, rule, matching)
    lines.append("The file is valid" if rules else "There are no usage rules")
    present(arguments, documents, lines)
    return 0


def _count_matching(context: Context, rule: Rule) -> int:
    """Return the number of registered resources that a rule is about."""
    types = rule.scope.resource_types or context.plugins.keys()
    number = 0
    for collection in {context.plugins[each].collection for each in types}:
        with context.indexes[collection].searching() as availability:
            number += int(np.count_nonzero(availability.matching(rule.scope.resources)))
    return number


def _document(rule: Rule, matching: int) -> dict[str, object]:
    scope = rule.scope
    return {
        "name": rule.name,
        "kind": rule.kind.value,
        "is_enforced": rule.is_enforced,
        "summary": sentence_of(rule),
        "resource_types": sorted(scope.resource_types),
        "resources": expression_of(scope.resources) or None,
        "matching_resources": matching,
        "projects": sorted(scope.projects),
        "roles": sorted(scope.roles),
        "exempt_projects": sorted(scope.exempt_projects),
        "only_for_projects": sorted(_projects_of(rule)),
    }


def _projects_of(rule: Rule) -> frozenset[str]:
    """Return the projects for which a rule keeps resources."""
    return rule.limit.projects if isinstance(rule.limit, OnlyFor) else frozenset()


def _lines(number: int, rule: Rule, matching: int) -> list[str]:
    mode = "" if rule.is_enforced else ", only logged"
    lines = [f"{number}. {rule.name} ({rule.kind.value}{mode}): {sentence_of(rule)}"]
    scope = rule.scope
    for label, names in (
        ("only for projects", scope.projects | _projects_of(rule)),
        ("only for callers with a role of", scope.roles),
        ("not for projects", scope.exempt_projects),
    ):
        if names:
            lines.append(f"   {label} {', '.join(sorted(names))}")
    if scope.resources.conditions:
        lines.append(f"   {matching or 'no'} registered resources match now")
    return lines
