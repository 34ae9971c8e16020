"""Each command has a manual page."""

from __future__ import annotations

import argparse
import subprocess
import tomllib
from pathlib import Path

from blazar.cmd.manage import add_parsers

ROOT = Path(__file__).resolve().parents[1]
CHAPTERS = ("NAME", "SYNOPSIS", "DESCRIPTION", "SEE ALSO")


def commands() -> set[str]:
    """Return the names of all programs of the service and of the client."""
    found: set[str] = set()
    for each in (ROOT / "pyproject.toml", ROOT / "client" / "pyproject.toml"):
        found |= tomllib.loads(each.read_text())["project"]["scripts"].keys()
    return found


def groups() -> set[str]:
    """Return the sub-commands of ``blazar-manage``, without further names of one of them."""
    parsers = argparse.ArgumentParser().add_subparsers()
    add_parsers(parsers)
    first_of: dict[int, str] = {}
    for name, parser in parsers.choices.items():
        first_of.setdefault(id(parser), name)
    return set(first_of.values())


def test_make_builds_a_page_for_each_command(tmp_path: Path) -> None:
    built = subprocess.run(
        ["make", "--silent", "man", f"MAN={tmp_path}"], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert (built.returncode, built.stderr) == (0, "")
    pages = {path.stem: path.read_text() for path in tmp_path.glob("*.[18]")}
    assert pages.keys() == commands()
    for name, text in pages.items():
        for chapter in CHAPTERS:
            assert f'.SH "{chapter}"' in text or f".SH {chapter}" in text, (name, chapter)
        assert f"usage: {name}" in text.replace("\\-", "-"), name
    manage = pages["blazar-manage"].replace("\\-", "-")
    assert [each for each in groups() if f"usage: blazar-manage {each} " not in manage] == []
