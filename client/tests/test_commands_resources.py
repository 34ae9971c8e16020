"""Names and ids, and commands about hosts, floating IPs and allocations, by the stub's answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .command_samples import HOST, ID, LEASE, OTHER

if TYPE_CHECKING:
    from .conftest import Run, Stub


def test_an_id_costs_no_look_up_and_a_name_one(blazar: Run, stub: Stub) -> None:
    stub.will({"lease": LEASE})
    stub.will({"leases": [LEASE, LEASE | {"id": OTHER, "name": "mine too"}]})
    stub.will({"lease": LEASE})

    blazar("lease-show", ID.upper())
    blazar("lease-show", "mine")

    assert [path for _method, path, _body in stub.calls] == [
        f"/leases/{ID.upper()}",
        "/leases",
        f"/leases/{ID}",
    ]


def test_a_name_that_nothing_or_several_have_is_refused(blazar: Run, stub: Stub) -> None:
    stub.will({"leases": [LEASE, LEASE | {"id": OTHER}]})
    stub.will({"leases": []})

    several, none = blazar("lease-show", "mine"), blazar("lease-show", "mine")

    assert (several.code, none.code) == (1, 1)
    assert "several" in several.err
    assert "Unable to find" in none.err


def test_client_weakness_21_a_name_may_begin_like_an_id(blazar: Run, stub: Stub) -> None:
    stub.will({"leases": [LEASE | {"name": f"{ID}-old", "id": OTHER}]})
    stub.will(status=204)

    blazar("lease-delete", f"{ID}-old")

    assert stub.calls[1] == ("DELETE", f"/leases/{OTHER}", None)


def test_hosts_are_managed_with_the_requests_of_4_6(blazar: Run, stub: Stub) -> None:
    for body in ({"host": HOST}, {"hosts": [HOST]}, {"host": HOST}, {"host": HOST}, None):
        stub.will(body, status=200 if body else 204)

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
def test_client_weakness_09_host_commands_without_extra_say_what_is_missing(
    blazar: Run, command: str
) -> None:
    ran = blazar(command, "1")

    assert (ran.code, ran.err) == (1, "There is nothing to change: give --extra\n")


def test_client_weakness_10_a_private_property_is_shown_to_those_who_may_see_it(
    blazar: Run, stub: Stub
) -> None:
    stub.will({"resource_properties": []})
    stub.will({"resource_properties": [{"property": "gpu", "private": True, "values": ["yes"]}]})

    ran = blazar("host-property-show", "gpu", "-f", "json")

    assert ran.json == {"property": "gpu", "private": True, "property_values": ["yes"]}


@pytest.mark.parametrize("kind", ["property", "capability"])
def test_resource_properties_have_their_commands_and_the_names_of_the_documentation(
    blazar: Run, stub: Stub, kind: str
) -> None:
    stub.will({"resource_properties": [{"property": "b"}, {"property": "a"}]})
    stub.will({"resource_properties": [{"property": "a", "private": False, "values": ["1", "2"]}]})
    stub.will({"resource_property": {"property": "a", "private": True}})

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
def test_client_weakness_19_a_property_is_made_private_or_public_and_not_by_accident(
    blazar: Run, stub: Stub, words: list[str]
) -> None:
    assert (blazar("host-property-set", "gpu", *words).code, stub.sent) == (2, [])


def test_floating_ips_are_managed_with_the_requests_of_4_6(blazar: Run, stub: Stub) -> None:
    address = {"id": "f1", "floating_ip_address": "192.0.2.5", "floating_network_id": ID}
    stub.will({"floatingip": address}, status=201)
    stub.will({"floatingips": [address]})
    stub.will({"floatingip": address})
    stub.will(status=204)

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
def test_client_weakness_47_a_floating_ip_can_be_named_by_its_address(
    blazar: Run, stub: Stub, address: str
) -> None:
    stub.will({"floatingips": [{"id": "f1", "floating_ip_address": address}]})
    stub.will(status=204)

    assert blazar("floatingip-delete", address).code == 0
    assert stub.calls[1] == ("DELETE", "/floatingips/f1", None)


def test_client_weakness_51_allocations_are_filtered_by_the_service_and_can_have_names(
    blazar: Run, stub: Stub
) -> None:
    entry = {"id": "r1", "lease_id": ID}
    stub.will({"allocations": [{"resource_id": "1", "reservations": [entry]}]})
    stub.will({"hosts": [HOST]})

    ran = blazar("allocation-list", "host", "--lease-id", ID, "--long", "-f", "json")

    assert stub.calls[0][1] == f"/os-hosts/allocations?lease_id={ID}"
    assert ran.json == [{"resource_id": "1", "hypervisor_hostname": "node-1", "reservations": [entry]}]


def test_allocations_of_a_lease_can_be_listed_by_its_name(blazar: Run, stub: Stub) -> None:
    stub.will({"leases": [LEASE]})
    stub.will({"allocations": []})

    assert blazar("allocation-list", "host", "--lease-id", "mine").code == 0
    assert stub.calls[1][1] == f"/os-hosts/allocations?lease_id={ID}"


def test_allocations_of_a_host_are_shown_by_its_name(blazar: Run, stub: Stub) -> None:
    stub.will({"hosts": [HOST]})
    stub.will({"allocation": {"resource_id": "1", "reservations": []}})

    ran = blazar("allocation-show", "host", "node-1", "--reservation-id", "r1", "-f", "json")

    assert ran.json == {"resource_id": "1", "reservations": []}
    assert stub.calls[1][1] == "/os-hosts/1/allocation?reservation_id=r1"
    assert blazar("allocation-list", "floatingip").code == 2
