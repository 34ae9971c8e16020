"""The output of a real cloud in the guide for planning: the commands print it again here."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from cloudlab.tests.actors import Actor, in_minutes
from cloudlab.tests.end_to_end_lab import EndToEndLab

PAGE: Final = Path(__file__).resolve().parents[2] / "doc" / "operators" / "plan.md"
_BLOCK: Final = re.compile(r"^~~~~console\n(.*?)^~~~~$", re.DOTALL | re.MULTILINE)
"""With tildes, to tell them from those of the simulated site."""
_COMMAND: Final = re.compile(r"\$ ([^\n]*)\n((?:(?!\$ ).*\n)*)")
_VARYING: Final = (
    re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?"),
    re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}"),
    re.compile(r"req-…|lease-[0-9a-f]{8}|by \d+\.\d\d s"),
)
"""Dates, ids, names, and the difference of two clocks; what replaces them is as wide, as tables need it."""
_MANAGER: Final = re.compile(r"\(\S+:\d+:[0-9a-f]{8}\)")
DAYS: Final = 10
IN_PLACE_1: Final = '["==", "$place", "place-1"]'


def recorded() -> Iterator[tuple[str, str]]:
    """Yield the commands of the page that ran on a real cloud, each with its output."""
    for block in _BLOCK.findall(PAGE.read_text()):
        yield from _COMMAND.findall(block)


def without_varying(text: str) -> str:
    """Return a text with the same letter in place of each character that differs from run to run."""
    text = _MANAGER.sub("(manager)", text)
    for each in _VARYING:
        text = each.sub(lambda found: "x" * len(found[0]), text)
    return text


def run(lab: EndToEndLab, command: str) -> str:
    """Return what a command prints in the folder of Nova's configuration; its exit code must be 0."""
    program, *arguments = shlex.split(command)
    conf = lab.openstack.folder.etc("blazar") / "blazar.conf"
    done = subprocess.run(
        [Path(sys.executable).with_name(program), "--config-file", conf.resolve(), *arguments],
        cwd=lab.openstack.folder.etc("nova"),
        env={**os.environ, "COLUMNS": "80"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done
    return done.stdout


@pytest.mark.usefixtures("places")
def test_the_commands_of_the_guide_print_what_it_shows(lab: EndToEndLab, lessee: Actor) -> None:
    lease = lessee.start(2, end=in_minutes(DAYS * 24 * 60), resource_properties=IN_PLACE_1)
    shown = list(recorded())

    for command, output in shown:
        printed = run(lab, command.replace("team-hosts", lease["id"]))
        assert without_varying(printed) == without_varying(output), f"$ {command}\n{printed}"

    assert len(shown) > 5
    lessee.end(lease)
