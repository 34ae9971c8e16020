"""The OpenStack that the configuration describes; the entry point ``openstack``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oslo_config.cfg import ConfigOpts

from blazar.cloud.openstack import options
from blazar.cloud.openstack.compute import OpenStackCompute
from blazar.cloud.openstack.lessee import OpenStackLesseeCompute
from blazar.cloud.openstack.networks import OpenStackNetworks
from blazar.cloud.openstack.nova import NovaServices
from blazar.cloud.openstack.placement import OpenStackPlacement
from blazar.cloud.openstack.sessions import Services
from blazar.cloud.openstack.settings import read_hypervisor_version
from blazar.cloud.openstack.threads import Threads
from blazar.cloud.openstack.trusts import OpenStackTrusts
from blazar.ports.clock import Clock
from blazar.ports.compute import Lessee

if TYPE_CHECKING:
    from blazar.ports.cloud import Cloud

_RPC_THREADS = 64
"""What oslo.messaging runs requests on, unless ``executor_thread_pool_size`` says otherwise."""


class OpenStackCloud:
    """Nova, Placement, Neutron and Keystone's trusts, all safe to use from any thread."""

    def __init__(
        self,
        services: NovaServices,
        placement: OpenStackPlacement,
        networks: OpenStackNetworks,
        trusts: OpenStackTrusts,
        side_by_side: Threads,
    ) -> None:
        self._nova = services.nova
        self.compute = OpenStackCompute(services)
        self.placement = placement
        self.networks = networks
        self.trusts = trusts
        self.side_by_side = side_by_side

    def compute_for(self, lessee: Lessee) -> OpenStackLesseeCompute:
        """Return the part of Nova that is used with a lessee's rights. Makes no call."""
        return OpenStackLesseeCompute(self._nova, lessee)


def make_cloud(conf: ConfigOpts, clock: Clock) -> OpenStackCloud:
    """Return the cloud of ``[nova]``, ``[placement]``, ``[neutron]`` and ``[glance]``. Makes no call.

    Args:
        conf: The configuration; the options of this driver are registered in it.
        clock: Not needed: the cloud has its own.

    Raises:
        OptionError: The options cannot be used; the message names group and option.
    """
    options.register(conf)
    at_a_time = conf.manager.cloud_calls_side_by_side
    rpc_threads = getattr(conf, "executor_thread_pool_size", _RPC_THREADS)
    services = Services(conf, connections=conf.manager.workers + rpc_threads + at_a_time)
    return OpenStackCloud(
        NovaServices(
            nova=services.client(options.NOVA, name="Nova", version="v2.1", versioned_as="compute"),
            glance=services.client(options.GLANCE, name="Glance", version="v2"),
            hypervisor_version=read_hypervisor_version(conf),
        ),
        OpenStackPlacement(services.client(options.PLACEMENT, name="Placement", versioned_as="placement")),
        OpenStackNetworks(services.client(options.NEUTRON, name="Neutron", version="v2.0")),
        OpenStackTrusts(
            services.client(options.KEYSTONE, name="Keystone", version="v3"),
            services.credentials(options.KEYSTONE),
        ),
        Threads(at_a_time),
    )


if TYPE_CHECKING:

    def _witness(cloud: OpenStackCloud) -> Cloud:
        return cloud
