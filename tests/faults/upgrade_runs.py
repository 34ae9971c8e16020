"""``python -m faults.upgrade_runs``: upgrade installations under load, in turn (``make upgrades``)."""

from __future__ import annotations

import argparse
import random
import time
from typing import Final

from faults.runs import Report, faulted_installation
from faults.upgrades import Upgrade

from rig.wanted import Database, Wanted

DATABASES: Final[tuple[Database, ...]] = ("mariadb", "postgresql", "galera")
_LONGEST_MIX_SECONDS: Final = 600


def upgrade_once(
    database: Database,
    *,
    seed: int,
    processes: int,
    mixed_seconds: float,
    lessees: int = 6,
    pause_seconds: float = 0,
) -> tuple[Report, Upgrade]:
    """Upgrade a new installation of the previous release while lessees work.

    Args:
        database: The database.
        seed: The seed of all choices except those of the processes themselves.
        processes: The number of managers, and of APIs.
        mixed_seconds: The time in which random processes are restarted with random releases.
        lessees: The number of lessees, who send one request after the other.
        pause_seconds: The time that each of them waits after a new lease and a change.

    Raises:
        AssertionError: A check failed.
        LabError: A process did not start.
    """
    upgrade = Upgrade(mixed_seconds)
    # With several applier threads, all commits of the previous release on Galera can hang.
    wanted = Wanted(
        database=database, managers=processes, apis=processes, release="previous", applier_threads=1
    )
    with faulted_installation(wanted, lessees=lessees, pause_seconds=pause_seconds) as faulted:
        report = faulted.strike("upgrade", upgrade, seed=seed, leases=1)
    return report, upgrade


def main() -> None:
    """Upgrade installations until the time is over; a failure ends the program with its error."""
    parser = argparse.ArgumentParser(prog="python -m faults.upgrade_runs", description=__doc__)
    parser.add_argument(
        "--seconds", type=float, default=600, help="no upgrade starts later; there is at least one"
    )
    parser.add_argument(
        "--seed", type=int, help="of the first upgrade; the next ones follow. Random by default"
    )
    parser.add_argument("--database", choices=DATABASES, default="mariadb")
    parser.add_argument("--processes", type=int, default=3, help="the number of managers, and of APIs")
    parser.add_argument(
        "--mixed-seconds",
        type=float,
        default=300,
        help=f"the time of restarts with random releases in each upgrade; at most {_LONGEST_MIX_SECONDS}",
    )
    arguments = parser.parse_args()
    if arguments.mixed_seconds > _LONGEST_MIX_SECONDS:
        parser.error(f"--mixed-seconds must be at most {_LONGEST_MIX_SECONDS}")
    seed = random.randrange(2**31) if arguments.seed is None else arguments.seed
    began, turn = time.monotonic(), 0
    while turn == 0 or time.monotonic() - began < arguments.seconds:
        report, upgrade = upgrade_once(
            arguments.database,
            seed=seed + turn,
            processes=arguments.processes,
            mixed_seconds=arguments.mixed_seconds,
        )
        print(report, upgrade, *report.ledger.unanswered, sep="\n", flush=True)
        turn += 1
    print(f"{turn} upgrades in {time.monotonic() - began:.0f} s; all checks passed")


if __name__ == "__main__":
    main()
