"""The initial content of a new simulated cloud."""

from __future__ import annotations

from blazar.cloud.simulated.cloud import SimulatedCloud
from blazar.cloud.simulated.scheduler import FREEPOOL
from blazar.ports.network import Network

NETWORK = "public"
"""The name of the external network."""
STORAGE_POOLS = {"block@fast#ssd": 1_000, "block@large#disk": 10_000}
"""The capacities of the storage pools in GiB, by name."""
PHYSICAL_NETWORK = "physnet1"
"""The name of the physical network; Neutron gives its VLANs 100 to 199 to projects."""


def furnish(cloud: SimulatedCloud, *, hosts: int, freepool: str = FREEPOOL) -> Network:
    """Create an empty freepool, hosts, storage pools, and networks; return the external one.

    The hosts are named ``host-1``, ``host-2`` and so on. The network's addresses are reserved for
    documentation (RFC 5737); those from .100 on are not in an allocation pool.

    Raises:
        CloudConflict: An object with one of these names exists.
    """
    cloud.add_aggregate(freepool)
    for number in range(1, hosts + 1):
        cloud.add_hypervisor(f"host-{number}")
    for name, gibibytes in STORAGE_POOLS.items():
        cloud.add_storage_pool(name, gibibytes)
    network = cloud.add_network(NETWORK)
    pools = (("203.0.113.10", "203.0.113.99"),)
    cloud.add_subnet(network.id, "203.0.113.0/24", gateway_ip="203.0.113.1", allocation_pools=pools)
    cloud.add_physical_network(PHYSICAL_NETWORK)
    cloud.add_segment_range("vlan", PHYSICAL_NETWORK, 100, 199)
    return network
