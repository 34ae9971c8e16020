"""Requirement expressions: conditions on hosts, written by a lessee as JSON text.

An expression is a conjunction of comparisons::

    ["and", [">=", "$vcpus", "32"], ["==", "$rack", "r1"]]

:func:`parse` converts it once, at the entry, to a :class:`Requirement`; all other code uses that value. This
module does not know the meaning of keys: the caller passes a mapping of facts.
"""

from __future__ import annotations

import enum
import json
import operator
import re
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import Any

from blazar.domain.errors import InvalidRequirement

MAX_DEPTH = 32
"""The maximum nesting depth of ``and``; the outermost counts as 1."""
MAX_CONDITIONS = 1000
"""The maximum number of conditions in one expression."""
MAX_TEXT_LENGTH = 65_536
"""The maximum length of an expression in characters."""

Fact = str | int | float | bool | None
"""The value of one key. None means that the column is null; an absent key means that it is unknown."""

_PLAIN_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
BOOLEANS: Mapping[str, int] = {"true": 1, "1": 1, "false": 0, "0": 0}
_EXCERPT_LENGTH = 40
_CACHED_TEXTS = 128


class Operator(enum.Enum):
    """The comparison of a fact, as the left operand, with the value of a condition."""

    EQ = "=="
    NE = "!="
    GE = ">="
    LE = "<="
    GT = ">"
    LT = "<"


_COMPARE: Mapping[Operator, Callable[[Any, Any], bool]] = {
    Operator.EQ: operator.eq,
    Operator.NE: operator.ne,
    Operator.GE: operator.ge,
    Operator.LE: operator.le,
    Operator.GT: operator.gt,
    Operator.LT: operator.lt,
}
_OPERATORS = {"=": Operator.EQ} | {each.value: each for each in Operator}


