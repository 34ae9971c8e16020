"""Refusals of leases: their text on a terminal, and their alternatives, which a later command can take."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from blazarclient import exception
from blazarclient.base import Record, Records
from blazarclient.i18n import _

KEPT_SECONDS = 3600
"""Time for which the alternatives of the last refusal can be taken."""


_SHORTAGES = ("Not enough", "Quota of the project exceeded", "(rule ")
"""Texts in refusals of the service that have reasons and alternatives from API 1.1 on."""


def is_shortage(refusal: exception.BlazarClientException) -> bool:
    """Return whether API 1.1 would tell the reasons and alternatives of a refusal."""
    return any(each in str(refusal) for each in _SHORTAGES)


def summaries(answer: Mapping[str, Any]) -> list[str]:
    """Return the reasons in a refusal, or in the answer to a search, in words."""
    return [each["summary"] for each in answer.get("reasons", ()) if each["binding"] is not None]


def lines(refusal: exception.BlazarClientException, *, of_change: bool = False) -> Iterator[str]:
    """Yield the reasons of a refusal and its alternatives with their numbers, for a terminal.

    Args:
        refusal: The refusal, at API 1.1.
        of_change: Whether a change was refused, whose alternatives ``lease create`` cannot take.
    """
    for summary in summaries(refusal.kwargs):
        yield _("Reason: %s") % summary
    alternatives = refusal.kwargs.get("alternatives", ())
    if not alternatives:
        return
    yield _("Possible instead:")
    for number, each in enumerate(alternatives, start=1):
        yield f"  {number}  {each['kind'].replace('_', ' ')}: {each['summary']}"
    if not of_change:
        yield _("lease create --take <number> creates one of them")


def keep(client: Any, alternatives: Records) -> None:
    """Keep the alternatives of the last refusal for :func:`take`; without a writable folder, do nothing."""
    path = _path()
    kept = {"saved_at": time.time(), "cloud": _cloud(client), "alternatives": alternatives}
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as stream:
            json.dump(kept, stream)
    except OSError:
        return


def take(client: Any, number: int) -> list[Record]:
    """Return the requests of an alternative of the last refusal, which must be recent and of this cloud.

    Raises:
        CommandError: There is no such alternative.
    """
    try:
        kept = json.loads(_path().read_text())
        is_recent = time.time() - kept["saved_at"] < KEPT_SECONDS
        alternatives = kept["alternatives"] if is_recent and kept["cloud"] == _cloud(client) else []
    except (OSError, ValueError, KeyError, TypeError):
        alternatives = []
    if not alternatives:
        raise exception.CommandError(
            _("--take: no lease of this project was refused with alternatives in the last hour")
        )
    if not 1 <= number <= len(alternatives):
        raise exception.CommandError(
            _("--take: the last refusal has the alternatives 1 to %d") % len(alternatives)
        )
    bodies: list[Record] = alternatives[number - 1]["bodies"]
    return bodies


def _path() -> Path:
    folder = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(folder) / "blazarclient" / "refusal.json"


def _cloud(client: Any) -> list[str | None]:
    """Return the endpoint and the project of a client."""
    manager = client.lease.request_manager
    if hasattr(manager, "blazar_url"):
        return [manager.blazar_url, None]
    return [manager.get_endpoint(), manager.get_project_id()]
