"""Creation of slots on hosts in Placement, with concurrent writers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from plugins.slot_env import CLASS, AlteredCloud, SlotEnv

from blazar.cloud.simulated import SimulatedCloud
from blazar.domain.errors import CloudConflict, CloudRefused
from blazar.domain.lifecycle import Phase
from blazar.domain.providers import Inventory
from blazar.plugins.contract import Done, Unusable, Waiting
from blazar.plugins.slots.inventories import SlotInventories
from blazar.plugins.slots.items import Kind, SlotItem, SlotsSeen
from blazar.ports.placement import Inventories, Placement

OTHER_CLASS = "CUSTOM_RESERVATION_OTHER"


@pytest.fixture
def env() -> SlotEnv:
    """A reservation of three slots on each of two hosts, without any items."""
    return SlotEnv(affinity=None)


class CrowdedPlacement:
    """Placement with a concurrent action just before some calls."""

    def __init__(self, placement: Placement, operation: str, act: Callable[[], object], times: int) -> None:
        self._placement = placement
        self._operation = operation
        self._act = act
        self._times = times

    def __getattr__(self, name: str) -> Any:
        if name == self._operation and self._times:
            self._times -= 1
            self._act()
        return getattr(self._placement, name)


def crowded_cloud(
    cloud: SimulatedCloud, operation: str, act: Callable[[], object], times: int
) -> AlteredCloud:
    """Return a cloud in which a concurrent action runs just before some calls of Placement."""
    return AlteredCloud(cloud, placement=CrowdedPlacement(cloud.placement, operation, act, times))


def put_another(env: SlotEnv) -> None:
    """Put the slots of another reservation on the first host, as its manager does."""
    placement = env.cloud.placement
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


def test_they_wait_for_their_resource_class(env: SlotEnv) -> None:
    outcome = env.make(Kind.INVENTORY)

    assert isinstance(outcome, Waiting)
    assert "the resource class does not exist yet" in outcome.reason


def test_a_class_that_is_there_is_fine(env: SlotEnv) -> None:
    env.cloud.placement.create_resource_class(CLASS)

    assert env.plugin.make(env.cloud, env.assignment, SlotItem(Kind.CLASS), SlotsSeen()) == Done()


def test_the_provider_is_made_below_the_hosts_own_and_used_by_all(env: SlotEnv) -> None:
    env.reach(Phase.RUNNING)

    root = env.cloud.placement.find_provider("host-0.example")
    nested = env.cloud.placement.find_provider("blazar_host-0.example")
    assert root is not None
    assert nested is not None
    assert nested.parent_uuid == root.uuid


def test_slots_of_other_reservations_stay(env: SlotEnv) -> None:
    env.reach(Phase.RUNNING)
    put_another(env)
    env.hold(host_0=1, host_1=3)

    env.reach(Phase.RUNNING)

    assert env.inventories("host-0") == {
        CLASS: Inventory(total=1, max_unit=1),
        OTHER_CLASS: Inventory(total=1),
    }


@pytest.mark.parametrize("times", [1, 9])
def test_two_reservations_that_start_at_once_both_get_theirs(env: SlotEnv, times: int) -> None:
    env.reach(Phase.RUNNING)
    env.hold(host_0=2, host_1=3)
    crowded = crowded_cloud(env.cloud, "put_inventories", lambda: put_another(env), times)

    assert env.make(Kind.INVENTORY, cloud=crowded) == Done()

    assert env.inventories("host-0").keys() == {CLASS, OTHER_CLASS}
    assert env.inventories("host-0")[CLASS].total == 2


def test_who_is_never_fast_enough_says_so(env: SlotEnv) -> None:
    env.reach(Phase.PREPARING)
    before = env.cloud.calls
    env.fail("placement.put_inventories", CloudConflict, times=100)

    with pytest.raises(CloudConflict):
        env.make(Kind.INVENTORY)

    assert (env.cloud.calls - before)["placement.put_inventories"] == 10


def test_a_provider_that_another_makes_at_the_same_instant_is_used(env: SlotEnv) -> None:
    env.reach(Phase.PREPARING)
    placement = env.cloud.placement
    root = placement.find_provider("host-0.example")
    assert root is not None
    make = partial(placement.create_provider, "blazar_host-0.example", root.uuid)
    crowded = crowded_cloud(env.cloud, "create_provider", make, times=1)

    assert env.make(Kind.INVENTORY, cloud=crowded) == Done()

    assert env.inventories("host-0").keys() == {CLASS}


def test_a_provider_that_is_replaced_is_found_again(env: SlotEnv) -> None:
    placement, slots, inventories = env.cloud.placement, Inventory(total=1), SlotInventories()
    placement.create_resource_class(CLASS)
    for _ in range(2):
        assert inventories.put(placement, "host-0.example", CLASS, slots)
        assert env.inventories("host-0") == {CLASS: slots}
        provider = placement.find_provider("blazar_host-0.example")
        assert provider is not None
        placement.delete_provider(provider.uuid)

    SlotInventories().put(placement, "host-0.example", CLASS, slots)

    assert inventories.find(placement, "host-0.example", CLASS) == slots


@pytest.mark.parametrize("is_refused", [False, True])
def test_a_host_without_a_provider_of_its_own_is_unusable_for_now(env: SlotEnv, is_refused: bool) -> None:
    env.reach(Phase.PREPARING)
    if is_refused:
        env.fail("placement.create_provider", CloudRefused)
    else:
        root = env.cloud.placement.find_provider("host-0.example")
        assert root is not None
        env.cloud.placement.delete_provider(root.uuid)

    reason = "Placement has no resource provider for host host-0.example"
    assert env.make(Kind.INVENTORY) == Unusable(reason)


def test_a_class_that_somebody_deletes_meanwhile_is_waited_for(env: SlotEnv) -> None:
    env.reach(Phase.PREPARING)
    cloud: Any = crowded_cloud(
        env.cloud, "put_inventories", lambda: env.cloud.placement.delete_resource_class(CLASS), 1
    )

    outcome = env.make(Kind.INVENTORY, cloud=cloud)

    assert isinstance(outcome, Waiting)
    assert "resource class" in outcome.reason


def test_inventories_that_placement_refuses_though_it_has_the_class_are_refused(env: SlotEnv) -> None:
    env.reach(Phase.PREPARING)
    env.fail("placement.put_inventories", CloudRefused)

    with pytest.raises(CloudRefused):
        env.make(Kind.INVENTORY)
