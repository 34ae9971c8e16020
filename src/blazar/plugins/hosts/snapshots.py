"""The before-end action ``snapshot``: an image of every server on the reservation's hosts.

The image bears the reservation, the server and the occasion as properties. So a repeated step finds
what it made before, and a lease that is extended gets new snapshots before its new end.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from blazar.domain.errors import CloudConflict, CloudNotFound
from blazar.plugins.contract import Assignment, Done, Outcome, Waiting
from blazar.plugins.hosts.spec import HostSpec
from blazar.ports.compute import Compute

_RETRY = timedelta(seconds=5)
_RESERVATION = "blazar_reservation"
_SERVER = "blazar_server"
_OCCASION = "blazar_before_end"


def take_snapshots(
    compute: Compute, assignment: Assignment[HostSpec], due: datetime, image_prefix: str
) -> Outcome:
    """Snapshot every server that was not yet snapshotted on this occasion.

    The images belong to the lessee's project. Nova is asked with the service's own rights: a lessee
    may not list servers by host (behaviour 12, 26).

    Returns:
        Waiting, if a server was in a state in which it cannot be snapshotted; else Done.
    """
    occasion = {_RESERVATION: assignment.reservation_id, _OCCASION: due.isoformat()}
    images = compute.list_images(occasion)
    for image in images:
        # One that an interrupted step has left with the service.
        if image.owner_project_id != assignment.project_id:
            compute.set_image_owner(image.id, assignment.project_id)
    taken = {image.properties.get(_SERVER) for image in images}
    busy: list[str] = []
    for resource in assignment.resources:
        for server in compute.list_servers(service_host=str(resource.facts["service_name"])):
            if server.is_deleting or server.id in taken or server.project_id != assignment.project_id:
                continue
            try:
                image_id = compute.create_image(
                    server.id, f"{image_prefix}{server.name}", {**occasion, _SERVER: server.id}
                )
                compute.set_image_owner(image_id, assignment.project_id)
            except (CloudConflict, CloudNotFound):
                # One that has gone meanwhile is not listed the next time.
                busy.append(server.id)
    if busy:
        return Waiting(_RETRY, f"cannot be snapshotted yet: {', '.join(sorted(busy))}")
    return Done()
