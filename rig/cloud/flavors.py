"""Nova's flavors."""

from __future__ import annotations

from blazar.cloud.simulated import SimulatedCloud
from blazar.domain.errors import CloudNotFound, CloudRefused
from blazar.ports.compute import Flavor, Lessee
from rig.cloud.messages import Call, Reply, Route
from rig.cloud.paging import links, page_of


def _list_flavors(cloud: SimulatedCloud, call: Call) -> Reply:
    if call.caller.is_admin and call.value("is_public") == "None":
        flavors = cloud.flavors.list_flavors()
    else:
        flavors = cloud.compute_for(Lessee(project_id=call.caller.project_id or "")).list_flavors()
    page, has_next = page_of(flavors, [each.id for each in flavors], call)
    bodies = [_flavor(each) for each in page]
    return Reply(body={"flavors": bodies, **links("flavors", call, has_next=has_next)})


def _show_flavor(cloud: SimulatedCloud, call: Call) -> Reply:
    if call.caller.is_admin:
        found = cloud.flavors.find_flavor(call["id"])
    else:
        lessee = Lessee(project_id=call.caller.project_id or "")
        found = cloud.compute_for(lessee).find_flavor(call["id"])
    if found is None:
        raise CloudNotFound(f"flavor {call['id']} could not be found")
    return Reply(body={"flavor": _flavor(found)})


def _create_flavor(cloud: SimulatedCloud, call: Call) -> Reply:
    body = call.body["flavor"]
    flavor = Flavor(
        id=body["id"],
        name=body["name"],
        vcpus=body["vcpus"],
        memory_mb=body["ram"],
        disk_gb=body["disk"],
        ephemeral_gb=body["OS-FLV-EXT-DATA:ephemeral"],
        is_public=body["os-flavor-access:is_public"],
    )
    cloud.flavors.create_flavor(flavor)
    return Reply(body={"flavor": _flavor(flavor)})


def _set_extra_specs(cloud: SimulatedCloud, call: Call) -> Reply:
    cloud.flavors.set_flavor_extra_specs(call["id"], call.body["extra_specs"])
    return Reply(body=call.body)


def _delete_flavor(cloud: SimulatedCloud, call: Call) -> Reply:
    cloud.flavors.delete_flavor(call["id"])
    return Reply(status=202)


def _list_access(cloud: SimulatedCloud, call: Call) -> Reply:
    return _access(call["id"], cloud.flavors.list_flavor_access(call["id"]))


def _act_on_flavor(cloud: SimulatedCloud, call: Call) -> Reply:
    flavor_id = call["id"]
    ((action, detail),) = call.body.items()
    match action:
        case "addTenantAccess":
            cloud.flavors.add_flavor_access(flavor_id, detail["tenant"])
        case "removeTenantAccess":
            cloud.flavors.remove_flavor_access(flavor_id, detail["tenant"])
        case _:
            raise CloudRefused(f"there is no such action: {action}")
    # Nova returns all projects with access here; the callers do not read them.
    return _access(flavor_id, frozenset())


def _access(flavor_id: str, projects: frozenset[str]) -> Reply:
    access = [{"flavor_id": flavor_id, "tenant_id": each} for each in sorted(projects)]
    return Reply(body={"flavor_access": access})


def _flavor(flavor: Flavor) -> object:
    return {
        "id": flavor.id,
        "name": flavor.name,
        "vcpus": flavor.vcpus,
        "ram": flavor.memory_mb,
        "disk": flavor.disk_gb,
        "OS-FLV-EXT-DATA:ephemeral": flavor.ephemeral_gb,
        "swap": flavor.swap_mb or "",
        "rxtx_factor": flavor.rxtx_factor,
        "os-flavor-access:is_public": flavor.is_public,
        "OS-FLV-DISABLED:disabled": flavor.is_disabled,
        "extra_specs": dict(flavor.extra_specs),
    }


ROUTES = (
    Route("GET", "/flavors/detail", _list_flavors, is_open=True),
    Route("GET", "/flavors/{id}", _show_flavor, is_open=True),
    Route("POST", "/flavors", _create_flavor),
    Route("DELETE", "/flavors/{id}", _delete_flavor),
    Route("POST", "/flavors/{id}/os-extra_specs", _set_extra_specs),
    Route("GET", "/flavors/{id}/os-flavor-access", _list_access),
    Route("POST", "/flavors/{id}/action", _act_on_flavor),
)
