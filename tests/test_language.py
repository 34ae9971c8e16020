"""Words that plain technical English does not use, in code, messages and documentation."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator, Mapping

import pytest
from test_house_style import Module, modules, read_module, texts

WORDS: Mapping[str, str] = {
    r"anew": "again",
    r"who(m|se)?ever|somebody|nobody|someone else|anybody": "the actor: API, manager, caller, lessee",
    r"what(ever)? there is": "the thing that exists",
    r"(gives?|given|gave|giving) (it |them |this )?back": "release, return",
    r"(can|could)(not|n't)? be had": "is (not) available",
    r"beneath|besides": "under, also",
    r"amiss": "wrong",
    r"(is|are|was) looked at|have .{1,40} looked at": "reconcile, check",
    r"(told|tells?) of": "notify, report, show",
    r"(since|until) when": "the time from which, until which",
    r"lately": "recently",
    r"nothing of (it|the|this|others)": "none of it",
}
"""Patterns of words, and what to write instead."""

OPENINGS = re.compile(r"(What|Who|Whoever|How|Whether|Where)\b(?!.*\?)")
"""The first words of a docstring that is neither a verb phrase nor a noun phrase."""

LISTS = ("tests/test_language.py", "CONTRIBUTING.md")
"""Files that quote the words."""

PROSE = (".md", ".yaml")
"""Ends of the names of files that are prose but for their code blocks: pages and release notes."""

_FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_WORDS = re.compile("|".join(rf"(?:\b(?:{each})\b)" for each in WORDS), re.IGNORECASE)


def prose_of_python(text: str) -> Iterator[tuple[int, str]]:
    """Yield the comments and the texts of a module, with their lines."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING):
            yield token.start[0], token.string


def prose_of_page(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a page that are not in code blocks."""
    blanked = _FENCE.sub(lambda match: "\n" * match[0].count("\n"), text)
    yield from enumerate(blanked.splitlines(), 1)


def found_words(path: str, text: str) -> Iterator[str]:
    """Yield ``path:line: words`` of what should be written differently."""
    if not _WORDS.search(text):
        return  # Most files; it takes long to find the prose of a module.
    is_page = path.endswith(PROSE)
    for line, prose in prose_of_page(text) if is_page else prose_of_python(text):
        for match in _WORDS.finditer(prose):
            at = line + prose.count("\n", 0, match.start())
            yield f"{path}:{at}: {match[0]}"


def found_openings(path: str, module: Module) -> Iterator[str]:
    """Yield ``path:line: opening`` of docstrings that start with a question word."""
    for line, docstring in module.docstrings:
        opening = OPENINGS.match(docstring)
        if opening:
            yield f"{path}:{line}: {opening[0]}"


def findings() -> list[str]:
    """Return all findings of the repository."""
    prose = {path: text for path, text in texts().items() if path in modules() or path.endswith(PROSE)}
    return [
        each
        for path, text in prose.items()
        if path not in LISTS
        for each in (
            *found_words(path, text),
            *(found_openings(path, modules()[path]) if path in modules() else ()),
        )
    ]


def test_the_words_are_not_used() -> None:
    assert findings() == []


@pytest.mark.parametrize(
    "text",
    [
        '"""Begin anew."""\n',
        "x = 1  # Whoever asks\n",
        'raise ValueError("it cannot be had")\n',
        '"""First.\n\nNobody\nknows."""\n',
    ],
)
def test_words_are_found_in_docstrings_comments_and_messages(text: str) -> None:
    assert len(list(found_words("a.py", text))) == 1


def test_words_are_found_in_pages_but_not_in_code_blocks() -> None:
    page = "One.\n\n```sh\nsomebody\n```\n\nBesides, two.\n"

    assert list(found_words("a.md", page)) == ["a.md:7: Besides"]


def test_questions_are_found_at_the_start_of_docstrings() -> None:
    module = read_module('"""What there is."""\ndef f():\n    """Return it."""\n')

    assert list(found_openings("a.py", module)) == ["a.py:1: What"]
