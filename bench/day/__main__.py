"""``python -m bench.day``: runs a day of a site, checks it, and prints what happened (``make day``)."""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import get_args

from faults.lessees import MINUTE

from bench.day.checks import Outcome, check_end, cloud_objects
from bench.day.happenings import Happenings, plan_of
from bench.day.lateness import read_lateness
from bench.day.operators import Operators
from bench.day.pace import Day
from bench.day.picture import draw
from bench.day.processes import Watch
from bench.day.report import Findings, report
from bench.day.run import Run
from bench.day.site import Site, open_site
from bench.day.users import User, live
from cloudlab.errors import LabError
from rig.wanted import Database

_MOST_LINES = 20
_LONGEST_LINE = 400


def main() -> int:
    """Run a day; return 1 if something was reserved twice, stuck, leaked or lost, or could not run."""
    parser = _parser()
    options = parser.parse_args()
    if options.failures > options.hosts:
        parser.error(f"--failures: there are {options.hosts} hosts, of which {options.failures} cannot fail")
    # Treat the signal like Ctrl-C, so that all processes are stopped on exit.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    seed = random.randrange(2**31) if options.seed is None else options.seed
    print(f"{_circumstances(options)}; seed {seed}", flush=True)
    began = time.monotonic()
    try:
        users = [f"user-{number}" for number in range(1, options.users + 1)]
        with open_site(
            options.database, hosts=options.hosts, users=users, managers=options.managers, speed=options.speed
        ) as site:
            _say(began, f"{options.hosts} hosts are registered, and the day begins")
            findings, problem = _spend_day(site, options, users, str(seed), began)
    except LabError as error:
        print(f"bench.day: {error}", file=sys.stderr)
        return 1
    print(f"\n{report(findings)}\n")
    if options.picture:
        options.picture.parent.mkdir(parents=True, exist_ok=True)
        options.picture.write_text(draw(findings))
    _say(began, problem or "nothing twice, nothing stuck, nothing leaked, no mail lost")
    return 1 if problem else 0


def _spend_day(
    site: Site, options: argparse.Namespace, users: Sequence[str], seed: str, began: float
) -> tuple[Findings, str]:
    """Return what happened in the day, and what must not have happened; empty if nothing did."""
    start = (site.clock.now() + MINUTE).replace(second=0, microsecond=0)
    day = Day(clock=site.clock, start=start, end=start + timedelta(hours=options.hours))
    before, run = cloud_objects(site), Run(site=site, day=day, seed=seed)
    shares = [options.leases // len(users) + (n < options.leases % len(users)) for n in range(len(users))]
    lessees = [User(run, name, leases=share) for name, share in zip(users, shares, strict=True)]
    operators = Operators(
        run, hosts=options.hosts, failures=options.failures, maintenances=options.maintenances
    )
    plan = plan_of(day, run.chance("plan"), upgrades=options.upgrades, faults=options.faults)
    happenings = Happenings(run, plan, fault_seconds=options.fault_seconds)
    with Watch(site, day, every_seconds=max(1.0, day.real_seconds(day.end - day.start) / 300)) as watch:
        operators.start()
        happenings.start()
        live(run, lessees)
        happenings.join()
        operators.join()
    _say(began, "the day is over")
    outcome, problem = _end_day(run, operators, happenings, before)
    findings = Findings(
        day=day,
        figures=run.figures,
        operators=operators,
        happenings=happenings.done,
        planned=len(plan),
        mailbox=site.mailbox,
        late=read_lateness(site.engine) if outcome is None else outcome.late,
        samples=watch.samples,
        notifications=site.notices.counts.total(),
        outcome=outcome,
    )
    if problem:
        _print_errors(site)
    return findings, problem


def _end_day(
    run: Run, operators: Operators, happenings: Happenings, before: Mapping[str, frozenset[str]]
) -> tuple[Outcome | None, str]:
    """End all faults, check the state, and return what was found, and the first violation."""
    site = run.site
    site.control.set_faults()
    for each in site.installation.services.values():
        each.start()
        each.wait_until_answers()
    operators.restore()
    if happenings.problem is not None:
        return None, f"PROBLEM: {happenings.problem!r}"
    try:
        return check_end(site, run.figures, before), ""
    except AssertionError as error:
        return None, f"PROBLEM: {error}"


def _print_errors(site: Site) -> None:
    """Print the unexpected errors in the logs, which are deleted with the installation."""
    for path in sorted(site.installation.plan.folder.all_logs.glob("blazar-*.log")):
        lines = [each for each in path.read_text().splitlines() if " ERROR blazar." in each]
        for line in lines[-_MOST_LINES:]:
            print(f"{path.stem}: {line[:_LONGEST_LINE]}")


def _say(began: float, text: str) -> None:
    print(f"{time.monotonic() - began:6.0f} s  {text}", flush=True)


def _circumstances(options: argparse.Namespace) -> str:
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    return (
        f"{options.hours:g} hours, {options.speed:g} times as fast as real ones; {options.database}, "
        f"{options.managers} managers, {options.hosts} hosts, {options.users} users, "
        f"{options.leases} requests for leases; "
        f"{os.cpu_count()} cores, load of the machine (1, 5, 15 minutes): {load}"
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.day", description=__doc__)
    add = parser.add_argument
    add("--database", choices=get_args(Database), default="mariadb")
    add("--hours", type=float, default=24, help="length of the day in simulated hours")
    add("--speed", type=float, default=60, help="simulated seconds in a real one")
    add("--hosts", type=int, default=2_000)
    add("--leases", type=int, default=5_000, help="requests for leases, spread over users and the day")
    add("--users", type=int, default=50)
    add("--managers", type=int, default=3)
    add("--upgrades", type=int, default=3, help="rolling restarts of managers and the API")
    add("--faults", type=int, default=14, help="periods of faults; each kind once before any comes twice")
    add("--fault-seconds", type=float, default=20, help="real length of such a period")
    add("--failures", type=int, default=60, help="hosts that fail and come back")
    add(
        "--maintenances",
        type=int,
        default=10,
        help="of racks for a period, and of hosts until they are ended",
    )
    add("--seed", type=int, help="of all choices except those of the processes; random by default")
    add("--picture", type=Path, help="file for processor time and memory over the day (SVG)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
