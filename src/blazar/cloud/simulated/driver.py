"""The simulated cloud as the configuration describes it; the entry point ``simulated``."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from oslo_config.cfg import ConfigOpts

from blazar.cloud.simulated.cloud import SimulatedCloud
from blazar.cloud.simulated.faults import FaultScript
from blazar.cloud.simulated.furnishing import furnish
from blazar.ports.clock import Clock


def make_cloud(conf: ConfigOpts, clock: Clock, *, speed: float = 1) -> SimulatedCloud:
    """Return the cloud of ``[simulated_cloud]``.

    A new one is furnished with an empty freepool, some hosts and a network.

    Args:
        conf: The configuration.
        clock: Measures how long things take.
        speed: How fast that clock runs: durations are meant in real time.

    Raises:
        ValueError: The state file or the fault script holds something else.
    """
    options = conf.simulated_cloud
    faults = None
    if options.fault_script:
        faults = FaultScript.from_json(Path(options.fault_script).read_text())
    cloud = SimulatedCloud(
        clock,
        call_duration=timedelta(seconds=options.call_seconds) * speed,
        server_deletion_time=timedelta(seconds=options.server_deletion_seconds) * speed,
        state_file=Path(options.state_file) if options.state_file else None,
        faults=faults,
    )
    if cloud.is_empty:
        furnish(cloud, freepool=conf.nova.aggregate_freepool_name, hosts=options.hosts)
    return cloud
