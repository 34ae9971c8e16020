"""``python -m bench.service``: starts the service with its dependencies, measures it, and prints a table."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import get_args

from bench.service.effort import QUICK, WHOLE, Effort
from bench.service.lines import Line, table
from bench.service.measured_installation import measured_installation
from bench.service.picture import draw
from bench.service.workloads import GROUPS, all_lines, judged, problems
from cloudlab.errors import LabError
from rig.wanted import Database


def main() -> int:
    """Measure; return 1 if something failed or is incorrect, regardless of the speed."""
    options = _parser().parse_args()
    # Treat the signal like Ctrl-C, so that all processes are stopped on exit.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    effort, only = (QUICK if options.quick else WHOLE), options.only or GROUPS
    began = time.monotonic()
    lines: list[Line] = []
    try:
        with measured_installation(options.database, effort) as measured:
            for line in all_lines(measured, only):
                lines.append(line)
                print(f"{time.monotonic() - began:6.0f} s  {'  '.join(line.cells()[:5])}", flush=True)
    except LabError as error:
        print(f"bench.service: {error}", file=sys.stderr)
        return 1
    lines = judged(lines)
    found = problems(lines)
    print(f"\n{_circumstances(options.database, effort)}\n\n{table(lines)}")
    for problem in found:
        print(f"PROBLEM: {problem}")
    print(f"{time.monotonic() - began:.0f} s")
    if options.json:
        content = {
            "database": options.database,
            "lines": [each.to_json() for each in lines],
            "problems": found,
        }
        options.json.write_text(json.dumps(content, indent=1) + "\n")
    if options.picture:
        options.picture.write_text(draw(lines))
    return 1 if found else 0


def _circumstances(database: str, effort: Effort) -> str:
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    return (
        f"{database}, 2 managers, 2 processes of the API, {effort.runs} runs; "
        f"{os.cpu_count()} cores, load of the machine (1, 5, 15 minutes): {load}"
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.service", description=__doc__)
    parser.add_argument("--database", choices=get_args(Database), default="mariadb")
    parser.add_argument("--only", nargs="+", choices=GROUPS, help="these workloads; all by default")
    parser.add_argument("--quick", action="store_true", help="small sizes, to test the program")
    parser.add_argument("--json", type=Path, help="file for the figures")
    parser.add_argument("--picture", type=Path, help="file for the curves of creates (SVG)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
