"""Volumes that their lessee makes busy again before each round of a teardown."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from clocks import ManualClock

from blazar.cloud.simulated.cloud import SimulatedCloud
from blazar.plugins.contract import Done, Outcome, Waiting
from blazar.plugins.volumes.retaining import Wait, move_volumes
from blazar.ports.block_storage import VolumeType

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


def move(cloud: SimulatedCloud, reserved: VolumeType, target: VolumeType, since_end: timedelta) -> Outcome:
    return move_volumes(cloud, reserved.id, target, Wait(ENDED, ENDED + since_end, WAIT), "project")


class TestRetained:
    def test_a_transfer_that_is_started_before_each_round_keeps_no_volume(
        self, cloud: SimulatedCloud, reserved: VolumeType, target: VolumeType
    ) -> None:
        volume = cloud.create_volume("project", 10, reserved.name)

        for hours in (0, 1, 5):
            cloud.begin_transfer(volume.id)
            found = move(cloud, reserved, target, timedelta(hours=hours))
            if hours < 5:
                assert isinstance(found, Waiting)
                assert f"{volume.id} (is busy); they are deleted at 2031-01-01 05:00 UTC" in found.reason

        assert cloud.find_volume(volume.id) is None
        assert move(cloud, reserved, target, WAIT) == Done()
