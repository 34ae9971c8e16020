"""The spec of a ``virtual:volume`` reservation, in requests, responses and the store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from blazar.domain.capacity import Demand
from blazar.domain.errors import CannotChange, InvalidParameter
from blazar.domain.expressions import parse
from blazar.domain.requirements import Requirement
from blazar.plugins.parameters import parse_affinity, parse_number, parse_properties
from blazar.plugins.volumes.pools import GIBIBYTES
from blazar.plugins.volumes.requested import RequestedVolume, parse_volumes, render_volumes

VOLUME_KEYS: Final = (
    "gibibytes",
    "amount",
    "affinity",
    "resource_properties",
    "volume_name",
    "volumes",
    "before_end",
    "end_action",
)
"""The keys of a reservation; only ``gibibytes`` is required."""
MADE: Final = "made_types"
"""The key of the created volume types in the store."""
GRACE: Final = "freeze_grace_hours"
"""The key of the time for which frozen volumes are kept, in answers and in the store."""
VOLUME_IDS: Final = "volume_ids"
"""The key of the ids of the created volumes in the store; null until the creation is over."""
STARTED: Final = "started_at"
"""The key of the instant from which on requested volumes are created, in the store."""
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
class VolumeSpec:
    """Parts of so many GiB, each in one pool.

    ``affinity`` is true for all in one pool, false for all in different pools, None for any pools.
    """

    gibibytes: int
    amount: int = 1
    affinity: bool | None = None
    resource_properties: str | None = None
    volume_name: str = ""
    """A text by which the lessee recognizes the volume types."""
    volumes: tuple[RequestedVolume, ...] = ()
    """Volumes that are created at the start."""
    before_end: str = "default"
    end_action: EndAction = EndAction.DELETE
    made: Mapping[str, str] = field(default_factory=dict)
    """The names of the volume types created for it, by resource; set only by the service."""
    grace_hours: int = 0
    """How long frozen volumes are kept; 0 for other actions. Set only by the service."""
    volume_ids: tuple[str | None, ...] | None = None
    """The ids of the created volumes, None for those that were refused; None until the creation is over. Set
    only by the service."""
    started_at: datetime | None = None
    """When the service first tried to create volumes; set only by the service."""
    ended_at: datetime | None = None
    """When the service first saw that the reservation is over; set only by the service."""

    @property
    def demand(self) -> Demand:
        """Return the demand of one part."""
        return Demand.of({GIBIBYTES: self.gibibytes})

    @property
    def is_copied(self) -> bool:
        """Return whether volumes are to be copied before the end."""
        return self.before_end == "snapshot"

    @property
    def grace(self) -> timedelta:
        """Return how long volumes are kept after the end."""
        return timedelta(hours=self.grace_hours)

    @property
    def requirement(self) -> Requirement:
        """Return the requirement of the properties."""
        return parse(self.resource_properties, field="resource_properties")


def parse_spec(body: Mapping[str, object]) -> VolumeSpec:
    """Return the spec of a new reservation.

    Raises:
        MissingParameter, InvalidParameter, InvalidRequirement: A key is missing or invalid.
    """
    return VolumeSpec(
        gibibytes=parse_number(body, "gibibytes", least=1),
        amount=1 if body.get("amount") is None else parse_number(body, "amount", least=1),
        affinity=parse_affinity(body.get("affinity")),
        resource_properties=parse_properties(body.get("resource_properties")),
        volume_name=_parse_name(body.get("volume_name")),
        volumes=parse_volumes(body.get("volumes")),
        before_end=_parse_before_end(body.get("before_end")),
        end_action=_parse_end_action(body.get("end_action")),
    )


def revise_spec(spec: VolumeSpec, changes: Mapping[str, object], *, is_active: bool) -> VolumeSpec:
    """Return *spec* with the keys of an update; keys that are not sent keep their values.

    Raises:
        MissingParameter, InvalidParameter, InvalidRequirement: A key is missing or invalid.
        CannotChange: The reservation is active, and only ``gibibytes``, ``amount``, ``before_end`` and
            ``end_action`` may change.
    """
    after = replace(
        parse_spec({**render_spec(spec), **changes}),
        made=spec.made,
        grace_hours=spec.grace_hours,
        volume_ids=spec.volume_ids,
        started_at=spec.started_at,
        ended_at=spec.ended_at,
    )
    if is_active:
        fixed = {
            "affinity": after.affinity != spec.affinity,
            "resource_properties": after.requirement != spec.requirement,
            "volume_name": after.volume_name != spec.volume_name,
            "volumes": after.volumes != spec.volumes,
        }
        changed = [key for key, is_changed in fixed.items() if is_changed]
        if changed:
            raise CannotChange(f"{', '.join(changed)}: cannot be changed while the reservation is active")
    return after


def encode_spec(spec: VolumeSpec) -> Mapping[str, object]:
    """Return the spec in its stored form; clients see it without what only the service sets."""
    return {
        **render_spec(spec),
        MADE: dict(spec.made),
        VOLUME_IDS: None if spec.volume_ids is None else list(spec.volume_ids),
        STARTED: _instant(spec.started_at),
        ENDED: _instant(spec.ended_at),
    }


def _instant(instant: datetime | None) -> str | None:
    return None if instant is None else instant.isoformat()


def decode_spec(stored: Mapping[str, Any]) -> VolumeSpec:
    """Return the spec from its stored form."""
    ids = stored.get(VOLUME_IDS)
    return replace(
        parse_spec(stored),
        made=stored.get(MADE, {}),
        grace_hours=stored.get(GRACE) or 0,
        volume_ids=None if ids is None else tuple(ids),
        started_at=_read_instant(stored.get(STARTED)),
        ended_at=_read_instant(stored.get(ENDED)),
    )


def _read_instant(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def render_spec(spec: VolumeSpec) -> Mapping[str, object]:
    """Return the spec in the form of the REST API."""
    return {
        "gibibytes": spec.gibibytes,
        "amount": spec.amount,
        "affinity": spec.affinity,
        "resource_properties": spec.resource_properties,
        "volume_name": spec.volume_name,
        "volumes": render_volumes(spec.volumes, spec.volume_ids or ()),
        "before_end": spec.before_end,
        "end_action": spec.end_action.value,
        GRACE: spec.grace_hours or None,
    }


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
