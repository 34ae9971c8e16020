"""The keys ``same`` and ``spread`` of reservations in requests, from API 1.1 on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from blazar.booking.context import Plugin
from blazar.booking.specs import need_of
from blazar.domain.errors import CannotChange, InvalidParameter
from blazar.domain.grouping import Grouping
from blazar.plugins.capabilities import RequiresProperties, StatesNeed
from blazar.ports.manager import OLDEST_API, Caller

JsonObject = Mapping[str, object]

GROUPING_KEYS: Final = ("same", "spread")
_LONGEST_NAME: Final = 255


def parse_grouping(caller: Caller, plugin: Plugin, spec: object, body: JsonObject) -> Grouping | None:
    """Return the grouping that a new reservation asks for; API 1.0 knows none.

    Raises:
        InvalidParameter: A value is not the name of a property, or the type cannot be grouped.
    """
    return None if caller.api_version <= OLDEST_API else _parsed(plugin, spec, body)


def revise_grouping(
    caller: Caller,
    plugin: Plugin,
    spec: object,
    present: Grouping | None,
    changes: JsonObject,
    *,
    is_active: bool,
) -> Grouping | None:
    """Return the grouping of a reservation after an update; keys that are not sent keep their values.

    Raises:
        InvalidParameter: As :func:`parse_grouping`.
        CannotChange: The reservation is active, and the change does more than remove the grouping.
    """
    if caller.api_version <= OLDEST_API or not any(key in changes for key in GROUPING_KEYS):
        return present
    before = {key: getattr(present, key, None) for key in GROUPING_KEYS}
    after = _parsed(plugin, spec, {**before, **changes})
    changed = [key for key in GROUPING_KEYS if getattr(after, key, None) not in (None, before[key])]
    if is_active and changed:
        raise CannotChange(
            f"{', '.join(changed)}: cannot be set while the reservation is active; it can only be removed"
        )
    return after


def without_keys(grouping: Grouping | None, changes: JsonObject) -> Grouping | None:
    """Return a grouping without the keys that a changed request sets to null."""
    if grouping is None:
        return None
    left = {key: getattr(grouping, key) for key in GROUPING_KEYS if key not in changes}
    return Grouping(**left) if any(left.values()) else None


def _parsed(plugin: Plugin, spec: object, body: JsonObject) -> Grouping | None:
    names: dict[str, str] = {}
    for key in GROUPING_KEYS:
        value = body.get(key)
        if value is None:
            continue
        if not isinstance(value, str) or not value or len(value) > _LONGEST_NAME:
            raise InvalidParameter(key, "must be the name of a property, or null")
        if not isinstance(plugin, RequiresProperties) or not isinstance(plugin, StatesNeed):
            raise InvalidParameter(key, f"reservations of type {plugin.resource_type} do not support it")
        names[key] = value.removeprefix("$")
    if not names:
        return None
    if names.get("same") == names.get("spread"):
        raise InvalidParameter("spread", "must not be the property of same")
    if "spread" in names and need_of(plugin, spec).is_together:
        raise InvalidParameter("spread", "cannot be combined with affinity, which asks for one host")
    return Grouping(**names)
