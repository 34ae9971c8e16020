"""Play seeds: python -m simulation --seed N, or --seeds FROM-TO."""

from __future__ import annotations

import argparse
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from simulation.playing import play_all, story

_CHUNK = 20


def main() -> int:
    """Run the requested seeds and print failures; return 1 if a seed failed, else 0."""
    parser = argparse.ArgumentParser(prog="simulation", description=__doc__)
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--seed", type=int, help="one seed; all that happens is printed")
    which.add_argument("--seeds", type=_seeds, metavar="FROM-TO", help="all of these; failures are printed")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes (%(default)s)")
    arguments = parser.parse_args()
    if arguments.seed is not None:
        return _play_one(arguments.seed)
    return _play_many(arguments.seeds, arguments.jobs)


def _seeds(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last) + 1)


def _play_one(seed: int) -> int:
    (outcome,) = play_all([seed])
    sys.stdout.write("\n".join(outcome.events) + "\n")
    sys.stdout.write(f"{outcome.error}seed {seed}: {len(outcome.events)} events, trace {outcome.trace}\n")
    return int(bool(outcome.error))


def _play_many(seeds: range, jobs: int) -> int:
    chunks = [seeds[start : start + _CHUNK] for start in range(0, len(seeds), _CHUNK)]
    played, events, failed = 0, 0, []
    with ProcessPoolExecutor(jobs, get_context("fork")) as executor:
        for outcomes in executor.map(play_all, chunks):
            for each in outcomes:
                played, events = played + 1, events + len(each.events)
                if each.error:
                    failed.append(each.seed)
                    sys.stdout.write(story(each) + "\n")
                    sys.stdout.flush()
    sys.stdout.write(f"{played:,} seeds, {events:,} events, {len(failed)} failed: {sorted(failed)}\n")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
