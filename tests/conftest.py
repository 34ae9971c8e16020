"""Fixtures of every test, and the summary at the end of a run."""

from __future__ import annotations

import gc
from collections import Counter

import pytest
from hypothesis import settings
from turns import VARIABLE, choose_turn

# A machine that is busy is no failure: nothing in tests depends on time.
settings.register_profile("unhurried", deadline=None, max_examples=50)
# For a long run of single tests: pytest --hypothesis-profile=thorough.
settings.register_profile("thorough", deadline=None, max_examples=10_000)
settings.load_profile("unhurried")
choose_turn()


def pytest_report_header() -> str:
    """Say which part of the longest tests this run tries."""
    return f"{VARIABLE}={choose_turn()}"


def pytest_collection_finish() -> None:
    """Exclude what was imported and collected from garbage collection, which would scan it all the time."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how much was tried by machine in `tests/reconcile`."""
    figures: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, value in getattr(report, "user_properties", ()):
                if getattr(report, "when", "") == "call" and name.startswith("engine: "):
                    figures[name] += value
    for name, value in sorted(figures.items()):
        terminalreporter.write_line(f"{name} {value:,}")
