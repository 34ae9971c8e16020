"""Servers that can return to a host that they left, because their resize was not confirmed.

Nova lists such a server on its new host only, but keeps its room on the former one, and its owner can return
it there at any time without the scheduler. So a host is free of a lessee's servers only if none can return.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from typing import Any

from blazar.domain.errors import CloudNotFound
from blazar.plugins.contract import Assignment, Done, Outcome, Waiting
from blazar.ports.cloud import Cloud
from blazar.ports.compute import Resize

RETRY = timedelta(seconds=2)
_MARGIN = timedelta(days=1)
"""By which Nova's clock, or a start that was moved, may differ from the start of the reservation."""


def find_resizes(
    cloud: Cloud, assignment: Assignment[Any], service_hosts: Collection[str]
) -> tuple[Resize, ...]:
    """Return the resizes of the lessee's servers that left these hosts during the reservation.

    Makes one request, and none if there are no hosts.
    """
    if not service_hosts:
        return ()
    found = cloud.servers.list_resizes(assignment.project_id, assignment.window.start - _MARGIN)
    return tuple(each for each in found if each.former_host in service_hosts)


def confirm(cloud: Cloud, resize: Resize) -> Outcome:
    """Confirm a resize, or wait until that is possible. Raises CloudConflict if Nova refuses for now."""
    if resize.is_finished:
        try:
            cloud.servers.confirm_resize(resize.server_id)
        except CloudNotFound:
            return Done()
    return Waiting(RETRY, f"server {resize.server_id} is leaving host {resize.former_host}")
