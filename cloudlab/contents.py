"""Initial contents of the cloud: an image, flavors, a network, the freepool, a volume type."""

from __future__ import annotations

from typing import Any, Final

from cloudlab import cinder, rest
from cloudlab.neutron import FLAT_NETWORK
from cloudlab.plan import Plan

FREEPOOL: Final = "freepool"
TINY_FLAVOR: Final = "tiny"
PREEMPTIBLE_FLAVOR: Final = "tiny-preemptible"
NETWORK: Final = "public"

_DEFAULT_TYPE: Final = "__DEFAULT__"
_IMAGE_NAME: Final = "nothing"
_IMAGE_BYTES: Final = 1024
_SUBNET: Final = {
    "name": "public-subnet",
    "ip_version": 4,
    "cidr": "203.0.113.0/24",
    "gateway_ip": "203.0.113.1",
    "enable_dhcp": False,
    "allocation_pools": [{"start": "203.0.113.10", "end": "203.0.113.99"}],
}
"""Addresses for documentation (RFC 5737)."""


def ensure_all(plan: Plan) -> None:
    """Create everything that is missing."""
    ensure_freepool(plan)
    ensure_flavors(plan)
    ensure_network(plan)
    ensure_image(plan)
    ensure_volume_types(plan)


def ensure_image(plan: Plan) -> str:
    """Return the id of an image that any server can use."""
    api = rest.make_adapter(rest.admin_session(plan), "image")
    body = {
        "name": _IMAGE_NAME,
        "disk_format": "raw",
        "container_format": "bare",
        "visibility": "public",
    }
    image = rest.ensure(api, "/v2/images", "images", "", body, name=_IMAGE_NAME)
    if image["status"] == "queued":
        api.put(
            f"/v2/images/{image['id']}/file",
            data=bytes(_IMAGE_BYTES),
            headers={"Content-Type": "application/octet-stream"},
        )
    return str(image["id"])


def ensure_flavors(plan: Plan) -> None:
    """Create an ordinary and a preemptible flavor, whose ids are their names."""
    api = rest.make_adapter(rest.admin_session(plan), "compute")
    for name, specs in ((TINY_FLAVOR, {}), (PREEMPTIBLE_FLAVOR, {"blazar:preemptible": "true"})):
        if not rest.is_there(api, f"/flavors/{name}"):
            body = {"id": name, "name": name, "vcpus": 1, "ram": 64, "disk": 1}
            api.post("/flavors", json={"flavor": body})
        if specs:
            api.post(f"/flavors/{name}/os-extra_specs", json={"extra_specs": specs})


def ensure_freepool(plan: Plan) -> int:
    """Return the id of the aggregate of reservable hosts, which is empty at first."""
    api = rest.make_adapter(rest.admin_session(plan), "compute")
    for each in api.get("/os-aggregates").json()["aggregates"]:
        if each["name"] == FREEPOOL:
            return int(each["id"])
    return int(api.post("/os-aggregates", json={"aggregate": {"name": FREEPOOL}}).json()["aggregate"]["id"])


def ensure_volume_types(plan: Plan) -> None:
    """Create the type for everybody, and remove Cinder's own, whose volumes may be in any pool."""
    api = rest.make_adapter(rest.admin_session(plan), "block-storage")
    found = {each["name"]: each["id"] for each in api.get("/types?is_public=None").json()["volume_types"]}
    if cinder.ORDINARY_TYPE not in found:
        specs = {"volume_backend_name": cinder.ORDINARY_BACKEND}
        body = {"name": cinder.ORDINARY_TYPE, "extra_specs": specs}
        api.post("/types", json={"volume_type": body})
    if _DEFAULT_TYPE in found:
        api.delete(f"/types/{found[_DEFAULT_TYPE]}")


def ensure_network(plan: Plan) -> tuple[str, str]:
    """Return the ids of the external network and its subnet."""
    api = rest.make_adapter(rest.admin_session(plan), "network")
    body: dict[str, Any] = {
        "name": NETWORK,
        "router:external": True,
        "provider:network_type": "flat",
        "provider:physical_network": FLAT_NETWORK,
    }
    network = rest.ensure(api, "/v2.0/networks", "networks", "network", body, name=NETWORK)["id"]
    body = {**_SUBNET, "network_id": network}
    subnet = rest.ensure(api, "/v2.0/subnets", "subnets", "subnet", body, network_id=network)["id"]
    return str(network), str(subnet)


def hosts_that_are_up(plan: Plan) -> set[str]:
    """Return the names of the hosts whose compute service reports and which belong to a cell."""
    api = rest.make_adapter(rest.admin_session(plan), "compute")
    found = api.get("/os-hypervisors").json()["hypervisors"]
    return {each["hypervisor_hostname"] for each in found if each["state"] == "up"}
