"""The parts of a request that operators may offer or not. Pure."""

from __future__ import annotations

from dataclasses import replace

from blazar.domain.errors import InvalidParameter
from blazar.plugins.volumes.copying import SNAPSHOT
from blazar.plugins.volumes.settings import VolumeSettings
from blazar.plugins.volumes.spec import EndAction, VolumeSpec


def asks_the_same(one: VolumeSpec, other: VolumeSpec) -> bool:
    """Return whether two specs ask for the same of what operators may not offer."""
    return (one.volumes, one.before_end, one.end_action) == (
        other.volumes,
        other.before_end,
        other.end_action,
    )


def offered(spec: VolumeSpec, settings: VolumeSettings) -> VolumeSpec:
    """Return a new or changed spec with the grace period of its end action.

    Raises:
        InvalidParameter: The operator has not configured what it asks for.
    """
    if spec.volumes:
        _check_acts(settings, "volumes")
    if spec.is_copied:
        _check_copies(spec, settings)
    if spec.end_action is EndAction.RETAIN and not settings.retain_volume_type:
        raise InvalidParameter(
            "end_action",
            "retain is not offered here: the operator has named no volume type"
            " ([virtual:volume] retain_volume_type)",
        )
    if spec.end_action is not EndAction.FREEZE:
        return replace(spec, grace_hours=0)
    if not settings.freeze_grace_hours:
        raise InvalidParameter(
            "end_action",
            "freeze is not offered here: the operator has set no grace period"
            " ([virtual:volume] freeze_grace_hours)",
        )
    return replace(spec, grace_hours=settings.freeze_grace_hours)


def _check_copies(spec: VolumeSpec, settings: VolumeSettings) -> None:
    if not settings.before_end_snapshot:
        raise InvalidParameter(
            "before_end",
            "snapshot is not offered here: the operator has not said how volumes are copied"
            " ([virtual:volume] before_end_snapshot)",
        )
    _check_acts(settings, "before_end")
    if settings.before_end_snapshot == SNAPSHOT and spec.end_action is EndAction.RETAIN:
        raise InvalidParameter(
            "before_end",
            "snapshot cannot be combined with end_action retain here: volumes with snapshots cannot be moved"
            " ([virtual:volume] before_end_snapshot)",
        )


def _check_acts(settings: VolumeSettings, key: str) -> None:
    if not settings.acts_in_projects:
        raise InvalidParameter(
            key,
            "volumes and copies cannot be created here: the operator has given the service no role in"
            " projects ([virtual:volume] acts_in_projects)",
        )