@dataclass(frozen=True, slots=True)
class Condition:
    """One comparison: the fact named *key* (without ``$``) against *value*."""

    key: str
    operator: Operator
    value: str
    number: Decimal | None = field(init=False, repr=False, compare=False)
    """The exact number of the value, if it is a number."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "number", number_of(self.value))

    def holds(self, actual: Fact, *, ignore_case: bool = False) -> bool:
        """Return whether the comparison of *actual* with the value holds.

        The first applicable rule decides:

        * None matches nothing but ``== null``;
        * a boolean compares as 1 or 0, if the value is ``true``, ``false``, ``1`` or ``0`` in any case;
        * numbers compare as exact numbers if both sides are numbers: an int, a finite float, or text
          such as ``8``, ``-3``, ``16384.0`` (not ``nan``, ``0x10``, ``1e3`` or ``1_000``);
        * everything else compares as text, by code point.

        Args:
            actual: The fact.
            ignore_case: Whether ``==`` and ``!=`` on text ignore case; the order of text never does.
        """
        if actual is None:
            return self.operator is Operator.EQ and self.value == "null"
        compare = _COMPARE[self.operator]
        if isinstance(actual, bool):
            wanted = BOOLEANS.get(self.value.lower())
            if wanted is not None:
                return compare(int(actual), wanted)
        elif self.number is not None and (number := number_of(actual)) is not None:
            return compare(number, self.number)
        text = text_of(actual)
        if ignore_case and self.operator in (Operator.EQ, Operator.NE):
            return compare(text.casefold(), self.value.casefold())
        return compare(text, self.value)


@dataclass(frozen=True, slots=True)
class Requirement:
    """Conditions that must all hold; without conditions, every resource matches."""

    conditions: tuple[Condition, ...] = ()

    @property
    def keys(self) -> frozenset[str]:
        """Return the keys that the conditions name, without ``$``."""
        return frozenset(condition.key for condition in self.conditions)

    def matches(self, facts: Mapping[str, Fact], *, casefold_keys: Container[str] = frozenset()) -> bool:
        """Return whether every condition holds for *facts*.

        If *facts* lacks a key, the answer is no for every operator, including ``!=``.

        Args:
            facts: The facts of one candidate, by key.
            casefold_keys: Keys whose texts are compared without regard to case: text columns of the host
                record, where clients expect that ``qemu`` matches ``QEMU``.
        """
        return all(
            condition.key in facts
            and condition.holds(facts[condition.key], ignore_case=condition.key in casefold_keys)
            for condition in self.conditions
        )

    def __and__(self, other: Requirement) -> Requirement:
        return Requirement(self.conditions + other.conditions)


def parse(text: object, *, field: str) -> Requirement:
    """Return the requirement of an expression.

    Nested ``and`` of any depth and items given as JSON text are flattened; no condition is lost.

    Args:
        text: JSON text, or the list that it would decode to. None, ``""`` and an empty list require
            nothing.
        field: The key of the request that contains the expression, for the message.

    Raises:
        InvalidRequirement: It is not an expression, or nests deeper than ``MAX_DEPTH``, or has more
            than ``MAX_CONDITIONS`` conditions or ``MAX_TEXT_LENGTH`` characters. The message says what
            is wrong and where, as indexes into the lists.
    """
    if text is None or text == "":
        return Requirement()
    return _parse_text(text, field) if isinstance(text, str) else _parse_list(text, _Parser(field))


@lru_cache(maxsize=_CACHED_TEXTS)
def _parse_text(text: str, field: str) -> Requirement:
    parser = _Parser(field)
    return _parse_list(parser.decoded(text, ()), parser)


def _parse_list(expression: object, parser: _Parser) -> Requirement:
    if expression != []:
        parser.collect(expression, (), 1)
    return Requirement(tuple(parser.conditions))


def render(requirement: Requirement) -> str:
    """Return an expression that :func:`parse` converts to *requirement*; ``""`` if it requires nothing."""
    items = [[each.operator.value, f"${each.key}", each.value] for each in requirement.conditions]
    if not items:
        return ""
    return json.dumps(items[0] if len(items) == 1 else ["and", *items])


def unknown_keys(requirement: Requirement, known: Container[str]) -> tuple[str, ...]:
    """Return, sorted, the keys in *requirement* that are not in *known*."""
    return tuple(sorted(key for key in requirement.keys if key not in known))


class _Parser:
    """Collects the conditions of one expression, in their order."""

    def __init__(self, field: str) -> None:
        self.conditions: list[Condition] = []
        self._field = field

    def collect(self, expression: object, at: tuple[int, ...], depth: int) -> None:
        """Add the conditions of *expression*, found at index path *at*. Raises InvalidRequirement."""
        if not isinstance(expression, list):
            raise self._refusal(at, f"expected a list, got {_shown(expression)}")
        if not expression:
            raise self._refusal(at, "an expression must not contain an empty list")
        if expression[0] != "and":
            self._add(self._condition(expression, at), at)
            return
        if len(expression) == 1:
            raise self._refusal(at, '"and" needs at least one condition')
        if depth > MAX_DEPTH:
            raise self._refusal(at[:3], f'"and" is nested deeper than {MAX_DEPTH} levels')
        for index, item in enumerate(expression[1:], start=1):
            here = (*at, index)
            self.collect(self.decoded(item, here) if isinstance(item, str) else item, here, depth + 1)

    def decoded(self, text: str, at: tuple[int, ...]) -> object:
        """Return the decoded JSON *text*."""
        if len(text) > MAX_TEXT_LENGTH:
            raise self._refusal(at, f"longer than {MAX_TEXT_LENGTH} characters")
        try:
            value: object = json.loads(text)
        except RecursionError:
            raise self._refusal(at, f'"and" is nested deeper than {MAX_DEPTH} levels') from None
        except ValueError:  # malformed text, or a number of thousands of digits
            raise self._refusal(at, f"not JSON: {_shown(text)}") from None
        return value

    def _add(self, condition: Condition, at: tuple[int, ...]) -> None:
        if len(self.conditions) >= MAX_CONDITIONS:
            raise self._refusal(at, f"more than {MAX_CONDITIONS} conditions")
        self.conditions.append(condition)

    def _condition(self, parts: list[object], at: tuple[int, ...]) -> Condition:
        sign = _OPERATORS.get(parts[0]) if isinstance(parts[0], str) else None
        if sign is None:
            known = " ".join(_OPERATORS)
            raise self._refusal((*at, 0), f"unknown operator {_shown(parts[0])}; known are: and {known}")
        if len(parts) != 3:
            raise self._refusal(at, f'a condition is [operator, "$key", "value"]; got {len(parts)} elements')
        return Condition(self._key(parts[1], (*at, 1)), sign, self._value(parts[2], (*at, 2)))

    def _key(self, part: object, at: tuple[int, ...]) -> str:
        if not isinstance(part, str) or not part.startswith("$"):
            raise self._refusal(at, f'a key must be text that begins with "$", got {_shown(part)}')
        if part == "$":
            raise self._refusal(at, 'a key needs at least one character after "$"')
        if any(character.isspace() for character in part):
            raise self._refusal(at, f"a key must not contain blanks, got {_shown(part)}")
        return self._storable(part, at).removeprefix("$")

    def _value(self, part: object, at: tuple[int, ...]) -> str:
        if not isinstance(part, str):
            raise self._refusal(at, f"a value must be text in quotes, got {_shown(part)}")
        if not part:
            raise self._refusal(at, "a value must not be empty")
        return self._storable(part, at)

    def _storable(self, text: str, at: tuple[int, ...]) -> str:
        if _UNSTORABLE.search(text):
            raise self._refusal(at, f"{_shown(text)} contains an invalid character")
        return text

    def _refusal(self, at: tuple[int, ...], problem: str) -> InvalidRequirement:
        place = "".join(f"[{index}]" for index in at)
        return InvalidRequirement(self._field, f"at {place}: {problem}" if place else problem)


def number_of(value: str | float) -> Decimal | None:
    """Return the exact number of *value*, or None if it is not a number."""
    if isinstance(value, int):
        return Decimal(value)
    # A float equals the shortest text that converts to it, so that 0.1 equals "0.1".
    if isinstance(value, float):
        number = Decimal(repr(value))
        return number if number.is_finite() else None
    return Decimal(value) if _PLAIN_NUMBER.fullmatch(value) else None


def text_of(value: str | float) -> str:
    """Return the text used to compare a fact as text."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _shown(value: object) -> str:
    """Return an excerpt of request data that is safe to include in a message."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case int() | float():
            return "a number"
        case str():
            return repr(value[:_EXCERPT_LENGTH]) + ("…" if len(value) > _EXCERPT_LENGTH else "")
        case list():
            return "a list"
        case _:
            return "an object"
