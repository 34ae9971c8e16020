"""Taking volumes out of transfers, groups and servers, so that Cinder deletes or moves them.

Snapshots of whole groups go, too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Final

from blazar.domain.errors import CloudConflict, CloudNotFound, CloudRefused
from blazar.ports.block_storage import Attachment, Volume, VolumeGroup
from blazar.ports.cloud import Cloud

_AWAITING: Final = "awaiting-transfer"
_READINGS: Final = 8
"""The most times that one step reads the volumes again."""


def free_volumes(cloud: Cloud, type_id: str, volumes: tuple[Volume, ...]) -> tuple[Volume, ...]:
    """Take the volumes of a type out of transfers and groups, and return them as they are then.

    Cinder takes a volume out of its group a moment after it has accepted the request. The lessee could add it
    again before the next round, so the volumes are read again at once, a limited number of times.
    """
    for _ in range(_READINGS):
        if not any(each.group_id is not None or each.status == _AWAITING for each in volumes):
            break
        cancel_transfers(cloud, volumes)
        leave_groups(cloud, volumes)
        volumes = cloud.block_storage.list_volumes(type_id)
    return volumes


def cancel_transfers(cloud: Cloud, volumes: Sequence[Volume]) -> None:
    """Cancel the pending transfers of these volumes."""
    if all(each.status != _AWAITING for each in volumes):
        return
    transfers = cloud.block_storage.list_transfers()
    for each in volumes:
        if each.id in transfers:
            with suppress(CloudNotFound):
                cloud.block_storage.delete_transfer(transfers[each.id])


def delete_group_snapshots(
    cloud: Cloud, type_id: str, groups: Iterable[VolumeGroup], volumes: Iterable[Volume] = ()
) -> None:
    """Request the deletion of the group snapshots that keep a type or volumes of it from being deleted.

    Cinder deletes neither a volume with a snapshot that belongs to one, nor its group, not even by force.
    Groups of only this type lose all of them. Groups with other types as well lose theirs while any of the
    volumes has snapshots; otherwise they only hold what the lessee keeps elsewhere.
    """
    storage = cloud.block_storage
    having = [each for each in groups if type_id in each.type_ids]
    losing = {each.id for each in having if each.type_ids == {type_id}}
    if len(losing) < len(having) and any(storage.list_snapshots(each.id) for each in volumes):
        losing = {each.id for each in having}
    if not losing:
        return
    for snapshot in storage.list_group_snapshots():
        if snapshot.group_id in losing:
            # One that is being made or deleted is handled in the next round.
            with suppress(CloudNotFound, CloudConflict):
                storage.delete_group_snapshot(snapshot.id)


def leave_groups(cloud: Cloud, volumes: Iterable[Volume]) -> None:
    """Take these volumes out of their groups."""
    members: Mapping[str, list[str]] = defaultdict(list)
    for each in volumes:
        if each.group_id is not None:
            members[each.group_id].append(each.id)
    for group_id, volume_ids in members.items():
        # A group that is changing, or a volume that has left it, is handled in the next round.
        with suppress(CloudNotFound, CloudConflict):
            cloud.block_storage.leave_group(group_id, volume_ids)


def detach(cloud: Cloud, volume: Volume, *, deletes_servers: bool) -> str:
    """End the attachments of a volume; return the first obstacle, or an empty text.

    Args:
        cloud: The cloud.
        volume: The volume.
        deletes_servers: Whether a server that was booted from the volume is deleted. Otherwise, it keeps the
            volume, and that is no obstacle.
    """
    obstacles = [_end(cloud, volume, each, deletes_servers) for each in volume.attachments]
    return next(filter(None, obstacles), "")


def _end(cloud: Cloud, volume: Volume, attachment: Attachment, deletes_servers: bool) -> str:
    """End an attachment; return the obstacle, or an empty text."""
    server_id = attachment.server_id
    try:
        if server_id is None:
            cloud.block_storage.force_detach(volume.id, attachment.id)
        else:
            cloud.servers.detach_volume(server_id, volume.id)
    except CloudRefused:
        # Nova refuses to detach the volume from which the server was booted.
        if server_id is None:
            raise
        if deletes_servers:
            with suppress(CloudNotFound):
                cloud.servers.delete_server(server_id)
    except CloudNotFound:
        # Nova does not know the attachment, or the server is gone; if that is wrong, Cinder refuses.
        with suppress(CloudNotFound, CloudConflict):
            cloud.block_storage.force_detach(volume.id, attachment.id)
    except CloudConflict as error:
        # Its owner could otherwise keep the volume by suspending the server. It is detached in a later round.
        if server_id is not None:
            with suppress(CloudNotFound, CloudConflict):
                cloud.servers.reactivate_server(server_id)
        return error.message
    return ""
