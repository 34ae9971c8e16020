"""Library: hosts, resource properties, floating IPs and allocations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from blazarclient import exception
from blazarclient.v1.client import Client

if TYPE_CHECKING:
    from .conftest import Stub

HOST = {"id": "17", "hypervisor_hostname": "compute-1", "rack": "r1"}
ADDRESS = {"id": "F", "floating_ip_address": "203.0.113.9"}
ALLOCATION = {"resource_id": "17", "reservations": []}
RACK = {"property": "rack", "private": False, "values": ["r1", "r2"]}
SECRET = {"property": "secret", "private": True, "values": ["x"]}


def test_hosts_are_created_read_listed_and_deleted(stub: Stub, client: Client) -> None:
    stub.respond({"host": HOST}, status=201)
    stub.respond({"host": HOST})
    stub.respond({"hosts": [HOST, HOST | {"id": "16"}]})
    stub.respond(None, status=204)

    assert client.host.create(name="compute-1", rack="r1") == HOST
    assert client.host.get("17") == HOST
    assert [each["id"] for each in client.host.list(sort_by="id")] == ["16", "17"]
    client.host.delete("17")

    assert stub.calls == [
        ("POST", "/os-hosts", {"name": "compute-1", "rack": "r1"}),
        ("GET", "/os-hosts/17", None),
        ("GET", "/os-hosts", None),
        ("DELETE", "/os-hosts/17", None),
    ]


def test_capabilities_of_a_host_are_set_and_removed(stub: Stub, client: Client) -> None:
    stub.respond({"host": HOST})

    assert client.host.update("17", values={"rack": "r2", "gpu": None}) == HOST
    assert stub.calls == [("PUT", "/os-hosts/17", {"rack": "r2", "gpu": None})]


def test_an_update_of_a_host_without_values_sends_nothing_and_returns_a_message(
    stub: Stub, client: Client
) -> None:
    assert isinstance(client.host.update("17", {}), str)
    assert stub.sent == []


def test_only_enabled_switches_are_sent_when_listing_properties(stub: Stub, client: Client) -> None:
    stub.respond({"resource_properties": [{"property": "rack"}, {"property": "gpu"}]})
    stub.respond({"resource_properties": [SECRET, RACK]})
    stub.respond({"resource_properties": [{"property": "rack"}]})

    assert client.host.list_properties(sort_by="property") == [{"property": "gpu"}, {"property": "rack"}]
    assert client.host.list_properties(detail=True, all=True, sort_by="property") == [
        {"property": "rack", "private": False, "property_values": ["r1", "r2"]},
        {"property": "secret", "private": True, "property_values": ["x"]},
    ]
    client.host.list_properties(all=True)

    assert [each.path for each in stub.sent] == [
        "/os-hosts/properties",
        "/os-hosts/properties?detail=True&all=True",
        "/os-hosts/properties?all=True",
    ]


def test_a_property_is_found_by_name(stub: Stub, client: Client) -> None:
    stub.respond({"resource_properties": [RACK]})

    assert client.host.get_property("rack")["property_values"] == ["r1", "r2"]
    assert [each.path for each in stub.sent] == ["/os-hosts/properties?detail=True"]


def test_operators_find_private_properties(stub: Stub, client: Client) -> None:
    stub.respond({"resource_properties": [RACK]})
    stub.respond({"resource_properties": [RACK, SECRET]})

    assert client.host.get_property("secret")["private"] is True


def test_missing_and_invisible_properties_are_not_found(stub: Stub, client: Client) -> None:
    stub.respond({"resource_properties": [RACK]})
    stub.respond({"resource_properties": [RACK, SECRET]})
    stub.respond({"resource_properties": [RACK]})
    stub.respond({"error_message": "admin only"}, status=403)

    for _ in range(2):
        with pytest.raises(exception.ResourcePropertyNotFound) as caught:
            client.host.get_property("nothing")
        assert caught.value.kwargs["code"] == 404


def test_users_who_cannot_list_properties_get_forbidden(stub: Stub, client: Client) -> None:
    stub.respond({"error_message": "no"}, status=403)

    with pytest.raises(exception.Forbidden):
        client.host.get_property("rack")


def test_a_property_is_made_private(stub: Stub, client: Client) -> None:
    stub.respond({"resource_property": {"property_name": "rack", "private": True}})

    assert client.host.set_property("rack", private=True)["private"] is True
    assert stub.calls == [("PATCH", "/os-hosts/properties/rack", {"private": True})]


def test_floating_ips_are_created_read_listed_and_deleted(stub: Stub, client: Client) -> None:
    stub.respond({"floatingip": ADDRESS}, status=201)
    stub.respond({"floatingip": ADDRESS})
    stub.respond({"floatingips": [ADDRESS]})
    stub.respond(None, status=204)

    assert client.floatingip.create("N", "203.0.113.9", note="x") == ADDRESS
    assert client.floatingip.get("F") == ADDRESS
    assert client.floatingip.list() == [ADDRESS]
    client.floatingip.delete("F")

    assert stub.calls == [
        (
            "POST",
            "/floatingips",
            {"floating_network_id": "N", "floating_ip_address": "203.0.113.9", "note": "x"},
        ),
        ("GET", "/floatingips/F", None),
        ("GET", "/floatingips", None),
        ("DELETE", "/floatingips/F", None),
    ]


def test_allocations_are_read_and_listed(stub: Stub, client: Client) -> None:
    stub.respond({"allocation": ALLOCATION})
    stub.respond({"allocations": [ALLOCATION, ALLOCATION | {"resource_id": "16"}]})
    stub.respond({"allocation": ALLOCATION})
    stub.respond({"allocations": []})

    assert client.allocation.get("os-hosts", "17") == ALLOCATION
    assert [each["resource_id"] for each in client.allocation.list("os-hosts", sort_by="resource_id")] == [
        "16",
        "17",
    ]
    client.allocation.get("os-hosts", "17", lease_id="L", reservation_id="R")
    client.allocation.list("os-hosts", reservation_id="R&S")

    assert [each.path for each in stub.sent] == [
        "/os-hosts/17/allocation",
        "/os-hosts/allocations",
        "/os-hosts/17/allocation?lease_id=L&reservation_id=R",
        "/os-hosts/allocations?reservation_id=R%26S",
    ]


def test_the_host_manager_also_returns_allocations(stub: Stub, client: Client) -> None:
    stub.respond({"allocation": ALLOCATION})
    stub.respond({"allocations": [ALLOCATION, ALLOCATION | {"resource_id": "16"}]})
    stub.respond({"allocations": []})

    assert client.host.get_allocation("17") == ALLOCATION
    assert [each["resource_id"] for each in client.host.list_allocations(sort_by="resource_id")] == [
        "16",
        "17",
    ]
    assert client.host.list_allocations(lease_id="L") == []

    assert [path for _method, path, _body in stub.calls] == [
        "/os-hosts/17/allocation",
        "/os-hosts/allocations",
        "/os-hosts/allocations?lease_id=L",
    ]


def test_storage_pools_are_created_read_changed_and_deleted_with_api_1_1(stub: Stub, client: Client) -> None:
    pool = {"id": "P", "name": "block1@fast#ssd", "amounts": {"GIBIBYTES": 9}}
    for status, body in ((201, {"storage_pool": pool}), (200, {"storage_pool": pool})):
        stub.respond(body, status=status)
    stub.respond({"storage_pools": [pool]})
    stub.respond({"storage_pool": pool})
    stub.respond(None, status=204)

    assert client.storage_pool.create("block1@fast#ssd", gibibytes=9, rack="r1") == pool
    assert client.storage_pool.get("P") == pool
    assert client.storage_pool.list(sort_by="name") == [pool]
    assert client.storage_pool.update("P", {"gibibytes": 8, "rack": None}) == pool
    client.storage_pool.delete("P")

    assert client.storage_pool.update("P", {}) == "Nothing to update."
    assert stub.calls == [
        ("POST", "/storage-pools", {"name": "block1@fast#ssd", "gibibytes": 9, "rack": "r1"}),
        ("GET", "/storage-pools/P", None),
        ("GET", "/storage-pools", None),
        ("PUT", "/storage-pools/P", {"gibibytes": 8, "rack": None}),
        ("DELETE", "/storage-pools/P", None),
    ]
    assert {each.headers["OpenStack-API-Version"] for each in stub.sent} == {"reservation 1.1"}


def test_networks_are_created_read_changed_and_deleted(stub: Stub, client: Client) -> None:
    network = {"id": "N", "name": "vlan:physnet1:201", "segment_id": 201}
    stub.respond({"network": network}, status=201)
    stub.respond({"networks": [network, network]}, status=201)
    stub.respond({"network": network})
    stub.respond({"networks": [network]})
    stub.respond({"network": network})
    stub.respond({"allocation": {"resource_id": "N", "reservations": []}})
    stub.respond({"allocations": []})
    stub.respond({"resource_properties": [{"property": "fabric"}]})
    stub.respond(None, status=204)

    assert client.network.create("vlan", "physnet1", 201, fabric="a") == network
    assert client.network.create("vxlan", segment_id="1-2") == [network, network]
    assert client.network.get("N") == network
    assert client.network.list(sort_by="name") == [network]
    assert client.network.update("N", {"fabric": None}) == network
    assert client.network.get_allocation("N", lease_id="L")["resource_id"] == "N"
    assert client.network.list_allocations() == []
    assert client.network.list_properties() == [{"property": "fabric"}]
    client.network.delete("N")

    assert client.network.update("N", {}) == "Nothing to update."
    body = {"network_type": "vlan", "physical_network": "physnet1", "segment_id": 201, "fabric": "a"}
    assert stub.calls == [
        ("POST", "/networks", body),
        ("POST", "/networks", {"network_type": "vxlan", "segment_id": "1-2"}),
        ("GET", "/networks/N", None),
        ("GET", "/networks", None),
        ("PUT", "/networks/N", {"fabric": None}),
        ("GET", "/networks/N/allocation?lease_id=L", None),
        ("GET", "/networks/allocations", None),
        ("GET", "/networks/properties", None),
        ("DELETE", "/networks/N", None),
    ]
