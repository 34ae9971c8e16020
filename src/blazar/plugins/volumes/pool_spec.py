"""The common part of the specs of all reservations of storage pools: their volume types, and their end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final, TypeVar

from blazar.domain.errors import InvalidParameter
from blazar.domain.expressions import parse
from blazar.domain.requirements import Requirement
from blazar.plugins.parameters import parse_properties

MADE: Final = "made_types"
"""The key of the created volume types in the store."""
GRACE: Final = "freeze_grace_hours"
"""The key of the time for which frozen volumes are kept, in answers and in the store."""
WAIT: Final = "retain_wait_hours"
"""The key of the time after which volumes that cannot be moved are deleted, in answers and in the store."""
ENDED: Final = "ended_at"
"""The key of the instant at which the end was first seen, in the store."""

_LONGEST_NAME: Final = 200
_BEFORE_END_ACTIONS: Final = ("", "default", "snapshot")
"""The values that reservations of hosts have, too; the first two mean no action."""


class EndAction(StrEnum):
    """The treatment of the volumes of a reservation at its end."""

    DELETE = "delete"
    RETAIN = "retain"
    """They are moved to an ordinary volume type."""
    FREEZE = "freeze"
    """They are kept without access for the operator's grace period, and then deleted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSpec:
    """The properties of the pools, and the treatment of the volumes in them."""

    resource_properties: str | None = None
    volume_name: str = ""
    """A text by which the lessee recognizes the volume types."""
    before_end: str = "default"
    end_action: EndAction = EndAction.DELETE
    made: Mapping[str, str] = field(default_factory=dict)
    """The names of the volume types created for it, by resource; set only by the service."""
    grace_hours: int = 0
    """How long frozen volumes are kept; 0 for other actions. Set only by the service."""
    wait_hours: int = 0
    """How long volumes that are to be moved, but cannot be, are kept; 0 for ever, or for other actions. Set
    only by the service."""
    ended_at: datetime | None = None
    """When the service first saw that the reservation is over; set only by the service."""

    @property
    def is_copied(self) -> bool:
        """Return whether volumes are to be copied before the end."""
        return self.before_end == "snapshot"

    @property
    def grace(self) -> timedelta:
        """Return how long volumes are kept after the end."""
        return timedelta(hours=self.grace_hours)

    @property
    def wait(self) -> timedelta | None:
        """Return how long after the end volumes that cannot be moved are kept; None for ever."""
        return timedelta(hours=self.wait_hours) if self.wait_hours else None

    @property
    def requirement(self) -> Requirement:
        """Return the requirement of the properties."""
        return parse(self.resource_properties, field="resource_properties")


PoolSpecT = TypeVar("PoolSpecT", bound=PoolSpec)


def parse_pool_keys(body: Mapping[str, object]) -> Mapping[str, Any]:
    """Return the fields of a new spec for the keys that all reservations of pools have.

    Raises:
        InvalidParameter, InvalidRequirement: A key is invalid.
    """
    return {
        "resource_properties": parse_properties(body.get("resource_properties")),
        "volume_name": _parse_name(body.get("volume_name")),
        "before_end": _parse_before_end(body.get("before_end")),
        "end_action": _parse_end_action(body.get("end_action")),
    }


def kept_fields(spec: PoolSpec) -> Mapping[str, Any]:
    """Return the fields that only the service sets, which an update keeps."""
    return {
        "made": spec.made,
        "grace_hours": spec.grace_hours,
        "wait_hours": spec.wait_hours,
        "ended_at": spec.ended_at,
    }


def find_fixed(before: PoolSpec, after: PoolSpec) -> Mapping[str, bool]:
    """Return the common keys that an update changes although they are fixed while a reservation is active."""
    return {
        "resource_properties": after.requirement != before.requirement,
        "volume_name": after.volume_name != before.volume_name,
    }


def encode_service_keys(spec: PoolSpec) -> Mapping[str, object]:
    """Return the fields that are in the store but not in answers."""
    return {MADE: dict(spec.made), ENDED: encode_instant(spec.ended_at)}


def decode_service_keys(stored: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields that only the service sets, from the stored form."""
    return {
        "made": stored.get(MADE, {}),
        "grace_hours": stored.get(GRACE) or 0,
        "wait_hours": stored.get(WAIT) or 0,
        "ended_at": decode_instant(stored.get(ENDED)),
    }


def render_pool_keys(spec: PoolSpec) -> Mapping[str, object]:
    """Return the common keys in the form of the REST API."""
    return {
        "resource_properties": spec.resource_properties,
        "volume_name": spec.volume_name,
        "before_end": spec.before_end,
        "end_action": spec.end_action.value,
        GRACE: spec.grace_hours or None,
        WAIT: spec.wait_hours or None,
    }


def encode_instant(instant: datetime | None) -> str | None:
    """Return an instant as text."""
    return None if instant is None else instant.isoformat()


def decode_instant(text: str | None) -> datetime | None:
    """Return the instant that :func:`encode_instant` wrote."""
    return None if text is None else datetime.fromisoformat(text)


def _parse_before_end(value: object) -> str:
    if value is None:
        return "default"
    if not isinstance(value, str) or value not in _BEFORE_END_ACTIONS:
        raise InvalidParameter("before_end", "must be one of '', 'default', 'snapshot'")
    return value


def _parse_end_action(value: object) -> EndAction:
    if value is None:
        return EndAction.DELETE
    if not isinstance(value, str) or value not in list(EndAction):
        raise InvalidParameter("end_action", f"must be one of {', '.join(EndAction)}")
    return EndAction(value)


def _parse_name(value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > _LONGEST_NAME or not (value == "" or value.isprintable()):
        raise InvalidParameter("volume_name", f"must be text of at most {_LONGEST_NAME} printable characters")
    return value
