"""Steps that are done once for a lab's data, and again when their inputs change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from cloudlab import files
from cloudlab.folder import Folder


def once(folder: Folder, name: str, key: str, action: Callable[[], None]) -> bool:
    """Do *action* unless it was done for this key; return whether it was done now.

    It is recorded after its completion. It must be repeatable, because it may be interrupted before that.
    """
    if is_done(folder, name, key):
        return False
    action()
    files.write(_mark(folder, name), key)
    return True


def is_done(folder: Folder, name: str, key: str) -> bool:
    """Return whether the last completion of a step was for this key."""
    mark = _mark(folder, name)
    return mark.exists() and mark.read_text() == key


def was_ever_done(folder: Folder, name: str) -> bool:
    """Return whether a step was completed, for this key or another."""
    return _mark(folder, name).exists()


def _mark(folder: Folder, name: str) -> Path:
    return folder.data("done") / name
