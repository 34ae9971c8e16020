"""Removal of all volumes of a type, of any owner and in any state.

Each round advances the deletion of every volume by one step, and changes nothing else. The lessee can no
longer create volumes by then, but those that are being created may still appear, so rounds are repeated until
Cinder deletes the type.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Final

from blazar.domain.errors import CloudConflict, CloudNotFound
from blazar.domain.wording import first_few
from blazar.plugins.contract import Done, Outcome, Result, ResultKind, Waiting
from blazar.plugins.volumes.detaching import delete_group_snapshots, detach, free_volumes
from blazar.ports.block_storage import Volume, VolumeGroup
from blazar.ports.cloud import Cloud

_RETRY: Final = timedelta(seconds=2)


def remove_volumes(cloud: Cloud, type_id: str, project_id: str = "") -> Outcome:
    """Advance the deletion of all volumes of a type by one step; without volumes, return Done.

    The results are about the volumes of one project.
    """
    volumes = cloud.block_storage.list_volumes(type_id)
    if not volumes:
        return Done()
    delete_group_snapshots(cloud, type_id, cloud.block_storage.list_groups(), volumes)
    present = free_volumes(cloud, type_id, volumes)
    reasons = [reason for each in present if (reason := remove_volume(cloud, each))]
    left = f"volumes are being deleted: {first_few(sorted(each.id for each in volumes))}"
    results = deleted_volumes(volumes, project_id)
    return Waiting(_RETRY, "; ".join([left, *reasons[:1]]), results)


def deleted_volumes(volumes: Iterable[Volume], project_id: str) -> tuple[Result, ...]:
    """Return the results about volumes that are being deleted; those of other projects are omitted."""
    own = sorted(name_volume(each) for each in volumes if each.project_id == project_id)
    return tuple(Result(ResultKind.DELETED, each) for each in own)


def name_volume(volume: Volume) -> str:
    """Return a volume as results name it."""
    return f"volume {volume.name or volume.id}"


def remove_type(cloud: Cloud, type_id: str) -> Outcome:
    """Delete a type that has no volumes, with the empty groups of only this type.

    If a volume has appeared meanwhile, the type waits until it is removed.
    """
    storage = cloud.block_storage
    try:
        storage.delete_type(type_id)
    except CloudNotFound:
        return Done()
    except CloudConflict:
        return _free_type(cloud, type_id)
    return Done()


def _free_type(cloud: Cloud, type_id: str) -> Outcome:
    """Remove what keeps a type from being deleted, and return what it waits for."""
    storage = cloud.block_storage
    if storage.list_volumes(type_id):
        return Waiting(_RETRY, f"volumes of volume type {type_id} have appeared")
    groups = storage.list_groups()
    delete_group_snapshots(cloud, type_id, groups)
    for group in groups:
        if group.type_ids == {type_id}:
            with suppress(CloudNotFound, CloudConflict):
                storage.delete_group(group.id)
    if shared := groups_of_several_types(groups, type_id):
        return Waiting(
            _RETRY, f"groups with other volume types keep the type from being deleted: {first_few(shared)}"
        )
    return Waiting(_RETRY, f"Cinder still uses volume type {type_id}")


def groups_of_several_types(groups: Iterable[VolumeGroup], type_id: str) -> Sequence[str]:
    """Return the ids of the groups that have a type as well as other types, sorted.

    Cinder does not delete a type that a group has. A lessee can make such a group and keep it for as long
    as they like, even without volumes. It may hold volumes of other types, so the service does not delete it.
    The end of a lease does not wait for it: a type without access and without volumes takes up nothing.
    """
    return sorted(each.id for each in groups if type_id in each.type_ids and each.type_ids != {type_id})


def remove_volume(cloud: Cloud, volume: Volume, *, ignores_status: bool = False) -> str:
    """Detach a volume, or delete it with its snapshots; return the obstacle, or an empty text.

    Args:
        cloud: The cloud.
        volume: The volume.
        ignores_status: Whether it is also deleted while Cinder works on it, unless it is attached.
    """
    if obstacle := detach(cloud, volume, deletes_servers=True):
        return obstacle
    if volume.status == "deleting":
        return ""
    force = ignores_status or volume.has_failed or volume.awaits_attachment
    try:
        cloud.block_storage.delete_volume(volume.id, force=force)
    except CloudNotFound:
        return ""
    except CloudConflict as error:
        return error.message
    return ""
