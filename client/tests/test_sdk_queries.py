"""Methods of ``conn.reservation`` for API 1.1, tested against the embedded service."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from openstack import connection, exceptions

from blazarclient import sdk

if TYPE_CHECKING:
    from .conftest import Stub

# openstacksdk emits warnings about itself.
pytestmark = pytest.mark.filterwarnings("ignore::Warning:openstack")

WANTED = [
    {
        "resource_type": "physical:host",
        "min": 1,
        "max": 1,
        "hypervisor_properties": "",
        "resource_properties": "only=queries",
    }
]
WHEN = {"start_date": "2041-02-01 10:00", "end_date": "2041-02-01 12:00"}


@pytest.fixture
def proxy(service: str, environment: pytest.MonkeyPatch) -> Iterator[Any]:
    options: dict[str, Any] = {"auth_type": "none", "reservation_endpoint_override": service}
    made: Any = connection.Connection(**options)
    with made as conn:
        sdk.install(conn)
        host = conn.reservation.create_host("host-7", only="queries")
        yield conn.reservation
        conn.reservation.delete_host(host)


@contextmanager
def connected(stub: Stub) -> Iterator[Any]:
    options: dict[str, Any] = {"auth_type": "none", "reservation_endpoint_override": stub.url}
    made: Any = connection.Connection(**options)
    with made as conn:
        sdk.install(conn)
        yield conn.reservation


def test_time_slots_are_searched(proxy: Any) -> None:
    found = proxy.search_time_slots(WANTED, duration_minutes=60, earliest_start="2041-02-01 10:00", limit=1)

    assert found["complete"] is True
    assert found["slots"][0]["start_date"] == "2041-02-01 10:00"


def test_usage_is_read(proxy: Any) -> None:
    found = proxy.get_usage("host", from_="2031-01-01 00:00", to="2031-01-02 00:00", step="720")

    assert (found["by"], len(found["steps"])) == ("host", 2)


def test_an_offer_is_made_listed_committed_and_becomes_a_lease(proxy: Any) -> None:
    offer = proxy.create_offer(**WHEN, reservations=WANTED, ttl_seconds=60)
    listed = [each.id for each in proxy.offers()]

    lease = proxy.commit_offer(offer, name="by sdk")

    assert (offer.status, offer.reservations[0]["amount"]) == ("OPEN", 1)
    assert offer.id in listed
    assert (lease.id, lease.name) == (offer.id, "by sdk")
    assert (proxy.get_offer(offer).status, proxy.get_offer(offer.id).lease_id) == ("COMMITTED", lease.id)
    held = list(proxy.lease_resources(lease))
    assert [(each.name, each.resource_type, each.amount) for each in held] == [("host-7", "physical:host", 1)]
    assert [each.text for each in proxy.lease_history(lease.id)] != []
    proxy.delete_lease(lease)


def test_an_offer_for_a_lease_changes_it(proxy: Any) -> None:
    lease = proxy.commit_offer(proxy.create_offer(name="grows", **WHEN, reservations=WANTED))

    offer = proxy.create_lease_offer(lease, end_date="2041-02-01 13:00", ttl_seconds=60)
    unchanged = proxy.get_lease(lease).end_date
    changed = proxy.commit_lease_offer(lease, offer)

    assert (offer.lease_id, offer.status) == (lease.id, "OPEN")
    assert (unchanged[11:16], changed.end_date[11:16]) == ("12:00", "13:00")
    assert proxy.get_offer(offer).status == "COMMITTED"
    proxy.delete_lease(lease)


def test_an_offer_is_deleted(proxy: Any) -> None:
    offer = proxy.create_offer(**WHEN, reservations=WANTED)

    proxy.delete_offer(offer)

    assert offer.id not in [each.id for each in proxy.offers()]
    with pytest.raises(exceptions.NotFoundException):
        proxy.delete_offer("unknown", ignore_missing=False)
    with pytest.raises(exceptions.NotFoundException, match="unknown"):
        proxy.get_offer("unknown")


def test_dry_runs_change_nothing(proxy: Any) -> None:
    shown = proxy.preview_lease(name="dry", reservations=WANTED, **WHEN)
    offer = proxy.create_offer(name="kept", reservations=WANTED, **WHEN)
    lease = proxy.commit_offer(offer)

    changed = proxy.preview_lease_update(lease, end_date="2041-02-01 13:00")

    assert (shown["end_date"], changed["end_date"]) == ("2041-02-01 12:00", "2041-02-01 13:00")
    assert proxy.find_lease("dry") is None
    assert proxy.get_lease(lease).end_date == "2041-02-01T12:00:00.000000"
    proxy.delete_lease(lease)


def test_a_refusal_has_reasons_and_alternatives(proxy: Any) -> None:
    greedy = [WANTED[0] | {"min": 2, "max": 2}]

    with pytest.raises(exceptions.ConflictException, match="Not enough hosts available") as refused:
        proxy.preview_lease(name="dry", reservations=greedy, **WHEN)

    response = refused.value.response
    assert response is not None
    assert {each["kind"] for each in response.json()["alternatives"]} >= {"fewer"}
    with pytest.raises(exceptions.ConflictException, match="Not enough hosts available"):
        proxy.create_offer(reservations=greedy, **WHEN)


def test_the_catalogue_and_free_amounts_are_returned(proxy: Any) -> None:
    period = {"from_": "2041-02-01 10:00", "to": "2041-02-02 10:00", "filter": "only=queries"}

    assert "queries" in str(proxy.get_catalogue()["properties"])
    (free,) = proxy.get_availability(**period)["groups"]
    (states,) = proxy.get_timeline(**period, group_by="only")["groups"]
    assert (free["total"], free["steps"][0]["free"]) == (1, 1)
    assert states["value"] == "queries"


def test_storage_pools_are_registered_changed_and_removed(
    stub: Stub, environment: pytest.MonkeyPatch
) -> None:
    pool = {
        "id": "P",
        "name": "block1@fast#ssd",
        "amounts": {"GIBIBYTES": 9},
        "reservable": True,
        "rack": "r1",
    }
    stub.has_versions = True
    stub.respond({"storage_pool": pool}, status=201)
    stub.respond({"storage_pools": [pool]})
    stub.respond({"storage_pool": pool})
    stub.respond({"storage_pool": pool | {"rack": "r2"}})
    stub.respond({"allocations": [{"resource_id": "P", "reservations": []}]})
    stub.respond({"resource_properties": [{"property": "rack", "private": False, "values": ["r2"]}]})
    stub.respond({"resource_property": {"property_name": "rack", "private": True}})
    stub.respond(status=204)

    options: dict[str, Any] = {"auth_type": "none", "reservation_endpoint_override": stub.url}
    made_connection: Any = connection.Connection(**options)
    with made_connection as conn:
        sdk.install(conn)
        made = conn.reservation.create_storage_pool("block1@fast#ssd", gibibytes=9, rack="r1")
        listed = [each.name for each in conn.reservation.storage_pools()]
        found = conn.reservation.get_storage_pool("P")
        changed = conn.reservation.update_storage_pool("P", rack="r2")
        allocated = [each.resource_id for each in conn.reservation.storage_pool_allocations()]
        (rack,) = conn.reservation.storage_pool_properties()
        private = conn.reservation.update_storage_pool_property("rack", is_private=True)
        conn.reservation.delete_storage_pool("P")

    assert (made.id, made.amounts, made.is_reservable, made.rack) == ("P", {"GIBIBYTES": 9}, True, "r1")
    assert (listed, found.name, changed.rack) == (["block1@fast#ssd"], "block1@fast#ssd", "r2")
    assert stub.calls[0] == (
        "POST",
        "/storage-pools",
        {"name": "block1@fast#ssd", "gibibytes": 9, "rack": "r1"},
    )
    assert stub.calls[3] == ("PUT", "/storage-pools/P", {"rack": "r2"})
    assert (allocated, rack.property_values, private.is_private) == (["P"], ["r2"], True)
    assert [each[1].partition("?")[0] for each in stub.calls[4:7]] == [
        "/storage-pools/allocations",
        "/storage-pools/properties",
        "/storage-pools/properties/rack",
    ]
    assert {each.headers["OpenStack-API-Version"] for each in stub.sent[-8:]} == {"reservation 1.1"}


def test_notices_are_subscribed_to(proxy: Any) -> None:
    made = proxy.create_subscription(kind="webhook", url="https://hooks.invalid/", events=["lease.ended"])
    changed = proxy.update_subscription(made, is_enabled=False, rotate_secret=True)

    assert made.secret.startswith("whsec_")
    assert (changed.is_enabled, changed.events) == (False, ["lease.ended"])
    assert changed.id in [each.id for each in proxy.subscriptions()]
    assert proxy.get_subscription(changed.id).problem is None
    proxy.delete_subscription(changed)
    assert changed.id not in [each.id for each in proxy.subscriptions()]


@pytest.mark.parametrize("keys", [{"rotate_secret": True}, {"resend": True}, {"code": "0a1b2c3d4e"}], ids=str)
def test_a_change_of_a_subscription_is_sent_again_when_it_is_asked_for_again(
    stub: Stub, environment: pytest.MonkeyPatch, keys: dict[str, Any]
) -> None:
    stub.has_versions = True
    for number in range(3):
        stub.respond({"subscription": {"id": "S", "kind": "webhook", "secret": f"whsec_{number}"}})

    with connected(stub) as proxy:
        found = proxy.get_subscription("S")
        secrets = [proxy.update_subscription(found, **keys).secret for _ in range(2)]
        unchanged = proxy.update_subscription(found)

    assert stub.calls[1:] == [("PUT", "/subscriptions/S", keys)] * 2
    assert secrets == ["whsec_1", "whsec_2"]
    assert [unchanged[each] for each in keys] == [None]


def test_resources_are_removed_again_from_a_maintenance_that_got_them_back(
    stub: Stub, environment: pytest.MonkeyPatch
) -> None:
    stub.has_versions = True
    for _ in range(3):
        stub.respond({"maintenance": {"id": "M", "resources": [{"id": "1", "name": "host-1"}]}})

    with connected(stub) as proxy:
        found = proxy.get_maintenance("M")
        for _ in range(2):
            proxy.update_maintenance(found, remove_resources=["host-2"])

    assert stub.calls[1:] == [("PUT", "/maintenance/M", {"remove_resources": ["host-2"]})] * 2


def test_maintenance_is_planned_and_deleted(proxy: Any) -> None:
    made = proxy.create_maintenance(resources=["host-7"], reason="new disks")
    changed = proxy.update_maintenance(made, reason="older disks")

    assert (made.status, changed.reason) == ("ACTIVE", "older disks")
    assert made.id in [each.id for each in proxy.maintenances()]
    assert proxy.get_maintenance(made.id).active == []
    proxy.delete_maintenance(made)


def test_feeds_are_created_listed_and_deleted(proxy: Any) -> None:
    made = proxy.create_feed(kind="project", name="ours", alarm_minutes=15)

    assert "/v1/calendars/" in made.url
    assert (made.kind, made.name, made.alarm_minutes) == ("project", "ours", 15)
    assert made.id in [each.id for each in proxy.feeds()]
    assert made.id not in [each.id for each in proxy.feeds(project_id="nowhere")]
    assert proxy.get_feed(made.id).url is None
    proxy.delete_feed(made)
    assert made.id not in [each.id for each in proxy.feeds()]


def test_networks_are_registered_changed_and_removed(stub: Stub, environment: pytest.MonkeyPatch) -> None:
    network = {
        "id": "N",
        "name": "vlan:physnet1:201",
        "network_type": "vlan",
        "physical_network": "physnet1",
        "segment_id": 201,
        "reservable": True,
        "fabric": "a",
    }
    stub.has_versions = True
    stub.respond({"network": network}, status=201)
    stub.respond({"networks": [network, {**network, "id": "M"}]}, status=201)
    stub.respond({"networks": [network]})
    stub.respond({"network": network})
    stub.respond({"network": network | {"fabric": "b"}})
    stub.respond({"allocations": [{"resource_id": "N", "reservations": []}]})
    stub.respond({"resource_properties": [{"property": "fabric", "private": False, "values": ["a"]}]})
    stub.respond({"resource_property": {"property_name": "fabric", "private": True}})
    stub.respond(status=204)

    options: dict[str, Any] = {"auth_type": "none", "reservation_endpoint_override": stub.url}
    made_connection: Any = connection.Connection(**options)
    with made_connection as conn:
        sdk.install(conn)
        proxy = conn.reservation
        made = proxy.create_network("vlan", physical_network="physnet1", segment_id=201, fabric="a")
        many = proxy.create_networks("vlan", "201-202", physical_network="physnet1")
        listed = [each.name for each in proxy.networks()]
        found = proxy.get_network("N")
        changed = proxy.update_network("N", fabric="b")
        allocated = [each.resource_id for each in proxy.network_allocations()]
        (fabric,) = proxy.network_properties()
        private = proxy.update_network_property("fabric", is_private=True)
        proxy.delete_network("N")

    assert (made.id, made.segment_id, made.is_reservable, made.fabric) == ("N", 201, True, "a")
    assert [each.id for each in many] == ["N", "M"]
    assert (listed, found.network_type, changed.fabric) == (["vlan:physnet1:201"], "vlan", "b")
    assert (allocated, fabric.property_values, private.is_private) == (["N"], ["a"], True)
    assert stub.calls[1] == (
        "POST",
        "/networks",
        {"network_type": "vlan", "segment_id": "201-202", "physical_network": "physnet1"},
    )
    assert stub.calls[-1] == ("DELETE", "/networks/N", None)
