"""An upgrade from the previous release while lessees work, step by step as its page describes it.

The processes of both releases run side by side in every combination that the order of restarts gives: first
as on the page, then back to the previous release, then at random, and forward in the opposite order.
"""

from __future__ import annotations

import subprocess
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Final, get_args

import requests
from faults.procedures import Command, Page, Restart, Step, read_page
from faults.troubles import Targets

from cloudlab import blazar
from cloudlab.commands import plain_environment
from cloudlab.service import Service
from rig import releases
from rig.installation import Installation
from rig.releases import Release

CONTRACTION: Final = ("blazar-db-manage", "contract")
_FORWARD_AGAIN: Final = Restart(is_managers_first=False, release="present")
_NEWEST_API: Final[dict[Release, str]] = {"previous": "1.0", "present": "1.1"}
_LONGEST_PAUSE_SECONDS: Final = 5
_SECONDS_TO_ANSWER: Final = 30
_SECONDS_TO_REFUSE: Final = 120


class IsOver(Exception):
    """A lessee has got a wrong answer, which ends the run."""


@dataclass(slots=True)
class Upgrade:
    """A trouble: one upgrade. It counts one fault, at its end."""

    mixed_seconds: float
    """The time in which random processes are restarted with random releases."""
    page: Page = field(default_factory=read_page)
    restarts: Counter[str] = field(default_factory=Counter)
    """The number of restarts by kind of process and release."""
    codes: list[int] = field(default_factory=list)
    """The exit codes of ``blazar-status upgrade check``."""

    def __call__(self, targets: Targets) -> None:
        """Upgrade an installation of the previous release.

        Raises:
            AssertionError: A step had another result than the page says.
            LabError: A process did not start.
        """
        try:
            self._follow(targets, *self.page.expand)
            self._follow(targets, *self.page.back)
            self._mix(targets)
            self._follow(targets, _FORWARD_AGAIN, *self.page.contract)
        except IsOver:
            return
        check_refusal(targets.installation)
        targets.strikes += 1

    def __str__(self) -> str:
        """Return the counts as one line."""
        counts = ", ".join(f"{count} {what}" for what, count in sorted(self.restarts.items()))
        return f"restarts: {counts}; exit codes of the check: {self.codes}"

    def _follow(self, targets: Targets, *steps: Step) -> None:
        for step in steps:
            print(f"upgrade: {time.strftime('%X')} {step}", flush=True)
            match step:
                case Command():
                    self._run(targets.installation, step)
                case Restart():
                    self._restart_all(targets, step)

    def _run(self, installation: Installation, command: Command) -> None:
        program, *arguments = command.words
        words = blazar.command_line(installation.plan, program, *arguments)
        done = subprocess.run(
            words, capture_output=True, text=True, check=False, env=plain_environment(), timeout=120
        )
        assert done.returncode == command.code, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
        if program == "blazar-status":
            self.codes.append(done.returncode)

    def _restart_all(self, targets: Targets, step: Restart) -> None:
        managers, apis = targets.installation.managers, targets.installation.apis
        for each in (*managers, *apis) if step.is_managers_first else (*apis, *managers):
            self._restart(targets, each, step.release)

    def _mix(self, targets: Targets) -> None:
        """Restart random processes with random releases, and let these work for a random time."""
        until = time.monotonic() + self.mixed_seconds
        while time.monotonic() < until:
            each = targets.chance.choice((*targets.installation.managers, *targets.installation.apis))
            self._restart(targets, each, targets.chance.choice(get_args(Release)))
            targets.pause(0, _LONGEST_PAUSE_SECONDS)

    def _restart(self, targets: Targets, service: Service, release: Release) -> None:
        if targets.is_over.is_set():
            raise IsOver
        installation = targets.installation
        if service in installation.managers:
            installation.change_release(service.name, release)
            self.restarts[f"managers to {release}"] += 1
            return
        url = f"{installation.plan.url(service.name)}/v1"
        with targets.gateway.without(url):
            installation.change_release(service.name, release)
            assert _newest_api(url) == _NEWEST_API[release]
        self.restarts[f"APIs to {release}"] += 1


def check_refusal(installation: Installation) -> None:
    """Check that a manager of the previous release does not start any more."""
    words = blazar.command_line(installation.plan, "blazar-manager", programs=releases.programs("previous"))
    done = subprocess.run(
        words,
        capture_output=True,
        text=True,
        check=False,
        env=plain_environment(),
        timeout=_SECONDS_TO_REFUSE,
    )
    assert done.returncode != 0
    assert "blazar-db-manage upgrade head" in done.stderr, done.stderr


def _newest_api(url: str) -> str:
    """Return the newest version that an API serves."""
    answer = requests.get(url.removesuffix("/v1"), timeout=_SECONDS_TO_ANSWER)
    (version,) = answer.json()["versions"]
    return str(version["max_version"])
