"""Parsing of rule files: a document becomes rules, or an error names the rule and the key.

A document is ``{"rules": [...]}``. Each rule has ``name`` and ``kind``, the keys of its kind, and optionally
``applies_to``, ``exempt_projects`` and ``mode``. A duration is a whole number whose key ends with its unit,
such as ``longest_hours``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import timedelta
from typing import Final

from blazar.domain.errors import InvalidRequirement
from blazar.domain.expressions import parse
from blazar.domain.requirements import Requirement
from blazar.domain.rules.rule import (
    CoolDown,
    Extension,
    Horizon,
    Kind,
    LeadTime,
    Limit,
    Longest,
    OnlyFor,
    Rule,
    Rules,
    Scope,
    Shortest,
    Stacking,
)

UNITS: Final[Mapping[str, timedelta]] = {
    "minutes": timedelta(minutes=1),
    "hours": timedelta(hours=1),
    "days": timedelta(days=1),
}
"""The units of durations, as the ends of keys."""
_LONGEST: Final = timedelta(days=36_500)
_LONGEST_NAME: Final = 64
_COMMON: Final = ("name", "kind", "applies_to", "exempt_projects", "mode", "unlimited")
_SCOPE: Final = ("resource_types", "resources", "projects", "roles")
_MODES: Final = ("enforce", "log")
_SHARERS: Final = ("project", "user")
_MOST_HOURS: Final = 10**9

Document = Mapping[object, object]


class RuleProblem(ValueError):
    """A rule file is invalid; the message names the rule and the key."""


class Keys:
    """The keys of one rule, which are checked when they are read."""

    def __init__(self, place: str, content: Document) -> None:
        self._place = place
        self._content = content
        self._read: set[str] = set()

    def problem(self, key: str, text: str) -> RuleProblem:
        """Return the error for a key."""
        return RuleProblem(f"{self._place}: {key}: {text}")

    def has(self, key: str) -> bool:
        """Return whether the rule has a key."""
        return key in self._content

    def value(self, key: str) -> object:
        """Return the value of a key; None if it is absent."""
        self._read.add(key)
        return self._content.get(key)

    def flag(self, key: str) -> bool:
        """Return a flag; false if it is absent. Raises RuleProblem."""
        value = self.value(key)
        if value is None and not self.has(key):
            return False
        if not isinstance(value, bool):
            raise self.problem(key, f"must be true or false, got {_shown(value)}")
        return value

    def choice(self, key: str, choices: Sequence[str]) -> str:
        """Return one of *choices*; the first one if the key is absent. Raises RuleProblem."""
        if not self.has(key):
            return choices[0]
        value = self.value(key)
        if value not in choices:
            raise self.problem(key, f"must be one of {', '.join(choices)}; got {_shown(value)}")
        return str(value)

    def texts(self, key: str) -> frozenset[str]:
        """Return a list of texts as a set; empty if the key is absent. Raises RuleProblem."""
        if not self.has(key):
            return frozenset()
        value = self.value(key)
        if not isinstance(value, list) or not value:
            raise self.problem(key, f"must be a list with at least one text, got {_shown(value)}")
        for each in value:
            if not isinstance(each, str) or not each.strip():
                raise self.problem(key, f"must have texts only, got {_shown(each)}; put it in quotes")
        return frozenset(value)

    def find_duration(self, stem: str) -> timedelta | None:
        """Return the duration under ``<stem>_<unit>``; None if there is none. Raises RuleProblem."""
        present = [unit for unit in UNITS if self.has(f"{stem}_{unit}")]
        if not present:
            return None
        if len(present) > 1:
            names = " and ".join(f"{stem}_{unit}" for unit in present)
            raise self.problem(names, "only one of them can be given")
        key, unit = f"{stem}_{present[0]}", UNITS[present[0]]
        return self.number(key, least=1, most=_LONGEST // unit) * unit

    def duration(self, stem: str) -> timedelta:
        """Return the duration under ``<stem>_<unit>``. Raises RuleProblem, also if there is none."""
        found = self.find_duration(stem)
        if found is None:
            raise self.problem(f"{stem}_hours", f"is missing; also {_other_units(stem)}")
        return found

    def number(self, key: str, *, least: int, most: int) -> int:
        """Return a whole number in a range. Raises RuleProblem."""
        value = self.value(key)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise self.problem(key, f"must be a whole number from {least} to {most}, got {_shown(value)}")
        return value

    def check_all_read(self, known: Collection[str]) -> None:
        """Raise RuleProblem for a key that nothing has read."""
        unknown = sorted(str(each) for each in self._content if each not in self._read)
        if unknown:
            raise self.problem(unknown[0][:_LONGEST_NAME], f"is unknown here; known are {', '.join(known)}")


def parse_rules(document: object, resource_types: Collection[str]) -> Rules:
    """Return the rules of a document.

    Args:
        document: The document, as decoded from its file.
        resource_types: The types that can be reserved; rules can only name these.

    Raises:
        RuleProblem: The document is invalid.
    """
    if not isinstance(document, Mapping):
        raise RuleProblem("the file must have a list named rules")
    surplus = sorted(str(each) for each in document if each != "rules")
    if surplus:
        raise RuleProblem(f"{surplus[0][:_LONGEST_NAME]}: is unknown here; known is rules")
    entries = document.get("rules")
    if not isinstance(entries, list):
        raise RuleProblem(f"rules: must be a list, got {_shown(entries)}")
    rules: list[Rule] = []
    for number, entry in enumerate(entries, 1):
        rule = _parse_rule(number, entry, resource_types)
        if any(each.name == rule.name for each in rules):
            raise RuleProblem(f"rule {number}: name: {rule.name} is also the name of an earlier rule")
        rules.append(rule)
    return Rules(tuple(rules))


def keys_of(kind: Kind) -> Sequence[str]:
    """Return the keys that only rules of a kind have."""
    return _KINDS[kind][0]


def _parse_rule(number: int, entry: object, resource_types: Collection[str]) -> Rule:
    if not isinstance(entry, Mapping):
        raise RuleProblem(f"rule {number}: must be an object with name and kind, got {_shown(entry)}")
    name = _parse_name(number, entry)
    keys = Keys(f"rule {number} ({name})", entry)
    keys.value("name")
    kind = _parse_kind(keys)
    own, parse_limit = _KINDS[kind]
    is_unlimited = keys.flag("unlimited")
    if is_unlimited and (given := [each for each in own if keys.has(each)]):
        raise keys.problem(given[0], "cannot be given with unlimited")
    scope = _parse_scope(keys, resource_types)
    if kind is Kind.ONLY_FOR:
        _check_for_all_callers(keys, scope)
    rule = Rule(
        name=name,
        kind=kind,
        scope=scope,
        limit=None if is_unlimited else parse_limit(keys),
        is_enforced=keys.choice("mode", _MODES) == _MODES[0],
    )
    keys.check_all_read((*_COMMON, *own))
    return rule


def _parse_name(number: int, entry: Document) -> str:
    name = entry.get("name")
    if not isinstance(name, str) or not 0 < len(name.strip()) <= _LONGEST_NAME or not name.isprintable():
        raise RuleProblem(
            f"rule {number}: name: must be a text of 1 to {_LONGEST_NAME} characters, got {_shown(name)}"
        )
    return name.strip()


def _parse_kind(keys: Keys) -> Kind:
    value, known = keys.value("kind"), {each.value: each for each in Kind}
    if not isinstance(value, str) or value not in known:
        raise keys.problem("kind", f"must be one of {', '.join(known)}; got {_shown(value)}")
    return known[value]


def _parse_scope(keys: Keys, resource_types: Collection[str]) -> Scope:
    content = keys.value("applies_to") if keys.has("applies_to") else {}
    if not isinstance(content, Mapping):
        raise keys.problem("applies_to", f"must be an object, got {_shown(content)}")
    inner = Keys(f"{keys.problem('applies_to', '')}".removesuffix(": "), content)
    types = inner.texts("resource_types")
    unknown = sorted(types - frozenset(resource_types))
    if unknown:
        known = ", ".join(sorted(resource_types)) or "none"
        raise inner.problem(
            "resource_types", f"no enabled plugin serves {unknown[0][:_LONGEST_NAME]}; enabled types: {known}"
        )
    scope = Scope(
        resource_types=types,
        resources=_parse_resources(inner),
        projects=inner.texts("projects"),
        roles=inner.texts("roles"),
        exempt_projects=keys.texts("exempt_projects"),
    )
    inner.check_all_read(_SCOPE)
    return scope


def _check_for_all_callers(keys: Keys, scope: Scope) -> None:
    """Raise RuleProblem if a rule on who may see resources depends on anything but its projects.

    The reconciler also applies it, for leases of all projects and without a caller.
    """
    for key, names in (
        ("applies_to: projects", scope.projects),
        ("applies_to: roles", scope.roles),
        ("exempt_projects", scope.exempt_projects),
    ):
        if names:
            raise keys.problem(key, "cannot be given here; only_for_projects names the projects")


def _parse_resources(keys: Keys) -> Requirement:
    if not keys.has("resources"):
        return Requirement()
    value = keys.value("resources")
    if not isinstance(value, str) or not value.strip():
        raise keys.problem("resources", f"must be an expression such as gpu=a100, got {_shown(value)}")
    try:
        return parse(value, field="resources")
    except InvalidRequirement as error:
        raise keys.problem("resources", error.message.removeprefix("resources: ")) from error


def _parse_horizon(keys: Keys) -> Horizon:
    start, end = keys.find_duration("start"), keys.find_duration("end")
    if start is None and end is None:
        raise keys.problem("start_days", "is missing, and so is end_days; at least one is needed")
    return Horizon(start=start, end=end)


def _parse_extension(keys: Keys) -> Extension:
    last, most = keys.find_duration("last"), keys.find_duration("most")
    if last is None and most is None:
        raise keys.problem("last_hours", "is missing, and so is most_hours; at least one is needed")
    return Extension(last=last, most=most, beyond_longest=keys.flag("beyond_longest"))


def _parse_cool_down(keys: Keys) -> CoolDown:
    return CoolDown(gap=keys.duration("cool_down"), same_resource=keys.flag("same_resource"))


def _parse_stacking(keys: Keys) -> Stacking:
    return Stacking(
        most_hours=keys.number("most_hours", least=0, most=_MOST_HOURS),
        period=keys.find_duration("period"),
        per_user=keys.choice("per", _SHARERS) == _SHARERS[1],
    )


def _parse_only_for(keys: Keys) -> OnlyFor:
    projects = keys.texts("only_for_projects")
    if not projects:
        raise keys.problem("only_for_projects", "is missing: a list of ids of projects")
    return OnlyFor(projects=projects)


def _durations(*stems: str) -> tuple[str, ...]:
    return tuple(f"{stem}_{unit}" for stem in stems for unit in UNITS)


_KINDS: Final[Mapping[Kind, tuple[tuple[str, ...], Callable[[Keys], Limit]]]] = {
    Kind.HORIZON: (_durations("start", "end"), _parse_horizon),
    Kind.LEAD_TIME: (_durations("lead"), lambda keys: LeadTime(lead=keys.duration("lead"))),
    Kind.LONGEST: (_durations("longest"), lambda keys: Longest(longest=keys.duration("longest"))),
    Kind.SHORTEST: (_durations("shortest"), lambda keys: Shortest(shortest=keys.duration("shortest"))),
    Kind.COOL_DOWN: ((*_durations("cool_down"), "same_resource"), _parse_cool_down),
    Kind.STACKING: (("most_hours", *_durations("period"), "per"), _parse_stacking),
    Kind.ONLY_FOR: (("only_for_projects",), _parse_only_for),
    Kind.EXTENSION: ((*_durations("last", "most"), "beyond_longest"), _parse_extension),
}
"""The keys of each kind, and the function that parses them."""


def _other_units(stem: str) -> str:
    return " or ".join(f"{stem}_{unit}" for unit in UNITS if unit != "hours")


def _shown(value: object) -> str:
    """Return an excerpt of a value for a message."""
    match value:
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
        case str():
            return repr(value[:_LONGEST_NAME])
        case list():
            return "a list"
        case Mapping():
            return "an object"
        case _:
            return str(value)[:_LONGEST_NAME]
