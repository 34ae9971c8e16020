"""Questions about a period: which resources, in which groups, and how the answer names the times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import numpy as np

from blazar.app.availability import FARTHEST, LONGEST_SPAN
from blazar.app.leases.limits import check_conditions, check_length
from blazar.app.visible_facts import VisibleFacts, is_whole, rank_of
from blazar.booking.context import Context, Plugin
from blazar.domain.booking_rows import Mask, Numbers, Positions
from blazar.domain.busy_times import Minutes, Steps
from blazar.domain.dates import counted_as_now, format_date, minute_of, parse_date
from blazar.domain.errors import InvalidParameter, InvalidPeriod, InvalidRequirement
from blazar.domain.expressions import parse
from blazar.domain.interval import Interval
from blazar.domain.requirements import Fact, Requirement, unknown_keys
from blazar.plugins.capabilities import HasCatalogueEntry

JsonObject = Mapping[str, object]

MOST_GROUPS: Final = 1000
"""The most groups of one answer."""
COARSEST: Final = 24 * 60
"""The largest resolution in minutes."""
_DEFAULT_SPAN: Final = timedelta(days=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question about the resources of a type."""

    plugin: Plugin
    window: Interval
    minutes: Minutes
    requirement: Requirement
    group_by: str | None
    unit: Mapping[str, str]
    """How large one unit is, by the keys of a reservation; empty for whole resources."""
    resolution: int
    """The resolution in minutes: the times of the answer are multiples of it since 1970."""

    def coarsen(self, steps: Iterable[Steps]) -> Sequence[Steps]:
        """Return steps in the resolution of the question; each shows its minute with the fewest free ones."""
        if self.resolution == 1:
            return tuple(steps)
        return [each.coarsened(self.minutes, self.resolution) for each in steps]

    def check_unit(self, facts: VisibleFacts) -> None:
        """Raise InvalidParameter if free amounts depend on the size of a unit, which the question lacks."""
        if not self.unit and not is_whole(self.plugin, facts):
            raise InvalidParameter(
                "unit",
                f"reservations of {self.plugin.resource_type} hold parts of resources, and the free amount"
                " depends on their size; set unit, or use POST /v1/availability/search",
            )

    def check(self, facts: VisibleFacts) -> None:
        """Check the names in the question.

        Raises:
            InvalidParameter, InvalidRequirement: A property does not exist, or is hidden from the caller.
        """
        unknown = unknown_keys(self.requirement, facts.usable(self.plugin))
        if unknown:
            raise InvalidRequirement("filter", f"no resource has a property named {', '.join(unknown)}")
        if self.group_by is not None and self.group_by not in facts.listed(self.plugin):
            known = ", ".join(sorted(facts.listed(self.plugin))) or "none"
            raise InvalidParameter(
                "group_by", f"no property named {self.group_by[:64]}; those of the type are: {known}"
            )


def parse_question(context: Context, query: JsonObject) -> Question:
    """Return the question of a query with the parameters of ``GET /v1/availability``.

    Raises:
        BadRequest: A parameter is invalid.
    """
    plugin = context.plugin_for(str(query.get("resource_type") or next(iter(context.plugins))))
    window = _parse_window(context, query)
    check_length(context.settings.leases.limits, "filter", query.get("filter"))
    requirement = parse(query.get("filter"), field="filter")
    check_conditions(context.settings.leases.limits, [requirement])
    group_by = query.get("group_by")
    unit = query.get("unit")
    now = context.clock.now()
    return Question(
        plugin=plugin,
        window=window,
        minutes=Minutes.of(window, now=now, cleaning_time=context.settings.leases.cleaning_time),
        requirement=requirement,
        group_by=None if group_by is None else str(group_by),
        unit={} if unit is None else _parse_unit(plugin, str(unit)),
        resolution=_parse_resolution(query.get("resolution", "1")),
    )


def _parse_resolution(value: object) -> int:
    text = str(value)
    # The length is bounded because the conversion of long texts is slow.
    if not (text.isascii() and text.isdigit() and len(text) <= 4 and 1 <= int(text) <= COARSEST):
        raise InvalidParameter("resolution", f"must be a number of minutes, from 1 to {COARSEST}")
    return int(text)


def _parse_unit(plugin: Plugin, text: str) -> Mapping[str, str]:
    """Return the size of a unit, such as ``vcpus=4,memory_mb=8192,disk_gb=40``. Raises InvalidParameter."""
    keys = plugin.unit_keys if isinstance(plugin, HasCatalogueEntry) else ()
    if not keys:
        raise InvalidParameter("unit", f"reservations of {plugin.resource_type} hold whole resources")
    parts = [each.partition("=") for each in text.split(",")]
    found = {key.strip(): value.strip() for key, _, value in parts}
    if sorted(found) != sorted(keys) or len(parts) != len(keys) or not all(found.values()):
        raise InvalidParameter("unit", f"must be of the form {','.join(f'{each}=…' for each in keys)}")
    return found


def _parse_window(context: Context, query: JsonObject) -> Interval:
    now = context.clock.now()
    start = counted_as_now(parse_date("from", query.get("from", "now"), now), now)
    if start < minute_of(now):
        raise InvalidPeriod(f"from: {format_date(start)} UTC is past; it is {format_date(now)} UTC now")
    if start > now + FARTHEST:
        raise InvalidPeriod(f"from: must be at most {FARTHEST.days // 365} years ahead")
    end = parse_date("to", query["to"]) if "to" in query else start + _DEFAULT_SPAN
    if end <= start:
        raise InvalidPeriod("to: must be later than from")
    if end - start > LONGEST_SPAN:
        raise InvalidPeriod(f"to: must be at most {LONGEST_SPAN.days} days after from")
    return Interval(start, end)


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """Resources in groups."""

    values: Sequence[Fact]
    """The value of each group; None for resources without one."""
    group_of: Positions
    """The group of each resource, by position; -1 for none."""

    def count(self, which: Mask) -> Sequence[int]:
        """Return the number of these resources in each group."""
        chosen = self.group_of[which]
        found: list[int] = np.bincount(chosen[chosen >= 0], minlength=len(self.values)).tolist()
        return found


def group(facts: VisibleFacts, wanted: Mask, name: str | None, most: int = MOST_GROUPS) -> Groups:
    """Return the groups of the wanted resources by the value of a property; one group without a property.

    Groups without wanted resources are omitted.

    Raises:
        InvalidParameter: There are too many groups.
    """
    if name is None:
        return Groups(values=[None], group_of=np.where(wanted, 0, -1))
    distinct, codes = facts.columns.values(name)
    missing = len(distinct)
    codes = np.where(codes < 0, missing, codes)
    used = np.unique(codes[wanted]).tolist()
    if len(used) > most:
        raise InvalidParameter(
            "group_by", f"{name} has {len(used)} values, at most {most} are possible; set a filter"
        )
    values: list[Fact] = [*distinct, None]
    used.sort(key=lambda each: rank_of(values[each]))
    places = np.full(missing + 1, -1, np.intp)
    places[used] = np.arange(len(used))
    return Groups(
        values=[values[each] for each in used],
        group_of=np.where(wanted, places[codes], -1),
    )


def format_minutes(minutes: Minutes, numbers: Numbers) -> Sequence[str]:
    """Return minutes, counted from the first one, in the format of requests."""
    texts = np.datetime_as_string((numbers + minutes.first).astype("datetime64[m]"))
    return [each.replace("T", " ") for each in texts.tolist()]
