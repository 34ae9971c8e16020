"""Contract of ``BlockStorage``."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any

import pytest
from cloud.contract.lab import CloudLab, LabStorage

from blazar.domain.errors import CloudConflict, CloudNotFound, CloudRefused
from blazar.ports.block_storage import BlockStorage, NewVolume, ProjectStorage, StoragePool, VolumeType

UNKNOWN_ID = str(uuid.UUID(int=1))


def find(cinder: BlockStorage, type_id: str) -> VolumeType | None:
    return next((each for each in cinder.list_types() if each.id == type_id), None)


def test_pools_have_a_name_a_back_end_and_a_capacity(cinder: BlockStorage, storage: LabStorage) -> None:
    pools = {each.name: each for each in cinder.list_pools()}

    assert set(storage.pools) <= pools.keys()
    for name in storage.pools:
        found = pools[name]
        assert name.endswith(f"#{found.pool_name}")
        assert (found.total or 0) >= 4
        assert found.allocated >= 0
        assert "free_capacity_gb" not in found.capabilities
    assert len({pools[name].backend_name for name in storage.pools}) == 2


def test_a_type_is_made_once_and_found_with_its_extra_specs(
    cinder: BlockStorage, private: VolumeType
) -> None:
    found = find(cinder, private.id)

    assert found == private
    assert not private.is_public
    assert private.description == "for a test"
    assert private.extra_specs["blazar:reservation"] == "of a test"
    with pytest.raises(CloudConflict):
        cinder.create_type(private.name, "again", {})


def test_only_projects_with_access_use_a_type(
    lab: CloudLab, cinder: BlockStorage, storage: LabStorage, private: VolumeType
) -> None:
    one, two = lab.project_ids

    assert cinder.list_type_access(private.id) == {one}
    with pytest.raises(CloudNotFound):
        storage.create_volume(two, 1, private.name)
    with pytest.raises(CloudConflict):
        cinder.add_type_access(private.id, one)
    cinder.remove_type_access(private.id, one)
    with pytest.raises(CloudNotFound):
        cinder.remove_type_access(private.id, one)
    with pytest.raises(CloudNotFound):
        storage.create_volume(one, 1, private.name)
    assert cinder.list_type_access(private.id) == frozenset()


def test_volumes_of_a_type_are_in_its_pool_and_within_its_quota(
    lab: CloudLab, cinder: BlockStorage, storage: LabStorage, pool: StoragePool, private: VolumeType
) -> None:
    one = lab.project_ids[0]

    made = storage.create_volume(one, 2, private.name)
    with pytest.raises(CloudRefused):
        storage.create_volume(one, 2, private.name)

    (volume,) = cinder.list_volumes(private.id)
    assert (volume.id, volume.project_id, volume.size) == (made, one, 2)
    assert (volume.pool, volume.type_name, volume.status) == (pool.name, private.name, "available")
    assert (volume.attachments, volume.group_id) == ((), None)
    quotas = cinder.get_quotas(one, [private.name, "none"])
    assert {name: (each.limit, each.used) for name, each in quotas.items()} == {private.name: (3, 2)}
    storage.wait_until_reported()
    allocated = {each.name: each.allocated for each in cinder.list_pools()}
    assert allocated[pool.name] == pool.allocated + 2


def test_volumes_of_all_projects_and_types_in_a_pool_are_listed(
    lab: CloudLab, cinder: BlockStorage, storage: LabStorage, private: VolumeType
) -> None:
    cinder.add_type_access(private.id, lab.project_ids[1])
    made = {storage.create_volume(each, 1, private.name) for each in lab.project_ids}

    assert {each.id for each in cinder.list_volumes_in(storage.pools[0])} == made
    assert cinder.list_volumes_in(storage.pools[1]) == ()
    assert cinder.list_volumes_in("host@none#none") == ()


def test_a_quota_is_not_lowered_below_what_is_used(
    lab: CloudLab, cinder: BlockStorage, storage: LabStorage, private: VolumeType
) -> None:
    one = lab.project_ids[0]
    storage.create_volume(one, 2, private.name)

    with pytest.raises(CloudConflict):
        cinder.set_quotas(one, {private.name: 1})

    assert cinder.get_quotas(one, [private.name])[private.name].limit == 3
    cinder.set_quotas(one, {private.name: 2})
    assert cinder.get_quotas(one, [private.name])[private.name].limit == 2


def test_the_quota_of_an_unknown_type_cannot_be_set(lab: CloudLab, cinder: BlockStorage) -> None:
    with pytest.raises(CloudConflict):
        cinder.set_quotas(lab.project_ids[0], {lab.name("none"): 1})


def test_quotas_for_several_types_are_all_set_or_none(
    lab: CloudLab, cinder: BlockStorage, private: VolumeType
) -> None:
    one, names = lab.project_ids[0], (private.name, lab.name("reservation:2"))
    cinder.create_type(names[1], "for a test", {"blazar:reservation": "of a test"})

    def limits() -> list[int]:
        found = cinder.get_quotas(one, names)
        return [found[each].limit for each in names]

    cinder.set_quotas(one, {names[0]: 5, names[1]: 6})
    assert limits() == [5, 6]
    with pytest.raises(CloudConflict):
        cinder.set_quotas(one, {names[0]: 7, lab.name("none"): 1, names[1]: 8})
    assert limits() == [5, 6]


def test_a_type_with_volumes_is_not_deleted(
    lab: CloudLab, cinder: BlockStorage, storage: LabStorage, private: VolumeType
) -> None:
    volume_id = storage.create_volume(lab.project_ids[0], 1, private.name)
    with pytest.raises(CloudConflict):
        cinder.delete_type(private.id)

    cinder.delete_volume(volume_id)
    storage.wait_until_gone(private.id)
    cinder.delete_type(private.id)

    assert find(cinder, private.id) is None
    with pytest.raises(CloudNotFound):
        cinder.delete_type(private.id)


def test_a_volume_is_deleted_with_its_snapshots(
    lab: CloudLab, cinder: BlockStorage, storage: LabStorage, private: VolumeType
) -> None:
    volume_id = storage.create_volume(lab.project_ids[0], 1, private.name)
    assert cinder.list_snapshots(volume_id) == ()
    storage.snapshot(volume_id)
    assert [each.is_complete for each in cinder.list_snapshots(volume_id)] == [True]
    assert cinder.list_snapshots(UNKNOWN_ID) == ()
    assert cinder.get_quotas(lab.project_ids[0], [private.name])[private.name].used == 2

    cinder.delete_volume(volume_id)
    storage.wait_until_gone(private.id)

    assert cinder.get_quotas(lab.project_ids[0], [private.name])[private.name].used == 0
    with pytest.raises(CloudNotFound):
        cinder.delete_volume(volume_id)


def test_a_volume_that_awaits_its_transfer_is_deleted_once_that_is_cancelled(
    lab: CloudLab, cinder: BlockStorage, storage: LabStorage, private: VolumeType
) -> None:
    volume_id = storage.create_volume(lab.project_ids[0], 1, private.name)
    transfer_id = storage.begin_transfer(volume_id)

    with pytest.raises(CloudConflict):
        cinder.delete_volume(volume_id)
    assert cinder.list_transfers()[volume_id] == transfer_id
    cinder.delete_transfer(transfer_id)

    assert volume_id not in cinder.list_transfers()
    with pytest.raises(CloudNotFound):
        cinder.delete_transfer(transfer_id)
    cinder.delete_volume(volume_id)
    storage.wait_until_gone(private.id)


@pytest.mark.parametrize("server_id", [None, UNKNOWN_ID])
def test_a_volume_that_is_reserved_for_an_attachment_is_deleted_only_by_force(
    lab: CloudLab,
    cinder: BlockStorage,
    storage: LabStorage,
    private: VolumeType,
    server_id: str | None,
) -> None:
    volume_id = storage.create_volume(lab.project_ids[0], 1, private.name)
    storage.reserve(volume_id, server_id=server_id)

    (found,) = cinder.list_volumes(private.id)
    assert (found.awaits_attachment, found.has_failed) == (True, False)
    with pytest.raises(CloudConflict):
        cinder.delete_volume(volume_id)
    cinder.delete_volume(volume_id, force=True)
    storage.wait_until_gone(private.id)


def test_a_group_keeps_its_volumes_and_its_types(
    lab: CloudLab, cinder: BlockStorage, storage: LabStorage, private: VolumeType
) -> None:
    volume_id = storage.create_volume(lab.project_ids[0], 1, private.name)
    group_id = storage.group(lab.name("group"), frozenset({private.id}), (volume_id,))

    with pytest.raises(CloudConflict):
        cinder.delete_volume(volume_id)
    with pytest.raises(CloudConflict):
        cinder.delete_group(group_id)
    (group,) = (each for each in cinder.list_groups() if each.id == group_id)
    assert group.type_ids == {private.id}
    (volume,) = cinder.list_volumes(private.id)
    assert volume.group_id == group_id

    cinder.leave_group(group_id, [volume_id])
    # Cinder may accept a second request that it checks before the volume has left, and begins after that.
    storage.wait_until_group_is_available(group_id)
    with pytest.raises(CloudConflict):
        cinder.leave_group(group_id, [volume_id])
    cinder.delete_volume(volume_id)
    storage.wait_until_gone(private.id)
    with pytest.raises(CloudConflict):
        cinder.delete_type(private.id)
    cinder.delete_group(group_id)
    storage.wait_until_group_is_gone(group_id)
    cinder.delete_type(private.id)
    with pytest.raises(CloudNotFound):
        cinder.delete_group(group_id)


def test_a_group_snapshot_keeps_its_group_and_its_volumes(
    lab: CloudLab, cinder: BlockStorage, storage: LabStorage, private: VolumeType
) -> None:
    volume_id = storage.create_volume(lab.project_ids[0], 1, private.name)
    group_id = storage.group(lab.name("group"), frozenset({private.id}), (volume_id,))
    made = storage.snapshot_group(group_id)

    (found,) = (each for each in cinder.list_group_snapshots() if each.id == made)
    assert found.group_id == group_id
    assert len(cinder.list_snapshots(volume_id)) == 1
    cinder.leave_group(group_id, [volume_id])
    storage.wait_until_group_is_available(group_id)
    for force in (False, True):
        with pytest.raises(CloudConflict):
            cinder.delete_volume(volume_id, force=force)
    with pytest.raises(CloudConflict):
        cinder.delete_group(group_id)

    cinder.delete_group_snapshot(made)
    storage.wait_until_group_snapshot_is_gone(made)
    assert cinder.list_snapshots(volume_id) == ()
    with pytest.raises(CloudNotFound):
        cinder.delete_group_snapshot(made)
    # Cinder had begun to delete it before it refused.
    assert [each.has_failed for each in cinder.list_volumes(private.id)] == [True]
    cinder.delete_volume(volume_id, force=True)
    storage.wait_until_gone(private.id)
    cinder.delete_group(group_id)
    storage.wait_until_group_is_gone(group_id)


def test_a_volume_moves_to_another_type_unless_it_has_snapshots(
    lab: CloudLab, cinder: BlockStorage, storage: LabStorage, private: VolumeType
) -> None:
    one = lab.project_ids[0]
    moved, kept = (storage.create_volume(one, 1, private.name) for _ in range(2))
    storage.snapshot(kept)

    cinder.retype_volume(moved, storage.ordinary_type_id)
    cinder.retype_volume(kept, storage.ordinary_type_id)
    storage.wait_until_available(moved)
    storage.wait_until_available(kept)

    assert [each.id for each in cinder.list_volumes(private.id)] == [kept]
    # For a moment, Cinder also lists the former copy of the volume that has moved, under another id.
    left = {each.id for each in cinder.list_volumes_in(storage.pools[0])}
    assert (kept in left, moved in left) == (True, False)
    found = {each.id: each for each in cinder.list_volumes(storage.ordinary_type_id)}
    assert found[moved].pool not in storage.pools
    assert found[moved] in cinder.list_volumes_in(found[moved].pool)
    with pytest.raises(CloudNotFound):
        cinder.retype_volume(UNKNOWN_ID, storage.ordinary_type_id)
    cinder.delete_volume(moved)


@pytest.fixture
def member(lab: CloudLab, storage: LabStorage) -> ProjectStorage:
    """The first project, in which the service has a role."""
    storage.serve(lab.project_ids[0])
    return lab.cloud.storage_in(lab.project_ids[0])


def new_volume(lab: CloudLab, volume_type: VolumeType, **keys: Any) -> NewVolume:
    return replace(NewVolume(name=lab.name("volume"), size=1, type_name=volume_type.name), **keys)


def test_a_volume_is_created_for_a_project_in_its_type(
    lab: CloudLab, cinder: BlockStorage, storage: LabStorage, private: VolumeType, member: ProjectStorage
) -> None:
    made = member.create_volume(new_volume(lab, private, size=2, metadata={"a": "b"}))
    storage.wait_until_available(made)

    (found,) = cinder.list_volumes(private.id)
    assert (found.id, found.project_id, found.size, found.metadata) == (
        made,
        lab.project_ids[0],
        2,
        {"a": "b"},
    )
    assert found.name == lab.name("volume")
    with pytest.raises(CloudConflict):
        member.create_volume(new_volume(lab, private, size=2))
    with pytest.raises(CloudRefused):
        member.create_volume(new_volume(lab, private, image_id=UNKNOWN_ID))
    cinder.remove_type_access(private.id, lab.project_ids[0])
    with pytest.raises(CloudNotFound):
        member.create_volume(new_volume(lab, private))


def test_nothing_is_created_for_a_project_in_which_the_service_has_no_role(
    lab: CloudLab, cinder: BlockStorage, private: VolumeType
) -> None:
    stranger = lab.cloud.storage_in(lab.project_ids[1])

    with pytest.raises(CloudRefused):
        stranger.create_volume(new_volume(lab, private))
    with pytest.raises(CloudRefused):
        stranger.create_backup(UNKNOWN_ID, "name", "")

    assert cinder.list_volumes(private.id) == ()


def test_a_backup_outlives_its_volume(
    lab: CloudLab, cinder: BlockStorage, storage: LabStorage, private: VolumeType, member: ProjectStorage
) -> None:
    volume_id = storage.create_volume(lab.project_ids[0], 1, private.name)

    made = member.create_backup(volume_id, lab.name("backup"), "for a test")
    storage.wait_until_available(volume_id)

    (found,) = cinder.list_backups(volume_id)
    assert (found.id, found.name, found.description) == (made, lab.name("backup"), "for a test")
    assert found.is_complete
    assert not found.has_failed
    cinder.delete_volume(volume_id)
    storage.wait_until_gone(private.id)
    assert [each.id for each in cinder.list_backups(volume_id)] == [made]
    with pytest.raises(CloudNotFound):
        member.create_backup(volume_id, "name", "")


def test_a_snapshot_counts_towards_the_quota(
    lab: CloudLab, cinder: BlockStorage, storage: LabStorage, private: VolumeType, member: ProjectStorage
) -> None:
    volume_id = storage.create_volume(lab.project_ids[0], 2, private.name)
    cinder.set_quotas(lab.project_ids[0], {private.name: 4})

    made = member.create_snapshot(volume_id, lab.name("snapshot"), "for a test")

    assert [(each.id, each.description) for each in cinder.list_snapshots(volume_id)] == [
        (made, "for a test")
    ]
    with pytest.raises(CloudConflict):
        member.create_snapshot(volume_id, "name", "")
    with pytest.raises(CloudNotFound):
        member.create_snapshot(UNKNOWN_ID, "name", "")


def test_objects_of_other_projects_are_not_copied(
    lab: CloudLab, cinder: BlockStorage, storage: LabStorage, private: VolumeType, member: ProjectStorage
) -> None:
    cinder.add_type_access(private.id, lab.project_ids[1])
    volume_id = storage.create_volume(lab.project_ids[1], 1, private.name)

    with pytest.raises(CloudNotFound):
        member.create_backup(volume_id, "name", "")
    with pytest.raises(CloudNotFound):
        member.create_snapshot(volume_id, "name", "")
