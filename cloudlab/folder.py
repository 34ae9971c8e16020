"""Where the files of a lab lie: everything in one folder."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).resolve().parent.parent
"""The root of the repository that the lab runs."""
VARIABLE: Final = "CLOUDLAB_FOLDER"
"""The environment variable that puts a lab elsewhere."""


@dataclass(frozen=True, slots=True)
class Folder:
    """The layout below *root*, which is absolute."""

    root: Path

    @classmethod
    def chosen(cls, path: str | None = None) -> Folder:
        """Return the folder *path*, else the one that the environment names, else ``var/cloud``."""
        return cls(Path(path or os.environ.get(VARIABLE) or REPOSITORY / "var" / "cloud").resolve())

    @property
    def environment(self) -> Path:
        """Return the virtual environment that OpenStack is installed into."""
        return self.root / "venv"

    @property
    def details(self) -> Path:
        """Return the file that tests read; it is there once the lab has been up."""
        return self.root / "lab.json"

    @property
    def plan(self) -> Path:
        """Return the file of what was chosen for this lab at its first start: ports, passwords, hosts."""
        return self.root / "plan.json"

    @property
    def all_data(self) -> Path:
        """Return the folder of everything that the services keep."""
        return self.root / "data"

    @property
    def all_logs(self) -> Path:
        """Return the folder of the logs."""
        return self.root / "log"

    @property
    def all_configuration(self) -> Path:
        """Return the folder of the configuration files."""
        return self.root / "etc"

    @property
    def run(self) -> Path:
        """Return the folder of what only concerns running processes."""
        return self.root / "run"

    def program(self, name: str) -> str:
        """Return the path of a program of the virtual environment."""
        return str(self.environment / "bin" / name)

    def etc(self, service: str) -> Path:
        """Return the folder of a service's configuration files."""
        return self.all_configuration / service

    def data(self, service: str) -> Path:
        """Return the folder of what a service keeps, made if need be."""
        path = self.all_data / service
        path.mkdir(parents=True, exist_ok=True)
        return path

    def log(self, name: str) -> Path:
        """Return the log of a process or of a command."""
        return self.all_logs / f"{name}.log"

    def access_log(self, name: str) -> Path:
        """Return the log of the requests to an API."""
        return self.all_logs / f"{name}-access.log"

    def record(self, name: str) -> Path:
        """Return the file that says which process a service is."""
        return self.run / f"{name}.process"


def tail(log: Path, lines: int = 15) -> str:
    """Return the last lines of a log, indented, below a line that names the file."""
    try:
        text = log.read_text(errors="replace")
    except FileNotFoundError:
        return f"{log} does not exist"
    return "\n".join([f"the end of {log}:", *(f"  {line}" for line in text.splitlines()[-lines:])])
