"""A service of the lab: a process that can be started, stopped, killed and paused separately."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from cloudlab import processes
from cloudlab.errors import LabError
from cloudlab.folder import Folder, tail
from cloudlab.waiting import wait_until

SECONDS_TO_ANSWER: Final = 180
"""Maximum duration of a start; two slow cores may have to start all services at the same time."""
_SECONDS_TO_DIE: Final = 10
_LOOK_EVERY_SECONDS: Final = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A service: its name, its command and its health probe."""

    name: str
    folder: Folder
    command: tuple[str, ...]
    environment: Mapping[str, str]
    check: Callable[[datetime], bool]
    """Health probe, called with the start time of the process."""
    seconds_to_stop: float = 30
    """Maximum duration of a regular shutdown."""
    stop_signal: signal.Signals = signal.SIGTERM
    """The signal that requests a shutdown."""

    @property
    def is_running(self) -> bool:
        """Return whether the process exists; a paused one does."""
        return processes.recorded(self.folder.record(self.name)) is not None

    @property
    def pid(self) -> int:
        """Return the process id.

        Raises:
            LabError: The service is not running.
        """
        process = processes.recorded(self.folder.record(self.name))
        if process is None:
            raise LabError(f"{self.name} does not run")
        return process.pid

    def start(self) -> None:
        """Start the service, if it is not running. It may take some seconds until it responds."""
        if self.is_running:
            return
        # Files left by a killed process would prevent the start.
        self.kill()
        processes.start(
            self.command,
            record=self.folder.record(self.name),
            log=self.folder.log(self.name),
            environment=self.environment,
            folder=self.folder.data(self.name),
        )

    def stop(self) -> None:
        """Stop the service, and kill it if it takes too long; return after it has ended."""
        leader = processes.recorded(self.folder.record(self.name))
        if leader is not None:
            leader.signal(self.stop_signal)
            self._signal(signal.SIGCONT)

        def has_ended() -> bool:
            # While the parent exists, it handles its children.
            return not (self.is_running or self._signal(signal.SIGTERM))

        with suppress(LabError):
            wait_until(
                has_ended,
                f"{self.name} ends",
                seconds=self.seconds_to_stop,
                every_seconds=_LOOK_EVERY_SECONDS,
            )
        self.kill()

    def kill(self) -> None:
        """Kill the service and its children, as in a crash; return after they have ended."""

        def is_gone() -> bool:
            return not self._signal(signal.SIGKILL)

        wait_until(is_gone, f"{self.name} ends", seconds=_SECONDS_TO_DIE, every_seconds=_LOOK_EVERY_SECONDS)
        self.folder.record(self.name).unlink(missing_ok=True)

    def pause(self) -> None:
        """Pause the process, with its connections open."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Continue after :meth:`pause`."""
        self._signal(signal.SIGCONT)

    def answers(self, since: datetime | None = None) -> bool:
        """Return whether the service runs and responds.

        Args:
            since: If given, a service that reports must have reported after this; otherwise, after its start.
        """
        if not self.is_running:
            return False
        started = processes.started_at(self.folder.record(self.name))
        return self.check(max(started, since) if since else started)

    def wait_until_answers(self, seconds: float = SECONDS_TO_ANSWER) -> None:
        """Return when the service responds.

        Raises:
            LabError: It ended, or did not respond in time; the message has the end of its log.
        """

        def works() -> bool:
            if not self.is_running:
                raise LabError(f"{self.name} has ended\n{self._tail()}")
            return self.answers()

        wait_until(works, f"{self.name} answers", seconds=seconds, explain=self._tail)

    def members(self) -> tuple[processes.Process, ...]:
        """Return the process and its descendants, including those whose parent has ended."""
        return processes.members(self.folder.record(self.name))

    def _signal(self, number: signal.Signals) -> int:
        """Send a signal to the process and its children; return their number."""
        members = self.members()
        for process in members:
            process.signal(number)
        return len(members)

    def _tail(self) -> str:
        return tail(self.folder.log(self.name))
