"""Lookup of names, and commands for hosts, floating IPs and allocations."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from .command_samples import HOST, ID, LEASE, OTHER

if TYPE_CHECKING:
    from .conftest import Run, Stub


def test_a_name_needs_a_lookup_and_an_id_does_not(blazar: Run, stub: Stub) -> None:
    stub.respond({"lease": LEASE})
    stub.respond({"leases": [LEASE, LEASE | {"id": OTHER, "name": "mine too"}]})
    stub.respond({"lease": LEASE})

    blazar("lease-show", ID.upper())
    blazar("lease-show", "mine")

    assert [path for _method, path, _body in stub.calls] == [
        f"/leases/{ID.upper()}",
        "/leases",
        f"/leases/{ID}",
    ]


def test_a_name_without_a_unique_match_is_refused(blazar: Run, stub: Stub) -> None:
    stub.respond({"leases": [LEASE, LEASE | {"id": OTHER}]})
    stub.respond({"leases": []})

    several, none = blazar("lease-show", "mine"), blazar("lease-show", "mine")

    assert (several.code, none.code) == (1, 1)
    assert "more than one appropriate resources for the name 'mine' and type 'lease'; use" in several.err
    assert "Unable to find" in none.err


def test_client_weakness_21_a_name_can_start_with_an_id(blazar: Run, stub: Stub) -> None:
    stub.respond({"leases": [LEASE | {"name": f"{ID}-old", "id": OTHER}]})
    stub.respond(status=204)

    blazar("lease-delete", f"{ID}-old")

    assert stub.calls[1] == ("DELETE", f"/leases/{OTHER}", None)


def test_hosts_are_managed_with_the_requests_of_4_6(blazar: Run, stub: Stub) -> None:
    for body in ({"host": HOST}, {"hosts": [HOST]}, {"host": HOST}, {"host": HOST}, None):
        stub.respond(body, status=200 if body else 204)

    blazar("host-create", "node-1", "--extra", "gpu=yes", "--extra", "note=a=b", "--extra", "empty")
    blazar("host-update", "node-1", "--extra", "gpu=no", "--extra", "gpu=01")
    unset = blazar("host-unset", "1", "--extra", "gpu")
    deleted = blazar("host-delete", "1")

    assert stub.calls == [
        ("POST", "/os-hosts", {"name": "node-1", "gpu": "yes", "note": "a=b", "empty": ""}),
        ("GET", "/os-hosts", None),
        ("PUT", "/os-hosts/1", {"gpu": "01"}),
        ("PUT", "/os-hosts/1", {"gpu": None}),
        ("DELETE", "/os-hosts/1", None),
    ]
    assert (unset.out, deleted.out) == ("Updated host: 1\n", "Deleted host: 1\n")


@pytest.mark.parametrize("command", ["host-update", "host-unset"])
def test_client_weakness_09_host_commands_without_extra_name_the_missing_option(
    blazar: Run, command: str
) -> None:
    ran = blazar(command, "1")

    assert (ran.code, ran.err) == (1, "No change is given; --extra is required\n")


def test_client_weakness_10_a_private_property_is_shown_to_operators(blazar: Run, stub: Stub) -> None:
    stub.respond({"resource_properties": []})
    stub.respond({"resource_properties": [{"property": "gpu", "private": True, "values": ["yes"]}]})

    ran = blazar("host-property-show", "gpu", "-f", "json")

    assert ran.json == {"property": "gpu", "private": True, "property_values": ["yes"]}


@pytest.mark.parametrize("kind", ["property", "capability"])
def test_resource_properties_have_commands_with_both_documented_names(
    blazar: Run, stub: Stub, kind: str
) -> None:
    stub.respond({"resource_properties": [{"property": "b"}, {"property": "a"}]})
    stub.respond({"resource_properties": [{"property": "a", "private": False, "values": ["1", "2"]}]})
    stub.respond({"resource_property": {"property": "a", "private": True}})

    plain = blazar(f"host-{kind}-list", "-f", "value")
    detailed = blazar(f"host-{kind}-list", "--detail", "--all", "-f", "csv", "--quote", "none")
    made = blazar(f"host-{kind}-set", "a", "--private")

    assert plain.out == "a\nb\n"
    assert detailed.out.splitlines()[0] == "property,private,property_values"
    assert made.out == "Updated host property: a\n"
    assert stub.calls[1:] == [
        ("GET", "/os-hosts/properties?detail=True&all=True", None),
        ("PATCH", "/os-hosts/properties/a", {"private": True}),
    ]


@pytest.mark.parametrize("words", [[], ["--private", "--public"]])
def test_client_weakness_19_a_property_change_needs_either_private_or_public(
    blazar: Run, stub: Stub, words: list[str]
) -> None:
    assert (blazar("host-property-set", "gpu", *words).code, stub.sent) == (2, [])


def test_floating_ips_are_managed_with_the_requests_of_4_6(blazar: Run, stub: Stub) -> None:
    address = {"id": "f1", "floating_ip_address": "192.0.2.5", "floating_network_id": ID}
    stub.respond({"floatingip": address}, status=201)
    stub.respond({"floatingips": [address]})
    stub.respond({"floatingip": address})
    stub.respond(status=204)

    created = blazar("floatingip-create", ID, "192.0.2.5")
    listed = blazar("floatingip-list", "-f", "value")
    blazar("floatingip-show", "f1")
    deleted = blazar("floatingip-delete", "f1")

    assert created.out.startswith("Created a new floatingip:\n")
    assert listed.out == f"f1 192.0.2.5 {ID}\n"
    assert deleted.out == "Deleted floatingip: f1\n"
    assert stub.calls == [
        ("POST", "/floatingips", {"floating_network_id": ID, "floating_ip_address": "192.0.2.5"}),
        ("GET", "/floatingips", None),
        ("GET", "/floatingips/f1", None),
        ("DELETE", "/floatingips/f1", None),
    ]


@pytest.mark.parametrize("address", ["192.0.2.5", "2001:db8::5"])
def test_client_weakness_47_a_floating_ip_is_found_by_address(blazar: Run, stub: Stub, address: str) -> None:
    stub.respond({"floatingips": [{"id": "f1", "floating_ip_address": address}]})
    stub.respond(status=204)

    assert blazar("floatingip-delete", address).code == 0
    assert stub.calls[1] == ("DELETE", "/floatingips/f1", None)


def test_client_weakness_51_the_service_filters_allocations_and_long_adds_host_names(
    blazar: Run, stub: Stub
) -> None:
    entry = {"id": "r1", "lease_id": ID}
    stub.respond({"allocations": [{"resource_id": "1", "reservations": [entry]}]})
    stub.respond({"hosts": [HOST]})

    ran = blazar("allocation-list", "host", "--lease-id", ID, "--long", "-f", "json")

    assert stub.calls[0][1] == f"/os-hosts/allocations?lease_id={ID}"
    assert ran.json == [{"resource_id": "1", "hypervisor_hostname": "node-1", "reservations": [entry]}]


def test_allocations_of_a_lease_are_listed_by_its_name(blazar: Run, stub: Stub) -> None:
    stub.respond({"leases": [LEASE]})
    stub.respond({"allocations": []})

    assert blazar("allocation-list", "host", "--lease-id", "mine").code == 0
    assert stub.calls[1][1] == f"/os-hosts/allocations?lease_id={ID}"


def test_allocations_of_a_host_are_shown_by_its_name(blazar: Run, stub: Stub) -> None:
    stub.respond({"hosts": [HOST]})
    stub.respond({"allocation": {"resource_id": "1", "reservations": []}})

    ran = blazar("allocation-show", "host", "node-1", "--reservation-id", "r1", "-f", "json")

    assert ran.json == {"resource_id": "1", "reservations": []}
    assert stub.calls[1][1] == "/os-hosts/1/allocation?reservation_id=r1"
    assert blazar("allocation-list", "floatingip").code == 2


def test_storage_pools_are_managed_by_name(blazar: Run, stub: Stub) -> None:
    pool = {"id": ID, "name": "block1@fast#ssd", "amounts": {"GIBIBYTES": 9}, "reservable": True}
    stub.respond({"storage_pool": pool}, status=201)
    for _ in range(2):
        stub.respond({"storage_pools": [pool]})
    for _ in range(2):
        stub.respond({"storage_pool": pool})
    stub.respond(status=204)

    created = blazar("storage-pool-create", "block1@fast#ssd", "--sole-use", "--extra", "rack=r1")
    listed = blazar("storage-pool-list", "-f", "json")
    blazar("storage-pool-update", "block1@fast#ssd", "--gibibytes", "8", "--no-sole-use")
    blazar("storage-pool-unset", ID, "--extra", "rack")
    deleted = blazar("storage-pool-delete", ID)
    nothing = blazar("storage-pool-update", ID)

    assert created.out.startswith("Created a new storage_pool:\n")
    assert listed.json == [pool]
    assert deleted.out == f"Deleted storage_pool: {ID}\n"
    assert (nothing.code, nothing.err) == (1, "No change is given\n")
    assert stub.calls == [
        ("POST", "/storage-pools", {"name": "block1@fast#ssd", "rack": "r1", "sole_use": True}),
        ("GET", "/storage-pools", None),
        ("GET", "/storage-pools", None),
        ("PUT", f"/storage-pools/{ID}", {"gibibytes": 8, "sole_use": False}),
        ("PUT", f"/storage-pools/{ID}", {"rack": None}),
        ("DELETE", f"/storage-pools/{ID}", None),
    ]


def test_a_lease_for_storage_needs_its_size(blazar: Run, stub: Stub) -> None:
    stub.respond({"lease": {"id": ID, "reservations": []}}, status=201)
    dates = ("--start-date", "2031-01-01 10:00", "--end-date", "2031-01-01 12:00")

    missing = blazar("lease-create", "x", *dates, "--reservation", "resource_type=virtual:volume")
    made = blazar(
        *("lease-create", "x", *dates),
        *("--reservation", "resource_type=virtual:volume,gibibytes=9,volume_name=data"),
    )

    assert missing.code != 0
    assert "gibibytes" in missing.err
    assert made.code == 0
    assert stub.calls[0][2]["reservations"] == [
        {
            "resource_type": "virtual:volume",
            "gibibytes": 9,
            "amount": 1,
            "affinity": "None",
            "volume_name": "data",
        }
    ]


def test_a_lease_for_whole_storage_pools_needs_their_number(blazar: Run, stub: Stub) -> None:
    stub.respond({"lease": {"id": ID, "reservations": []}}, status=201)
    dates = ("--start-date", "2031-01-01 10:00", "--end-date", "2031-01-01 12:00")

    missing = blazar("lease-create", "x", *dates, "--reservation", "resource_type=physical:storage,min=1")
    made = blazar(
        *("lease-create", "x", *dates),
        *("--reservation", "resource_type=physical:storage,min=1,max=2,end_action=retain"),
    )

    assert missing.code != 0
    assert "max" in missing.err
    assert made.code == 0
    assert stub.calls[0][2]["reservations"] == [
        {"resource_type": "physical:storage", "min": 1, "max": 2, "end_action": "retain"}
    ]


VLANS = 'network_properties=["==", "$network_type", "vlan"]'
NETWORK = {
    "id": ID,
    "name": "vlan:physnet1:201",
    "network_type": "vlan",
    "physical_network": "physnet1",
    "segment_id": 201,
    "reservable": True,
}


def test_networks_are_managed_by_name(blazar: Run, stub: Stub) -> None:
    stub.respond({"network": NETWORK}, status=201)
    for _ in range(2):
        stub.respond({"networks": [NETWORK]})
    for _ in range(2):
        stub.respond({"network": NETWORK})
    stub.respond(status=204)

    created = blazar(
        *("network-create", "--network-type", "vlan", "--physical-network", "physnet1"),
        *("--segment-id", "201", "--extra", "fabric=a"),
    )
    listed = blazar("network-list", "-f", "json")
    blazar("network-update", NETWORK["name"], "--extra", "fabric=b")
    blazar("network-unset", ID, "--extra", "fabric")
    deleted = blazar("network-delete", ID)
    nothing = blazar("network-update", ID)

    assert created.out.startswith("Created a new network:\n")
    shown = ("id", "network_type", "physical_network", "segment_id", "reservable")
    assert listed.json == [{key: NETWORK[key] for key in shown}]
    assert deleted.out == f"Deleted network: {ID}\n"
    assert (nothing.code, nothing.err) == (1, "No change is given; --extra is required\n")
    body = {"network_type": "vlan", "physical_network": "physnet1", "segment_id": "201", "fabric": "a"}
    assert stub.calls == [
        ("POST", "/networks", body),
        ("GET", "/networks", None),
        ("GET", "/networks", None),
        ("PUT", f"/networks/{ID}", {"fabric": "b"}),
        ("PUT", f"/networks/{ID}", {"fabric": None}),
        ("DELETE", f"/networks/{ID}", None),
    ]


def test_a_range_of_networks_is_registered(blazar: Run, stub: Stub) -> None:
    other = {**NETWORK, "id": "2", "name": "vlan:physnet1:202"}
    stub.respond({"networks": [NETWORK, other]}, status=201)

    ran = blazar(
        *("network-create", "--network-type", "vlan", "--physical-network", "physnet1"),
        *("--segment-id", "201-202", "-f", "json"),
    )

    assert ran.json == {NETWORK["name"]: ID, "vlan:physnet1:202": "2"}
    assert "network for each of 2 segments" in ran.err
    assert blazar("network-create", "--network-type", "gre").code == 2


def test_properties_of_networks_are_listed_shown_and_set(blazar: Run, stub: Stub) -> None:
    detailed = {"property": "fabric", "private": False, "values": ["a", "b"]}
    stub.respond({"resource_properties": [detailed]})
    stub.respond({"resource_properties": [detailed]})
    stub.respond({"resource_property": {"property_name": "fabric", "private": True}})

    listed = blazar("network-property-list", "--detail", "-f", "json")
    shown = blazar("network-property-show", "fabric", "-f", "json")
    changed = blazar("network-property-set", "fabric", "--private")

    assert listed.json == [{"property": "fabric", "private": False, "property_values": ["a", "b"]}]
    assert shown.json == listed.json[0]
    assert changed.out == "Updated network property: fabric\n"
    assert [each[:2] for each in stub.calls] == [
        ("GET", "/networks/properties?detail=True"),
        ("GET", "/networks/properties?detail=True"),
        ("PATCH", "/networks/properties/fabric"),
    ]


def test_allocations_of_networks_are_listed_and_shown_by_name(blazar: Run, stub: Stub) -> None:
    allocation = {"resource_id": ID, "reservations": []}
    stub.respond({"allocations": [allocation]})
    stub.respond({"networks": [NETWORK]})
    stub.respond({"networks": [NETWORK]})
    stub.respond({"allocation": allocation})

    listed = blazar("allocation-list", "network", "--long", "-f", "json")
    shown = blazar("allocation-show", "network", "vlan:physnet1:201", "-f", "json")

    assert listed.json == [{**allocation, "name": "vlan:physnet1:201"}]
    assert shown.json == allocation
    assert stub.calls[3][1] == f"/networks/{ID}/allocation"


def test_a_lease_for_networks_needs_a_name(blazar: Run, stub: Stub) -> None:
    stub.respond({"lease": {"id": ID, "reservations": []}}, status=201)
    dates = ("--start-date", "2031-01-01 10:00", "--end-date", "2031-01-01 12:00")

    missing = blazar("lease-create", "x", *dates, "--reservation", "resource_type=network")
    made = blazar(
        *("lease-create", "x", *dates),
        *("--reservation", f"resource_type=network,network_name=lab,amount=2,{VLANS}"),
    )

    assert missing.code != 0
    assert "network_name" in missing.err
    assert made.code == 0
    assert stub.calls[0][2]["reservations"] == [
        {
            "resource_type": "network",
            "network_name": "lab",
            "amount": 2,
            "network_properties": VLANS.partition("=")[2],
            "resource_properties": "",
        }
    ]


def test_a_lease_for_storage_may_have_volumes(blazar: Run, stub: Stub) -> None:
    stub.respond({"lease": {"id": ID, "reservations": []}}, status=201)
    dates = ("--start-date", "2031-01-01 10:00", "--end-date", "2031-01-01 12:00")
    volumes = [{"size": 5, "name": "data"}, {"size": 4, "name": "logs"}]
    common = "resource_type=virtual:volume,gibibytes=9"

    wrong = blazar("lease-create", "x", *dates, "--reservation", f"{common},volumes=[data]")
    made = blazar(
        *("lease-create", "x", *dates),
        *("--reservation", f"{common},volumes={json.dumps(volumes)},end_action=freeze"),
    )

    assert wrong.code != 0
    assert "volumes must be a JSON array" in wrong.err
    assert made.code == 0
    (reservation,) = stub.calls[0][2]["reservations"]
    assert (reservation["volumes"], reservation["end_action"]) == (volumes, "freeze")
