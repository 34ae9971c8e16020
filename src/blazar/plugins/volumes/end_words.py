"""Sentences about the end of reservations of storage, for each action that lessees can choose. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from blazar.plugins.end_texts import EndText, render_hours
from blazar.plugins.volumes.copying import BACKUP
from blazar.plugins.volumes.pool_spec import EndAction, PoolSpec
from blazar.plugins.volumes.settings import VolumeSettings

_VOLUMES: Final = "The volumes in the reserved storage are detached"


def list_pool_ends(settings: VolumeSettings) -> Sequence[EndText]:
    """Return the sentences about the actions that the operator offers."""
    found = [_delete()]
    if settings.retain_volume_type:
        wait = timedelta(hours=settings.retain_wait_hours) if settings.retain_wait_hours else None
        found.append(_retain(settings, wait))
    if settings.freeze_grace_hours:
        found.append(_freeze(timedelta(hours=settings.freeze_grace_hours)))
    is_copying = settings.before_end_snapshot and settings.acts_in_projects
    return (*([_copy(settings)] if is_copying else ()), *found)


def describe_pool_end(spec: PoolSpec, settings: VolumeSettings) -> Sequence[EndText]:
    """Return the sentences about a reservation, with the times that were granted to it."""
    is_copied = spec.is_copied and settings.before_end_snapshot
    return (*([_copy(settings)] if is_copied else ()), _end(spec, settings))


def _end(spec: PoolSpec, settings: VolumeSettings) -> EndText:
    if spec.end_action is EndAction.RETAIN:
        return _retain(settings, spec.wait)
    return _freeze(spec.grace) if spec.end_action is EndAction.FREEZE else _delete()


def _delete() -> EndText:
    text = f"{_VOLUMES} and deleted with their snapshots, and so are servers that were booted from them."
    return _action(EndAction.DELETE, text)


def _retain(settings: VolumeSettings, wait: timedelta | None) -> EndText:
    target = (
        f"volume type {settings.retain_volume_type}" if settings.retain_volume_type else "an ordinary type"
    )
    text = f"{_VOLUMES} and moved to {target}, in your project's ordinary quota."
    if wait is not None:
        text += f" Volumes that still cannot be moved {render_hours(wait)} after the end are deleted."
    return _action(EndAction.RETAIN, text)


def _freeze(grace: timedelta) -> EndText:
    text = (
        f"{_VOLUMES}, kept for {render_hours(grace)} without access for you, and then deleted with their"
        " snapshots."
    )
    return _action(EndAction.FREEZE, text)


def _action(action: EndAction, text: str) -> EndText:
    return EndText(text=text, key="end_action", value=action.value)


def _copy(settings: VolumeSettings) -> EndText:
    text = (
        "Each of your volumes in the reserved storage gets a backup, which stays in your project."
        if settings.before_end_snapshot == BACKUP
        else "Each of your volumes in the reserved storage gets a snapshot, which is deleted with the volume."
    )
    return EndText(text=text, key="before_end", value="snapshot", is_before_end=True)
