"""Values of options for shell completion, from the service's catalogue.

A shell asks at each key press, so the answer of the service is kept in a file for ten minutes. If the
service does not answer within three seconds, there are no words, and it is asked again a minute later.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import queue
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from blazarclient.base import Record
from blazarclient.reservation_keys import GROUPING_KEYS

REQUIREMENT: Final = "requirement"
"""The name of the argument of ``availability`` that is not an option."""

_KEPT_SECONDS: Final = 600
_FAILED_SECONDS: Final = 60
_ANSWER_SECONDS: Final = 3
_IDENTITY: Final = "OS_"
"""Start of the names of environment variables that select a cloud and a project."""
_SIMPLE: Final = re.compile(r"[\w.:/+@-]+")
"""Values that need no quotes, in a shell or in a requirement."""


def _types(catalogue: Record) -> Iterator[str]:
    return (each["resource_type"] for each in catalogue["resource_types"])


def _zones(catalogue: Record) -> Iterator[str]:
    return (each["name"] for each in catalogue["availability_zones"])


def _properties(catalogue: Record) -> Iterator[str]:
    return (each["property"] for each in catalogue["properties"])


def _conditions(catalogue: Record) -> Iterator[str]:
    """Yield the terms of a requirement: each property with each of its values."""
    for each in catalogue["properties"]:
        values = (found["value"] for found in each["values"])
        yield from (f"{each['property']}={_text(value)}" for value in values if value is not None)


def _reservation_keys(catalogue: Record) -> Iterator[str]:
    """Yield the terms of a reservation: the keys of all types, and the values of those that have some."""
    yield from (f"resource_type={each}" for each in _types(catalogue))
    for each in catalogue["resource_types"]:
        yield from (f"{key}=" for key in each["keys"] or ())
    for key in GROUPING_KEYS:
        yield from (f"{key}={each}" for each in _properties(catalogue))


VALUES: Final[Mapping[str, Callable[[Record], Iterator[str]]]] = {
    "--resource-type": _types,
    "--availability-zone": _zones,
    "--same": _properties,
    "--spread": _properties,
    "--group-by": _properties,
    "--prefer": _conditions,
    REQUIREMENT: _conditions,
    "--reservation": _reservation_keys,
    "--physical-reservation": _reservation_keys,
}
"""Functions that find the words of each option in the catalogue."""
LISTS: Final = ("--prefer", REQUIREMENT, "--reservation", "--physical-reservation")
"""Options whose value is a list of words, separated by commas."""


def words(name: str, ask: Callable[[], Record], folder: Path | None = None) -> list[str]:
    """Return the words that complete the value of an option, sorted; none if the service does not answer.

    Args:
        name: One of :data:`VALUES`.
        ask: Returns the catalogue, or fails.
        folder: Where answers are kept; None for the user's cache.
    """
    catalogue = _Cache(folder or _cache_folder()).get(ask)
    found = set(VALUES[name](catalogue)) if catalogue else set()
    return sorted(each for each in found if all(_SIMPLE.fullmatch(part) for part in each.split("=") if part))


class _Cache:
    """The last answer of the service to this user, in a file that only the user can read."""

    def __init__(self, folder: Path) -> None:
        chosen = sorted(each for each in os.environ.items() if each[0].startswith(_IDENTITY))
        name = hashlib.sha256(json.dumps(chosen).encode()).hexdigest()[:16]
        self._path = folder / f"catalogue-{name}.json"

    def get(self, ask: Callable[[], Record]) -> Record | None:
        """Return the catalogue; None if the service does not answer, or did not recently."""
        with contextlib.suppress(OSError, ValueError):
            age = time.time() - self._path.stat().st_mtime
            kept: Record | None = json.loads(self._path.read_text())
            if age < (_FAILED_SECONDS if kept is None else _KEPT_SECONDS):
                return kept
        found = _answer(ask)
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            written = self._path.with_suffix(f".{os.getpid()}")
            written.touch(mode=0o600)
            written.write_text(json.dumps(found))
            written.replace(self._path)
        return found


def _answer(ask: Callable[[], Record]) -> Record | None:
    answers: queue.SimpleQueue[Record | None] = queue.SimpleQueue()

    def put_answer() -> None:
        try:
            answers.put(ask())
        except Exception:
            # Any failure means that there is nothing to propose; the next command will say why.
            answers.put(None)

    threading.Thread(target=put_answer, daemon=True).start()
    with contextlib.suppress(queue.Empty):
        return answers.get(timeout=_ANSWER_SECONDS)
    return None


def _cache_folder() -> Path:
    chosen = os.environ.get("XDG_CACHE_HOME")
    return (Path(chosen) if chosen else Path.home() / ".cache") / "blazar"


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
