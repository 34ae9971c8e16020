"""The parts of a request that operators may offer or not. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from blazar.domain.errors import InvalidParameter
from blazar.plugins.volumes.copying import SNAPSHOT
from blazar.plugins.volumes.pool_spec import EndAction, PoolSpec, PoolSpecT
from blazar.plugins.volumes.requested import RequestedVolume
from blazar.plugins.volumes.settings import VolumeSettings


def asks_the_same(one: PoolSpec, other: PoolSpec) -> bool:
    """Return whether two specs have the same actions before and at the end; operators may not offer these."""
    return (one.before_end, one.end_action) == (other.before_end, other.end_action)


def check_volumes(volumes: Sequence[RequestedVolume], settings: VolumeSettings) -> None:
    """Check that volumes can be created at the start. Raises InvalidParameter if the operator forbids it."""
    if volumes:
        _check_acts(settings, "volumes")


def offered(spec: PoolSpecT, settings: VolumeSettings) -> PoolSpecT:
    """Return a new or changed spec with the times that the operator grants for its end action.

    Raises:
        InvalidParameter: The operator has not configured an action that the spec asks for.
    """
    if spec.is_copied:
        _check_copies(spec, settings)
    if spec.end_action is EndAction.RETAIN and not settings.retain_volume_type:
        raise InvalidParameter(
            "end_action",
            "retain is not offered here: the operator has named no volume type"
            " ([virtual:volume] retain_volume_type)",
        )
    wait_hours = settings.retain_wait_hours if spec.end_action is EndAction.RETAIN else 0
    if spec.end_action is not EndAction.FREEZE:
        return replace(spec, grace_hours=0, wait_hours=wait_hours)
    if not settings.freeze_grace_hours:
        raise InvalidParameter(
            "end_action",
            "freeze is not offered here: the operator has set no grace period"
            " ([virtual:volume] freeze_grace_hours)",
        )
    return replace(spec, grace_hours=settings.freeze_grace_hours, wait_hours=0)


def _check_copies(spec: PoolSpec, settings: VolumeSettings) -> None:
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
