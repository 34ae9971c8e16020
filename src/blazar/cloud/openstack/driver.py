"""The OpenStack cloud of the configuration; the target of the entry point ``openstack``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from oslo_config.cfg import ConfigOpts

from blazar.cloud.openstack import options
from blazar.cloud.openstack.access import ServiceAccess
from blazar.cloud.openstack.aggregates import OpenStackAggregates
from blazar.cloud.openstack.block_storage import OpenStackBlockStorage
from blazar.cloud.openstack.executor import ThreadedExecutor
from blazar.cloud.openstack.flavors import OpenStackFlavors
from blazar.cloud.openstack.hypervisors import OpenStackHypervisors
from blazar.cloud.openstack.images import OpenStackImages
from blazar.cloud.openstack.keystone import OpenStackProjects, OpenStackTrusts, OpenStackUsers
from blazar.cloud.openstack.lessee import OpenStackLesseeCompute
from blazar.cloud.openstack.networks import OpenStackNetworks
from blazar.cloud.openstack.placement import OpenStackPlacement
from blazar.cloud.openstack.project_storage import OpenStackProjectStorage
from blazar.cloud.openstack.rest import RestClient
from blazar.cloud.openstack.segments import OpenStackSegments
from blazar.cloud.openstack.server_groups import OpenStackServerGroups
from blazar.cloud.openstack.servers import OpenStackServers
from blazar.cloud.openstack.sessions import Services
from blazar.cloud.openstack.settings import read_hypervisor_version
from blazar.ports.clock import Clock
from blazar.ports.compute import Lessee

if TYPE_CHECKING:
    from blazar.ports.cloud import Cloud

_RPC_THREADS = 64
"""The default of oslo.messaging for ``executor_thread_pool_size``, the threads that process requests."""

_OF_ADMINISTRATORS: Final = "quotas/no-project"
"""The quotas of another project, which need not exist; Neutron answers 403 to users."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenStackCloud:
    """Nova, Glance, Placement, Neutron, Cinder and parts of Keystone; thread-safe."""

    nova: RestClient
    """The client with the service's credentials, from which those of lessees are derived."""
    cinder: RestClient
    cinder_access: ServiceAccess
    """The access of this client, from which that to one project is derived."""
    hypervisors: OpenStackHypervisors
    aggregates: OpenStackAggregates
    servers: OpenStackServers
    images: OpenStackImages
    flavors: OpenStackFlavors
    server_groups: OpenStackServerGroups
    placement: OpenStackPlacement
    networks: OpenStackNetworks
    segments: OpenStackSegments
    block_storage: OpenStackBlockStorage
    projects: OpenStackProjects
    users: OpenStackUsers
    trusts: OpenStackTrusts
    executor: ThreadedExecutor

    def compute_for(self, lessee: Lessee) -> OpenStackLesseeCompute:
        """Return the part of Nova that is called with a lessee's token. Makes no call."""
        return OpenStackLesseeCompute(self.nova, lessee)

    def storage_in(self, project_id: str) -> OpenStackProjectStorage:
        """Return Cinder as a member of a project uses it. Makes no call."""
        return OpenStackProjectStorage(self.cinder.seen_with(self.cinder_access.in_project(project_id)))


def make_cloud(conf: ConfigOpts, clock: Clock) -> OpenStackCloud:
    """Return the cloud of the groups from ``[nova]`` to ``[cinder]``. Makes no call.

    Args:
        conf: The configuration; the options of this driver are registered in it.
        clock: Not used: OpenStack has its own clocks.

    Raises:
        OptionError: An option is invalid or missing; the message names its group and name.
    """
    options.register(conf)
    at_a_time = conf.manager.max_concurrent_cloud_calls
    rpc_threads = getattr(conf, "executor_thread_pool_size", _RPC_THREADS)
    services = Services(conf, connections=conf.manager.workers + rpc_threads + at_a_time)
    keystone = services.client(options.KEYSTONE, name="Keystone", version="v3")
    nova = services.client(options.NOVA, name="Nova", version="v2.1", versioned_as="compute")
    glance = services.client(options.GLANCE, name="Glance", version="v2")
    placement = services.client(options.PLACEMENT, name="Placement", versioned_as="placement")
    # Seen with Neutron 29: its first answers after a start were those for a user.
    neutron = services.client(options.NEUTRON, name="Neutron", version="v2.0", proof_path=_OF_ADMINISTRATORS)
    cinder = services.client(options.CINDER, name="Cinder", version="v3", versioned_as="volume")
    return OpenStackCloud(
        nova=nova,
        cinder=cinder,
        cinder_access=services.access(options.CINDER, version="v3"),
        hypervisors=OpenStackHypervisors(nova, microversion=read_hypervisor_version(conf)),
        aggregates=OpenStackAggregates(nova),
        servers=OpenStackServers(nova),
        images=OpenStackImages(nova, glance, services.credentials(options.NOVA).project_id),
        flavors=OpenStackFlavors(nova),
        server_groups=OpenStackServerGroups(nova),
        placement=OpenStackPlacement(placement),
        networks=OpenStackNetworks(neutron),
        segments=OpenStackSegments(neutron),
        block_storage=OpenStackBlockStorage(cinder),
        projects=OpenStackProjects(keystone),
        users=OpenStackUsers(keystone),
        trusts=OpenStackTrusts(keystone, services.credentials(options.KEYSTONE)),
        executor=ThreadedExecutor(at_a_time),
    )


if TYPE_CHECKING:

    def _witness(cloud: OpenStackCloud) -> Cloud:
        return cloud
