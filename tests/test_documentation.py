"""The documentation builds without a warning, and every page of it can be found."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from reno.config import Config
from test_house_style import tracked_files

ROOT = Path(__file__).resolve().parents[1]
NOTES = sorted((ROOT / "releasenotes" / "notes").iterdir())


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


@pytest.mark.parametrize("path", NOTES, ids=lambda path: path.stem)
def test_a_release_note_is_what_reno_reads(path: Path) -> None:
    config = Config(str(ROOT))
    prelude = config.prelude_section_name

    note = yaml.safe_load(path.read_text())

    assert re.fullmatch(r"[a-z0-9-]+-[0-9a-f]{16}\.yaml", path.name)
    assert set(note) <= {prelude, *(each.name for each in config.sections)}
    assert isinstance(note.get(prelude, ""), str)
    items = [item for section in note.keys() - {prelude} for item in note[section]]
    assert {type(item) for item in items} <= {str}


def test_release_notes_have_different_ids() -> None:
    ids = [path.stem.rpartition("-")[2] for path in NOTES]

    assert len(set(ids)) == len(ids) > 0


def test_comparisons_in_commands_are_quoted() -> None:
    """A shell would take ``memory_mb>=65536`` as a redirection."""
    pages = [*(ROOT / "doc").rglob("*.md"), *ROOT.glob("*.md"), *ROOT.glob("*/README.md")]
    commands = [
        (page.name, line)
        for page in pages
        for block in re.findall(r"^```(?:sh|console)\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
        for line in block.splitlines()
    ]

    assert len(commands) > 100
    unquoted = [(name, re.sub(r"'[^']*'|\"[^\"]*\"", "", line)) for name, line in commands]
    assert [each for each in unquoted if re.search(r"\w[<>]=?\w", each[1])] == []


def test_the_tree_of_the_sources_has_each_folder_once() -> None:
    (tree,) = re.findall(r"^```\nsrc/blazar/\n(.*?)^```", (ROOT / "CONTRIBUTING.md").read_text(), re.M | re.S)
    names = re.findall(r"^(?:  )?((?:[\w-]+/(?:, )?)+)", tree, re.M)
    listed = [each for line in names for each in line.replace("/", "").split(", ")]

    packages = {each.parent.name for each in (ROOT / "src/blazar").glob("*/__init__.py")}
    folders = {path.partition("/")[0] for path in tracked_files() if "/" in path} - {"src", ".ci"}

    assert sorted(listed) == sorted(packages | folders)
