"""``python -m faults``: cause faults in the service's processes and report the results (``make faults``)."""

from __future__ import annotations

import argparse
import random
import time
from typing import get_args

from faults.broker_troubles import BROKER_TROUBLES
from faults.galera_troubles import GALERA_TROUBLES
from faults.measures import MEASURES
from faults.postgresql_troubles import POSTGRESQL_TROUBLES
from faults.runs import faulted_installation
from faults.troubles import TROUBLES

from rig.wanted import Database, Wanted

_ALL = {**TROUBLES, **BROKER_TROUBLES, **GALERA_TROUBLES, **POSTGRESQL_TROUBLES}


def main() -> None:
    """Run the faults in turn until the time is over; a failed run ends the program with its error."""
    parser = argparse.ArgumentParser(prog="python -m faults", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600, help="no run begins later; each once at least")
    parser.add_argument("--seed", type=int, help="of the first run; the next ones follow. Random by default")
    parser.add_argument("--database", choices=get_args(Database), default="mariadb")
    parser.add_argument("--managers", type=int, default=3)
    parser.add_argument("--leases", type=int, default=500, help="made in each run, at least")
    parser.add_argument("--strikes", type=int, default=5, help="in each run, at least")
    parser.add_argument("--broker-nodes", type=int, choices=(1, 3), default=1)
    parser.add_argument("--standby", action="store_true", help="of PostgreSQL")
    parser.add_argument("--lessees", type=int, default=6)
    parser.add_argument("--no-measures", action="store_true", help="start with the faults")
    parser.add_argument("--only", nargs="+", choices=[*_ALL], default=[*TROUBLES])
    arguments = parser.parse_args()
    seed = random.randrange(2**31) if arguments.seed is None else arguments.seed
    began = time.monotonic()
    wanted = Wanted(
        database=arguments.database,
        managers=arguments.managers,
        broker_nodes=arguments.broker_nodes,
        has_standby=arguments.standby,
    )
    with faulted_installation(wanted, lessees=arguments.lessees) as faulted:
        measures = {} if arguments.no_measures else MEASURES
        for name, (measure, promised) in measures.items():
            print(f"{name}: {measure(faulted):.1f} s, promised {promised} s", flush=True)
        turn = 0
        while turn < len(arguments.only) or time.monotonic() - began < arguments.seconds:
            name = arguments.only[turn % len(arguments.only)]
            report = faulted.strike(
                name, _ALL[name], seed=seed + turn, leases=arguments.leases, strikes=arguments.strikes
            )
            print(report, flush=True)
            turn += 1
    print(f"{turn} runs in {time.monotonic() - began:.0f} s found nothing that must not be")


if __name__ == "__main__":
    main()
