"""The guide for the first hour, for a test: its commands, typed on the lab."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from cloudlab.folder import REPOSITORY

GUIDE: Final = REPOSITORY / "doc" / "operators" / "first-hour.md"
NAME: Final = "firsthour"
"""The account, the service and the database of the installation."""
POOL: Final = "firsthour-pool"
_SECONDS: Final = 900
_FOLDERS: Final = ("src", "client", "nova", "ansible", "etc")
_FILES: Final = ("pyproject.toml", "README.md", "LICENSE", "constraints.txt")
_OF_A_BUILD: Final = shutil.ignore_patterns("*.egg-info", "__pycache__", "build", "tests*")
RENAMED: Final = (
    ("$BLAZAR_PASSWORD blazar", f"$BLAZAR_PASSWORD {NAME}"),
    ("--user blazar ", f"--user {NAME} "),
    ("--name blazar ", f"--name {NAME} "),
    ('"$OS_REGION_NAME" blazar ', f'"$OS_REGION_NAME" {NAME} '),
    ("create freepool", f"create {POOL}"),
    ("DATABASE blazar ", f"DATABASE {NAME} "),
    ("USER blazar ", f"USER {NAME} "),
    ("ON blazar.* TO blazar", f"ON {NAME}.* TO {NAME}"),
    ("pymysql://blazar:", f"pymysql://{NAME}:"),
    ("$DATABASE/blazar", f"$DATABASE/{NAME}"),
    ("username: blazar", f"username: {NAME}"),
)
"""Names of the guide that the lab's own installation has already, and those that the test uses."""


def blocks_of_the_guide() -> list[str]:
    """Return the blocks of commands, without the first one, which has values of a cloud."""
    return re.findall(r"^```sh\n(.*?)^```$", GUIDE.read_text(), re.DOTALL | re.MULTILINE)[1:]


class Shell:
    """One shell in which the guide is typed, in a copy of this repository."""

    def __init__(self, openrc: Path, folder: Path) -> None:
        """Copy the repository.

        Args:
            openrc: Is sourced first.
            folder: Takes the place of all folders that the guide writes to.
        """
        self._openrc = openrc
        self.folder = folder
        self._checkout = folder / "checkout"
        self._checkout.mkdir()
        for each in _FOLDERS:
            shutil.copytree(REPOSITORY / each, self._checkout / each, ignore=_OF_A_BUILD)
        for each in _FILES:
            shutil.copy(REPOSITORY / each, self._checkout)
        self._variables = folder / "variables.sh"
        self._variables.write_text("")
        (folder / "paths.json").write_text(json.dumps(self._paths()))

    def type(self, commands: str) -> str:
        """Run commands, which must succeed, with the variables of those before; return their output."""
        done = self._run("set -e", commands)
        assert done.returncode == 0, f"{commands}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def try_to(self, commands: str) -> None:
        """Run commands, each of which may fail."""
        self._run("", commands)

    def _run(self, first: str, commands: str) -> subprocess.CompletedProcess[str]:
        lines = [
            first,
            f". {self._openrc}",
            f". {self._variables}",
            "set -a",
            self._here(commands),
            # The variables of the commands stay set, as in one shell.
            f"export -p | grep -v -e ' OS_' -e ' HOME=' > {self._variables}",
        ]
        return subprocess.run(
            ["bash", "-c", "\n".join(lines)],
            cwd=self._checkout,
            env={"PATH": os.environ["PATH"], "HOME": str(self.folder), "LANG": "C.UTF-8", "PIP_COMPILE": "0"},
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )

    def _here(self, commands: str) -> str:
        """Return commands with the names and the folders of this installation."""
        for name, here in RENAMED:
            commands = commands.replace(name, here)
        commands = commands.replace("/srv/blazar", str(self.folder / "srv"))
        play = "ansible/site.yml"
        return commands.replace(play, f"{play} --extra-vars @{self.folder / 'paths.json'}")

    def _paths(self) -> Mapping[str, Any]:
        """Return the variables with which the role writes only to the folder, and starts nothing."""
        names = {
            "prefix": "srv",
            "client_prefix": "srv/client",
            "wheels": "srv/wheels",
            "config_folder": "etc",
            "state_folder": "state",
            "log_folder": "log",
            "unit_folder": "units",
        }
        return {
            **{f"blazar_{name}": str(self.folder / path) for name, path in names.items()},
            "blazar_python": sys.executable,
            # The lab has the filter already.
            "blazar_components": ["api", "manager", "client"],
            "blazar_freepool": POOL,
            "blazar_manage_account": False,
            "blazar_user": os.geteuid(),
            "blazar_group": os.getegid(),
            "blazar_config_owner": os.geteuid(),
            "blazar_manage_services": False,
        }
