"""What a new cloud has."""

from __future__ import annotations

from blazar.cloud.simulated.cloud import SimulatedCloud
from blazar.cloud.simulated.scheduler import FREEPOOL
from blazar.ports.network import Network


def furnish(cloud: SimulatedCloud, *, hosts: int, freepool: str = FREEPOOL) -> Network:
    """Give a cloud an empty freepool, hosts, and an external network, which is returned.

    The hosts are named ``host-1``, ``host-2`` and so on. The network has addresses for documentation
    (RFC 5737), of which those from .100 on are in no pool.

    Raises:
        CloudConflict: Something of these names is there already.
    """
    cloud.add_aggregate(freepool)
    for number in range(1, hosts + 1):
        cloud.add_hypervisor(f"host-{number}")
    network = cloud.add_network("public")
    pools = (("203.0.113.10", "203.0.113.99"),)
    cloud.add_subnet(network.id, "203.0.113.0/24", gateway_ip="203.0.113.1", allocation_pools=pools)
    return network
