"""Removal of all volumes of a type, of any owner and in any state.

Each round advances the deletion of every volume by one step, and changes nothing else. The lessee can no
longer create volumes by then, but those that are being created may still appear, so rounds are repeated until
Cinder deletes the type.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Final

from blazar.domain.errors import CloudConflict, CloudNotFound, CloudRefused
from blazar.domain.wording import first_few
from blazar.plugins.contract import Done, Outcome, Waiting
from blazar.ports.block_storage import Attachment, Volume
from blazar.ports.cloud import Cloud

_RETRY: Final = timedelta(seconds=2)
_SLOW_RETRY: Final = timedelta(seconds=30)
"""For obstacles that an operator must remove."""
_AWAITING: Final = "awaiting-transfer"


def remove_volumes(cloud: Cloud, type_id: str) -> Outcome:
    """Advance the deletion of all volumes of a type by one step; return Done if there are none."""
    volumes = cloud.block_storage.list_volumes(type_id)
    if not volumes:
        return Done()
    _cancel_transfers(cloud, volumes)
    _leave_groups(cloud, volumes)
    reasons = [reason for each in volumes if (reason := _remove(cloud, each))]
    left = f"volumes are being deleted: {first_few(sorted(each.id for each in volumes))}"
    return Waiting(_RETRY, "; ".join([left, *reasons[:1]]))


def remove_type(cloud: Cloud, type_id: str) -> Outcome:
    """Delete a type that has no volumes, with the empty groups of only this type."""
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
    remaining = remove_volumes(cloud, type_id)
    if isinstance(remaining, Waiting):
        return remaining
    storage = cloud.block_storage
    shared = []
    for group in storage.list_groups():
        if type_id not in group.type_ids:
            continue
        if group.type_ids != {type_id}:
            shared.append(group.id)
            continue
        with suppress(CloudNotFound, CloudConflict):
            storage.delete_group(group.id)
    if shared:
        return Waiting(
            _SLOW_RETRY,
            f"groups with other volume types keep the type from being deleted: {first_few(sorted(shared))}",
        )
    return Waiting(_RETRY, f"Cinder still uses volume type {type_id}")


def _cancel_transfers(cloud: Cloud, volumes: Sequence[Volume]) -> None:
    if all(each.status != _AWAITING for each in volumes):
        return
    transfers = cloud.block_storage.list_transfers()
    for each in volumes:
        if each.id in transfers:
            with suppress(CloudNotFound):
                cloud.block_storage.delete_transfer(transfers[each.id])


def _leave_groups(cloud: Cloud, volumes: Iterable[Volume]) -> None:
    members: Mapping[str, list[str]] = defaultdict(list)
    for each in volumes:
        if each.group_id is not None:
            members[each.group_id].append(each.id)
    for group_id, volume_ids in members.items():
        # A group that is changing, or a volume that has left it, is handled in the next round.
        with suppress(CloudNotFound, CloudConflict):
            cloud.block_storage.leave_group(group_id, volume_ids)


def _remove(cloud: Cloud, volume: Volume) -> str:
    """Detach a volume, or delete it; return the obstacle, or an empty text."""
    reasons = [_detach(cloud, volume, each) for each in volume.attachments]
    if any(reasons):
        return next(filter(None, reasons))
    if volume.status == "deleting":
        return ""
    try:
        cloud.block_storage.delete_volume(volume.id, force=volume.has_failed)
    except CloudNotFound:
        return ""
    except CloudConflict as error:
        return error.message
    return ""


def _detach(cloud: Cloud, volume: Volume, attachment: Attachment) -> str:
    """End an attachment; a server that was booted from the volume is deleted. Return the obstacle."""
    server_id = attachment.server_id
    try:
        if server_id is None:
            cloud.block_storage.force_detach(volume.id, attachment.id)
        else:
            cloud.servers.detach_volume(server_id, volume.id)
    except CloudRefused:
        if server_id is None:
            raise
        with suppress(CloudNotFound):
            cloud.servers.delete_server(server_id)
    except CloudNotFound:
        # Nova does not know the attachment, or the server is gone; Cinder refuses if it is mistaken.
        with suppress(CloudNotFound, CloudConflict):
            cloud.block_storage.force_detach(volume.id, attachment.id)
    except CloudConflict as error:
        return error.message
    return ""
