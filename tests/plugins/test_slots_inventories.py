"""Creation of slots on hosts in Placement, with concurrent writers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from plugins.slot_stage import CLASS, SlotStage

from blazar.cloud.simulated import SimulatedCloud
from blazar.domain.errors import CloudConflict, CloudRefused
from blazar.domain.lifecycle import Phase
from blazar.domain.providers import Inventory
from blazar.plugins.contract import Done, Unusable, Waiting
from blazar.plugins.slots.inventories import SlotInventories
from blazar.plugins.slots.items import Kind, SlotItem, SlotsSeen
from blazar.ports.placement import Inventories

OTHER_CLASS = "CUSTOM_RESERVATION_OTHER"


@pytest.fixture
def stage() -> SlotStage:
    """A reservation of three slots on each of two hosts, without any items."""
    return SlotStage(affinity=None)


class Crowded:
    """A cloud in which a concurrent action runs just before some calls of Placement."""

    def __init__(self, cloud: SimulatedCloud, operation: str, act: Callable[[], object], times: int) -> None:
        self.compute = cloud.compute
        self.networks = cloud.networks
        self.compute_for = cloud.compute_for
        self._placement = cloud.placement
        self._operation = operation
        self._act = act
        self._times = times

    @property
    def placement(self) -> Any:
        return self

    def __getattr__(self, name: str) -> Any:
        if name == self._operation and self._times:
            self._times -= 1
            self._act()
        return getattr(self._placement, name)


def put_another(stage: SlotStage) -> None:
    """Put the slots of another reservation on the first host, as its manager does."""
    placement = stage.cloud.placement
    provider = placement.find_provider("blazar_host-0.example")
    assert provider is not None
    if OTHER_CLASS not in placement.list_resource_classes():
        placement.create_resource_class(OTHER_CLASS)
    present = placement.get_inventories(provider.uuid)
    placement.put_inventories(
        provider.uuid,
        Inventories(
            generation=present.generation, by_class={**present.by_class, OTHER_CLASS: Inventory(total=1)}
        ),
    )


def test_they_wait_for_their_resource_class(stage: SlotStage) -> None:
    outcome = stage.make(Kind.INVENTORY)

    assert isinstance(outcome, Waiting)
    assert "the resource class does not exist yet" in outcome.reason


def test_a_class_that_is_there_is_fine(stage: SlotStage) -> None:
    stage.cloud.placement.create_resource_class(CLASS)

    assert stage.plugin.make(stage.cloud, stage.assignment, SlotItem(Kind.CLASS), SlotsSeen()) == Done()


def test_the_provider_is_made_below_the_hosts_own_and_used_by_all(stage: SlotStage) -> None:
    stage.reach(Phase.RUNNING)

    root = stage.cloud.placement.find_provider("host-0.example")
    nested = stage.cloud.placement.find_provider("blazar_host-0.example")
    assert root is not None
    assert nested is not None
    assert nested.parent_uuid == root.uuid


def test_slots_of_other_reservations_stay(stage: SlotStage) -> None:
    stage.reach(Phase.RUNNING)
    put_another(stage)
    stage.hold(host_0=1, host_1=3)

    stage.reach(Phase.RUNNING)

    assert stage.inventories("host-0") == {
        CLASS: Inventory(total=1, max_unit=1),
        OTHER_CLASS: Inventory(total=1),
    }


@pytest.mark.parametrize("times", [1, 9])
def test_two_reservations_that_start_at_once_both_get_theirs(stage: SlotStage, times: int) -> None:
    stage.reach(Phase.RUNNING)
    stage.hold(host_0=2, host_1=3)
    crowded = Crowded(stage.cloud, "put_inventories", lambda: put_another(stage), times)

    assert stage.make(Kind.INVENTORY, cloud=crowded) == Done()

    assert stage.inventories("host-0").keys() == {CLASS, OTHER_CLASS}
    assert stage.inventories("host-0")[CLASS].total == 2


def test_who_is_never_fast_enough_says_so(stage: SlotStage) -> None:
    stage.reach(Phase.PREPARING)
    before = stage.cloud.calls
    stage.fail("placement.put_inventories", CloudConflict, times=100)

    with pytest.raises(CloudConflict):
        stage.make(Kind.INVENTORY)

    assert (stage.cloud.calls - before)["placement.put_inventories"] == 10


def test_a_provider_that_another_makes_at_the_same_instant_is_used(stage: SlotStage) -> None:
    stage.reach(Phase.PREPARING)
    placement = stage.cloud.placement
    root = placement.find_provider("host-0.example")
    assert root is not None
    make = partial(placement.create_provider, "blazar_host-0.example", root.uuid)
    crowded = Crowded(stage.cloud, "create_provider", make, times=1)

    assert stage.make(Kind.INVENTORY, cloud=crowded) == Done()

    assert stage.inventories("host-0").keys() == {CLASS}


def test_a_provider_that_is_replaced_is_found_again(stage: SlotStage) -> None:
    placement, slots, inventories = stage.cloud.placement, Inventory(total=1), SlotInventories()
    placement.create_resource_class(CLASS)
    for _ in range(2):
        assert inventories.put(placement, "host-0.example", CLASS, slots)
        assert stage.inventories("host-0") == {CLASS: slots}
        provider = placement.find_provider("blazar_host-0.example")
        assert provider is not None
        placement.delete_provider(provider.uuid)

    SlotInventories().put(placement, "host-0.example", CLASS, slots)

    assert inventories.find(placement, "host-0.example", CLASS) == slots


@pytest.mark.parametrize("is_refused", [False, True])
def test_a_host_without_a_provider_of_its_own_is_unusable_for_now(stage: SlotStage, is_refused: bool) -> None:
    stage.reach(Phase.PREPARING)
    if is_refused:
        stage.fail("placement.create_provider", CloudRefused)
    else:
        root = stage.cloud.placement.find_provider("host-0.example")
        assert root is not None
        stage.cloud.placement.delete_provider(root.uuid)

    reason = "Placement has no resource provider for host host-0.example"
    assert stage.make(Kind.INVENTORY) == Unusable(reason)


def test_a_class_that_somebody_deletes_meanwhile_is_waited_for(stage: SlotStage) -> None:
    stage.reach(Phase.PREPARING)
    cloud: Any = Crowded(
        stage.cloud, "put_inventories", lambda: stage.cloud.placement.delete_resource_class(CLASS), 1
    )

    outcome = stage.make(Kind.INVENTORY, cloud=cloud)

    assert isinstance(outcome, Waiting)
    assert "resource class" in outcome.reason


def test_inventories_that_placement_refuses_though_it_has_the_class_are_refused(stage: SlotStage) -> None:
    stage.reach(Phase.PREPARING)
    stage.fail("placement.put_inventories", CloudRefused)

    with pytest.raises(CloudRefused):
        stage.make(Kind.INVENTORY)
