"""Matching of requirements against the facts of all resources at once, with one column of facts per key.

A condition costs two binary searches and a few vector operations, regardless of the number of resources
and of distinct facts.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Container, Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blazar.domain.booking_rows import Mask
from blazar.domain.requirements import (
    BOOLEANS,
    AnyOf,
    Condition,
    Exists,
    Fact,
    Not,
    Operator,
    Requirement,
    Term,
    number_of,
    text_of,
)

_CACHED_REQUIREMENTS = 256
_CACHED_SETS = 64
_ABSENT = object()

Ranks = NDArray[np.int64]


class FactColumns:
    """The facts of a fixed set of resources; immutable and safe for use by several threads."""

    def __init__(
        self,
        facts: Sequence[Mapping[str, Fact] | None],
        casefold_facts: Container[str],
        columns: Mapping[str, FactColumn] | None = None,
    ) -> None:
        """Store *facts* by position; columns are built on first use.

        Args:
            facts: The facts of each resource; None for a position without a resource.
            casefold_facts: Keys whose texts are compared without regard to case.
            columns: Columns that exist already.
        """
        self._facts = facts
        self._casefold_facts = casefold_facts
        self._exists = np.fromiter((each is not None for each in facts), np.bool_, len(facts))
        self._columns = dict(columns or {})
        self._matching: dict[Requirement, Mask] = {}
        self._names: dict[bytes, frozenset[str]] = {}

    def matching(self, requirement: Requirement) -> Mask:
        """Return which resources satisfy *requirement*. The caller must not change the mask."""
        mask = self._matching.get(requirement)
        if mask is None:
            mask = self._exists.copy()
            for term in dict.fromkeys(requirement.conditions):
                mask &= self._matching_term(term)
            if len(self._matching) >= _CACHED_REQUIREMENTS:
                self._matching.clear()
            self._matching[requirement] = mask
        return mask

    def _matching_term(self, term: Term) -> Mask:
        match term:
            case Condition():
                return self._column(term.key).matching(term)
            case Exists():
                return self._column(term.key).is_present
            case AnyOf():
                found = np.zeros(len(self._exists), np.bool_)
                for each in term.requirements:
                    found |= self.matching(each)
                return found
            case Not():
                return ~self.matching(term.requirement)

    def names_among(self, which: Mask) -> frozenset[str]:
        """Return the names of all facts that any of these resources has."""
        key = which.tobytes()
        names = self._names.get(key)
        if names is None:
            some = [self._facts[each] for each in np.flatnonzero(which).tolist()]
            names = frozenset().union(*(each for each in some if each is not None))
            if len(self._names) >= _CACHED_SETS:
                self._names.clear()
            self._names[key] = names
        return names

    def values(self, key: str) -> tuple[Sequence[Fact], NDArray[np.intp]]:
        """Return the distinct facts of a key, and by position the index of each resource's fact, or -1."""
        column = self._column(key)
        return column.distinct, column.codes

    @property
    def made(self) -> Mapping[str, FactColumn]:
        """Return the columns that were built so far, by key."""
        return dict(self._columns)

    def _column(self, key: str) -> FactColumn:
        column = self._columns.get(key)
        if column is None:
            column = self._columns[key] = FactColumn(
                self._facts, key, ignore_case=key in self._casefold_facts
            )
        return column


class FactColumn:
    """The facts of one key: the distinct facts with their order, and which one each resource has."""

    def __init__(self, facts: Sequence[Mapping[str, Fact] | None], key: str, *, ignore_case: bool) -> None:
        codes: dict[tuple[type, Fact], int] = {}
        # 1 and True are equal as keys, but compare differently. A missing fact gets the last code.
        found = [_ABSENT if each is None else each.get(key, _ABSENT) for each in facts]
        coded = [
            -1 if each is _ABSENT else codes.setdefault((type(each), each), len(codes))  # type: ignore[arg-type]
            for each in found
        ]
        self.codes = np.array(coded, np.intp)
        distinct = [fact for _, fact in codes]
        self.distinct: Sequence[Fact] = distinct
        self._is_null = _mask(each is None for each in distinct)
        self._booleans = np.array(
            [int(each) if isinstance(each, bool) else -1 for each in distinct], np.int64
        )
        texts = ["" if each is None else text_of(each) for each in distinct]
        self._texts = _Order(texts)
        self._folded = _Order([each.casefold() for each in texts]) if ignore_case else self._texts
        self._ignores_case = ignore_case
        numbers = [None if each is None or isinstance(each, bool) else number_of(each) for each in distinct]
        self._is_number = _mask(each is not None for each in numbers)
        self._numbers = _Order([Decimal(0) if each is None else each for each in numbers])

    @property
    def is_present(self) -> Mask:
        """Return by position which resources have the fact."""
        present: Mask = self.codes >= 0
        return present

    def matching(self, condition: Condition) -> Mask:
        """Return by position for which resources the condition holds."""
        holds = np.append(self._holds(condition), False)
        found: Mask = holds[self.codes]
        return found

    def _holds(self, condition: Condition) -> Mask:
        """Return for which distinct facts the condition holds; equivalent to ``Condition.holds``."""
        sign, value = condition.operator, condition.value
        if self._ignores_case and sign in (Operator.EQ, Operator.NE):
            holds = self._folded.compare(sign, value.casefold())
        else:
            holds = self._texts.compare(sign, value)
        if condition.number is not None:
            holds = np.where(self._is_number, self._numbers.compare(sign, condition.number), holds)
        wanted = BOOLEANS.get(value.lower())
        if wanted is not None:
            holds = np.where(self._booleans >= 0, _compare(sign, self._booleans, wanted, wanted + 1), holds)
        holds[self._is_null] = sign is Operator.EQ and value == "null"
        return holds


class _Order:
    """Values, and the rank of each among the distinct ones."""

    def __init__(self, values: Sequence[Any]) -> None:
        self._sorted = sorted(set(values))
        ranks = {value: rank for rank, value in enumerate(self._sorted)}
        self._ranks = np.array([ranks[each] for each in values], np.int64)

    def compare(self, sign: Operator, value: Any) -> Mask:
        """Return for which values, as left operands, the comparison holds."""
        low, high = bisect_left(self._sorted, value), bisect_right(self._sorted, value)
        return _compare(sign, self._ranks, low, high)


def _compare(sign: Operator, ranks: Ranks, low: int, high: int) -> Mask:
    """Return for which ranks the comparison with a value of the ranks from *low* to below *high* holds."""
    match sign:
        case Operator.GE:
            return ranks >= low
        case Operator.LE:
            return ranks < high
        case Operator.GT:
            return ranks >= high
        case Operator.LT:
            return ranks < low
        case Operator.EQ:
            return (ranks >= low) & (ranks < high)
        case Operator.NE:
            return (ranks < low) | (ranks >= high)


def _mask(values: Any) -> Mask:
    return np.array(list(values), np.bool_)


def changed_keys(before: Mapping[str, Fact], after: Mapping[str, Fact]) -> frozenset[str]:
    """Return the keys whose facts differ; 1, 1.0 and True differ from each other."""
    return frozenset(
        key
        for key in before.keys() | after.keys()
        if not _is_same(before.get(key, _ABSENT), after.get(key, _ABSENT))
    )


def _is_same(one: object, other: object) -> bool:
    return type(one) is type(other) and one == other
