"""Units of systemd, run as processes where systemd does not run."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path

_STOP_SECONDS = 60


class Units:
    """Programs of unit files; ended with :meth:`stop`."""

    def __init__(self, units: Path, logs: Path) -> None:
        """Start nothing yet.

        Args:
            units: The folder of the unit files.
            logs: The folder for a log of each unit.
        """
        self._units = units
        self._logs = logs
        self._running: list[subprocess.Popen[bytes]] = []

    def start(self, name: str) -> None:
        """Start the program of a unit with its environment, as this user."""
        text = (self._units / name).read_text()
        (command,) = re.findall(r"^ExecStart=(.*)$", text, re.MULTILINE)
        # Its folder for metrics would be made by systemd.
        given = [
            each for each in re.findall(r"^Environment=(.*)$", text, re.MULTILINE) if "=/run/" not in each
        ]
        with (self._logs / f"{name}.log").open("ab") as log:
            self._running.append(
                subprocess.Popen(
                    shlex.split(command),
                    env={"PATH": os.environ["PATH"], **dict(each.split("=", 1) for each in given)},
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            )

    def stop(self) -> None:
        """End all programs and wait for their ends."""
        for process in self._running:
            process.terminate()
        for process in self._running:
            process.wait(_STOP_SECONDS)
        self._running.clear()

    def log(self) -> str:
        """Return what they have logged."""
        return "".join(each.read_text() for each in sorted(self._logs.glob("*.service.log")))
