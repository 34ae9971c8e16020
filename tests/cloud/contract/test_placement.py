"""Contract of ``Placement``."""

from __future__ import annotations

import uuid
from dataclasses import replace

import pytest
from cloud.contract.lab import CloudLab, LabHost

from blazar.domain.errors import CloudConflict, CloudNotFound, CloudRefused
from blazar.domain.providers import Inventory
from blazar.ports.compute import Flavor
from blazar.ports.placement import Inventories, Placement, Provider

UNKNOWN_ID = str(uuid.UUID(int=1))
UNITS = Inventory(total=3, max_unit=1)


@pytest.fixture
def placement(lab: CloudLab) -> Placement:
    return lab.cloud.placement


@pytest.fixture
def provider(placement: Placement, lab: CloudLab) -> Provider:
    return placement.create_provider(lab.name("provider"), None)


@pytest.fixture
def child(lab: CloudLab, host: LabHost) -> Provider:
    return lab.add_child(host)


@pytest.fixture
def resource_class(placement: Placement, lab: CloudLab) -> str:
    name = "CUSTOM_" + "".join(c if c.isalnum() else "_" for c in lab.name("class").upper())
    placement.create_resource_class(name)
    return name


def put(placement: Placement, provider: Provider, by_class: dict[str, Inventory]) -> None:
    generation = placement.get_inventories(provider.uuid).generation
    placement.put_inventories(provider.uuid, Inventories(generation=generation, by_class=by_class))


def boot_reserved(lab: CloudLab, host: LabHost, resource_class: str) -> str:
    cloud, name = lab.cloud, lab.name("flavor")
    if cloud.flavors.find_flavor(name) is None:
        specs = {f"resources:{resource_class}": "1", "aggregate_instance_extra_specs:reservation": name}
        cloud.flavors.create_flavor(
            Flavor(id=name, name=name, vcpus=1, memory_mb=64, disk_gb=0, extra_specs=specs)
        )
        cloud.flavors.add_flavor_access(name, lab.project_ids[0])
    return lab.boot_server(lab.name("server"), service_host=host.service_host, flavor_id=name)


def test_a_hypervisor_has_a_root_provider_of_its_name(placement: Placement, host: LabHost) -> None:
    root = placement.find_provider(host.hypervisor_hostname)

    assert root is not None
    assert root.name == host.hypervisor_hostname
    assert (root.parent_uuid, root.root_uuid) == (None, root.uuid)
    assert {"VCPU", "MEMORY_MB", "DISK_GB"} <= placement.get_inventories(root.uuid).by_class.keys()
    assert isinstance(placement.list_traits(root.uuid), frozenset)


def test_a_provider_is_found_by_its_exact_name(placement: Placement, provider: Provider) -> None:
    assert placement.find_provider(provider.name) == provider
    assert placement.find_provider(provider.name[:-1]) is None


def test_a_name_may_hold_anything(placement: Placement, lab: CloudLab) -> None:
    made = placement.create_provider(lab.name("a b+c&d=e/f%20ü#?"), None)

    assert placement.find_provider(made.name) == made
    assert placement.find_provider(made.name.replace("+", " ")) is None


def test_a_child_belongs_to_the_tree_of_its_parent(placement: Placement, lab: CloudLab) -> None:
    root = placement.create_provider(lab.name("root"), None)
    child = placement.create_provider(lab.name("child"), root.uuid)
    grandchild = placement.create_provider(lab.name("grandchild"), child.uuid)

    tree = placement.list_tree(root.uuid)

    assert (child.parent_uuid, child.root_uuid) == (root.uuid, root.uuid)
    assert (grandchild.parent_uuid, grandchild.root_uuid) == (child.uuid, root.uuid)
    assert tree[0] == root
    assert {each.uuid for each in tree} == {root.uuid, child.uuid, grandchild.uuid}


def test_a_tree_nobody_has_is_empty(placement: Placement) -> None:
    assert placement.list_tree(UNKNOWN_ID) == ()


def test_a_name_is_given_once(placement: Placement, provider: Provider) -> None:
    with pytest.raises(CloudConflict):
        placement.create_provider(provider.name, None)

    assert placement.find_provider(provider.name) == provider


