"""Preemptible servers, which may use unreserved hosts and are deleted when a host is reserved.

A host that is to be handed over is first *closed*: a mark on the freepool, which BlazarFilter obeys, keeps
further preemptible servers away, so that they cannot arrive faster than they are deleted. The mark also has
the instant from which the servers on the host may be deleted. The servers get this instant as metadata. Only
the mark counts, because the owner of a server can change the server's metadata.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from blazar.domain.errors import CloudConflict, CloudNotFound
from blazar.plugins.contract import Outcome, Waiting
from blazar.plugins.parameters import TRUE_WORDS
from blazar.ports.cloud import Cloud
from blazar.ports.compute import Aggregate, Server

CLOSED_KEY = "blazar:closed:"
"""Prefix of a metadata key of the freepool, before a service host; the value is a reservation id and an
instant."""
PREEMPTED_AT = "blazar:preempted_at"
"""Metadata key of a server: the instant (ISO 8601, UTC) from which it may be deleted."""

_EXTRA_SPEC = "blazar:preemptible"
_RETRY = timedelta(seconds=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Closing:
    """The reservation for which a host is closed, and the instant from which servers may be deleted."""

    reservation_id: str
    due: datetime


def is_preemptible(server: Server) -> bool:
    """Return whether the server's flavor marks it as preemptible, with a value that BlazarFilter accepts."""
    return server.flavor_extra_specs.get(_EXTRA_SPEC, "").strip().lower() in TRUE_WORDS


def closings(freepool: Aggregate | None) -> Mapping[str, Closing]:
    """Return the closed hosts of the freepool, by service host; invalid marks are omitted."""
    metadata: Mapping[str, str] = freepool.metadata if freepool else {}
    found = {}
    for key, value in metadata.items():
        reservation_id, _, instant = value.partition(" ")
        due = _instant(instant)
        if key.startswith(CLOSED_KEY) and due is not None:
            closing = Closing(reservation_id=reservation_id, due=due)
            found[key.removeprefix(CLOSED_KEY)] = closing
    return found


def close_host(
    cloud: Cloud,
    freepool: Aggregate,
    service_host: str,
    servers: Collection[Server],
    closing: Closing,
) -> None:
    """Notify preemptible servers of their deletion, and keep others away from the host."""
    for server in servers:
        try:
            cloud.servers.set_server_metadata(server.id, {PREEMPTED_AT: closing.due.isoformat()})
        except (CloudConflict, CloudNotFound):
            continue  # its deletion is in progress
    value = f"{closing.reservation_id} {closing.due.isoformat()}"
    cloud.aggregates.set_aggregate_metadata(freepool.id, {f"{CLOSED_KEY}{service_host}": value})


def open_host(cloud: Cloud, freepool: Aggregate, service_host: str) -> None:
    """Allow preemptible servers on a host of the freepool again."""
    cloud.aggregates.set_aggregate_metadata(freepool.id, {f"{CLOSED_KEY}{service_host}": None})


def delete_servers(cloud: Cloud, servers: Collection[Server], due: datetime, now: datetime) -> Outcome:
    """Delete preemptible servers if they are due.

    Returns:
        Waiting, before the due time until it is reached, later until the servers are gone.
    """
    names = ", ".join(sorted(each.id for each in servers))
    if due > now:
        return Waiting(due - now, f"preemptible servers may stay until {due:%Y-%m-%d %H:%M:%S} UTC: {names}")
    for server in servers:
        if server.is_deleting:
            continue
        try:
            cloud.servers.delete_server(server.id)
        except (CloudConflict, CloudNotFound):
            continue  # it cannot be deleted in its present state, or is gone; the others must still go
    return Waiting(_RETRY, f"preemptible servers are being deleted: {names}")


def _instant(text: str) -> datetime | None:
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        return None
    return instant if instant.utcoffset() is not None else None
