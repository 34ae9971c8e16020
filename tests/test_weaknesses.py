"""Each of the existing service's known weaknesses has a test here, or a reason why it cannot arise."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
KNOWN = range(1, 63)
"""Their numbers in the description of the existing service."""
TEST = re.compile(r"^ *def test_weakness_(\d\d)_", re.MULTILINE)
LINE = re.compile(r"^\| (\d+) \| [^|]+ \| [^|]+ \|$", re.MULTILINE)


def numbers_in_tests() -> set[int]:
    folders = (ROOT / "tests", ROOT / "cloudlab", ROOT / "nova", ROOT / "client")
    files = (each for folder in folders for each in folder.rglob("test_*.py"))
    return {int(number) for each in files for number in TEST.findall(each.read_text())}


def numbers_in_the_page() -> set[int]:
    return {int(number) for number in LINE.findall((ROOT / "doc" / "weaknesses.md").read_text())}


def test_every_weakness_is_tested_or_explained() -> None:
    assert set(KNOWN) - numbers_in_tests() - numbers_in_the_page() == set()


def test_what_has_a_test_needs_no_explanation() -> None:
    assert numbers_in_tests() & numbers_in_the_page() == set()
    assert numbers_in_tests() | numbers_in_the_page() <= set(KNOWN)
