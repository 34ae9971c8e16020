"""The spec of a ``virtual:volume`` reservation, in requests, responses and the store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from blazar.domain.capacity import Demand
from blazar.domain.errors import CannotChange
from blazar.plugins.parameters import parse_affinity, parse_number
from blazar.plugins.volumes.pool_spec import (
    PoolSpec,
    decode_instant,
    decode_service_keys,
    encode_instant,
    encode_service_keys,
    find_fixed,
    kept_fields,
    parse_pool_keys,
    render_pool_keys,
)
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
VOLUME_IDS: Final = "volume_ids"
"""The key of the ids of the created volumes in the store; null until the creation is over."""
STARTED: Final = "started_at"
"""The key of the instant from which requested volumes are created, in the store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeSpec(PoolSpec):
    """Parts of ``gibibytes`` GiB, each in one pool.

    ``affinity`` is true for all in one pool, false for all in different pools, None for any pools.
    """

    gibibytes: int
    amount: int = 1
    affinity: bool | None = None
    volumes: tuple[RequestedVolume, ...] = ()
    """Volumes that are created at the start."""
    volume_ids: tuple[str | None, ...] | None = None
    """The ids of the created volumes, None for those that were refused; None until the creation is over. Set
    only by the service."""
    started_at: datetime | None = None
    """When the service first tried to create volumes; set only by the service."""

    @property
    def demand(self) -> Demand:
        """Return the demand of one part."""
        return Demand.of({GIBIBYTES: self.gibibytes})


def parse_spec(body: Mapping[str, object]) -> VolumeSpec:
    """Return the spec of a new reservation.

    Raises:
        MissingParameter, InvalidParameter, InvalidRequirement: A key is missing or invalid.
    """
    return VolumeSpec(
        gibibytes=parse_number(body, "gibibytes", least=1),
        amount=1 if body.get("amount") is None else parse_number(body, "amount", least=1),
        affinity=parse_affinity(body.get("affinity")),
        volumes=parse_volumes(body.get("volumes")),
        **parse_pool_keys(body),
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
        volume_ids=spec.volume_ids,
        started_at=spec.started_at,
        **kept_fields(spec),
    )
    if is_active:
        fixed = {
            "affinity": after.affinity != spec.affinity,
            "volumes": after.volumes != spec.volumes,
            **find_fixed(spec, after),
        }
        changed = [key for key, is_changed in fixed.items() if is_changed]
        if changed:
            raise CannotChange(f"{', '.join(changed)}: cannot be changed while the reservation is active")
    return after


def encode_spec(spec: VolumeSpec) -> Mapping[str, object]:
    """Return the spec in its stored form; clients do not see the fields that only the service sets."""
    return {
        **render_spec(spec),
        VOLUME_IDS: None if spec.volume_ids is None else list(spec.volume_ids),
        STARTED: encode_instant(spec.started_at),
        **encode_service_keys(spec),
    }


def decode_spec(stored: Mapping[str, Any]) -> VolumeSpec:
    """Return the spec from its stored form."""
    ids = stored.get(VOLUME_IDS)
    return replace(
        parse_spec(stored),
        volume_ids=None if ids is None else tuple(ids),
        started_at=decode_instant(stored.get(STARTED)),
        **decode_service_keys(stored),
    )


def render_spec(spec: VolumeSpec) -> Mapping[str, object]:
    """Return the spec in the form of the REST API."""
    return {
        "gibibytes": spec.gibibytes,
        "amount": spec.amount,
        "affinity": spec.affinity,
        "volumes": render_volumes(spec.volumes, spec.volume_ids or ()),
        **render_pool_keys(spec),
    }
