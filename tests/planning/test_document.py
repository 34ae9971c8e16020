"""Documents of values that lessees choose: as Markdown and as HTML."""

from __future__ import annotations

from typing import Final

import pytest

from blazar.planning.document import Document, Section, Table, as_html, as_markdown

HOSTILE: Final = "<script>alert(1)</script> a|b `c` ![x](http://example.org/seen) \\ \n# d"


def document(name: str) -> Document:
    return Document("Plan", [Section("Leases", [Table(("name", "hosts"), [(name, 1)])])])


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("a|b", "a\\|b"),
        # With the backslash of the name, that before the bar would be text, and the bar end the cell.
        ("a\\|b", "a\\\\\\|b"),
        ("<script>", "\\<script>"),
        ("`a", "\\`a"),
        ("![a](http://example.org)", "![a]\\(http://example.org)"),
        ("a (b)", "a (b)"),
        ("[DEFAULT] a_b", "[DEFAULT] a_b"),
    ],
)
def test_a_cell_of_markdown_is_text(name: str, cell: str) -> None:
    *_, row = as_markdown(document(name))

    assert row.startswith(f"| {cell} ")
    assert row.endswith(" |")


def test_each_row_of_markdown_is_one_line() -> None:
    assert len(list(as_markdown(document(HOSTILE)))) == len(list(as_markdown(document("a"))))
    assert all(line.isprintable() for line in as_markdown(document(HOSTILE)))


def test_html_is_escaped() -> None:
    text = "\n".join(as_html(document(HOSTILE)))

    assert "&lt;script&gt;alert(1)&lt;/script&gt; a|b" in text
    assert "<script" not in text
