"""Nova's flavors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from blazar.cloud.openstack.rest import RestClient
from blazar.domain.errors import CloudRefused
from blazar.ports.compute import Flavor

if TYPE_CHECKING:
    from blazar.ports.compute import Flavors

_VERSION = "2.61"
"""From this version on, a flavor includes its extra specs. From 2.86 on, unknown extra specs are refused."""
_LIST = "detail"
"""The path segment of the list of all flavors; a flavor with this id cannot be read."""


class OpenStackFlavors:
    """Flavors, their access lists, and their extra specs. A public flavor has no access list."""

    def __init__(self, nova: RestClient) -> None:
        self._nova = nova

    def find_flavor(self, flavor_id: str) -> Flavor | None:
        """Return the flavor with its extra specs, or None."""
        return find_flavor(self._nova, flavor_id)

    def list_flavors(self) -> tuple[Flavor, ...]:
        """Return all flavors, including private ones, with their extra specs; from all pages."""
        # The word None selects public and private ones.
        return list_flavors(self._nova, is_public="None")

    def create_flavor(self, flavor: Flavor) -> None:
        """Create the flavor and, with a second request, its extra specs.

        Raises:
            CloudConflict: The id or the name is taken.
        """
        body = {
            "id": flavor.id,
            "name": flavor.name,
            "vcpus": flavor.vcpus,
            "ram": flavor.memory_mb,
            "disk": flavor.disk_gb,
            "OS-FLV-EXT-DATA:ephemeral": flavor.ephemeral_gb,
            "os-flavor-access:is_public": flavor.is_public,
        }
        self._nova.post("flavors", body={"flavor": body}, version=_VERSION)
        if flavor.extra_specs:
            self.set_flavor_extra_specs(flavor.id, flavor.extra_specs)

    def set_flavor_extra_specs(self, flavor_id: str, extra_specs: Mapping[str, str]) -> None:
        """Set these extra specs and leave others alone. Raises CloudNotFound."""
        body = {"extra_specs": dict(extra_specs)}
        self._nova.post("flavors", flavor_id, "os-extra_specs", body=body, version=_VERSION)

    def delete_flavor(self, flavor_id: str) -> None:
        """Delete the flavor. Raises CloudNotFound."""
        self._nova.delete("flavors", flavor_id, version=_VERSION)

    def list_flavor_access(self, flavor_id: str) -> frozenset[str]:
        """Return the ids of the projects on its access list. Raises CloudNotFound, also if it is public."""
        answer = self._nova.get("flavors", flavor_id, "os-flavor-access", version=_VERSION)
        return answer.read(lambda body: frozenset(each["tenant_id"] for each in body["flavor_access"]))

    def add_flavor_access(self, flavor_id: str, project_id: str) -> None:
        """Grant access to a project. Raises CloudNotFound, or CloudConflict if the project has access."""
        self._act_on_flavor(flavor_id, {"addTenantAccess": {"tenant": project_id}})

    def remove_flavor_access(self, flavor_id: str, project_id: str) -> None:
        """Revoke a project's access. Raises CloudNotFound if it had none or the flavor does not exist."""
        self._act_on_flavor(flavor_id, {"removeTenantAccess": {"tenant": project_id}})

    def _act_on_flavor(self, flavor_id: str, action: Mapping[str, object]) -> None:
        self._nova.post("flavors", flavor_id, "action", body=action, version=_VERSION)


def list_flavors(nova: RestClient, **params: str) -> tuple[Flavor, ...]:
    """Return the flavors that the client's user may use, from all pages."""
    return nova.list("flavors", _LIST, key="flavors", parse=_flavor, params=params, version=_VERSION)


def find_flavor(nova: RestClient, flavor_id: str) -> Flavor | None:
    """Return the flavor as the client's user sees it, or None."""
    answer = None if flavor_id == _LIST else nova.find("flavors", flavor_id, version=_VERSION)
    return None if answer is None else answer.read(lambda body: _flavor(body["flavor"]))


def _flavor(body: Mapping[str, Any]) -> Flavor:
    if "extra_specs" not in body:
        raise CloudRefused(
            f"Nova: the caller may not see the extra specs of flavor {body['id']}: "
            "policy os_compute_api:os-flavor-extra-specs:index"
        )
    return Flavor(
        id=body["id"],
        name=body["name"],
        vcpus=int(body["vcpus"]),
        memory_mb=int(body["ram"]),
        disk_gb=int(body["disk"]),
        ephemeral_gb=int(body["OS-FLV-EXT-DATA:ephemeral"]),
        is_public=body["os-flavor-access:is_public"],
        extra_specs=body["extra_specs"],
        # An empty text for none, before microversion 2.75.
        swap_mb=int(body.get("swap") or 0),
        # Absent if Nova's policy hides it.
        rxtx_factor=float(body.get("rxtx_factor") or 1),
        is_disabled=bool(body.get("OS-FLV-DISABLED:disabled", False)),
    )


if TYPE_CHECKING:

    def _witness(flavors: OpenStackFlavors) -> Flavors:
        return flavors
