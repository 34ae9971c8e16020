"""``python -P rig/fast_manager.py EPOCH SPEED …``: a manager on a fast clock, to simulate days in minutes.

The clock equals that of the machine at EPOCH, an instant with an offset, and runs SPEED times as fast.
Managers with the same two share the time. The other arguments are those of ``blazar-manager``. What a
manager reads from its clock and waits for on it is fast: dates of leases, timers, claims, intervals of
periodic tasks and retries. Timeouts of connections, of the message bus and of cloud calls are real. Options
in seconds that should be real must be multiplied by SPEED.

The service has no option for this: ``blazar-manager`` always uses the clock of the machine, and this
program passes another one to its wiring.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from datetime import datetime

from blazar.cmd.manager import serve
from blazar.cmd.problems import run
from blazar.db.clock import SqlClock
from blazar.manager.clocks import FastClock
from blazar.ports.clock import Clock, ClockReading, ReferenceClock


@dataclass(frozen=True, slots=True)
class FastReference:
    """Implements :class:`blazar.ports.clock.ReferenceClock`: what a fast clock shows by a real reference."""

    clock: FastClock
    real: ReferenceClock

    def compare(self, clock: Clock) -> ClockReading:
        """Return a comparison of both clocks. Raises Unavailable."""
        reading = self.real.compare(clock)
        return replace(reading, there=self.clock.at(reading.there))


def main() -> int:
    """Run until SIGTERM or SIGINT; return the exit code."""
    epoch, speed, *arguments = sys.argv[1:]
    clock = FastClock(epoch=datetime.fromisoformat(epoch), speed=float(speed))
    return run(
        "fast_manager",
        lambda: serve(arguments, clock, lambda engine: FastReference(clock, SqlClock(engine))),
    )


if __name__ == "__main__":
    sys.exit(main())
