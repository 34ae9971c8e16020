"""Lists of ``conn.reservation``: filters and pages."""

from __future__ import annotations

import itertools
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


PAGED = [
    ("leases", "/leases", "leases", "id"),
    ("hosts", "/os-hosts", "hosts", "id"),
    ("floating_ips", "/floatingips", "floatingips", "id"),
    ("allocations", "/os-hosts/allocations", "allocations", "resource_id"),
]
"""Method of the proxy, path, key of the list, and key of the id."""


@pytest.mark.parametrize(("method", "path", "key", "name"), PAGED)
def test_a_limit_is_the_size_of_the_pages_of_api_1_1(
    stub: Stub, proxy: Any, method: str, path: str, key: str, name: str
) -> None:
    link = f"{stub.url}{path}?limit=1&marker=1"
    stub.respond({key: [{name: "1"}], f"{key}_links": [{"rel": "next", "href": link}]})
    stub.respond({key: [{name: "2"}]})

    found = getattr(proxy, method)(limit=1)

    assert [each.id for each in itertools.islice(found, 2)] == ["1", "2"]
    assert [each.path for each in stub.sent] == [f"{path}?limit=1", f"{path}?limit=1&marker=1"]
    assert {each.headers["OpenStack-API-Version"] for each in stub.sent} == {"reservation 1.1"}


@pytest.mark.parametrize(("method", "path", "key", "name"), PAGED)
def test_a_list_without_a_limit_is_that_of_api_1_0(
    stub: Stub, proxy: Any, method: str, path: str, key: str, name: str
) -> None:
    stub.respond({key: [{name: "1"}, {name: "2"}, {name: "3"}]})

    assert [each.id for each in getattr(proxy, method)(max_items=2, limit=None)] == ["1", "2"]
    assert stub.calls == [("GET", path, None)]
    assert "OpenStack-API-Version" not in stub.sent[0].headers


@pytest.mark.parametrize("name", ["networks", "network_allocations", "storage_pools", "feeds"])
@pytest.mark.parametrize("parameter", ["limit", "marker"])
def test_a_limit_of_a_list_without_pages_is_refused(
    stub: Stub, proxy: Any, name: str, parameter: str
) -> None:
    with pytest.raises(exceptions.InvalidResourceQuery, match=f"cannot be listed by {parameter}"):
        getattr(proxy, name)(**{parameter: 1})

    assert stub.sent == []
