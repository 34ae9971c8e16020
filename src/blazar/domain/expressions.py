"""Requirement expressions: the JSON text and the short form in which lessees write conditions.

The JSON form is a comparison, or an operator with its operands::

    ["and", [">=", "$vcpus", 32], ["or", ["in", "$gpu", ["a100", "h100"]], ["not", ["exists", "$gpu"]]]]

The short form, in :mod:`blazar.domain.short_expressions`, is ``gpu=a100|h100,memory_mb>=65536``. API 1.0
knows only ``and``, comparisons and values in quotes.

:func:`parse` converts an expression once, at the entry, to a :class:`Requirement`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

from blazar.domain.errors import InvalidRequirement
from blazar.domain.requirements import AnyOf, Condition, Exists, Not, Operator, Requirement, Term
from blazar.domain.short_expressions import SyntaxProblem, parse_short

MAX_DEPTH = 32
"""The maximum nesting depth of operators; the outermost counts as 1."""
MAX_CONDITIONS = 1000
"""The maximum number of conditions in one expression."""
MAX_TEXT_LENGTH = 65_536
"""The maximum length of an expression in characters."""

_COMPARISONS = {"=": Operator.EQ} | {each.value: each for each in Operator}
_MORE_OPERATORS = ("or", "not", "in", "between", "exists")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_EXCERPT_LENGTH = 40
_CACHED_TEXTS = 128

Place = tuple[int, ...]
"""The position of an element, as indexes into nested lists."""


def parse(text: object, *, field: str) -> Requirement:
    """Return the requirement of an expression.

    Nested ``and`` of any depth and items given as JSON text are flattened; no condition is lost.

    Args:
        text: The expression, or the list that its JSON would decode to. None, ``""`` and an empty list
            require nothing.
        field: The key of the request that contains the expression, for the message.

    Raises:
        InvalidRequirement: It is not an expression, or nests deeper than ``MAX_DEPTH``, or has more
            than ``MAX_CONDITIONS`` conditions or ``MAX_TEXT_LENGTH`` characters. The message says what
            is wrong and where, as indexes into the lists or as the number of a character.
    """
    if text is None or text == "":
        return Requirement()
    return _parse_text(text, field) if isinstance(text, str) else _parse_value(text, field)


@lru_cache(maxsize=_CACHED_TEXTS)
def _parse_text(text: str, field: str) -> Requirement:
    try:
        value = _decoded(text, ())
    except _Refusal as refusal:
        if len(text) > MAX_TEXT_LENGTH or _looks_like_json(text):
            raise refusal.as_error(field) from None
        return _parse_short(text, field, refusal.problem)
    return _parse_value(value, field)


def _parse_short(text: str, field: str, problem: str) -> Requirement:
    """Return the requirement of a short expression; *problem* is why the text is not JSON."""
    try:
        requirement = Requirement(parse_short(text), (field, problem))
    except SyntaxProblem as error:
        raise InvalidRequirement(field, f"{problem}; as a short expression: {error}") from None
    if requirement.count > MAX_CONDITIONS:
        raise InvalidRequirement(field, f"more than {MAX_CONDITIONS} conditions")
    return requirement


def _parse_value(value: object, field: str) -> Requirement:
    if value == []:
        return Requirement()
    try:
        return Requirement(_Parser(is_1_0=True).parse(value))
    except _Refusal as refusal_at_1_0:
        try:
            requirement = Requirement(_Parser(is_1_0=False).parse(value))
        except _Refusal as refusal:
            raise refusal.as_error(field) from None
        return replace(requirement, refusal_at_1_0=(field, refusal_at_1_0.text))


def render(requirement: Requirement) -> str:
    """Return an expression that :func:`parse` converts to *requirement*; ``""`` if it requires nothing."""
    if not requirement.conditions:
        return ""
    return json.dumps(_rendered(requirement))


def _rendered(requirement: Requirement) -> list[object]:
    items = [_rendered_term(each) for each in requirement.conditions]
    return items[0] if len(items) == 1 else ["and", *items]


def _rendered_term(term: Term) -> list[object]:
    match term:
        case Condition():
            return [term.operator.value, f"${term.key}", term.value]
        case Exists():
            return ["exists", f"${term.key}"]
        case AnyOf():
            return ["or", *(_rendered(each) for each in term.requirements)]
        case Not():
            return ["not", _rendered(term.requirement)]


class _Refusal(Exception):
    """A problem at one element of an expression."""

    def __init__(self, at: Place, problem: str) -> None:
        super().__init__(problem)
        self.at, self.problem = at, problem

    @property
    def text(self) -> str:
        """Return the problem and its place."""
        place = "".join(f"[{index}]" for index in self.at)
        return f"at {place}: {self.problem}" if place else self.problem

    def as_error(self, field: str) -> InvalidRequirement:
        """Return the error for the expression in *field*."""
        return InvalidRequirement(field, self.text)


class _Parser:
    """Parses one expression; with *is_1_0*, refuses what only later API versions know."""

    def __init__(self, *, is_1_0: bool) -> None:
        self._is_1_0 = is_1_0
        self._count = 0

    def parse(self, expression: object) -> tuple[Term, ...]:
        """Return the terms of a decoded expression. Raises _Refusal."""
        return tuple(self._terms(expression, (), 1))

    def _terms(self, expression: object, at: Place, depth: int) -> Iterable[Term]:
        """Return the terms that must all hold; a nested ``and`` is flattened."""
        if not isinstance(expression, list):
            raise _Refusal(at, f"expected a list, got {_shown(expression)}")
        if not expression:
            raise _Refusal(at, "an expression must not contain an empty list")
        name = expression[0]
        if name == "and":
            return [term for each in self._operands(expression, at, depth) for term in each]
        if self._is_1_0 or name not in _MORE_OPERATORS:
            return [self._comparison(expression, at)]
        if name == "or":
            operands = self._operands(expression, at, depth)
            return [AnyOf(tuple(Requirement(tuple(each)) for each in operands))]
        if name == "not":
            return [self._not(expression, at, depth)]
        return self._about_one_key(expression, at)

    def _operands(self, expression: Sequence[object], at: Place, depth: int) -> list[Iterable[Term]]:
        name = expression[0]
        if len(expression) == 1:
            raise _Refusal(at, f'"{name}" needs at least one condition')
        if depth > MAX_DEPTH:
            raise _Refusal(at[:3], f'"{name}" is nested deeper than {MAX_DEPTH} levels')
        found = []
        for index, item in enumerate(expression[1:], start=1):
            here = (*at, index)
            found.append(
                self._terms(_decoded(item, here) if isinstance(item, str) else item, here, depth + 1)
            )
        return found

    def _not(self, expression: Sequence[object], at: Place, depth: int) -> Not:
        if len(expression) != 2:
            raise _Refusal(at, f'"not" needs one condition; got {len(expression) - 1}')
        (operand,) = self._operands(expression, at, depth)
        return Not(Requirement(tuple(operand)))

    def _about_one_key(self, expression: Sequence[object], at: Place) -> Iterable[Term]:
        match expression[0]:
            case "in":
                return [self._in(expression, at)]
            case "between":
                return self._between(expression, at)
        self._require(expression, at, 2, '["exists", "$key"]')
        self._note(at)
        return [Exists(self._key(expression[1], (*at, 1)))]

    def _in(self, expression: Sequence[object], at: Place) -> AnyOf:
        self._require(expression, at, 3, '["in", "$key", ["value", …]]')
        key, values = self._key(expression[1], (*at, 1)), expression[2]
        if not isinstance(values, list) or not values:
            raise _Refusal((*at, 2), f'"in" needs a list of values, got {_shown(values)}')
        conditions = []
        for index, value in enumerate(values):
            self._note(at)
            conditions.append(Condition(key, Operator.EQ, self._value(value, (*at, 2, index))))
        return AnyOf(tuple(Requirement((each,)) for each in conditions))

    def _between(self, expression: Sequence[object], at: Place) -> Sequence[Term]:
        self._require(expression, at, 4, '["between", "$key", lowest, highest]')
        key = self._key(expression[1], (*at, 1))
        low, high = (self._value(expression[index], (*at, index)) for index in (2, 3))
        self._note(at)
        self._note(at)
        return [Condition(key, Operator.GE, low), Condition(key, Operator.LE, high)]

    def _comparison(self, parts: Sequence[object], at: Place) -> Condition:
        sign = _COMPARISONS.get(parts[0]) if isinstance(parts[0], str) else None
        if sign is None:
            known = f"{' '.join(['and', *_COMPARISONS])}, and from API 1.1 on {' '.join(_MORE_OPERATORS)}"
            raise _Refusal((*at, 0), f"unknown operator {_shown(parts[0])}; known are: {known}")
        self._require(parts, at, 3, '[operator, "$key", "value"]')
        condition = Condition(self._key(parts[1], (*at, 1)), sign, self._value(parts[2], (*at, 2)))
        self._note(at)
        return condition

    def _require(self, parts: Sequence[object], at: Place, length: int, form: str) -> None:
        if len(parts) != length:
            raise _Refusal(at, f"a condition is {form}; got {len(parts)} elements")

    def _note(self, at: Place) -> None:
        """Count a condition."""
        if self._count >= MAX_CONDITIONS:
            raise _Refusal(at, f"more than {MAX_CONDITIONS} conditions")
        self._count += 1

    def _key(self, part: object, at: Place) -> str:
        if not isinstance(part, str) or not part.startswith("$"):
            raise _Refusal(at, f'a key must be text that begins with "$", got {_shown(part)}')
        if part == "$":
            raise _Refusal(at, 'a key needs at least one character after "$"')
        if any(character.isspace() for character in part):
            raise _Refusal(at, f"a key must not contain blanks, got {_shown(part)}")
        return _storable(part, at).removeprefix("$")

    def _value(self, part: object, at: Place) -> str:
        if not self._is_1_0 and isinstance(part, (int, float)):
            part = json.dumps(part)  # also booleans, and the same text as in the request
        if not isinstance(part, str):
            raise _Refusal(at, f"a value must be text in quotes, got {_shown(part)}")
        if not part:
            raise _Refusal(at, "a value must not be empty")
        return _storable(part, at)


def _decoded(text: str, at: Place) -> object:
    """Return the decoded JSON *text*. Raises _Refusal."""
    if len(text) > MAX_TEXT_LENGTH:
        raise _Refusal(at, f"longer than {MAX_TEXT_LENGTH} characters")
    try:
        value: object = json.loads(text)
    except RecursionError:
        raise _Refusal(at, f'"and" is nested deeper than {MAX_DEPTH} levels') from None
    except ValueError as error:  # malformed text, or a number of thousands of digits
        where = f", at character {error.pos + 1}" if isinstance(error, json.JSONDecodeError) else ""
        where = where if text.strip() and _looks_like_json(text) else ""
        raise _Refusal(at, f"not JSON: {_shown(text)}{where}") from None
    return value


def _looks_like_json(text: str) -> bool:
    return text.lstrip()[:1] in ("", "[", "{", '"')


def _storable(text: str, at: Place) -> str:
    if _UNSTORABLE.search(text):
        raise _Refusal(at, f"{_shown(text)} contains an invalid character")
    return text


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
