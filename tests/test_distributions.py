"""The wheels of all distributions: versions, project URLs, licence and description."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from dataclasses import dataclass
from email import message_from_string
from email.message import Message
from pathlib import Path

import pytest
from packaging.version import Version

import blazar
from blazarclient import version as client_version

ROOT = Path(__file__).resolve().parents[1]
DISTRIBUTIONS = {
    "blazar": ".",
    "python-blazarclient": "client",
    "blazar-nova": "nova",
    "blazar-console": "dashboard",
    "blazar-plugin-testing": "plugin-testing",
}
"""The folder of each."""
REPLACED = {"blazar": "18.0.0", "python-blazarclient": "4.6.0", "blazar-nova": "10.0.0"}
"""The versions that these distributions are installed over; the test tools replace none."""
OF_A_BUILD = shutil.ignore_patterns("*.egg-info", "__pycache__", "build", "tests*")
WHEEL = ("wheel", "--quiet", "--no-input", "--no-deps", "--no-index", "--no-build-isolation")
LINK = re.compile(r"\]\(\s*<?([^)>\s]*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wheel:
    name: str
    metadata: Message
    files: dict[str, bytes]

    @property
    def description(self) -> str:
        return str(self.metadata.get_payload())


def copied(name: str, folder: Path) -> Path:
    """Return a copy of what the distribution *name* is built from, so that a build leaves nothing behind."""
    source = ROOT / DISTRIBUTIONS[name]
    folder.mkdir()
    for each in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(source / each, folder)
    shutil.copytree(source / "src", folder / "src", ignore=OF_A_BUILD)
    return folder


@pytest.fixture(scope="module", params=sorted(DISTRIBUTIONS))
def wheel(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Wheel:
    """Build a distribution, and return what its wheel holds."""
    folder = tmp_path_factory.mktemp("wheels")
    source = copied(request.param, folder / "source")
    done = subprocess.run(
        [sys.executable, "-m", "pip", *WHEEL, "--wheel-dir", str(folder), str(source)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (path,) = folder.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        files = {each: archive.read(each) for each in archive.namelist()}
    (metadata,) = (files[each] for each in files if each.endswith(".dist-info/METADATA"))
    return Wheel(name=request.param, metadata=message_from_string(metadata.decode()), files=files)


def test_its_version_sorts_above_the_one_that_it_replaces(wheel: Wheel) -> None:
    assert Version(wheel.metadata["Version"]) > Version(REPLACED.get(wheel.name, "0"))


def test_the_programs_print_the_version_of_their_wheel(wheel: Wheel) -> None:
    printed = {
        "blazar": blazar.__version__,
        "python-blazarclient": client_version.__version__,
        "blazar-plugin-testing": blazar.__version__,
    }

    assert wheel.metadata["Version"] == printed.get(wheel.name, wheel.metadata["Version"])


def test_only_the_test_tools_need_pytest_and_they_need_the_service_of_their_version(wheel: Wheel) -> None:
    needed = {each for each in wheel.metadata.get_all("Requires-Dist", []) if "extra ==" not in each}

    if wheel.name == "blazar-plugin-testing":
        assert f"blazar=={wheel.metadata['Version']}" in needed
    else:
        assert not any(each.startswith("pytest") for each in needed)
        assert not any(name.endswith("conftest.py") or "testing" in name for name in wheel.files)


def test_it_names_the_same_project_urls_as_the_others(wheel: Wheel) -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]

    found = dict(each.split(", ") for each in wheel.metadata.get_all("Project-URL", []))

    assert found == declared
    assert {"Homepage", "Documentation", "Source", "Issues"} <= set(found)
    assert all(each.startswith("https://") for each in found.values())


def test_it_holds_the_licence(wheel: Wheel) -> None:
    (licence,) = (name for name in wheel.files if name.endswith(".dist-info/licenses/LICENSE"))

    assert wheel.files[licence] == (ROOT / "LICENSE").read_bytes()
    assert wheel.metadata["License-Expression"] == "Apache-2.0"


def test_its_description_has_no_link_that_needs_the_repository(wheel: Wheel) -> None:
    links = LINK.findall(wheel.description)

    assert wheel.metadata["Description-Content-Type"] == "text/markdown"
    assert wheel.description.startswith(f"# {wheel.name}\n")
    assert [each for each in links if not each.startswith(("https://", "#"))] == []


def test_the_page_of_the_console_is_in_the_service_and_in_the_panel(wheel: Wheel) -> None:
    bundle = ROOT / "src" / "blazar" / "ui" / "bundle"
    paths = [each for each in bundle.rglob("*") if each.is_file()]
    built = {each.relative_to(bundle).as_posix(): each.read_bytes() for each in paths}

    found = {
        name.partition("/bundle/")[2]: content for name, content in wheel.files.items() if "/bundle/" in name
    }

    assert found == (built if wheel.name in {"blazar", "blazar-console"} else {})
