"""Memory and processor time of processes; a process that has ended uses nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

_KIB_IN_MIB: Final = 1024
_TICKS_A_SECOND: Final = os.sysconf("SC_CLK_TCK")


def resident_mebibytes(pids: Iterable[int]) -> float:
    """Return the memory of all given processes together."""
    return sum(_resident_mebibytes(each) for each in pids)


def processor_seconds(pids: Iterable[int]) -> float:
    """Return the processor time of processes, and of their children that have ended."""
    return sum(sum(_times(each)) for each in pids)


def own_processor_seconds(pid: int) -> float:
    """Return the processor time of a process, without its children."""
    return sum(_times(pid)[:2])


def _resident_mebibytes(pid: int) -> float:
    lines = _read(pid, "status").splitlines()
    return sum(int(each.split()[1]) / _KIB_IN_MIB for each in lines if each.startswith("VmRSS:"))


def _times(pid: int) -> list[float]:
    """Return the seconds of a process in its own code and the kernel, then those of its ended children."""
    # The program's name may contain blanks and brackets. The fields are utime, stime, cutime and cstime.
    fields = _read(pid, "stat").rpartition(") ")[2].split()
    return [int(each) / _TICKS_A_SECOND for each in fields[11:15]]


def _read(pid: int, name: str) -> str:
    try:
        return Path(f"/proc/{pid}/{name}").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""
