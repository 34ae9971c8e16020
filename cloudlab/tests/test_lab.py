"""The lab itself, on which the other tests rely."""

from __future__ import annotations

from keystoneauth1.adapter import Adapter

from cloudlab.lab import OpenStackLab
from cloudlab.waiting import wait_until

NO_NETWORK = {"networks": "none"}
MICROVERSION = "2.37"
SECONDS = 60


def boot(compute: Adapter, openstack: OpenStackLab) -> str:
    """Return the id of a new server of the tiny flavor."""
    body = {
        "name": "test-lab",
        "flavorRef": openstack.details.flavor_id,
        "imageRef": openstack.details.image_id,
        **NO_NETWORK,
    }
    answer = compute.post("/servers", json={"server": body}, microversion=MICROVERSION)
    return str(answer.json()["server"]["id"])


def status(compute: Adapter, server: str) -> str:
    """Return the status of a server, or GONE."""
    answer = compute.get(f"/servers/{server}", raise_exc=False)
    return str(answer.json()["server"]["status"]) if answer.ok else "GONE"


def test_every_service_answers(openstack: OpenStackLab) -> None:
    assert openstack.silent_services() == []


def test_all_hosts_are_up(openstack: OpenStackLab) -> None:
    services = (
        openstack.api("compute").get("/os-services", params={"binary": "nova-compute"}).json()["services"]
    )

    assert {each["host"]: each["state"] for each in services} == dict.fromkeys(openstack.details.hosts, "up")


def test_a_lessees_server_becomes_active_and_can_be_deleted(openstack: OpenStackLab) -> None:
    compute = openstack.api("compute", "lessee")

    server = boot(compute, openstack)

    wait_until(lambda: status(compute, server) == "ACTIVE", "the server is active", seconds=SECONDS)
    compute.delete(f"/servers/{server}")
    wait_until(lambda: status(compute, server) == "GONE", "the server is gone", seconds=SECONDS)


def test_a_floating_ip_of_the_external_network_can_be_tagged(openstack: OpenStackLab) -> None:
    network = openstack.api("network")
    body = {"floating_network_id": openstack.details.network_id, "subnet_id": openstack.details.subnet_id}
    address = network.post("/v2.0/floatingips", json={"floatingip": body}).json()["floatingip"]
    try:
        network.put(f"/v2.0/floatingips/{address['id']}/tags/blazar")

        tagged = network.get("/v2.0/floatingips", params={"tags": "blazar"}).json()["floatingips"]
    finally:
        network.delete(f"/v2.0/floatingips/{address['id']}")

    assert address["floating_ip_address"].startswith("203.0.113.")
    assert [each["id"] for each in tagged] == [address["id"]]


def test_leases_are_listed_through_the_catalogue(openstack: OpenStackLab) -> None:
    answer = openstack.api("reservation", "lessee").get("/leases")

    assert answer.status_code == 200
    assert isinstance(answer.json()["leases"], list)


def test_without_a_token_no_leases_are_listed(openstack: OpenStackLab) -> None:
    answer = openstack.api("reservation").get("/leases", authenticated=False, raise_exc=False)

    assert answer.status_code == 401


def test_requests_are_logged_with_path_and_user_agent(openstack: OpenStackLab) -> None:
    before = len(openstack.requests("placement"))
    openstack.api("placement").get("/resource_providers", user_agent="test-lab/1")

    def seen() -> list[tuple[str, str, int]]:
        requests = openstack.requests("placement")[before:]
        return [(each.method, each.path, each.status) for each in requests if each.user_agent == "test-lab/1"]

    wait_until(lambda: bool(seen()), "the request is logged", seconds=SECONDS)
    assert seen() == [("GET", "/resource_providers", 200)]
