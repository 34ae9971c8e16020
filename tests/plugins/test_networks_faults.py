"""The start and the end of a network reservation that its lessee uses, with a fault at every step in turn."""

from __future__ import annotations

from plugins.every_step import EveryStep
from plugins.harnesses import NetworksHarness

from blazar.domain.lease import LeaseStatus
from blazar.ports.segments import Route
from blazar_plugin_testing.plugin_env import PluginEnv
from blazar_plugin_testing.service_env import LESSEE

PROJECT = LESSEE.project_id or ""
EVERYTHING = {"amount": 2, "network_name": "lab"}
OWNER = "network:router_interface"


def use(env: PluginEnv) -> None:
    """Put everything on the networks that keeps Neutron from deleting them."""
    cloud = env.cloud
    first, second = (each.id for each in cloud.segments.list_networks(project_id=PROJECT))
    for number, network in enumerate((first, second)):
        cloud.add_subnet(network, f"10.{number}.0.0/24")
    server = cloud.add_port(first, PROJECT, device_id="server", device_owner="compute:nova").id
    cloud.add_trunk(server, frozenset({cloud.add_port(second, PROJECT).id}))
    routes = (Route(destination="198.51.100.0/24", nexthop="10.0.0.9"),)
    router = cloud.add_router(first, PROJECT, routes)
    cloud.add_port(second, PROJECT, device_id=router, device_owner=OWNER)


def comes(env: PluginEnv) -> None:
    """The lessee has one network on each segment exactly while the lease runs."""
    with env.trial():
        lease = env.create("a", 1, 3, EVERYTHING)
        env.at(1.5)
    assert env.lease(lease).status is LeaseStatus.ACTIVE
    networks = env.cloud.segments.list_networks(project_id=PROJECT)
    assert sorted(each.name for each in networks) == ["lab-1", "lab-2"]
    assert len({each.segment for each in networks}) == 2
    env.at(3.5)


def goes(env: PluginEnv) -> None:
    """Whatever is on the networks, all of it goes, and no other lease starts before."""
    everything = {**EVERYTHING, "amount": 4}
    lease = env.create("a", 1, 3, EVERYTHING)
    following = env.create("b", 3, 6, everything)
    env.at(1.5)
    with env.faults.exempt():
        use(env)
    with env.trial():
        env.at(3.5)
    assert env.lease(lease).status is LeaseStatus.TERMINATED
    assert env.lease(following).status is LeaseStatus.ACTIVE
    with env.faults.exempt():
        assert env.cloud.segments.list_trunks() == ()
    env.at(6.5)


STORIES = {"comes": comes, "goes": goes}


class TestEveryStep(EveryStep):
    harness_type = NetworksHarness
    stories = STORIES
