"""The guide for authors of plugins quotes the example as it is."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

from blazar.plugins.capabilities import CAPABILITIES

ROOT = Path(__file__).parents[1]
GUIDE = ROOT / "doc" / "plugins" / "writing.md"
EXAMPLE = ROOT / "examples" / "plugin"
QUOTES = re.findall(r"^```\w+\n(.*?)^```$", GUIDE.read_text(), re.DOTALL | re.MULTILINE)
SOURCES = {
    path: path.read_text()
    for path in sorted(EXAMPLE.rglob("*"))
    if path.suffix in (".py", ".toml", ".md") and "build" not in path.relative_to(EXAMPLE).parts
}


def first_line(quote: str) -> str:
    return quote.strip().splitlines()[0]


@pytest.mark.parametrize("quote", QUOTES, ids=first_line)
def test_every_excerpt_is_in_the_example_as_it_is_quoted(quote: str) -> None:
    found = [path for path, text in SOURCES.items() if f"\n{quote}" in text]

    assert found, quote


def test_the_guide_follows_the_example_from_request_to_tests() -> None:
    text = textwrap.dedent("".join(QUOTES))

    names = ("parse_spec", "discover", "headroom(", "Kind", "grant_id", "LeftoverGrants", "make_plugin")
    for name in (*names, "PluginContract"):
        assert name in text


def test_the_guide_has_a_row_for_every_capability_and_names_its_methods() -> None:
    rows = [line for line in GUIDE.read_text().splitlines() if line.startswith("| `")]

    for each in CAPABILITIES:
        (row,) = (line for line in rows if line.startswith(f"| `{each.__name__}` |"))
        names = {*each.__annotations__, *getattr(each, "__abstractmethods__", ())}
        assert names
        assert all(f"`{name}`" in row for name in names)


def test_every_link_of_the_guide_leads_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)", GUIDE.read_text())

    assert [each for each in links if not (GUIDE.parent / each).exists()] == []
    assert links
