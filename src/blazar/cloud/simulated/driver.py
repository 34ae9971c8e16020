"""The simulated cloud of the configuration; the target of the entry point ``simulated``."""

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

    A new cloud gets an empty freepool, hosts and a network.

    Args:
        conf: The configuration.
        clock: Measures durations.
        speed: The rate of that clock; configured durations are in real time and are multiplied by it.

    Raises:
        ValueError: The state file or the fault script has other content.
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
        is_read_only=options.read_only,
    )
    if cloud.is_empty and not options.read_only:
        # If the process ends earlier, the cloud is empty, and the next process furnishes it.
        with cloud.saved_once():
            furnish(cloud, freepool=conf.nova.aggregate_freepool_name, hosts=options.hosts)
    return cloud
