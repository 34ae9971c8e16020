"""The command line: ``python -m cloudlab up|down|status|destroy|start|stop|restart``."""

from __future__ import annotations

import argparse
import fcntl
import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType

from cloudlab import plan as plans
from cloudlab.down import remove_data, take_down
from cloudlab.errors import LabError
from cloudlab.folder import VARIABLE, Folder
from cloudlab.plan import Plan
from cloudlab.service import Service
from cloudlab.services import all_services
from cloudlab.up import bring_up, is_up

_BEGAN = time.monotonic()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return the exit code."""
    asked = _parser().parse_args(arguments)
    folder = Folder.chosen(asked.folder)
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        if asked.command == "status":
            return _status(folder)
        with _alone(folder):
            return _change(asked, folder)
    except LabError as error:
        print(f"cloudlab: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("cloudlab: interrupted; run the same command to continue", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="cloudlab", description="A real OpenStack on this machine, for tests."
    )
    parser.add_argument("--folder", help=f"folder of the lab; default: ${VARIABLE}, or var/cloud")
    commands = parser.add_subparsers(dest="command", required=True)
    up = commands.add_parser("up", help="set up the lab and start all services")
    up.add_argument("--hosts", nargs="*", default=(), help="names of compute hosts to add")
    commands.add_parser("down", help="stop all processes")
    commands.add_parser("destroy", help="stop all processes and remove all data; installed packages are kept")
    commands.add_parser("status", help="list the services; the exit code is 0 if all respond")
    for name in ("start", "stop", "restart"):
        one = commands.add_parser(name, help=f"{name} single services")
        one.add_argument("services", nargs="+", metavar="service", help="name as printed by status")
    return parser


def _change(asked: argparse.Namespace, folder: Folder) -> int:
    if asked.command == "up":
        return _up(plans.read_or_make(folder, asked.hosts))
    plan = plans.read(folder)
    if plan is None:
        _say(f"there is no lab in {folder.root}")
        return 0
    if asked.command not in ("down", "destroy"):
        return _single(asked.command, asked.services, all_services(plan))
    take_down(plan, _say)
    _say("nothing of the lab runs")
    if asked.command == "destroy":
        remove_data(folder)
        _say("its data are gone")
    return 0


def _up(plan: Plan) -> int:
    hint = f"source {plan.folder.root / 'openrc'}"
    if is_up(plan):
        _say(f"the lab is up already, and nothing was changed; {hint}")
        return 0
    bring_up(plan, _say)
    _say(f"the lab is up; {hint}")
    return 0


def _single(command: str, names: Sequence[str], services: Mapping[str, Service]) -> int:
    unknown = [name for name in names if name not in services]
    if unknown:
        raise LabError(f"no such service: {', '.join(unknown)}; there are {', '.join(services)}")
    for name in names:
        if command != "start":
            services[name].stop()
        if command != "stop":
            services[name].start()
    for name in names if command != "stop" else ():
        services[name].wait_until_answers()
    return 0


def _status(folder: Folder) -> int:
    plan = plans.read(folder)
    if plan is None:
        print(f"there is no lab in {folder.root}")
        return 1
    services = all_services(plan)
    answering = 0
    for name, service in services.items():
        port = f"{plan.address(name)}" if name in plan.ports else ""
        state = "does not run"
        if service.is_running:
            answers = service.answers()
            answering += answers
            state = f"{'answers' if answers else 'does not answer'}, process {service.pid}"
        print(f"{name:24} {port:16} {state}")
    return 0 if answering == len(services) else 1


@contextmanager
def _alone(folder: Folder) -> Iterator[None]:
    """Hold the lab's lock, after waiting for other commands that use the same lab."""
    folder.root.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder.root / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say("waiting for another command that works on this lab")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _say(text: str) -> None:
    print(f"[{time.monotonic() - _BEGAN:4.0f} s] {text}", flush=True)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
