"""Behaviour of Placement that the contract suite does not cover."""

from __future__ import annotations

import pytest
from cloud.openstack.stub import Reply, StubCloud

from blazar.cloud.openstack.driver import OpenStackCloud
from blazar.domain.errors import CloudConflict, CloudNotFound, CloudUnavailable
from blazar.domain.providers import Inventory
from blazar.ports.placement import Inventories

PROVIDERS = "/placement/resource_providers"


def provider(uuid: str, parent: str | None) -> dict[str, object]:
    return {
        "uuid": uuid,
        "name": f"name of {uuid}",
        "generation": 3,
        "parent_provider_uuid": parent,
        "root_provider_uuid": "top",
    }


def test_the_root_of_a_tree_comes_first(stub: StubCloud, cloud: OpenStackCloud) -> None:
    tree = [provider("grandchild", "child"), provider("child", "top"), provider("top", None)]
    stub.lay_out("GET", PROVIDERS, Reply(body={"resource_providers": tree}))

    found = cloud.placement.list_tree("top")

    assert found[0].uuid == "top"
    assert {each.uuid for each in found} == {"top", "child", "grandchild"}
    assert stub.requests[-1].query == {"in_tree": "top"}


def test_a_name_that_placement_finds_by_other_rules_is_not_the_one(
    stub: StubCloud, cloud: OpenStackCloud
) -> None:
    """Its database may compare names case-insensitively."""
    stub.lay_out("GET", PROVIDERS, Reply(body={"resource_providers": [provider("top", None)]}))

    assert cloud.placement.find_provider("Name of top") is None
    assert cloud.placement.find_provider("name of top") is not None


def test_inventories_are_written_as_a_whole_at_their_generation(
    stub: StubCloud, cloud: OpenStackCloud
) -> None:
    path = f"{PROVIDERS}/top/inventories"
    body = {"errors": [{"code": "placement.concurrent_update", "detail": "generation has moved on"}]}
    stub.lay_out("PUT", path, Reply(), Reply(status=409, body=body))
    inventories = Inventories(generation=5, by_class={"VCPU": Inventory(total=8, allocation_ratio=4.0)})

    cloud.placement.put_inventories("top", inventories)
    with pytest.raises(CloudConflict, match="moved on"):
        cloud.placement.put_inventories("top", inventories)

    assert stub.asked("PUT", path)[0].body == {
        "resource_provider_generation": 5,
        "inventories": {
            "VCPU": {
                "total": 8,
                "reserved": 0,
                "min_unit": 1,
                "max_unit": 2**31 - 1,
                "step_size": 1,
                "allocation_ratio": 4.0,
            }
        },
    }


def test_one_inventory_is_deleted_by_its_class(stub: StubCloud, cloud: OpenStackCloud) -> None:
    path = f"{PROVIDERS}/child/inventories/CUSTOM_A"
    text = "Unable to delete inventory of class CUSTOM_A: Inventory for 'CUSTOM_A' is in use."
    body = {"errors": [{"code": "placement.inventory.inuse", "detail": text}]}
    stub.lay_out("DELETE", path, Reply(status=409, body=body), Reply(status=204, body=""), Reply(status=404))

    with pytest.raises(CloudConflict, match="is in use"):
        cloud.placement.delete_inventory("child", "CUSTOM_A")
    cloud.placement.delete_inventory("child", "CUSTOM_A")
    with pytest.raises(CloudNotFound):
        cloud.placement.delete_inventory("child", "CUSTOM_A")

    assert {each.body for each in stub.asked("DELETE", path)} == {None}
    assert {each.headers["OpenStack-API-Version"] for each in stub.asked("DELETE", path)} == {
        "placement 1.29"
    }


def test_a_root_is_created_without_a_parent(stub: StubCloud, cloud: OpenStackCloud) -> None:
    stub.lay_out("POST", PROVIDERS, Reply(body=provider("top", None)), Reply(body=provider("child", "top")))

    root = cloud.placement.create_provider("top", None)
    child = cloud.placement.create_provider("child", "top")

    assert (root.parent_uuid, child.parent_uuid) == (None, "top")
    assert [each.body for each in stub.asked("POST", PROVIDERS)] == [
        {"name": "top"},
        {"name": "child", "parent_provider_uuid": "top"},
    ]


def test_a_class_that_is_refused_as_a_duplicate_but_is_not_there_is_created_again(
    stub: StubCloud, cloud: OpenStackCloud
) -> None:
    """Placement on MariaDB gives the same number to classes that are created at once."""
    path, name = "/placement/resource_classes", "CUSTOM_RESERVATION_X"
    refused = Reply(status=409, body={"errors": [{"detail": f"class {name} already exists"}]})
    stub.lay_out("POST", path, refused, refused, Reply(status=201, body=""))

    cloud.placement.create_resource_class(name)
    assert len(stub.asked("POST", path)) == 3

    stub.lay_out("POST", path, refused)
    stub.lay_out("GET", f"{path}/{name}", Reply(body={"name": name}))
    with pytest.raises(CloudConflict, match="already exists"):
        cloud.placement.create_resource_class(name)

    stub.lay_out("GET", f"{path}/{name}", Reply(status=404))
    with pytest.raises(CloudUnavailable):
        cloud.placement.create_resource_class(name)
