"""Requirement expressions: which hosts will do, written by a lessee as JSON text.

An expression is a conjunction of comparisons (rest-api 7)::

    ["and", [">=", "$vcpus", "32"], ["==", "$rack", "r1"]]

:func:`parse` makes a :class:`Requirement` of it once, where it enters; everything behind works with that
value. What a key means is not known here: the caller hands over a mapping of facts.
"""

from __future__ import annotations

import enum
import json
import operator
import re
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from blazar.domain.errors import InvalidRequirement

MAX_DEPTH = 32
"""How deep ``and`` may be nested, counting the outermost as 1."""
MAX_CONDITIONS = 1000
"""How many conditions one expression may hold."""
MAX_TEXT_LENGTH = 65_536
"""How many characters an expression may have."""

Fact = str | int | float | bool | None
"""What is known about one key; None says that the column is null, an absent key that nothing is known."""

_PLAIN_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_BOOLEANS = {"true": 1, "1": 1, "false": 0, "0": 0}
_EXCERPT_LENGTH = 40


class Operator(enum.Enum):
    """How a fact is compared with the value of a condition; the fact stands on the left."""

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
    _number: Decimal | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_number", _number(self.value))

    def holds(self, actual: Fact, *, ignore_case: bool = False) -> bool:
        """Return whether *actual* compares with the value as the condition asks.

        The first line that fits decides:

        * None matches nothing but ``== null``;
        * a boolean compares as 1 or 0, if the value is ``true``, ``false``, ``1`` or ``0`` in any case;
        * numbers compare as numbers, exactly, when both sides are one: an int, a finite float, or text
          such as ``8``, ``-3``, ``16384.0`` (not ``nan``, ``0x10``, ``1e3`` or ``1_000``);
        * everything else compares as text, by code point.

        Args:
            actual: The fact.
            ignore_case: Let ``==`` and ``!=`` on text ignore upper and lower case; the order of text
                never does.
        """
        if actual is None:
            return self.operator is Operator.EQ and self.value == "null"
        compare = _COMPARE[self.operator]
        if isinstance(actual, bool):
            wanted = _BOOLEANS.get(self.value.lower())
            if wanted is not None:
                return compare(int(actual), wanted)
        elif self._number is not None and (number := _number(actual)) is not None:
            return compare(number, self._number)
        text = _text(actual)
        if ignore_case and self.operator in (Operator.EQ, Operator.NE):
            return compare(text.casefold(), self.value.casefold())
        return compare(text, self.value)


@dataclass(frozen=True, slots=True)
class Requirement:
    """Conditions that all must hold; none means that anything will do."""

    conditions: tuple[Condition, ...] = ()

    @property
    def keys(self) -> frozenset[str]:
        """Return the keys that the conditions name, without ``$``."""
        return frozenset(condition.key for condition in self.conditions)

    def matches(self, facts: Mapping[str, Fact], *, casefold_keys: Container[str] = frozenset()) -> bool:
        """Return whether every condition holds for *facts*.

        A key that *facts* lacks makes the answer no, whatever the operator, ``!=`` included.

        Args:
            facts: What is known about one candidate, by key.
            casefold_keys: Keys whose text is equal when only upper and lower case differ: text columns
                of the host record, of which clients expect that ``qemu`` finds ``QEMU``.
        """
        return all(
            condition.key in facts
            and condition.holds(facts[condition.key], ignore_case=condition.key in casefold_keys)
            for condition in self.conditions
        )

    def __and__(self, other: Requirement) -> Requirement:
        return Requirement(self.conditions + other.conditions)


def parse(text: object, *, field: str) -> Requirement:
    """Return what an expression requires.

    Nested ``and`` of any depth and items given as JSON text are flattened; no condition is lost.

    Args:
        text: JSON text, or the list that it would decode to. None, ``""`` and an empty list require
            nothing.
        field: The key of the request that holds it, for the message.

    Raises:
        InvalidRequirement: It is not an expression, or nests deeper than ``MAX_DEPTH``, or has more
            than ``MAX_CONDITIONS`` conditions or ``MAX_TEXT_LENGTH`` characters. The message says what
            is wrong and where, as indexes into the lists.
    """
    if text is None or text == "":
        return Requirement()
    parser = _Parser(field)
    expression = parser.decoded(text, ()) if isinstance(text, str) else text
    if expression != []:
        parser.collect(expression, (), 1)
    return Requirement(tuple(parser.conditions))


def render(requirement: Requirement) -> str:
    """Return an expression that :func:`parse` makes *requirement* of; ``""`` if it requires nothing."""
    items = [[each.operator.value, f"${each.key}", each.value] for each in requirement.conditions]
    if not items:
        return ""
    return json.dumps(items[0] if len(items) == 1 else ["and", *items])


def unknown_keys(requirement: Requirement, known: Container[str]) -> tuple[str, ...]:
    """Return the keys that *requirement* names and *known* lacks, sorted."""
    return tuple(sorted(key for key in requirement.keys if key not in known))


class _Parser:
    """Collects the conditions of one expression, in the order in which they are written."""

    def __init__(self, field: str) -> None:
        self.conditions: list[Condition] = []
        self._field = field

    def collect(self, expression: object, at: tuple[int, ...], depth: int) -> None:
        """Add the conditions of *expression*, found at index path *at*, or refuse it."""
        if not isinstance(expression, list):
            raise self._refusal(at, f"expected a list, got {_shown(expression)}")
        if not expression:
            raise self._refusal(at, "an empty list inside of an expression")
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
        """Return what JSON *text* holds."""
        if len(text) > MAX_TEXT_LENGTH:
            raise self._refusal(at, f"longer than {MAX_TEXT_LENGTH} characters")
        try:
            value: object = json.loads(text)
        except RecursionError:
            raise self._refusal(at, f'"and" is nested deeper than {MAX_DEPTH} levels') from None
        except ValueError:  # besides ill-formed text: a number of thousands of digits
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
            raise self._refusal(at, f"{_shown(text)} contains a character that is not text")
        return text

    def _refusal(self, at: tuple[int, ...], problem: str) -> InvalidRequirement:
        place = "".join(f"[{index}]" for index in at)
        return InvalidRequirement(self._field, f"at {place}: {problem}" if place else problem)


def _number(value: str | float) -> Decimal | None:
    """Return the exact number that *value* is, or None if it is none."""
    if isinstance(value, int):
        return Decimal(value)
    # A float means the shortest text that reads back as it, so that 0.1 equals "0.1".
    if isinstance(value, float):
        number = Decimal(repr(value))
        return number if number.is_finite() else None
    return Decimal(value) if _PLAIN_NUMBER.fullmatch(value) else None


def _text(value: str | float) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _shown(value: object) -> str:
    """Return an excerpt of request data that is safe to put into a message."""
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
