"""Documents of headings, paragraphs, tables and commands, as Markdown and as HTML."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

_MARKUP = re.compile(r"[\\|<`]|(?<=\])\(")
"""Characters with which text ends a cell, or starts HTML, code or the address of a link."""
_STYLE = (
    "body{font-family:sans-serif;max-width:75em;margin:2em auto;padding:0 1em;color:#222}"
    "table{border-collapse:collapse;margin:1em 0}"
    "th,td{border:1px solid #bbb;padding:.3em .6em;text-align:left}"
    "th{background:#eee}td.number{text-align:right}pre{background:#f4f4f4;padding:.8em;overflow-x:auto}"
)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A text."""

    text: str


@dataclass(frozen=True, slots=True)
class Items:
    """A list of texts."""

    texts: Sequence[str]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of values under names of columns."""

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]


@dataclass(frozen=True, slots=True)
class Code:
    """Commands or a file."""

    language: str
    text: str


Part = Paragraph | Items | Table | Code


@dataclass(frozen=True, slots=True)
class Section:
    """Parts under a heading."""

    heading: str
    parts: Sequence[Part]
    key: str = ""
    """A word that selects the section."""


@dataclass(frozen=True, slots=True)
class Document:
    """Sections under a title."""

    title: str
    sections: Sequence[Section]

    def only(self, keys: Collection[str]) -> Document:
        """Return a document with the sections that have these keys; with all of them if there are no keys."""
        kept = [each for each in self.sections if not keys or each.key in keys]
        return Document(self.title, kept)


def as_markdown(document: Document) -> Iterator[str]:
    """Yield the lines of a document in Markdown."""
    yield f"# {document.title}"
    for section in document.sections:
        yield from ("", f"## {section.heading}")
        for part in section.parts:
            yield ""
            yield from _markdown(part)


def as_html(document: Document) -> Iterator[str]:
    """Yield the lines of a document as one HTML file, which needs no other files."""
    title = html.escape(document.title)
    yield from ("<!DOCTYPE html>", '<html lang="en">', '<head><meta charset="utf-8">')
    yield f"<title>{title}</title><style>{_STYLE}</style></head>"
    yield f"<body><h1>{title}</h1>"
    for section in document.sections:
        yield f"<h2>{html.escape(section.heading)}</h2>"
        for part in section.parts:
            yield from _html(part)
    yield "</body></html>"


def _markdown(part: Part) -> Iterator[str]:
    match part:
        case Paragraph(text):
            yield text
        case Items(texts):
            yield from (f"- {each}" for each in texts)
        case Code(language, text):
            yield from (f"```{language}", *text.splitlines(), "```")
        case Table(columns, rows):
            cells = [[_cell(each) for each in row] for row in (columns, *rows)]
            widths = [max(len(row[number]) for row in cells) for number in range(len(columns))]
            yield _markdown_row(cells[0], widths)
            yield _markdown_row(["-" * width for width in widths], widths)
            for row in cells[1:]:
                yield _markdown_row(row, widths)


def _markdown_row(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (each.ljust(width) for each, width in zip(cells, widths, strict=True))
    return f"| {' | '.join(padded)} |"


def _html(part: Part) -> Iterator[str]:
    match part:
        case Paragraph(text):
            yield f"<p>{html.escape(text)}</p>"
        case Items(texts):
            yield from ("<ul>", *(f"<li>{html.escape(each)}</li>" for each in texts), "</ul>")
        case Code(_, text):
            yield f"<pre>{html.escape(text)}</pre>"
        case Table(columns, rows):
            heads = "".join(f"<th>{html.escape(each)}</th>" for each in columns)
            yield from ("<table>", f"<tr>{heads}</tr>")
            yield from (f"<tr>{''.join(_html_cell(each) for each in row)}</tr>" for row in rows)
            yield "</table>"


def _html_cell(value: object) -> str:
    kind = ' class="number"' if isinstance(value, int | float) else ""
    return f"<td{kind}>{html.escape(_text(value))}</td>"


def _cell(value: object) -> str:
    """Return a value as text of Markdown: names are chosen by lessees, and may look like HTML or images."""
    return _MARKUP.sub(r"\\\g<0>", _text(value))


def _text(value: object) -> str:
    """Return a value in one line, without control characters: some values were chosen by lessees."""
    text = f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text)
