"""Volumes that their lessee makes busy again before each round of a teardown."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest
from clocks import ManualClock

from blazar.cloud.simulated.cloud import SimulatedCloud
from blazar.domain.errors import CloudConflict
from blazar.plugins.contract import Done, Outcome, Waiting
from blazar.plugins.volumes.retaining import Wait, move_volumes
from blazar.plugins.volumes.teardown import remove_volumes
from blazar.ports.block_storage import Volume, VolumeType
from blazar.ports.cloud import Cloud

ENDED = datetime(2031, 1, 1, tzinfo=UTC)
WAIT = timedelta(hours=5)


@pytest.fixture
def cloud() -> SimulatedCloud:
    cloud = SimulatedCloud(ManualClock())
    cloud.add_storage_pool("block@fast#ssd", 100)
    cloud.add_storage_pool("block@shared#any", None)
    return cloud


@pytest.fixture
def reserved(cloud: SimulatedCloud) -> VolumeType:
    made = cloud.block_storage.create_type("reservation:1", "", {"volume_backend_name": "fast"})
    cloud.block_storage.add_type_access(made.id, "project")
    return made


@pytest.fixture
def target(cloud: SimulatedCloud) -> VolumeType:
    return cloud.add_volume_type("standard", {"volume_backend_name": "shared"})


def move(cloud: Cloud, reserved: VolumeType, target: VolumeType, since_end: timedelta) -> Outcome:
    return move_volumes(cloud, reserved.id, target, Wait(ENDED, ENDED + since_end, WAIT), "project")


class SlowGroups:
    """A cloud in which a volume has left its group only when the volumes are read for the third time."""

    def __init__(self, cloud: Any) -> None:
        self._cloud = cloud
        self._leaving: dict[str, int] = {}

    @property
    def block_storage(self) -> SlowGroups:
        return self

    def leave_group(self, group_id: str, volume_ids: Collection[str]) -> None:
        """Accept the request."""
        if group_id in self._leaving:
            raise CloudConflict("the group is being updated")
        self._leaving[group_id] = 0

    def list_volumes(self, type_id: str) -> tuple[Volume, ...]:
        storage = self._cloud.block_storage
        found: tuple[Volume, ...] = storage.list_volumes(type_id)
        for each in found:
            if each.group_id in self._leaving:
                self._leaving[each.group_id] += 1
                if self._leaving[each.group_id] == 3:
                    storage.leave_group(each.group_id, [each.id])
                    del self._leaving[each.group_id]
        return storage.list_volumes(type_id)  # type: ignore[no-any-return]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cloud.block_storage if name != "servers" else self._cloud, name)


def test_a_volume_that_has_just_left_its_group_is_deleted_in_the_same_step(
    cloud: SimulatedCloud, reserved: VolumeType
) -> None:
    """The lessee would add it to a group again before the next step."""
    volume = cloud.create_volume("project", 10, reserved.name)
    cloud.group_volumes("group", frozenset({reserved.id}), (volume.id,))

    found = remove_volumes(cast(Cloud, SlowGroups(cloud)), reserved.id, "project")

    assert isinstance(found, Waiting)
    assert [each.name for each in found.results] == [f"volume {volume.id}"]
    assert cloud.find_volume(volume.id) is None


def test_a_volume_that_has_just_left_its_group_is_moved_in_the_same_step(
    cloud: SimulatedCloud, reserved: VolumeType, target: VolumeType
) -> None:
    volume = cloud.create_volume("project", 10, reserved.name)
    cloud.group_volumes("group", frozenset({reserved.id}), (volume.id,))

    move(cast(Cloud, SlowGroups(cloud)), reserved, target, timedelta(0))

    found = cloud.find_volume(volume.id)
    assert found is not None
    assert found.type_name == target.name


def test_a_transfer_that_is_started_before_each_step_does_not_prevent_the_move(
    cloud: SimulatedCloud, reserved: VolumeType, target: VolumeType
) -> None:
    volume = cloud.create_volume("project", 10, reserved.name)
    cloud.begin_transfer(volume.id)

    move(cloud, reserved, target, timedelta(0))

    found = cloud.find_volume(volume.id)
    assert found is not None
    assert found.type_name == target.name
    assert move(cloud, reserved, target, timedelta(0)) == Done()
