"""The command line: ``python -m cloudlab install|up|down|status|destroy|start|stop|restart``."""

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
from cloudlab.up import bring_up, install, is_up

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
    up.add_argument(
        "--labs", type=int, default=1, metavar="N", help="number of labs to start side by side; default: 1"
    )
    up.add_argument("--hosts", nargs="*", default=(), help="names of compute hosts to add")
    commands.add_parser("install", help="install the packages that `up` needs, and start nothing")
    commands.add_parser("down", help="stop all processes")
    commands.add_parser("destroy", help="stop all processes and remove all data; installed packages are kept")
    commands.add_parser("status", help="list the services; the exit code is 0 if all respond")
    for name in ("start", "stop", "restart"):
        one = commands.add_parser(name, help=f"{name} single services")
        one.add_argument("services", nargs="+", metavar="service", help="name as printed by status")
    return parser


def _change(asked: argparse.Namespace, folder: Folder) -> int:
    if asked.command == "install":
        install(folder, _say)
        return 0
    if asked.command == "up":
        return _up(plans.read_or_make_all(folder, asked.labs, asked.hosts))
    found = plans.read_all(folder)
    if not found:
        _say(f"there is no lab in {folder.root}")
        return 0
    if asked.command not in ("down", "destroy"):
        for plan in found[:1] + [each for each in found[1:] if _is_running(each)]:
            _single(asked.command, asked.services, all_services(plan))
        return 0
    take_down(found, _say)
    _say("no part of the lab runs")
    if asked.command == "destroy":
        remove_data(folder)
        _say("its data are gone")
    return 0


def _up(wanted: Sequence[Plan]) -> int:
    hint = f"source {wanted[0].folder.root / 'openrc'}"
    which = "the lab is" if len(wanted) == 1 else f"{len(wanted)} labs are"
    if all(is_up(plan) for plan in wanted):
        _say(f"{which} up already, and nothing was changed; {hint}")
        return 0
    bring_up(wanted, _say)
    _say(f"{which} up; {hint}")
    return 0


def _is_running(plan: Plan) -> bool:
    return any(service.is_running for service in all_services(plan).values())


def _single(command: str, names: Sequence[str], services: Mapping[str, Service]) -> None:
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


def _status(folder: Folder) -> int:
    found = plans.read_all(folder)
    if not found:
        print(f"there is no lab in {folder.root}")
        return 1
    all_answer = True
    for plan in found:
        if len(found) > 1:
            print(f"{plan.folder.root}:")
        all_answer &= _print_services(plan)
    return 0 if all_answer else 1


def _print_services(plan: Plan) -> bool:
    """Print a line for each service of a lab; return whether all respond."""
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
    return answering == len(services)


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
