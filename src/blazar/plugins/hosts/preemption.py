"""Preemptible servers: they may use hosts that nobody has reserved, and go when somebody has.

A host that is to be handed over is first *closed*: a mark on the freepool, which BlazarFilter obeys,
keeps further preemptible servers away, so that they cannot come faster than they go. The mark also
says from when on those that are there may be deleted, and they are told so by metadata of their own.
Only the mark counts, because the owner of a server can change the server's metadata.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from blazar.domain.errors import CloudConflict, CloudNotFound
from blazar.plugins.contract import Outcome, Waiting
from blazar.ports.compute import Aggregate, Compute, Server

CLOSED_KEY = "blazar:closed:"
"""Metadata of the freepool: this, and a service host; the value is the reservation's id and an instant."""
PREEMPTED_AT = "blazar:preempted_at"
"""Metadata of a server: the instant (ISO 8601, UTC) from which on it may be deleted."""

_EXTRA_SPEC = "blazar:preemptible"
_TRUE_WORDS = frozenset({"1", "t", "true", "on", "y", "yes"})
_RETRY = timedelta(seconds=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Closing:
    """For which reservation a host is closed, and from when on preemptible servers there may be deleted."""

    reservation_id: str
    due: datetime


def is_preemptible(server: Server) -> bool:
    """Return whether the server's flavor says so, in the words that BlazarFilter knows (behaviour 5.2)."""
    return server.flavor_extra_specs.get(_EXTRA_SPEC, "").strip().lower() in _TRUE_WORDS


def closings(freepool: Aggregate | None) -> Mapping[str, Closing]:
    """Return the closed hosts of the freepool, by service host; marks that say nothing are left out."""
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
    compute: Compute,
    freepool: Aggregate,
    service_host: str,
    servers: Collection[Server],
    closing: Closing,
) -> None:
    """Tell preemptible servers when they have to go, and keep others of their kind away."""
    for server in servers:
        try:
            compute.set_server_metadata(server.id, {PREEMPTED_AT: closing.due.isoformat()})
        except (CloudConflict, CloudNotFound):
            continue  # it is going already
    value = f"{closing.reservation_id} {closing.due.isoformat()}"
    compute.set_aggregate_metadata(freepool.id, {f"{CLOSED_KEY}{service_host}": value})


def open_host(compute: Compute, freepool: Aggregate, service_host: str) -> None:
    """Let preemptible servers use a host of the freepool again."""
    compute.set_aggregate_metadata(freepool.id, {f"{CLOSED_KEY}{service_host}": None})


def delete_servers(compute: Compute, servers: Collection[Server], due: datetime, now: datetime) -> Outcome:
    """Delete preemptible servers when their time has come.

    Returns:
        Waiting, until they may be deleted or, after that, until they are gone.
    """
    names = ", ".join(sorted(each.id for each in servers))
    if due > now:
        return Waiting(due - now, f"preemptible servers may stay until {due:%Y-%m-%d %H:%M:%S} UTC: {names}")
    for server in servers:
        if server.is_deleting:
            continue
        try:
            compute.delete_server(server.id)
        except CloudNotFound:
            continue
    return Waiting(_RETRY, f"preemptible servers are being deleted: {names}")


def _instant(text: str) -> datetime | None:
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        return None
    return instant if instant.utcoffset() is not None else None
