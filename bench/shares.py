"""The shares of packages in the processor time of an operation."""

from __future__ import annotations

import cProfile
import pstats
import sysconfig
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final

import blazar

_LIBRARIES: Final = Path(sysconfig.get_path("purelib"))
_OWN: Final = Path(blazar.__file__).parent
_STANDARD: Final = "Python"
_BUILT_IN: Final = "~"
"""The file name of functions in C, which count as work of the functions that call them."""


def shares(act: Callable[[], object], least_percent: float = 3) -> str:
    """Return the packages with the largest shares in the processor time of this thread, as text.

    Args:
        act: The operation. Profiling makes Python functions slower than those in C.
        least_percent: The smallest share that is named.
    """
    profile = cProfile.Profile(time.thread_time)
    profile.runcall(act)
    seconds: Counter[str] = Counter()
    for (file, _, _), (_, _, own, _, callers) in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]
        if file != _BUILT_IN:
            seconds[_package(file)] += own
            continue
        for (caller, _, _), (_, _, part, _) in callers.items():
            seconds[_package(caller)] += part
    total = seconds.total()
    found = [(name, 100 * each / total) for name, each in seconds.most_common()]
    return ", ".join(f"{name} {percent:.0f} %" for name, percent in found if percent >= least_percent)


def _package(file: str) -> str:
    path = Path(file)
    if path.is_relative_to(_OWN):
        return f"blazar.{path.relative_to(_OWN).parts[0].removesuffix('.py')}"
    if path.is_relative_to(_LIBRARIES):
        return path.relative_to(_LIBRARIES).parts[0].removesuffix(".py")
    return _STANDARD
