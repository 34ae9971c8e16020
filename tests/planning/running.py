"""Commands of planning as an operator types them, on the service in this process."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import shlex
from typing import Any

from app.http_env import HttpEnv, good

from blazar.cloud.simulated.shape import HostShape
from blazar.cmd.manage import plans, what_if

DAY = 24 * 60
"""In minutes."""
SHAPE = HostShape(allocation_ratios={"VCPU": 4.0})
"""16 vCPUs with overcommit, 64 GiB."""


def run(env: HttpEnv, line: str) -> str:
    """Return what ``blazar-manage`` prints for the arguments in a line."""
    parser = argparse.ArgumentParser(prog="blazar-manage", exit_on_error=False)
    parsers = parser.add_subparsers(dest="verb")
    plans.add_parsers(parsers)
    what_if.add_parsers(parsers)
    arguments = parser.parse_args(shlex.split(line))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        assert {"plan": plans.plan, "what-if": what_if.what_if}[arguments.verb](env.context, arguments) == 0
    return printed.getvalue()


def run_json(env: HttpEnv, line: str) -> Any:
    return json.loads(run(env, f"{line} -f json"))


def reservable(env: HttpEnv, *names: str, zone: str | None = None, **capabilities: object) -> None:
    """Add hosts to the cloud and register them."""
    for name in names:
        env.cloud.add_hypervisor(name, SHAPE, availability_zone=zone)
        good(env.post("/os-hosts", {"name": name, **capabilities}), 201)


def general(env: HttpEnv, *names: str, zone: str | None = None) -> None:
    """Add hosts to the cloud that are not registered."""
    for name in names:
        env.cloud.add_hypervisor(name, SHAPE, availability_zone=zone)


def section(text: str, heading: str) -> str:
    """Return the text of a section of a Markdown document."""
    return text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
