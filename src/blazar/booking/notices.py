"""Notices to people: stored with the change that they report, in the same transaction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from blazar.booking import event_types
from blazar.booking.context import Context
from blazar.booking.reasons import reason_for_lessee
from blazar.booking.results import results_of
from blazar.booking.views import JsonObject
from blazar.domain.formats import API
from blazar.domain.lease import BEFORE_END_PROBLEM, EventStatus, EventType, Lease, LeaseStatus
from blazar.domain.notices import Notice, NoticeType
from blazar.ports.store import Transaction

_TYPES: Final[Mapping[str, NoticeType]] = {
    event_types.CREATED: NoticeType.CREATED,
    event_types.UPDATED: NoticeType.CHANGED,
    event_types.DELETED: NoticeType.DELETED,
    event_types.STARTED: NoticeType.STARTED,
    event_types.ENDED: NoticeType.ENDED,
    event_types.BEFORE_END_FAILED: NoticeType.BEFORE_END_FAILED,
    event_types.FAILED: NoticeType.FAILED,
    event_types.DEGRADED: NoticeType.DEGRADED,
    event_types.HEALED: NoticeType.HEALED,
    event_types.MAINTENANCE: NoticeType.MAINTENANCE,
    event_types.NO_SHOW: NoticeType.UNUSED,
}
"""The notices for notifications on the message bus. Reminders take the place of the before-end notification,
and a lease that fails at its start, or ends before it has started, has a notice of that alone."""
_TELLING_RESULTS: Final = frozenset({NoticeType.ENDED, NoticeType.DELETED})
"""The notices that say what became of objects; that of a deletion does not repeat that of the end."""
_OVER: Final = frozenset({LeaseStatus.TERMINATING.value, LeaseStatus.TERMINATED.value})


def store_notice(
    context: Context, transaction: Transaction, view: JsonObject, event_type: str, details: JsonObject
) -> None:
    """Store the notice for a notification of a lease, if notices are delivered at all.

    Args:
        context: The context.
        transaction: The transaction of the change.
        view: The lease; see :func:`~blazar.booking.views.lease_view`.
        event_type: The type of the notification.
        details: Further keys of the notice, in words for lessees.
    """
    notice_type = _type_of(event_type, view, details)
    if notice_type is None or not context.settings.notices.channels:
        return
    if notice_type in _TELLING_RESULTS and not (notice_type is NoticeType.DELETED and _has_ended(view)):
        details = {**details, **results_of(transaction, str(view["id"]))}
    transaction.notices.append(
        [
            Notice(
                type=notice_type,
                lease_id=str(view["id"]),
                project_id=_text(view["project_id"]),
                user_id=_text(view["user_id"]),
                data=notice_data(context, view, details),
                at=context.clock.now(),
            )
        ]
    )


def notice_data(context: Context, view: JsonObject, details: JsonObject) -> JsonObject:
    """Return the data of a notice of a lease."""
    lease = {key: value for key, value in view.items() if key != "trust_id"}
    return {"region": context.settings.region, "lease": lease, **details}


def moved_end(before: Lease, after: Lease) -> JsonObject:
    """Return the detail that the end of a lease was moved; empty if it was not."""
    return {} if before.end == after.end else {"former_end_date": API.date(before.end)}


def reasons_for_lessee(context: Context, lease: Lease) -> JsonObject:
    """Return the detail with the reasons why reservations of a lease fail or wait."""
    return {
        "reasons": [
            {"reservation_id": each.id, "text": reason_for_lessee(each.problem, context.plugins)}
            for each in lease.reservations
            if each.problem
        ]
    }


def before_end_reasons(context: Context, problems: Mapping[str, str]) -> JsonObject:
    """Return the detail with the reasons why the before-end action failed, by reservation."""
    return {
        "reasons": [
            {
                "reservation_id": key or None,
                "text": reason_for_lessee(f"{BEFORE_END_PROBLEM}{problem}", context.plugins),
            }
            for key, problem in problems.items()
        ]
    }


def _type_of(event_type: str, view: JsonObject, details: JsonObject) -> NoticeType | None:
    found = _TYPES.get(event_type)
    if found is NoticeType.STARTED and view["status"] == LeaseStatus.ERROR.value:
        return None
    if found is NoticeType.STARTED and view["status"] in _OVER:
        return NoticeType.FAILED
    former = details.get("former_end_date")
    if found is NoticeType.CHANGED and isinstance(former, str) and str(view["end_date"]) > former:
        return NoticeType.EXTENDED
    return found


def _has_ended(view: JsonObject) -> bool:
    """Return whether the end of a lease was complete before its deletion."""
    events: Any = view["events"]
    end = EventType.END.value, EventStatus.DONE.value
    return any((each["event_type"], each["status"]) == end for each in events)


def _text(value: object) -> str | None:
    return None if value is None else str(value)
