"""The units, and the files of accounts and folders, are what systemd accepts."""

from __future__ import annotations

import configparser
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from needed import give_up

ETC = Path(__file__).parents[1] / "etc"
UNITS = sorted((ETC / "systemd").iterdir())
WORST_EXPOSURE = 2.0
"""The most that systemd's own review of a unit may give, of 10."""


def run(command: str, *arguments: str) -> str:
    """Run a program of Debian's package systemd and return its output; it must succeed."""
    program = shutil.which(command)
    if program is None:
        give_up(f"{command} is not installed (Debian: systemd)")
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    return done.stdout


@pytest.fixture
def unit(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return a copy of a unit whose programs are those of this environment."""
    source: Path = request.param
    programs = Path(sys.executable).parent
    # A template is checked as one of its instances.
    copy = tmp_path / source.name.replace("@.", "@9101.")
    copy.write_text(source.read_text().replace("/srv/blazar/bin", str(programs)))
    return copy


each_unit = pytest.mark.parametrize("unit", UNITS, indirect=True, ids=lambda path: path.name)


@each_unit
def test_systemd_accepts_the_unit(unit: Path) -> None:
    # The manual pages of the service are not installed here.
    assert run("systemd-analyze", "verify", "--man=no", str(unit)) == ""


@each_unit
def test_the_unit_is_hardened(unit: Path) -> None:
    review = run("systemd-analyze", "security", "--offline=yes", "--no-pager", str(unit))

    (exposure,) = re.findall(r"Overall exposure level for \S+: ([0-9.]+)", review)
    assert float(exposure) <= WORST_EXPOSURE


@each_unit
def test_the_unit_runs_an_installed_program_as_the_service_account(unit: Path) -> None:
    parsed = configparser.ConfigParser(interpolation=None, strict=False)
    parsed.optionxform = str  # type: ignore[assignment,method-assign]
    parsed.read(unit)

    service = parsed["Service"]
    assert Path(service["ExecStart"].split()[0]).is_file()
    assert service["User"] == service["Group"] == "blazar"


def test_accounts_and_folders_are_created(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        give_up("only root can create accounts and folders of others")
    (tmp_path / "etc").mkdir()
    sysusers, tmpfiles = ETC / "sysusers.d" / "blazar.conf", ETC / "tmpfiles.d" / "blazar.conf"
    created = shutil.which("systemd-sysusers") or give_up(
        "systemd-sysusers is not installed (Debian: systemd)"
    )
    subprocess.run(
        [created, f"--root={tmp_path}", str(sysusers)], check=True, capture_output=True, timeout=60
    )
    folder = tmp_path / "etc" / "blazar"
    folder.mkdir()
    (folder / "blazar.conf").write_text("[DEFAULT]\n")

    run("systemd-tmpfiles", f"--root={tmp_path}", "--create", str(tmpfiles))

    (account,) = (
        line.split(":")
        for line in (tmp_path / "etc" / "passwd").read_text().splitlines()
        if line.startswith("blazar:")
    )
    uid, gid, shell = int(account[2]), int(account[3]), account[6]
    assert shell.endswith("nologin")
    found = {
        name: (path.stat().st_uid, path.stat().st_gid, oct(path.stat().st_mode & 0o777))
        for name in ("etc/blazar", "etc/blazar/blazar.conf", "var/lib/blazar", "var/log/blazar")
        for path in [tmp_path / name]
    }
    assert found == {
        "etc/blazar": (0, gid, "0o750"),
        "etc/blazar/blazar.conf": (0, gid, "0o640"),
        "var/lib/blazar": (uid, gid, "0o750"),
        "var/log/blazar": (uid, gid, "0o750"),
    }