def test_a_parent_has_to_exist(placement: Placement, lab: CloudLab) -> None:
    with pytest.raises(CloudRefused):
        placement.create_provider(lab.name("orphan"), UNKNOWN_ID)

    assert placement.find_provider(lab.name("orphan")) is None


def test_a_deleted_provider_is_gone(placement: Placement, provider: Provider) -> None:
    placement.delete_provider(provider.uuid)

    assert placement.find_provider(provider.name) is None
    with pytest.raises(CloudNotFound):
        placement.delete_provider(provider.uuid)


def test_a_provider_with_children_is_not_deleted(
    placement: Placement, lab: CloudLab, provider: Provider
) -> None:
    child = placement.create_provider(lab.name("child"), provider.uuid)

    with pytest.raises(CloudConflict):
        placement.delete_provider(provider.uuid)

    placement.delete_provider(child.uuid)
    placement.delete_provider(provider.uuid)


def test_a_missing_provider_has_nothing(placement: Placement) -> None:
    with pytest.raises(CloudNotFound):
        placement.get_inventories(UNKNOWN_ID)
    with pytest.raises(CloudNotFound):
        placement.list_traits(UNKNOWN_ID)
    with pytest.raises(CloudNotFound):
        placement.put_inventories(UNKNOWN_ID, Inventories(generation=0, by_class={}))
    with pytest.raises(CloudNotFound):
        placement.delete_inventory(UNKNOWN_ID, "VCPU")


def test_a_new_provider_has_neither_inventories_nor_traits(placement: Placement, provider: Provider) -> None:
    assert dict(placement.get_inventories(provider.uuid).by_class) == {}
    assert placement.list_traits(provider.uuid) == frozenset()


def test_inventories_are_replaced_as_a_whole(
    placement: Placement, provider: Provider, resource_class: str
) -> None:
    put(placement, provider, {"VCPU": Inventory(total=8, reserved=1, max_unit=8, allocation_ratio=4.0)})

    put(placement, provider, {resource_class: UNITS})

    assert dict(placement.get_inventories(provider.uuid).by_class) == {resource_class: UNITS}


def test_one_inventory_is_deleted_and_the_others_stay(
    placement: Placement, provider: Provider, resource_class: str
) -> None:
    put(placement, provider, {"VCPU": Inventory(total=8), resource_class: UNITS})

    placement.delete_inventory(provider.uuid, resource_class)

    assert dict(placement.get_inventories(provider.uuid).by_class) == {"VCPU": Inventory(total=8)}
    placement.delete_resource_class(resource_class)


def test_an_inventory_that_is_not_there_is_not_deleted(
    placement: Placement, provider: Provider, resource_class: str
) -> None:
    put(placement, provider, {"VCPU": Inventory(total=8)})

    for name in (resource_class, "DISK_GB", "CUSTOM_NOBODY_MADE_THIS"):
        with pytest.raises(CloudNotFound):
            placement.delete_inventory(provider.uuid, name)

    assert dict(placement.get_inventories(provider.uuid).by_class) == {"VCPU": Inventory(total=8)}


def test_deleting_an_inventory_moves_the_generation_on(placement: Placement, provider: Provider) -> None:
    put(placement, provider, {"VCPU": Inventory(total=8), "DISK_GB": Inventory(total=9)})
    stale = placement.get_inventories(provider.uuid)

    placement.delete_inventory(provider.uuid, "DISK_GB")

    with pytest.raises(CloudConflict):
        placement.put_inventories(provider.uuid, stale)
    assert placement.get_inventories(provider.uuid).by_class.keys() == {"VCPU"}


def test_every_write_moves_the_generation_on(placement: Placement, provider: Provider) -> None:
    before = placement.get_inventories(provider.uuid).generation

    put(placement, provider, {"VCPU": Inventory(total=8)})

    after = placement.get_inventories(provider.uuid).generation
    assert after > before
    found = placement.find_provider(provider.name)
    assert found is not None
    assert found.generation == after


def test_a_write_at_a_stale_generation_changes_nothing(placement: Placement, provider: Provider) -> None:
    stale = placement.get_inventories(provider.uuid)
    put(placement, provider, {"VCPU": Inventory(total=8)})

    with pytest.raises(CloudConflict):
        placement.put_inventories(provider.uuid, replace(stale, by_class={"VCPU": Inventory(total=9)}))

    assert placement.get_inventories(provider.uuid).by_class["VCPU"].total == 8


