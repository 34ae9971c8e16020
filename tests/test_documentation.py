"""The documentation builds without a warning, and every page of it can be found."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_it_builds_without_warnings(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-n", "-E"]

    built = subprocess.run(
        [*command, "-d", str(tmp_path / "doctrees"), str(ROOT / "doc"), str(tmp_path / "html")],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (built.returncode, built.stderr) == (0, "")
    pages = {path.relative_to(ROOT / "doc").with_suffix(".html") for path in (ROOT / "doc").rglob("*.md")}
    made = {path.relative_to(tmp_path / "html") for path in (tmp_path / "html").rglob("*.html")}
    assert pages - made == set()
