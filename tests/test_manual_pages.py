"""Each command has a manual page."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CHAPTERS = ("NAME", "SYNOPSIS", "DESCRIPTION", "SEE ALSO")


def commands() -> set[str]:
    """Return the names of all programs of the service and of the client."""
    found: set[str] = set()
    for each in (ROOT / "pyproject.toml", ROOT / "client" / "pyproject.toml"):
        found |= tomllib.loads(each.read_text())["project"]["scripts"].keys()
    return found


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
        assert "usage: " in text, name
