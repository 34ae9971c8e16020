"""The part of Nova that is called with a lessee's token."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blazar.cloud.openstack.access import LesseeAccess
from blazar.cloud.openstack.flavors import find_flavor, list_flavors
from blazar.cloud.openstack.rest import RestClient
from blazar.cloud.openstack.server_groups import create_server_group
from blazar.domain.errors import CloudRefused
from blazar.ports.compute import Flavor, Lessee, ServerGroup

if TYPE_CHECKING:
    from blazar.ports.compute import LesseeCompute


class OpenStackLesseeCompute:
    """Nova as one lessee sees it, with the token of the lessee's request."""

    def __init__(self, nova: RestClient, lessee: Lessee) -> None:
        """Create the adapter; makes no call.

        Args:
            nova: The client with the service's credentials.
            lessee: The lessee; without a token, every method raises CloudRefused.
        """
        self._service_nova = nova
        self._token = lessee.token

    def find_flavor(self, flavor_id: str) -> Flavor | None:
        """Return the flavor with its extra specs, or None if the lessee does not see it."""
        return find_flavor(self._nova, flavor_id)

    def list_flavors(self) -> tuple[Flavor, ...]:
        """Return the public flavors, and the private ones that the lessee's project may use."""
        return list_flavors(self._nova)

    def create_server_group(self, name: str, policy: str) -> ServerGroup:
        """Return a new server group in the lessee's project; names need not be unique."""
        return create_server_group(self._nova, name, policy)

    @property
    def _nova(self) -> RestClient:
        if self._token is None:
            raise CloudRefused("Nova: the call needs the lessee's Keystone token, but the request had none")
        return self._service_nova.seen_with(LesseeAccess(self._service_nova.access, self._token))


if TYPE_CHECKING:

    def _witness(compute: OpenStackLesseeCompute) -> LesseeCompute:
        return compute
