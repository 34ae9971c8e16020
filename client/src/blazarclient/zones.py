"""Availability zones as conditions of reservations."""

from __future__ import annotations

import json
from typing import Any

from blazarclient import exception
from blazarclient.base import Record, Records
from blazarclient.i18n import _

_KEYS = {
    "physical:host": "hypervisor_properties",
    "virtual:instance": "resource_properties",
    "flavor:instance": "resource_properties",
}
"""Key of the requirement on facts about hosts, by resource type."""


def within(reservations: Records, zone: str) -> Records:
    """Return *reservations*, with the condition that hosts are in an availability zone.

    Raises:
        CommandError: No reservation is for hosts or instances, or a requirement is not JSON.
    """
    if not any(each.get("resource_type") in _KEYS for each in reservations):
        raise exception.CommandError(
            _("--availability-zone needs a reservation of one of the types %s") % ", ".join(_KEYS), code=400
        )
    return [_in_zone(each, zone) for each in reservations]


def _in_zone(reservation: Record, zone: str) -> Record:
    key = _KEYS.get(reservation.get("resource_type", ""))
    if key is None:
        return reservation
    condition = ["==", "$availability_zone", zone]
    requirement = reservation.get(key)
    if isinstance(requirement, str) and requirement.strip() and not requirement.lstrip().startswith("["):
        # The short form, in which JSON's quotes are those of a value.
        return {**reservation, key: f"{requirement},availability_zone={json.dumps(zone, ensure_ascii=False)}"}
    given = _parsed(key, requirement)
    both = ["and", given, condition] if given else condition
    return {**reservation, key: json.dumps(both)}


def _parsed(key: str, requirement: Any) -> Any:
    if not isinstance(requirement, str) or not requirement.strip():
        return requirement
    try:
        return json.loads(requirement)
    except ValueError:
        raise exception.CommandError(
            _("--availability-zone: %(key)s must be JSON, not %(requirement)r; or add the condition there")
            % {"key": key, "requirement": requirement},
            code=400,
        ) from None
