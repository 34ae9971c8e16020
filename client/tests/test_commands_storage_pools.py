"""Commands for the properties and allocations of storage pools."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .command_samples import ID

if TYPE_CHECKING:
    from .conftest import Run, Stub


def test_properties_and_allocations_of_storage_pools(blazar: Run, stub: Stub) -> None:
    detailed = {"property": "rack", "private": False, "values": ["r1"]}
    allocation = {"resource_id": ID, "reservations": []}
    stub.respond({"resource_properties": [detailed]})
    stub.respond({"resource_properties": [detailed]})
    stub.respond({"resource_property": {"property_name": "rack", "private": True}})
    stub.respond({"allocations": [allocation]})
    stub.respond({"storage_pools": [{"id": ID, "name": "block1@fast#ssd"}]})
    stub.respond({"storage_pools": [{"id": ID, "name": "block1@fast#ssd"}]})
    stub.respond({"allocation": allocation})

    listed = blazar("storage-pool-property-list", "--detail", "-f", "json")
    shown = blazar("storage-pool-property-show", "rack", "-f", "json")
    changed = blazar("storage-pool-property-set", "rack", "--private")
    allocated = blazar("allocation-list", "storage_pool", "--long", "-f", "json")
    one = blazar("allocation-show", "storage_pool", "block1@fast#ssd", "-f", "json")

    assert listed.json == [{"property": "rack", "private": False, "property_values": ["r1"]}]
    assert shown.json == listed.json[0]
    assert changed.out == "Updated storage_pool property: rack\n"
    assert allocated.json == [{**allocation, "name": "block1@fast#ssd"}]
    assert one.json == allocation
    assert [each[:2] for each in stub.calls] == [
        ("GET", "/storage-pools/properties?detail=True"),
        ("GET", "/storage-pools/properties?detail=True"),
        ("PATCH", "/storage-pools/properties/rack"),
        ("GET", "/storage-pools/allocations"),
        ("GET", "/storage-pools"),
        ("GET", "/storage-pools"),
        ("GET", f"/storage-pools/{ID}/allocation"),
    ]
    # API 1.0 has no storage pools.
    assert {each.headers["OpenStack-API-Version"] for each in stub.sent} == {"reservation 1.1"}
