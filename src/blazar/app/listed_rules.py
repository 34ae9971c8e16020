"""Usage rules as lessees see them in the catalogue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from blazar.app.properties import hidden_names
from blazar.booking.context import Context
from blazar.domain.rules.rule import Kind, Rule
from blazar.domain.rules.wording import expression_of, limit_view, sentence_of
from blazar.ports.manager import Caller

JsonObject = Mapping[str, object]


def list_usage_rules(context: Context, caller: Caller) -> Sequence[JsonObject]:
    """Return the rules that are enforced and decide about leases of the caller, in their order."""
    hidden = hidden_names(context, caller) if context.rules else frozenset()
    return [_view(rule, types, hidden) for rule, types in _deciding(context, caller)]


def _deciding(context: Context, caller: Caller) -> Sequence[tuple[Rule, Sequence[str]]]:
    """Return the rules with the resource types of which they decide about some resources.

    If a rule is about all resources of a type, later rules of its kind decide nothing for this type.
    """
    types_of: dict[Rule, list[str]] = {}
    for resource_type in sorted(context.plugins):
        decided = set()
        for rule in context.rules.all:
            if (
                rule.kind is Kind.ONLY_FOR
                or not rule.is_enforced
                or not rule.scope.covers(resource_type, caller.project_id, caller.roles)
            ):
                continue
            if rule.kind not in decided:
                types_of.setdefault(rule, []).append(resource_type)
            if not rule.scope.resources.conditions:
                decided.add(rule.kind)
    return [(each, types_of[each]) for each in context.rules.all if each in types_of]


def _view(rule: Rule, resource_types: Sequence[str], hidden: frozenset[str]) -> JsonObject:
    resources = rule.scope.resources
    is_shown = resources.keys.isdisjoint(hidden)
    return {
        "name": rule.name,
        "kind": rule.kind.value,
        "resource_types": resource_types,
        "covers_all_resources": not resources.conditions,
        "resources": expression_of(resources) if resources.conditions and is_shown else None,
        "summary": sentence_of(rule, with_resources=is_shown),
        "limit": None if rule.limit is None else limit_view(rule.limit),
    }
