"""Requirements: conditions that a resource must satisfy, compared with its facts.

:mod:`blazar.domain.expressions` parses the texts that lessees write. This module does not know the meaning
of keys: the caller passes a mapping of facts.
"""

from __future__ import annotations

import enum
import operator
import re
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

Fact = str | int | float | bool | None
"""The value of one key. None means that the column is null; an absent key means that it is unknown."""

_PLAIN_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
BOOLEANS: Mapping[str, int] = {"true": 1, "1": 1, "false": 0, "0": 0}


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

    @property
    def leaves(self) -> Iterator[Leaf]:
        """Return the condition itself."""
        yield self

    def matches(self, facts: Mapping[str, Fact], casefold_keys: Container[str]) -> bool:
        """Return whether *facts* has the key and the comparison holds; see :meth:`Requirement.matches`."""
        return self.key in facts and self.holds(facts[self.key], ignore_case=self.key in casefold_keys)


@dataclass(frozen=True, slots=True)
class Exists:
    """The resource has a fact of this name, whatever its value."""

    key: str

    @property
    def leaves(self) -> Iterator[Leaf]:
        """Return the condition itself."""
        yield self

    def matches(self, facts: Mapping[str, Fact], casefold_keys: Container[str]) -> bool:
        """Return whether *facts* has the key."""
        return self.key in facts


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one of several requirements holds."""

    requirements: tuple[Requirement, ...]

    @property
    def leaves(self) -> Iterator[Leaf]:
        """Return the conditions of all requirements."""
        for each in self.requirements:
            yield from each.leaves

    def matches(self, facts: Mapping[str, Fact], casefold_keys: Container[str]) -> bool:
        """Return whether one of the requirements matches."""
        return any(each.matches(facts, casefold_keys=casefold_keys) for each in self.requirements)


@dataclass(frozen=True, slots=True)
class Not:
    """A requirement does not hold. A comparison with an absent fact is false, so its negation is true."""

    requirement: Requirement

    @property
    def leaves(self) -> Iterator[Leaf]:
        """Return the conditions of the requirement."""
        return self.requirement.leaves

    def matches(self, facts: Mapping[str, Fact], casefold_keys: Container[str]) -> bool:
        """Return whether the requirement does not match."""
        return not self.requirement.matches(facts, casefold_keys=casefold_keys)


Leaf = Condition | Exists
"""A condition about one key."""
Term = Condition | Exists | AnyOf | Not


@dataclass(frozen=True, slots=True)
class Requirement:
    """Terms that must all hold; without terms, every resource matches."""

    conditions: tuple[Term, ...] = ()
    refusal_at_1_0: tuple[str, str] | None = field(default=None, compare=False, repr=False)
    """The field and the problem for which API 1.0 refuses the expression; None if it accepts it."""

    @property
    def leaves(self) -> Iterator[Leaf]:
        """Return the conditions about single keys, at any depth, in their order."""
        for each in self.conditions:
            yield from each.leaves

    @property
    def keys(self) -> frozenset[str]:
        """Return the keys that the conditions name, without ``$``."""
        return frozenset(each.key for each in self.leaves)

    @property
    def count(self) -> int:
        """Return the number of conditions about single keys."""
        return sum(1 for _ in self.leaves)

    def matches(self, facts: Mapping[str, Fact], *, casefold_keys: Container[str] = frozenset()) -> bool:
        """Return whether every term holds for *facts*.

        If *facts* lacks the key of a comparison, the comparison is false for every operator, including
        ``!=``.

        Args:
            facts: The facts of one candidate, by key.
            casefold_keys: Keys whose texts are compared without regard to case: text columns of the host
                record, where clients expect that ``qemu`` matches ``QEMU``.
        """
        return all(each.matches(facts, casefold_keys) for each in self.conditions)

    def __and__(self, other: Requirement) -> Requirement:
        return Requirement(self.conditions + other.conditions, self.refusal_at_1_0 or other.refusal_at_1_0)


def unknown_keys(requirement: Requirement, known: Container[str]) -> tuple[str, ...]:
    """Return, sorted, the keys in *requirement* that are not in *known*."""
    return tuple(sorted(key for key in requirement.keys if key not in known))


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
