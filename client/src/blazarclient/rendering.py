"""Rendering of responses: readable text in tables, nested data in formats for programs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from blazarclient import utils
from blazarclient.base import Record
from blazarclient.i18n import _

NESTED = ("json", "yaml")
"""Output formats with nested data."""
HUMAN = ("table", "value")
"""Output formats in which a message may precede the data; only programs read the others."""

_HIDDEN_OF_A_RESERVATION = ("id", "lease_id", "resource_id", "resource_type", "status", "created_at")
_SECONDS = re.compile(r"^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d):.*")
_INSTANCES = ("virtual:instance", "flavor:instance")


def cell(value: Any, output_format: str, key: str = "") -> Any:
    """Return a value of an object for *output_format*."""
    if output_format in NESTED:
        return value
    if output_format == "table" and isinstance(value, list | Mapping):
        return _human_text(key, value)
    return text(value)


def list_cell(value: Any, output_format: str) -> Any:
    """Return a value in a row of a list for *output_format*, with nested data on one line."""
    if output_format in NESTED:
        return value
    if output_format == "table" and isinstance(value, list | Mapping):
        return _lines("", value)
    if isinstance(value, list | Mapping):
        return json.dumps(value)
    return "" if value is None else value


def text(value: Any) -> str:
    """Return a value as text: null is empty, objects are indented JSON, lists have one item a line."""
    match value:
        case None:
            return ""
        case Mapping():
            return utils.dumps(value, indent=4)
        case list():
            return "\n".join(text(each) if isinstance(each, Mapping) else str(each) for each in value)
        case _:
            return str(value)


def _human_text(key: str, value: Any) -> str:
    if key == "reservations" and all(isinstance(each, Mapping) for each in value):
        return "\n".join(_reservation(each) for each in value)
    if key == "events" and all(isinstance(each, Mapping) for each in value):
        return "\n".join(_event(each) for each in sorted(value, key=lambda each: str(each.get("time"))))
    return _lines("", value)


def _reservation(reservation: Record) -> str:
    """Return the type, status, problems and values of a reservation, on several lines."""
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
    """Yield messages about the problems of a reservation."""
    if reservation.get("status") == "error":
        yield _(
            "error: its start, change or end failed; operators find the reason in the journal of the lease"
        )
    if reservation.get("missing_resources"):
        yield _("missing_resources: a resource failed, and no replacement is available yet")
    if reservation.get("resources_changed"):
        yield _("resources_changed: a failed resource was replaced")


def _event(event: Record) -> str:
    return f"{_minute(event.get('time'))}  {event.get('event_type')}  {event.get('status')}"


def _minute(date: Any) -> str:
    """Return a date of the service without its seconds, and other text unchanged."""
    return _SECONDS.sub(r"\1 \2", str(date))


def _flat(value: Any) -> str:
    return json.dumps(value) if isinstance(value, list | Mapping) else str(value)


def _lines(indent: str, value: Any) -> str:
    """Return nested data as text, with one line for each item of a list."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_flat(each)}" for key, each in value.items())
    return (
        "\n".join(f"{indent}{_lines('', each)}" for each in value) if isinstance(value, list) else str(value)
    )


def usage_command(reservation: Record) -> str:
    """Return the ``openstack`` command that creates servers on a reservation, or lists what it has.

    For storage, the reservation alone is not enough: use :func:`volume_command`.
    """
    kind, found = reservation.get("resource_type"), reservation.get("id")
    if kind == "physical:host":
        return f"openstack server create --hint reservation={found}"
    if kind in _INSTANCES:
        group = reservation.get("server_group_id")
        return f"openstack server create --flavor {found}" + (f" --hint group={group}" if group else "")
    if kind == "virtual:floatingip":
        return f"openstack floating ip list --tags reservation:{found}"
    if kind == "network":
        return f"openstack network list --tags reservation:{found}"
    return ""


def volume_command(volume_type: str) -> str:
    """Return the ``openstack`` command that creates a volume in reserved storage."""
    return f"openstack volume create --type {volume_type}"
