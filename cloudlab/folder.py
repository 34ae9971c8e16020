"""Layout of a lab's files, which are all in one folder."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).resolve().parent.parent
"""The root of the repository that the lab runs."""
VARIABLE: Final = "CLOUDLAB_FOLDER"
"""The environment variable with the folder of the lab."""


@dataclass(frozen=True, slots=True)
class Folder:
    """The layout under *root*, which is absolute."""

    root: Path

    @classmethod
    def chosen(cls, path: str | None = None) -> Folder:
        """Return the folder *path*, or the one in the environment, or ``var/cloud``."""
        return cls(Path(path or os.environ.get(VARIABLE) or REPOSITORY / "var" / "cloud").resolve())

    def lab(self, number: int) -> Folder:
        """Return the folder of one of several labs that run side by side; number 1 is this folder's."""
        return self if number == 1 else Folder(self._others / str(number))

    def labs(self) -> tuple[Folder, ...]:
        """Return this folder and those of the labs beside this one, in the order of their numbers."""
        others = (
            sorted(self._others.iterdir(), key=lambda each: int(each.name)) if self._others.exists() else ()
        )
        return (self, *(Folder(each) for each in others))

    @property
    def _others(self) -> Path:
        return self.root / "labs"

    @property
    def environment(self) -> Path:
        """Return the virtual environment in which OpenStack is installed."""
        return self.root / "venv"

    @property
    def details(self) -> Path:
        """Return the file that tests read; it exists after the lab has been up once."""
        return self.root / "lab.json"

    @property
    def plan(self) -> Path:
        """Return the file with the ports, passwords and hosts chosen at the first start of this lab."""
        return self.root / "plan.json"

    @property
    def all_data(self) -> Path:
        """Return the folder of the services' data."""
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
        """Return the folder of runtime files, such as records of processes."""
        return self.root / "run"

    def program(self, name: str) -> str:
        """Return the path of a program of the virtual environment."""
        return str(self.environment / "bin" / name)

    def etc(self, service: str) -> Path:
        """Return the folder of a service's configuration files."""
        return self.all_configuration / service

    def data(self, service: str) -> Path:
        """Return the folder of a service's data, which is created if it does not exist."""
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
        """Return the file that records the process of a service."""
        return self.run / f"{name}.process"


def tail(log: Path, lines: int = 15) -> str:
    """Return the last lines of a log, indented, under a line that names the file."""
    try:
        text = log.read_text(errors="replace")
    except FileNotFoundError:
        return f"{log} does not exist"
    return "\n".join([f"the end of {log}:", *(f"  {line}" for line in text.splitlines()[-lines:])])
