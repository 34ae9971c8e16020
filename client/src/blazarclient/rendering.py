"""How what the service answers is shown: in a table for people, as nested data for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from blazarclient import utils
from blazarclient.base import Record
from blazarclient.i18n import _

NESTED = ("json", "yaml")
"""The formats that can hold nested data."""
HUMAN = ("table", "value")
"""The formats in which a sentence may stand before the data; others are read by programs alone."""

_HIDDEN_OF_A_RESERVATION = ("id", "lease_id", "resource_id", "resource_type", "status", "created_at")
_INSTANCES = ("virtual:instance", "flavor:instance")


def cell(value: Any, output_format: str, key: str = "") -> Any:
    """Return one value of an object as *output_format* shows it."""
    if output_format in NESTED:
        return value
    if output_format == "table" and isinstance(value, list | Mapping):
        return _for_people(key, value)
    return text(value)


def list_cell(value: Any, output_format: str) -> Any:
    """Return one value of a row of a list as *output_format* shows it: nested data on one line."""
    if output_format in NESTED:
        return value
    if output_format == "table" and isinstance(value, list | Mapping):
        return _lines("", value)
    if isinstance(value, list | Mapping):
        return json.dumps(value)
    return "" if value is None else value


def text(value: Any) -> str:
    """Return a value as text: null is empty, objects are indented JSON, lists one item after the other."""
    match value:
        case None:
            return ""
        case Mapping():
            return utils.dumps(value, indent=4)
        case list():
            return "\n".join(text(each) if isinstance(each, Mapping) else str(each) for each in value)
        case _:
            return str(value)


def _for_people(key: str, value: Any) -> str:
    if key == "reservations" and all(isinstance(each, Mapping) for each in value):
        return "\n".join(_reservation(each) for each in value)
    if key == "events" and all(isinstance(each, Mapping) for each in value):
        return "\n".join(_event(each) for each in sorted(value, key=lambda each: str(each.get("time"))))
    return _lines("", value)


def _reservation(reservation: Record) -> str:
    """Return what a reservation is, asks for and holds; and what is wrong with it."""
    kind = reservation.get("resource_type")
    if kind is None:
        return _lines("", reservation)
    lines = [f"{kind} {reservation.get('id', '')} {reservation.get('status', '')}".rstrip()]
    lines += [f"  ! {problem}" for problem in problems(reservation)]
    lines += [
        f"  {key}: {_flat(value)}"
        for key, value in reservation.items()
        if key not in (*_HIDDEN_OF_A_RESERVATION, "updated_at", "missing_resources", "resources_changed")
        and value not in (None, "", [])
    ]
    return "\n".join(lines)


def problems(reservation: Record) -> Iterable[str]:
    """Yield what is wrong with a reservation, in words."""
    if reservation.get("status") == "error":
        yield _(
            "in error: it could not be handed over or taken back; operators find the reason in the journal"
        )
    if reservation.get("missing_resources"):
        yield _("missing_resources: something has failed, and nothing has been found in its place yet")
    if reservation.get("resources_changed"):
        yield _("resources_changed: something that it held has been replaced")


def _event(event: Record) -> str:
    return f"{_minute(event.get('time'))}  {event.get('event_type')}  {event.get('status')}"


def _minute(date: Any) -> str:
    return str(date)[:16].replace("T", " ")


def _flat(value: Any) -> str:
    return json.dumps(value) if isinstance(value, list | Mapping) else str(value)


def _lines(indent: str, value: Any) -> str:
    """Return nested data as short lines."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_flat(each)}" for key, each in value.items())
    return (
        "\n".join(f"{indent}{_lines('', each)}" for each in value) if isinstance(value, list) else str(value)
    )


def how_to_use(reservation: Record) -> str:
    """Return what makes servers or addresses use a reservation, as arguments of ``openstack``."""
    kind, found = reservation.get("resource_type"), reservation.get("id")
    if kind == "physical:host":
        return f"openstack server create --hint reservation={found}"
    if kind in _INSTANCES:
        group = reservation.get("server_group_id")
        return f"openstack server create --flavor {found}" + (f" --hint group={group}" if group else "")
    if kind == "virtual:floatingip":
        return f"openstack floating ip list --tags reservation:{found}"
    return ""
