"""One service of the lab: a process that can be started, stopped, killed and paused by itself."""

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
"""How long a service may take to start; two slow cores may have all of them to start at once."""
_SECONDS_TO_DIE: Final = 10
_LOOK_EVERY_SECONDS: Final = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A service by its name, how it is started, and how one sees that it works."""

    name: str
    folder: Folder
    command: tuple[str, ...]
    environment: Mapping[str, str]
    check: Callable[[datetime], bool]
    """Whether it works; called with the instant at which its process was started."""
    seconds_to_stop: float = 30
    """How long it may take to end by itself."""
    stop_signal: signal.Signals = signal.SIGTERM
    """What asks it to end."""

    @property
    def is_running(self) -> bool:
        """Return whether its process is there; a paused one is."""
        return processes.recorded(self.folder.record(self.name)) is not None

    @property
    def pid(self) -> int:
        """Return its process id.

        Raises:
            LabError: It does not run.
        """
        process = processes.recorded(self.folder.record(self.name))
        if process is None:
            raise LabError(f"{self.name} does not run")
        return process.pid

    def start(self) -> None:
        """Start it; nothing happens if it runs. It may take some seconds until it answers."""
        if self.is_running:
            return
        # What a process that was killed left behind would be in the way.
        self.kill()
        processes.start(
            self.command,
            record=self.folder.record(self.name),
            log=self.folder.log(self.name),
            environment=self.environment,
            folder=self.folder.data(self.name),
        )

    def stop(self) -> None:
        """Ask it to end, and end it by force if it takes too long; return when it is gone."""
        leader = processes.recorded(self.folder.record(self.name))
        if leader is not None:
            leader.signal(self.stop_signal)
            self._signal(signal.SIGCONT)

        def has_ended() -> bool:
            # Children are their parent's business, for as long as it is there.
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
        """End it and its children as a crash would; return when they are gone."""

        def is_gone() -> bool:
            return not self._signal(signal.SIGKILL)

        wait_until(is_gone, f"{self.name} ends", seconds=_SECONDS_TO_DIE, every_seconds=_LOOK_EVERY_SECONDS)
        self.folder.record(self.name).unlink(missing_ok=True)

    def pause(self) -> None:
        """Make it stand still, with its connections open."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Make it go on after :meth:`pause`."""
        self._signal(signal.SIGCONT)

    def answers(self) -> bool:
        """Return whether it runs and works."""
        return self.is_running and self.check(processes.started_at(self.folder.record(self.name)))

    def wait_until_answers(self, seconds: float = SECONDS_TO_ANSWER) -> None:
        """Return when it works.

        Raises:
            LabError: It ended, or does not answer in time; with the end of its log.
        """

        def works() -> bool:
            if not self.is_running:
                raise LabError(f"{self.name} has ended\n{self._tail()}")
            return self.answers()

        wait_until(works, f"{self.name} answers", seconds=seconds, explain=self._tail)

    def members(self) -> tuple[processes.Process, ...]:
        """Return its process and that one's descendants, also if only some of these are left."""
        return processes.members(self.folder.record(self.name))

    def _signal(self, number: signal.Signals) -> int:
        """Send a signal to the process and its children; return how many there are."""
        members = self.members()
        for process in members:
            process.signal(number)
        return len(members)

    def _tail(self) -> str:
        return tail(self.folder.log(self.name))
