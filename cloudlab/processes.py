"""Processes that outlive the command that started them.

A process records its identity (process id, start time, the machine's boot) before it executes the program, so
that it never runs without a record. It leads a session of its own, in which its children stay. A signal is
sent only to a process whose start time matches the record.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from cloudlab.waiting import wait_until

_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
_RECORD_AND_BECOME: Final = f'cat /proc/$$/stat {_BOOT} > "$0.new" && mv "$0.new" "$0" && exec "$@"'
_SECONDS_TO_RECORD: Final = 20


@dataclass(frozen=True, slots=True)
class Process:
    """A process of one boot of this machine."""

    pid: int
    session: int
    started_ticks: int
    """Clock ticks since boot; with the process id it is unique until the next boot."""
    is_dead: bool

    @classmethod
    def parse(cls, stat: str) -> Process:
        """Return the process for a line of ``/proc/<pid>/stat``."""
        pid, _, rest = stat.partition(" (")
        # The program's name may contain blanks and brackets; the fields after its last bracket do not.
        fields = rest.rpartition(") ")[2].split()
        return cls(int(pid), int(fields[3]), int(fields[19]), fields[0] in "ZX")

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to exactly this process; do nothing if it has ended."""
        try:
            descriptor = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return
        try:
            # The descriptor refers to the present process with this id, which may be a different one.
            if find(self.pid) == self:
                signal.pidfd_send_signal(descriptor, number)
        except ProcessLookupError:
            return
        finally:
            os.close(descriptor)


def find(pid: int) -> Process | None:
    """Return the present process with this id; None if there is none, or only a zombie."""
    try:
        process = Process.parse(Path(f"/proc/{pid}/stat").read_text())
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if process.is_dead else process


def start(
    command: Sequence[str], *, record: Path, log: Path, environment: Mapping[str, str], folder: Path
) -> None:
    """Start a daemon process, and return when its record exists.

    Args:
        command: The program and its arguments.
        record: The file of its record.
        log: The file to which its output is appended.
        environment: Its complete environment.
        folder: Its working directory.
    """
    record.parent.mkdir(parents=True, exist_ok=True)
    log.parent.mkdir(parents=True, exist_ok=True)
    record.unlink(missing_ok=True)
    with log.open("ab") as output:
        subprocess.run(
            ["setsid", "--fork", "sh", "-c", _RECORD_AND_BECOME, str(record), *command],
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=dict(environment),
            cwd=folder,
        )
    wait_until(record.exists, f"{command[0]} starts", seconds=_SECONDS_TO_RECORD, every_seconds=0.02)


def recorded(record: Path) -> Process | None:
    """Return the process in a record if it still runs."""
    was = _read(record)
    return was if was is not None and find(was.pid) == was else None


def started_at(record: Path) -> datetime:
    """Return the time at which the process in a record was started."""
    return datetime.fromtimestamp(record.stat().st_mtime, UTC)


def members(record: Path) -> tuple[Process, ...]:
    """Return the process in a record and its descendants, including those whose parent has ended."""
    leader = _read(record)
    if leader is None:
        return ()
    now = find(leader.pid)
    if now is not None and now != leader:
        # The id belongs to another process now, so the session has ended.
        return ()
    return tuple(
        each for each in _all() if each.session == leader.pid and each.started_ticks >= leader.started_ticks
    )


def _read(record: Path) -> Process | None:
    try:
        stat, boot = record.read_text().splitlines()
    except FileNotFoundError:
        return None
    return Process.parse(stat) if boot == _BOOT.read_text().strip() else None


def _all() -> Iterator[Process]:
    for entry in os.listdir("/proc"):
        if entry.isdigit() and (process := find(int(entry))) is not None:
            yield process
