"""``python -m rig.cloud --hosts N``: serves a simulated cloud until SIGTERM, and prints its URL."""

from __future__ import annotations

import argparse
import signal
from datetime import timedelta

from blazar.cloud.simulated import SimulatedCloud
from blazar.cloud.simulated.furnishing import furnish
from blazar.manager.clocks import SystemClock
from rig.cloud.server import ServedCloud

_ENDS = (signal.SIGTERM, signal.SIGINT)


def main() -> None:
    """Serve the cloud for the arguments; print its URL, alone on a line, when it responds."""
    parser = argparse.ArgumentParser(prog="python -m rig.cloud", description=__doc__)
    parser.add_argument("--hosts", type=int, required=True, help="named host-1, host-2, …")
    parser.add_argument("--latency-ms", type=float, default=0, help="duration of each call; 0 by default")
    parser.add_argument("--port", type=int, default=0, help="port of 127.0.0.1; a free one by default")
    arguments = parser.parse_args()
    # Signals are handled below, including those that arrive while hosts are created.
    signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)
    cloud = SimulatedCloud(SystemClock())
    furnish(cloud, hosts=arguments.hosts)
    latency = timedelta(milliseconds=arguments.latency_ms)
    with ServedCloud(cloud, latency=latency, port=arguments.port) as served:
        print(served.url, flush=True)
        signal.sigwait(_ENDS)


if __name__ == "__main__":
    main()
