"""Contract of the detachment of volumes by ``Servers`` and ``BlockStorage``."""

from __future__ import annotations

import uuid

import pytest
from cloud.contract.lab import CloudLab, LabStorage

from blazar.domain.errors import CloudConflict, CloudNotFound, CloudRefused
from blazar.ports.block_storage import BlockStorage, VolumeType


def test_an_attached_volume_is_detached_through_nova(
    lab: CloudLab, cinder: BlockStorage, storage: LabStorage, private: VolumeType
) -> None:
    volume_id = storage.create_volume(lab.project_ids[0], 1, private.name)
    server_id = lab.boot_server(lab.name("server"))
    attachment_id = storage.attach(volume_id, server_id)

    with pytest.raises(CloudConflict):
        cinder.delete_volume(volume_id, force=True)
    with pytest.raises(CloudConflict):
        cinder.force_detach(volume_id, attachment_id)
    (volume,) = cinder.list_volumes(private.id)
    assert [each.server_id for each in volume.attachments] == [server_id]

    lab.cloud.servers.detach_volume(server_id, volume_id)
    storage.wait_until_available(volume_id)
    with pytest.raises(CloudNotFound):
        lab.cloud.servers.detach_volume(server_id, volume_id)
    cinder.delete_volume(volume_id)
    storage.wait_until_gone(private.id)


def test_a_volume_that_is_being_detached_is_in_conflict_not_refused(
    lab: CloudLab, storage: LabStorage, private: VolumeType
) -> None:
    """A refusal says that the server was booted from the volume, and such servers are deleted."""
    volume_id = storage.create_volume(lab.project_ids[0], 1, private.name)
    server_id = lab.boot_server(lab.name("server"))
    storage.attach(volume_id, server_id)
    lab.cloud.servers.detach_volume(server_id, volume_id)

    with pytest.raises((CloudConflict, CloudNotFound)):
        lab.cloud.servers.detach_volume(server_id, volume_id)

    storage.wait_until_available(volume_id)


def test_the_volume_from_which_a_server_was_booted_is_refused(
    lab: CloudLab, storage: LabStorage, private: VolumeType
) -> None:
    volume_id = storage.create_volume(lab.project_ids[0], 1, private.name)
    server_id = storage.boot_from(volume_id)

    with pytest.raises(CloudRefused):
        lab.cloud.servers.detach_volume(server_id, volume_id)

    lab.cloud.servers.delete_server(server_id)
    lab.wait_until_gone(server_id)


def test_a_suspended_server_keeps_its_volumes_until_it_is_reactivated(
    lab: CloudLab, storage: LabStorage, private: VolumeType
) -> None:
    servers = lab.cloud.servers
    volume_id = storage.create_volume(lab.project_ids[0], 1, private.name)
    server_id = lab.boot_server(lab.name("server"))
    storage.attach(volume_id, server_id)
    storage.suspend(server_id)
    with pytest.raises(CloudConflict):
        servers.detach_volume(server_id, volume_id)

    servers.reactivate_server(server_id)

    storage.wait_until_active(server_id)
    servers.reactivate_server(server_id)
    servers.detach_volume(server_id, volume_id)
    storage.wait_until_available(volume_id)
    with pytest.raises(CloudNotFound):
        servers.reactivate_server(str(uuid.UUID(int=1)))


def test_an_attachment_that_nova_does_not_know_is_ended_by_force(
    lab: CloudLab, cinder: BlockStorage, storage: LabStorage, private: VolumeType
) -> None:
    volume_id = storage.create_volume(lab.project_ids[0], 1, private.name)
    attachment_id = storage.attach(volume_id, None)

    cinder.force_detach(volume_id, attachment_id)

    (volume,) = cinder.list_volumes(private.id)
    assert (volume.attachments, volume.status) == ((), "available")
