"""Reserved instances, as seen by lessees and by an operator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from keystoneauth1.exceptions import BadRequest

from cloudlab.tests.actors import MICROVERSION, Actor, Json, Operator

_PLACEMENT_VERSION = "1.29"
_MARK = "reservation:"
_CLASS_MARK = "CUSTOM_RESERVATION_"
_PROVIDER_MARK = "blazar_"


@dataclass(frozen=True, slots=True)
class SlotView:
    """Objects in Nova and Placement for reservations of instances."""

    operator: Operator

    def flavors(self) -> dict[str, Json]:
        """Return the flavors of reservations by id, including those without access for any project."""
        answer = self.operator.compute.get(
            "/flavors/detail", params={"is_public": "None"}, microversion=MICROVERSION
        )
        found = answer.json()["flavors"]
        return {each["id"]: each for each in found if each["name"].startswith(_MARK)}

    def projects_with(self, flavor_id: str) -> set[str]:
        """Return the ids of the projects that may use a private flavor."""
        answer = self.operator.compute.get(f"/flavors/{flavor_id}/os-flavor-access")
        return {each["tenant_id"] for each in answer.json()["flavor_access"]}

    def groups(self) -> dict[str, Json]:
        """Return the server groups of reservations of all projects, by id."""
        answer = self.operator.compute.get(
            "/os-server-groups", params={"all_projects": "1"}, microversion=MICROVERSION
        )
        found = answer.json()["server_groups"]
        return {each["id"]: each for each in found if each["name"].startswith(_MARK)}

    def classes(self) -> set[str]:
        """Return the resource classes of reservations."""
        found = self._list("resource_classes")
        return {each["name"] for each in found if each["name"].startswith(_CLASS_MARK)}

    def inventories(self) -> dict[str, dict[str, Json]]:
        """Return the inventories of slots by host and resource class, without hosts that have none."""
        found = {}
        for each in self._list("resource_providers"):
            if each["name"].startswith(_PROVIDER_MARK):
                path = f"/resource_providers/{each['uuid']}/inventories"
                answer = self.operator.placement.get(path, microversion=_PLACEMENT_VERSION)
                found[each["name"].removeprefix(_PROVIDER_MARK)] = answer.json()["inventories"]
        return {host: by_class for host, by_class in found.items() if by_class}

    def slots(self, reservation_id: str) -> dict[str, int]:
        """Return the number of slots of a reservation in Placement, by host."""
        name = class_of(reservation_id)
        return {
            host: by_class[name]["total"] for host, by_class in self.inventories().items() if name in by_class
        }

    def leftovers(self) -> list[str]:
        """Return descriptions of all objects."""
        found = [f"flavor {each['name']}" for each in self.flavors().values()]
        found += [f"server group {each['name']}" for each in self.groups().values()]
        found += [f"resource class {name}" for name in self.classes()]
        found += [f"host {host} has {list(by_class)}" for host, by_class in self.inventories().items()]
        return found

    def _list(self, collection: str) -> list[Json]:
        answer = self.operator.placement.get(f"/{collection}", microversion=_PLACEMENT_VERSION)
        return list(answer.json()[collection])


def class_of(reservation_id: str) -> str:
    """Return the name of a reservation's resource class."""
    return _CLASS_MARK + reservation_id.upper().replace("-", "_")


def fill(lessee: Actor, operator: Operator, flavor_id: str, count: int, **keys: Any) -> list[str]:
    """Boot servers of a reservation's flavor; return the hosts of those that are active, sorted."""
    servers = lessee.boot_many(count, flavor_id, **keys)
    assert len(servers) == count
    active = [each for each in servers if lessee.wait_for_server(each) == "ACTIVE"]
    for each in sorted({*servers} - {*active}):
        print(f"server {each}: {(lessee.server(each) or {}).get('fault')}")
    return sorted(str(operator.host_of_server(each)) for each in active)


def finds_no_host(actor: Actor, flavor_id: str | None = None) -> bool:
    """Return whether the scheduler refuses a server; if it does not, the server is kept."""
    server_id = actor.boot(flavor_id=flavor_id)
    status = actor.wait_for_server(server_id)
    fault: Mapping[str, str] = (actor.server(server_id) or {}).get("fault", {})
    return status == "ERROR" and "No valid host" in fault.get("message", "")


def is_kept_from(actor: Actor, flavor_id: str) -> bool:
    """Return whether a user can neither see a flavor nor boot a server of it."""
    answer = actor.compute.get(f"/flavors/{flavor_id}", raise_exc=False)
    if answer.status_code != 404 or flavor_id in actor.flavors():
        return False
    try:
        actor.boot(flavor_id=flavor_id)
    except BadRequest:
        return True
    return False
