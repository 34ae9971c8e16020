"""Each known weakness of release 4.6 has a test or an explanation."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path

from blazarclient import shell

ROOT = Path(__file__).resolve().parents[2]
GROUP = "openstack.reservation.v1"
KNOWN = range(1, 61)
"""Numbers in the description of release 4.6; higher numbers are weaknesses of the dashboard."""
TEST = re.compile(r"^ *def test_client_weakness_((?:\d\d_(?:and_)?)+)", re.MULTILINE)
LINE = re.compile(r"^\| (\d+) \| [^|]+ \| [^|]+ \|$", re.MULTILINE)
COMMAND = re.compile(
    r"(?:^|[`(| ])(?:(blazar) ([a-z]+-[a-z-]+)|openstack reservation ((?:[a-z]+ )*[a-z]+))", re.MULTILINE
)


def numbers_in_tests() -> set[int]:
    files = (each for folder in ("client", "cloudlab") for each in (ROOT / folder).rglob("test_*.py"))
    names = (name for each in files for name in TEST.findall(each.read_text()))
    return {int(number) for name in names for number in re.findall(r"\d\d", name)}


def numbers_in_the_page() -> set[int]:
    return {int(number) for number in LINE.findall((ROOT / "doc" / "client-weaknesses.md").read_text())}


def example_commands() -> set[str]:
    """Return the commands that the guide's plugin adds; the plugin itself is not installed here."""
    project = tomllib.loads((ROOT / "examples" / "plugin" / "pyproject.toml").read_text())["project"]
    return set(project["entry-points"][GROUP])


def test_every_weakness_is_tested_or_explained() -> None:
    assert set(KNOWN) - numbers_in_tests() - numbers_in_the_page() == set()


def test_no_weakness_is_both_tested_and_explained() -> None:
    assert numbers_in_tests() & numbers_in_the_page() == set()
    assert numbers_in_tests() | numbers_in_the_page() <= set(KNOWN)


def test_client_weakness_60_pages_mention_only_existing_commands() -> None:
    pages = [*(ROOT / "doc").rglob("*.md"), ROOT / "README.md", ROOT / "client" / "README.md"]
    entries = {each.name for each in metadata.entry_points(group=GROUP)} | example_commands()
    known = {each.removeprefix("reservation_").replace("_", " ") for each in entries}

    named = [match for page in pages for match in COMMAND.findall(page.read_text())]

    assert {name for program, name, _words in named if program} <= set(shell.COMMANDS_V1)
    unknown = {words for program, _name, words in named if not program and not _begins(words, known)}
    assert unknown == set()
    assert len(named) > 20


def _begins(words: str, known: set[str]) -> bool:
    """Return whether *words* start with a command."""
    parts = words.split()
    beginnings = {" ".join(parts[:count]) for count in range(1, len(parts) + 1)}
    return bool(beginnings & known)
