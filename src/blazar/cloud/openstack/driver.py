"""The OpenStack cloud of the configuration; the target of the entry point ``openstack``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oslo_config.cfg import ConfigOpts

from blazar.cloud.openstack import options
from blazar.cloud.openstack.compute import OpenStackCompute
from blazar.cloud.openstack.executor import ThreadedExecutor
from blazar.cloud.openstack.keystone import OpenStackProjects, OpenStackTrusts
from blazar.cloud.openstack.lessee import OpenStackLesseeCompute
from blazar.cloud.openstack.networks import OpenStackNetworks
from blazar.cloud.openstack.nova import NovaServices
from blazar.cloud.openstack.placement import OpenStackPlacement
from blazar.cloud.openstack.sessions import Services
from blazar.cloud.openstack.settings import read_hypervisor_version
from blazar.ports.clock import Clock
from blazar.ports.compute import Lessee

if TYPE_CHECKING:
    from blazar.ports.cloud import Cloud

_RPC_THREADS = 64
"""The default of oslo.messaging for ``executor_thread_pool_size``, the threads that process requests."""


class OpenStackCloud:
    """Nova, Placement, Neutron and parts of Keystone; thread-safe."""

    def __init__(
        self,
        services: NovaServices,
        placement: OpenStackPlacement,
        networks: OpenStackNetworks,
        projects: OpenStackProjects,
        trusts: OpenStackTrusts,
        executor: ThreadedExecutor,
    ) -> None:
        self._nova = services.nova
        self.compute = OpenStackCompute(services)
        self.placement = placement
        self.networks = networks
        self.projects = projects
        self.trusts = trusts
        self.executor = executor

    def compute_for(self, lessee: Lessee) -> OpenStackLesseeCompute:
        """Return the part of Nova that is used with a lessee's rights. Makes no call."""
        return OpenStackLesseeCompute(self._nova, lessee)


def make_cloud(conf: ConfigOpts, clock: Clock) -> OpenStackCloud:
    """Return the cloud of ``[nova]``, ``[placement]``, ``[neutron]`` and ``[glance]``. Makes no call.

    Args:
        conf: The configuration; the options of this driver are registered in it.
        clock: Not used: OpenStack has its own clocks.

    Raises:
        OptionError: An option is invalid or missing; the message names its group and name.
    """
    options.register(conf)
    at_a_time = conf.manager.cloud_calls_side_by_side
    rpc_threads = getattr(conf, "executor_thread_pool_size", _RPC_THREADS)
    services = Services(conf, connections=conf.manager.workers + rpc_threads + at_a_time)
    keystone = services.client(options.KEYSTONE, name="Keystone", version="v3")
    return OpenStackCloud(
        NovaServices(
            nova=services.client(options.NOVA, name="Nova", version="v2.1", versioned_as="compute"),
            glance=services.client(options.GLANCE, name="Glance", version="v2"),
            project_id=services.credentials(options.NOVA).project_id,
            hypervisor_version=read_hypervisor_version(conf),
        ),
        OpenStackPlacement(services.client(options.PLACEMENT, name="Placement", versioned_as="placement")),
        OpenStackNetworks(services.client(options.NEUTRON, name="Neutron", version="v2.0")),
        OpenStackProjects(keystone),
        OpenStackTrusts(keystone, services.credentials(options.KEYSTONE)),
        ThreadedExecutor(at_a_time),
    )


if TYPE_CHECKING:

    def _witness(cloud: OpenStackCloud) -> Cloud:
        return cloud
