"""The history of a lease in plain words, from the journal.

Entries name no actor, and nothing that belongs to other leases or projects. Entries without a sentence here
are for operators only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from blazar.booking import results
from blazar.booking.context import Plugin
from blazar.booking.no_shows import ENDED, WARNED
from blazar.booking.reasons import reason_for_lessee
from blazar.booking.reports import REPORTED
from blazar.booking.views import JsonObject
from blazar.domain.formats import API
from blazar.ports.journal import DELETE, JournalEntry

_LEASE_EVENTS: Final = {
    "create": "The lease was created.",
    "rename": "The lease was renamed.",
    DELETE: "The deletion of the lease was requested.",
    "import": "The lease was imported from the existing service.",
    WARNED: "The lease is not used. It will be ended soon unless it is used.",
    ENDED: "The lease was ended, because it was not used.",
    REPORTED: "A resource of the reservation was reported as broken.",
}
_LEASE: Final = {
    "PENDING": "The lease waits for its start.",
    "STARTING": "The lease is starting.",
    "ACTIVE": "The lease is active.",
    "UPDATING": "The lease is being changed.",
    "TERMINATING": "The lease is ending.",
    "TERMINATED": "The lease has ended.",
    "DELETING": "The lease is being deleted.",
    "ERROR": "The lease is in error.",
}
_RESERVATION: Final = {
    "active": "The resources of the reservation are ready.",
    "deleted": "The resources of the reservation were released.",
    "error": "The reservation failed.",
}
_FLAGS: Final = {
    "missing_resources: true": "A resource of the reservation failed and has no replacement yet.",
    "missing_resources: false": "No resource of the reservation is missing any longer.",
    "resources_changed: true": "A failed resource of the reservation was replaced.",
}
_EVENTS: Final = {
    ("before_end_lease", "DONE"): "The end of the lease was announced.",
    ("before_end_lease", "ERROR"): "The action before the end of the lease failed.",
}
EVENTS: Final = frozenset(
    {
        *_LEASE_EVENTS,
        "update",
        "lease.status",
        "event.status",
        "reservation.status",
        "reservation.waits",
        "reservation.moved",
        "reservation.flags",
        results.RESULT,
    }
)
"""The events of entries that may have a sentence."""
MOST_ENTRIES: Final = 1_000
"""The most entries that a history is made from, the latest ones: each of any number of updates adds one."""
_RESOURCES: Final = re.compile(r"(?:^|; )resources: (\d+) added, (\d+) released(?:$|;)")
_RESERVATIONS: Final = re.compile(r"(?:^|; )reservation \S+ (added|removed)(?=$|;)")
_MOVED: Final = re.compile(r"(start|end): (\d{4}-\d\d-\d\d \d\d:\d\d) -> (\d{4}-\d\d-\d\d \d\d:\d\d)")


def history_view(entries: Iterable[JournalEntry], plugins: Mapping[str, Plugin]) -> Sequence[JsonObject]:
    """Return the history, oldest first.

    A sentence that repeats the one before it is omitted, unless it is about a change that was requested.
    """
    found: list[JsonObject] = []
    for entry in entries:
        text = _text(entry, plugins)
        previous = (found[-1]["reservation_id"], found[-1]["text"]) if found else None
        is_new = entry.event == "update" or (entry.reservation_id, text) != previous
        if text is not None and is_new:
            found.append({"time": API.date(entry.at), "reservation_id": entry.reservation_id, "text": text})
    return found


def _text(entry: JournalEntry, plugins: Mapping[str, Plugin]) -> str | None:
    """Return the text of an entry; None if it is not for lessees."""
    match entry.event:
        case "update":
            changes = ", ".join(_changes(entry.reason))
            return f"The lease was changed{': ' if changes else ''}{changes}."
        case "lease.status":
            return _LEASE.get(entry.reason.rpartition("-> ")[2])
        case "event.status":
            name, _, change = entry.reason.partition(": ")
            return _EVENTS.get((name, change.rpartition("-> ")[2]))
    return _LEASE_EVENTS.get(entry.event) or _reservation_text(entry, plugins)


def _reservation_text(entry: JournalEntry, plugins: Mapping[str, Plugin]) -> str | None:
    """Return the text of an entry about a reservation; None if it is not for lessees."""
    match entry.event:
        case "reservation.status":
            return _status_text(entry.reason, plugins)
        case "reservation.waits":
            return f"The reservation waits: {reason_for_lessee(entry.reason, plugins)}."
        case "reservation.moved":
            return "Resources of the reservation were replaced, because of maintenance."
        case results.RESULT:
            return results.result_text(entry.reason)
        case "reservation.flags":
            return _FLAGS.get(entry.reason)
    return None


def _changes(reason: str) -> Iterator[str]:
    """Yield what a request changed: dates, and the numbers of reservations and of resources."""
    for key, old, new in _MOVED.findall(reason):
        yield f"{key} moved from {old} to {new}"
    kinds = _RESERVATIONS.findall(reason)
    for kind in ("added", "removed"):
        if count := kinds.count(kind):
            yield f"{count} reservation{'' if count == 1 else 's'} {kind}"
    for counts in _RESOURCES.findall(reason):
        for count, kind in zip(map(int, counts), ("added", "released"), strict=True):
            if count:
                yield f"{count} resource{'' if count == 1 else 's'} {kind}"


def _status_text(reason: str, plugins: Mapping[str, Plugin]) -> str | None:
    change, _, problem = reason.partition(": ")
    text = _RESERVATION.get(change.rpartition("-> ")[2])
    if text is None or not problem or "-> error" not in change:
        return text
    return f"{text.rstrip('.')}: {reason_for_lessee(problem, plugins)}."
