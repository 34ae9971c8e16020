"""Leases in JSON and YAML files, and in the output of ``lease show -f json``."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from blazarclient import exception, reservation_keys, reservations
from blazarclient.base import Record
from blazarclient.i18n import _

STDIN = "-"
_FLAVOR = "flavor:instance"
_REQUIREMENT = "blazar:resource_properties"

LEASE_KEYS = ("name", "start_date", "end_date", "duration", "before_end_date", "reservations", "events")
"""Keys of a lease in a file: those of the API, and ``duration`` in place of ``end_date``."""
_READ_ONLY_LEASE_KEYS = (
    *("id", "status", "degraded", "user_id", "project_id", "trust_id", "created_at", "updated_at"),
)
_READ_ONLY_RESERVATION_KEYS = (
    *("id", "lease_id", "resource_id", "status", "missing_resources", "resources_changed"),
    *("created_at", "updated_at", "aggregate_id", "server_group_id"),
)


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """YAML loader that keeps dates as strings, like JSON."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def read_lease(path: str) -> Record:
    """Return the lease in a file, its reservations filled with defaults; ``-`` is standard input.

    If the file is the output of ``lease show``, its read-only keys and events are left out, because the
    service sets them.

    Raises:
        IncorrectLease: The file cannot be read, or does not contain a lease.
    """
    try:
        text = sys.stdin.read() if path == STDIN else Path(path).read_text()
        return lease(yaml.load(text, _Loader))  # noqa: S506  (a subclass of the safe loader)
    except (OSError, UnicodeDecodeError, yaml.YAMLError, exception.IncorrectLease) as error:
        raise exception.IncorrectLease(f"{path}: {error}") from None


def lease(document: Any) -> Record:
    """Return the lease in a parsed document.

    Raises:
        IncorrectLease: The document is not a lease.
    """
    if isinstance(document, Mapping) and isinstance(document.get("lease"), Mapping):
        document = document["lease"]
    if not isinstance(document, Mapping):
        raise exception.IncorrectLease(_("expected an object with the keys: %s") % ", ".join(LEASE_KEYS))
    is_shown = "id" in document
    unknown = [key for key in document if key not in (*LEASE_KEYS, *_READ_ONLY_LEASE_KEYS)]
    if unknown:
        names = {"unknown": ", ".join(map(str, unknown)), "known": ", ".join(LEASE_KEYS)}
        raise exception.IncorrectLease(_("unknown keys: %(unknown)s; known keys: %(known)s") % names)
    found = {key: document[key] for key in LEASE_KEYS if document.get(key) is not None}
    if "duration" in found and "end_date" in found:
        raise exception.IncorrectLease(_("end_date and duration exclude each other; remove one of them"))
    found["reservations"] = [_reservation(each) for each in _objects(found.get("reservations", ()))]
    if is_shown:
        found.pop("events", None)
    return found


def _objects(items: Any) -> Iterable[Mapping[str, Any]]:
    if not isinstance(items, list | tuple) or not all(isinstance(each, Mapping) for each in items):
        raise exception.IncorrectLease(_("reservations must be a list of objects, not %r") % (items,))
    return items


def _reservation(given: Mapping[str, Any]) -> Record:
    if "lease_id" not in given:
        return reservations.new(given)
    known = reservation_keys.CREATE_RESERVATION_KEYS.get(given.get("resource_type", ""))
    if known is None:
        return reservations.new(
            {key: value for key, value in given.items() if key not in _READ_ONLY_RESERVATION_KEYS}
        )
    values = {key: given[key] for key in known if given.get(key) is not None}
    if given["resource_type"] == _FLAVOR:
        values |= _source_flavor(given)
    return reservations.new(values)


def _source_flavor(shown: Mapping[str, Any]) -> Record:
    """Return the flavor and the requirement of the original request.

    ``flavor_id`` of a shown reservation is the flavor that the service created for it;
    ``resource_properties`` describes the requested one in JSON.
    """
    try:
        source = json.loads(shown["resource_properties"])
        return {"flavor_id": source["id"], "resource_properties": source.get(_REQUIREMENT, "")}
    except (KeyError, TypeError, ValueError):
        raise exception.IncorrectLease(
            _("reservation %s does not name its source flavor; replace its resource_properties by flavor_id")
            % shown.get("id")
        ) from None
