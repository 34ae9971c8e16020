"""The part of Nova that is used with a lessee's rights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blazar.cloud.openstack.access import LesseeAccess
from blazar.cloud.openstack.flavors import find_flavor
from blazar.cloud.openstack.rest import RestClient
from blazar.cloud.openstack.server_groups import create_server_group
from blazar.domain.errors import CloudRefused
from blazar.ports.compute import Flavor, Lessee, ServerGroup

if TYPE_CHECKING:
    from blazar.ports.compute import LesseeCompute


class OpenStackLesseeCompute:
    """What one lessee sees and owns, with the token that came with the request."""

    def __init__(self, nova: RestClient, lessee: Lessee) -> None:
        """Make no call.

        Args:
            nova: As the service sees it.
            lessee: Without a token, every method raises CloudRefused.
        """
        self._service_nova = nova
        self._token = lessee.token

    def find_flavor(self, flavor_id: str) -> Flavor | None:
        """Return the flavor with its extra specs, or None, also if the lessee may not see it."""
        return find_flavor(self._nova, flavor_id)

    def create_server_group(self, name: str, policy: str) -> ServerGroup:
        """Return a new server group in the lessee's project; names need not be unique."""
        return create_server_group(self._nova, name, policy)

    @property
    def _nova(self) -> RestClient:
        if self._token is None:
            raise CloudRefused("Nova: this needs the lessee's Keystone token, and the request had none")
        return self._service_nova.seen_with(LesseeAccess(self._service_nova.access, self._token))


if TYPE_CHECKING:

    def _witness(compute: OpenStackLesseeCompute) -> LesseeCompute:
        return compute