def test_an_inventory_needs_an_existing_class(placement: Placement, provider: Provider) -> None:
    with pytest.raises(CloudRefused):
        put(placement, provider, {"CUSTOM_NOBODY_MADE_THIS": UNITS})

    assert dict(placement.get_inventories(provider.uuid).by_class) == {}


def test_an_inventory_of_nothing_is_refused(placement: Placement, provider: Provider) -> None:
    with pytest.raises(CloudRefused):
        put(placement, provider, {"VCPU": Inventory(total=0)})


def test_what_nobody_uses_is_used_by_nobody(
    placement: Placement, provider: Provider, resource_class: str
) -> None:
    put(placement, provider, {resource_class: UNITS})

    assert placement.get_usages(provider.uuid) == {resource_class: 0}
    with pytest.raises(CloudNotFound):
        placement.get_usages(UNKNOWN_ID)


def test_standard_and_custom_classes_are_listed(placement: Placement, resource_class: str) -> None:
    assert {"VCPU", "MEMORY_MB", "DISK_GB", "PCPU", "VGPU", resource_class} <= (
        placement.list_resource_classes()
    )
    assert placement.has_resource_class("VCPU")
    assert placement.has_resource_class(resource_class)


def test_a_class_is_created_once(placement: Placement, resource_class: str) -> None:
    with pytest.raises(CloudConflict):
        placement.create_resource_class(resource_class)


@pytest.mark.parametrize("name", ["VCPU", "RESERVATION", "CUSTOM_lower", "CUSTOM_A-B", "CUSTOM_"])
def test_a_class_needs_a_custom_name(placement: Placement, name: str) -> None:
    with pytest.raises(CloudRefused):
        placement.create_resource_class(name)


def test_a_deleted_class_is_gone(placement: Placement, resource_class: str) -> None:
    placement.delete_resource_class(resource_class)

    assert resource_class not in placement.list_resource_classes()
    assert not placement.has_resource_class(resource_class)
    with pytest.raises(CloudNotFound):
        placement.delete_resource_class(resource_class)


def test_a_standard_class_is_not_deleted(placement: Placement) -> None:
    with pytest.raises(CloudRefused):
        placement.delete_resource_class("VCPU")


def test_a_class_with_an_inventory_is_not_deleted(
    placement: Placement, provider: Provider, resource_class: str
) -> None:
    put(placement, provider, {resource_class: UNITS})

    with pytest.raises(CloudConflict):
        placement.delete_resource_class(resource_class)

    put(placement, provider, {})
    placement.delete_resource_class(resource_class)


def test_what_a_server_uses_is_not_taken_away(
    placement: Placement, lab: CloudLab, host: LabHost, child: Provider, resource_class: str
) -> None:
    put(placement, child, {resource_class: UNITS})
    server_id = boot_reserved(lab, host, resource_class)

    with pytest.raises(CloudConflict):
        put(placement, child, {})
    with pytest.raises(CloudConflict):
        placement.delete_inventory(child.uuid, resource_class)
    with pytest.raises(CloudConflict):
        placement.delete_provider(child.uuid)

    assert dict(placement.get_inventories(child.uuid).by_class) == {resource_class: UNITS}
    lab.cloud.servers.delete_server(server_id)
    lab.wait_until_gone(server_id)
    placement.delete_inventory(child.uuid, resource_class)
    placement.delete_provider(child.uuid)


def test_an_inventory_may_shrink_below_what_is_used(
    placement: Placement, lab: CloudLab, host: LabHost, child: Provider, resource_class: str
) -> None:
    put(placement, child, {resource_class: Inventory(total=2, max_unit=1)})
    boot_reserved(lab, host, resource_class)
    boot_reserved(lab, host, resource_class)

    put(placement, child, {resource_class: Inventory(total=1, max_unit=1)})

    assert placement.get_inventories(child.uuid).by_class[resource_class].total == 1


def test_a_server_moves_the_generation_of_its_provider_on(
    placement: Placement, lab: CloudLab, host: LabHost, child: Provider, resource_class: str
) -> None:
    put(placement, child, {resource_class: UNITS})
    before = placement.get_inventories(child.uuid)

    boot_reserved(lab, host, resource_class)

    with pytest.raises(CloudConflict):
        placement.put_inventories(child.uuid, before)
