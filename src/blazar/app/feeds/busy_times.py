"""The times at which resources are not free, as feeds show them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, cast

from blazar.app.free_amounts import list_free_amounts
from blazar.booking.context import Context
from blazar.domain.dates import format_date, parse_date
from blazar.domain.errors import InvalidParameter, MissingParameter
from blazar.domain.feeds import Feed
from blazar.domain.interval import Interval
from blazar.domain.requirements import text_of
from blazar.ports.manager import Caller

_DAY: Final = timedelta(days=1)
_GROUP_KEYS: Final = ("group_by", "group")


def check_question(context: Context, feed: Feed) -> None:
    """Check that the question of a feed can be answered.

    Raises:
        BadRequest: It cannot, or a key is missing.
        Conflict: The answer would need the rights of the lessee, which a feed does not have.
    """
    for key, other in (_GROUP_KEYS, _GROUP_KEYS[::-1]):
        if key in feed.question and other not in feed.question:
            raise MissingParameter(other)
    answer = _ask(context, feed)
    if _find_group(feed, answer) is None:
        raise InvalidParameter("group", f"no resource has this value of {feed.question['group_by'][:64]}")


def list_busy_times(context: Context, feed: Feed) -> Sequence[Interval]:
    """Return the times at which fewer resources are free than the feed asks for, in their order.

    The result shows neither how many are free nor who uses the others. A time that has begun starts with the
    present hour, so that the answer does not change every minute; one that lasts beyond the last day that is
    shown ends with that day.

    Raises:
        BadRequest: The question can no longer be answered, for example because a property was removed.
    """
    answer = _ask(context, feed)
    group = _find_group(feed, answer)
    start, end = _instant(answer["from"]), _instant(answer["to"])
    if group is None:
        # No resource is in the group any more.
        return [Interval(_hour_of(start), end)]
    least = int(feed.question.get("amount", "1"))
    steps = [(_instant(each["time"]), each["free"] < least) for each in group["steps"]]
    return [
        Interval(_hour_of(begin) if begin == start else begin, until) for begin, until in _merged(steps, end)
    ]


def _ask(context: Context, feed: Feed) -> Mapping[str, Any]:
    """Return the free amounts, as a reader of the feed's project may see them."""
    asking = Caller(user_id=feed.user_id, project_id=feed.project_id)
    query = {key: value for key, value in feed.question.items() if key not in ("group", "amount")}
    last = context.clock.now() + context.settings.feeds.ahead
    query["to"] = format_date(last.replace(hour=0, minute=0, second=0, microsecond=0) + _DAY)
    return cast("Mapping[str, Any]", list_free_amounts(context, asking, query))


def _find_group(feed: Feed, answer: Mapping[str, Any]) -> Mapping[str, Any] | None:
    groups: Sequence[Mapping[str, Any]] = answer["groups"]
    if "group" not in feed.question:
        return next(iter(groups), None)
    wanted = feed.question["group"]
    named = (each for each in groups if each["value"] is not None and text_of(each["value"]) == wanted)
    return next(named, None)


def _merged(steps: Sequence[tuple[datetime, bool]], end: datetime) -> Iterator[tuple[datetime, datetime]]:
    """Yield the times at which the second value of the steps is true; adjacent ones as one."""
    begin: datetime | None = None
    for time, is_busy in steps:
        if is_busy and begin is None:
            begin = time
        elif not is_busy and begin is not None:
            yield begin, time
            begin = None
    if begin is not None:
        yield begin, end


def _instant(text: str) -> datetime:
    return parse_date("time", text)


def _hour_of(instant: datetime) -> datetime:
    return instant.replace(minute=0, second=0, microsecond=0)
