"""The simulated cloud as the configuration describes it; the entry point ``simulated``."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from oslo_config.cfg import ConfigOpts

from blazar.cloud.simulated.cloud import SimulatedCloud
from blazar.cloud.simulated.faults import FaultScript
from blazar.ports.clock import Clock


def make_cloud(conf: ConfigOpts, clock: Clock, *, speed: float = 1) -> SimulatedCloud:
    """Return the cloud of ``[simulated_cloud]``.

    A new one has some hosts, an empty freepool, and an external network with addresses for
    documentation (RFC 5737).

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
        cloud.add_aggregate(conf.nova.aggregate_freepool_name)
        for number in range(1, options.hosts + 1):
            cloud.add_hypervisor(f"host-{number}")
        network = cloud.add_network("public")
        pools = (("203.0.113.10", "203.0.113.99"),)
        cloud.add_subnet(network.id, "203.0.113.0/24", gateway_ip="203.0.113.1", allocation_pools=pools)
    return cloud
