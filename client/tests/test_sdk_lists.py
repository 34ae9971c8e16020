"""Lists of ``conn.reservation``: filters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from openstack import connection, exceptions

from blazarclient import sdk

if TYPE_CHECKING:
    from .conftest import Stub

# openstacksdk emits warnings about itself.
pytestmark = pytest.mark.filterwarnings("ignore::Warning:openstack")

HOSTS = [
    {"id": "1", "hypervisor_hostname": "a", "reservable": True, "gpu": "True"},
    {"id": "2", "hypervisor_hostname": "b", "reservable": False, "gpu": "False", "rack": "r1"},
    {"id": "3", "hypervisor_hostname": "c", "reservable": True},
]


@pytest.fixture
def proxy(stub: Stub, environment: pytest.MonkeyPatch) -> Iterator[Any]:
    stub.has_versions = True
    options: dict[str, Any] = {"auth_type": "none", "reservation_endpoint_override": stub.url}
    made: Any = connection.Connection(**options)
    with made as conn:
        sdk.install(conn)
        yield conn.reservation


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, ["1", "2", "3"]),
        ({"gpu": "False"}, ["2"]),
        ({"gpu": "False", "rack": "r2"}, []),
        ({"gpu": None}, ["3"]),
        ({"rack": "r1", "hypervisor_hostname": "b"}, ["2"]),
        ({"is_reservable": True}, ["1", "3"]),
        ({"reservable": True}, ["1", "3"]),
        ({"rack": "nothing"}, []),
    ],
    ids=str,
)
def test_hosts_are_filtered_by_attributes_and_extra_capabilities(
    stub: Stub, proxy: Any, query: dict[str, Any], found: list[str]
) -> None:
    stub.respond({"hosts": HOSTS})

    assert [each.id for each in proxy.hosts(**query)] == found
    assert stub.calls == [("GET", "/os-hosts", None)]


def test_network_segments_and_storage_pools_are_filtered_by_extra_capabilities(
    stub: Stub, proxy: Any
) -> None:
    rows = [{"id": "1", "rack": "r1"}, {"id": "2", "rack": "r2"}]
    stub.respond({"networks": rows})
    stub.respond({"storage_pools": rows})

    assert [each.id for each in proxy.networks(rack="r2")] == ["2"]
    assert [each.id for each in proxy.storage_pools(rack="r1")] == ["1"]


@pytest.mark.parametrize("name", ["leases", "floating_ips", "allocations", "maintenances", "subscriptions"])
def test_filters_that_no_resource_has_are_refused(stub: Stub, proxy: Any, name: str) -> None:
    with pytest.raises(exceptions.InvalidResourceQuery, match="cannot be listed by bogus; known keys: "):
        getattr(proxy, name)(bogus="z")

    assert stub.sent == []


def test_unknown_filters_are_left_out_on_request(stub: Stub, proxy: Any) -> None:
    stub.respond({"leases": [{"id": "1", "status": "ACTIVE"}, {"id": "2", "status": "PENDING"}]})

    found = proxy.leases(bogus="z", status="ACTIVE", allow_unknown_params=True)

    assert [each.id for each in found] == ["1"]
