"""``conn.reservation`` of openstacksdk, tested against the embedded service."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from openstack import connection, exceptions

from blazarclient import sdk

if TYPE_CHECKING:
    from .conftest import Run, Stub

# openstacksdk emits warnings about itself.
pytestmark = pytest.mark.filterwarnings("ignore::Warning:openstack")

HOSTS = {"resource_type": "physical:host", "min": 1, "max": 1, "hypervisor_properties": ""}


def connect(**options: Any) -> Any:
    return connection.Connection(**options)


@pytest.fixture
def conn(service: str, environment: pytest.MonkeyPatch) -> Iterator[Any]:
    with connect(auth_type="none", reservation_endpoint_override=service) as made:
        sdk.install(made)
        yield made


@pytest.fixture
def host(conn: Any) -> Iterator[Any]:
    registered = conn.reservation.create_host("host-8", only="sdk")
    yield registered
    conn.reservation.delete_host(registered)


def test_install_sets_the_proxy(conn: Any) -> None:
    assert type(conn.reservation) is sdk.Proxy


def test_a_lease_is_created_updated_and_deleted_as_an_object(conn: Any, host: Any) -> None:
    wanted = [HOSTS | {"resource_properties": '["==", "$only", "sdk"]'}]

    lease = conn.reservation.create_lease(
        name="by sdk", start_date="now", end_date="2031-01-01 10:00", reservations=wanted
    )
    lease = conn.reservation.wait_for_lease(lease, interval=0.1)
    renamed = conn.reservation.update_lease(lease, name="by openstacksdk")

    assert (lease.status, lease.is_degraded, renamed.name) == ("ACTIVE", False, "by openstacksdk")
    assert conn.reservation.find_lease("by openstacksdk").id == lease.id
    assert [each.id for each in conn.reservation.leases(name="by openstacksdk")] == [lease.id]
    (allocated,) = [each for each in conn.reservation.allocations(lease_id=lease.id) if each.reservations]
    assert allocated.resource_id == host.id
    assert conn.reservation.get_allocation(host).reservations[0]["lease_id"] == lease.id
    conn.reservation.delete_lease(lease)
    conn.reservation.wait_for_delete(lease, interval=0.1)
    assert conn.reservation.find_lease("by openstacksdk") is None


def test_extra_capabilities_of_hosts_are_attributes(conn: Any, host: Any) -> None:
    assert (host.hypervisor_hostname, host.is_reservable, host.only) == ("host-8", True, "sdk")
    assert conn.reservation.find_host("host-8").id == host.id

    assert conn.reservation.update_host(host.id, sdk_rack="r1").sdk_rack == "r1"
    (found,) = [each for each in conn.reservation.resource_properties() if each.property == "sdk_rack"]
    assert (found.is_private, found.property_values) == (False, ["r1"])
    assert conn.reservation.update_resource_property("sdk_rack", is_private=True).is_private
    assert "sdk_rack" not in {each.property for each in conn.reservation.resource_properties()}
    assert "sdk_rack" in {each.property for each in conn.reservation.resource_properties(all=True)}
    assert conn.reservation.update_host(host.id, sdk_rack=None).sdk_rack is None
    assert not hasattr(conn.reservation.get_host(host.id), "sdk_rack")


def test_floating_ips_are_available(conn: Any) -> None:
    assert [each.floating_ip_address for each in conn.reservation.floating_ips()] == []
    with pytest.raises(exceptions.NotFoundException):
        conn.reservation.get_floating_ip("nothing")
    with pytest.raises(exceptions.HttpException, match="nowhere"):
        conn.reservation.create_floating_ip("nowhere", "203.0.113.9")


def test_errors_are_those_of_openstacksdk_with_the_message_of_the_service(conn: Any) -> None:
    wanted = [HOSTS | {"min": 50, "max": 50, "resource_properties": ""}]

    with pytest.raises(exceptions.BadRequestException, match="Not enough hosts available"):
        conn.reservation.create_lease(
            name="n", start_date="now", end_date="2031-01-01 10:00", reservations=wanted
        )


def test_client_weakness_50_the_proxy_can_be_installed_by_configuration(blazar: Run, stub: Stub) -> None:
    stub.respond({"leases": [{"id": "l", "name": "n", "status": "PENDING"}]})

    with connect(cloud="envvars", vendor_hook="blazarclient.sdk:install") as conn:
        (lease,) = conn.reservation.leases()

    assert (lease.name, lease.status) == ("n", "PENDING")
    assert stub.sent[0].headers["X-Auth-Token"].startswith("token-")


def test_leases_are_read_in_pages(conn: Any) -> None:
    names = {f"page {number}" for number in range(3)}
    dates = {"start_date": "2031-01-01 10:00", "end_date": "2031-01-01 11:00", "reservations": []}
    made = [conn.reservation.create_lease(name=name, **dates) for name in names]

    found = [each.name for each in conn.reservation.leases(limit=2) if each.name in names]

    assert sorted(found) == sorted(names)
    assert len([*conn.reservation.leases(max_items=2)]) == 2
    for each in made:
        conn.reservation.delete_lease(each)
