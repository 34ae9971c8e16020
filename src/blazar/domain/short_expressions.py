r"""The short form of requirement expressions, such as ``gpu=a100|h100,memory_mb>=65536,!maintenance``.

========================  ================================================
``key=value``             equal; also ``==``; ``!=``, ``>=``, ``<=``, ``>``, ``<``
``key=one|two``           equal to one of the values; ``!=`` for none of them
``key=8..16``             a number from 8 to 16, inclusive
``key``, ``!key``         the resource has a fact of this name, or has none
========================  ================================================

Terms are separated by commas and must all hold. A value with one of ``, | " = < > !``, or with the word
``and`` or ``or``, needs double quotes; ``\"`` and ``\\`` stand for a quote and a backslash there.
"""

from __future__ import annotations

import re
from typing import Final

from blazar.domain.requirements import AnyOf, Condition, Exists, Not, Operator, Requirement, Term, number_of

_KEY = re.compile(r'[^\s,=<>!|"\x00\ud800-\udfff]+')
_SIGN = re.compile(r"==|!=|>=|<=|=|>|<")
_BARE = re.compile(r'[^,|"=<>!\x00\ud800-\udfff]+')
_QUOTED = re.compile(r'"((?:[^"\\\x00\ud800-\udfff]|\\["\\])*)"')
_BLANKS = re.compile(r"\s*")
_WORD = re.compile(r"(?:^|\s)(and|or)(?:\s|$)", re.IGNORECASE)
_RANGE: Final = ".."


class SyntaxProblem(ValueError):
    """A short expression is invalid; the message names the position of the character, from 1."""

    def __init__(self, position: int, problem: str) -> None:
        super().__init__(f"at character {position + 1}: {problem}")


def parse_short(text: str) -> tuple[Term, ...]:
    """Return the terms of a short expression. Raises SyntaxProblem."""
    reader = _Reader(text)
    terms = [*reader.read_term()]
    while not reader.is_at_end:
        reader.expect_comma()
        terms += reader.read_term()
    return tuple(terms)


def render_short(term: Term) -> str:
    """Return a term in the short form, or in words if the short form cannot express it."""
    match term:
        case Condition():
            sign = "=" if term.operator is Operator.EQ else term.operator.value
            return f"{term.key}{sign}{_quoted(term.value)}"
        case Exists():
            return term.key
        case Not(requirement=Requirement(conditions=(Exists(key=key),))):
            return f"!{key}"
        case Not():
            return f"not ({_render_all(term.requirement)})"
        case AnyOf():
            return _render_any(term)


def _render_all(requirement: Requirement) -> str:
    return ",".join(map(render_short, requirement.conditions))


def _render_any(term: AnyOf) -> str:
    only = [each.conditions[0] for each in term.requirements if len(each.conditions) == 1]
    same = [each for each in only if isinstance(each, Condition) and each.operator is Operator.EQ]
    if len(same) == len(term.requirements) and len({each.key for each in same}) == 1:
        return f"{same[0].key}={'|'.join(_quoted(each.value) for each in same)}"
    return " or ".join(f"({_render_all(each)})" for each in term.requirements)


def _quoted(value: str) -> str:
    is_bare = _BARE.fullmatch(value) and value == value.strip()
    if is_bare and _RANGE not in value and not _WORD.search(value):
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


class _Reader:
    """Reads a string from the left."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._skip_blanks()

    @property
    def is_at_end(self) -> bool:
        """Return whether everything was read."""
        return self._at == len(self._text)

    def expect_comma(self) -> None:
        """Read a comma."""
        if self._text[self._at] != ",":
            got = repr(self._text[self._at])
            raise SyntaxProblem(self._at, f"expected a comma, got {got}; put text that contains it in quotes")
        self._at += 1
        self._skip_blanks()

    def read_term(self) -> tuple[Term, ...]:
        """Read a term, and return what must hold."""
        if self._text.startswith("!", self._at):
            self._at += 1
            return (Not(Requirement((Exists(self._read_key()),))),)
        key = self._read_key()
        found = _SIGN.match(self._text, self._at)
        if found is None:
            return (Exists(key),)
        self._advance(found)
        sign = Operator.EQ if found[0] == "=" else Operator(found[0])
        return self._read_values(key, sign)

    def _read_key(self) -> str:
        found = _KEY.match(self._text, self._at)
        key = "" if found is None else found[0].removeprefix("$")
        if found is None or not key:
            raise SyntaxProblem(self._at, "expected the name of a property")
        self._advance(found)
        return key

    def _read_values(self, key: str, sign: Operator) -> tuple[Term, ...]:
        start = self._at
        value, is_quoted = self._read_value()
        values = [value]
        while self._text.startswith("|", self._at):
            if sign not in (Operator.EQ, Operator.NE):
                raise SyntaxProblem(self._at, f"several values need = or !=, not {sign.value}")
            self._at += 1
            self._skip_blanks()
            values.append(self._read_value()[0])
        if sign is Operator.EQ and len(values) == 1 and not is_quoted and _RANGE in value:
            return _range_of(key, value, start)
        conditions = [Condition(key, sign, each) for each in values]
        if len(values) > 1 and sign is Operator.EQ:
            return (AnyOf(tuple(Requirement((each,)) for each in conditions)),)
        return tuple(conditions)

    def _read_value(self) -> tuple[str, bool]:
        """Read a value; also return whether it was in quotes."""
        quoted = _QUOTED.match(self._text, self._at)
        if quoted is not None:
            if not quoted[1]:
                raise SyntaxProblem(self._at, "a value must not be empty")
            self._advance(quoted)
            return re.sub(r"\\(.)", r"\1", quoted[1]), True
        if self._text.startswith('"', self._at):
            raise SyntaxProblem(self._at, "the quotes are not closed, or contain an invalid character")
        bare = _BARE.match(self._text, self._at)
        if bare is None or not bare[0].strip():
            raise SyntaxProblem(self._at, "expected a value")
        if word := _WORD.search(bare[0]):
            raise SyntaxProblem(
                self._at + word.start(1),
                f"{word[1]} is no operator; write a comma for and, | between values for or, quotes for text",
            )
        self._advance(bare)
        return bare[0].strip(), False

    def _advance(self, found: re.Match[str]) -> None:
        self._at = found.end()
        self._skip_blanks()

    def _skip_blanks(self) -> None:
        blanks = _BLANKS.match(self._text, self._at)
        assert blanks is not None
        self._at = blanks.end()


def _range_of(key: str, value: str, at: int) -> tuple[Term, ...]:
    low, _, high = (each.strip() for each in value.partition(_RANGE))
    if number_of(low) is None or number_of(high) is None:
        raise SyntaxProblem(at, f"a range is lowest{_RANGE}highest, both numbers; put other text in quotes")
    return Condition(key, Operator.GE, low), Condition(key, Operator.LE, high)
