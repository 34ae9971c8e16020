"""The procedures of the page on upgrades, as steps that a test follows."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import Final

from cloudlab.folder import REPOSITORY
from rig.releases import Release

PAGE: Final = REPOSITORY / "doc" / "operators" / "upgrade.md"
_BLOCK: Final = re.compile(r"^```sh\n(.*?)^```", re.DOTALL | re.MULTILINE)
_CODE: Final = re.compile(r"exit code (\d)")
_RESTART: Final = re.compile(
    r"# restart the (managers|APIs)\b.*, then the (managers|APIs)\b.*, with the (new|previous) release"
)
_RELEASES: Final[dict[str, Release]] = {"new": "present", "previous": "previous"}


@dataclass(frozen=True, slots=True)
class Command:
    """A command of the new release."""

    words: tuple[str, ...]
    """The program and its arguments."""
    code: int
    """The exit code that the page gives; 0 if it gives none."""


@dataclass(frozen=True, slots=True)
class Restart:
    """A restart of all processes of the service with a release."""

    is_managers_first: bool
    release: Release


Step = Command | Restart


@dataclass(frozen=True, slots=True)
class Page:
    """The procedures of the page."""

    expand: tuple[Step, ...]
    """The steps of the upgrade until all processes are restarted."""
    contract: tuple[Step, ...]
    """The steps after that, which end the use of the schema by the previous release."""
    back: tuple[Step, ...]
    """The steps from the end of :attr:`expand` back to the processes of the previous release."""


def read_page() -> Page:
    """Return the procedures of the page.

    Raises:
        ValueError: The page has other blocks of commands than these two procedures, or an unknown step.
    """
    upgrade, back = (_steps(block) for block in _BLOCK.findall(PAGE.read_text()))
    (restart,) = (number for number, step in enumerate(upgrade) if isinstance(step, Restart))
    return Page(expand=upgrade[: restart + 1], contract=upgrade[restart + 1 :], back=back)


def _steps(block: str) -> tuple[Step, ...]:
    return tuple(_step(line) for line in block.splitlines())


def _step(line: str) -> Step:
    if not line.startswith("#"):
        code = _CODE.search(line)
        return Command(tuple(shlex.split(line, comments=True)), int(code[1]) if code else 0)
    found = _RESTART.fullmatch(line)
    if found is None or found[1] == found[2]:
        raise ValueError(f"the step {line!r} is unknown")
    return Restart(found[1] == "managers", _RELEASES[found[3]])
