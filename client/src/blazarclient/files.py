"""Leases from JSON and YAML files, and from what ``lease show -f json`` prints."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from blazarclient import exception, reservations
from blazarclient.base import Record
from blazarclient.i18n import _

STDIN = "-"
_FLAVOR = "flavor:instance"
_REQUIREMENT = "blazar:resource_properties"

LEASE_KEYS = ("name", "start_date", "end_date", "before_end_date", "reservations", "events")
_SHOWN_OF_A_LEASE = (
    *("id", "status", "degraded", "user_id", "project_id", "trust_id", "created_at", "updated_at"),
)
_SHOWN_OF_A_RESERVATION = (
    *("id", "lease_id", "resource_id", "status", "missing_resources", "resources_changed"),
    *("created_at", "updated_at", "aggregate_id", "server_group_id"),
)


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """YAML in which dates are text, as they are in JSON."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def read_lease(path: str) -> Record:
    """Return the lease that a file describes, its reservations complete; ``-`` is the standard input.

    What the service adds to a lease when it shows one is left out, and so are its events, which it
    makes itself.

    Raises:
        IncorrectLease: The file cannot be read, or does not hold a lease; it says why.
    """
    try:
        text = sys.stdin.read() if path == STDIN else Path(path).read_text()
        return lease(yaml.load(text, _Loader))  # noqa: S506  (a subclass of the safe loader)
    except (OSError, UnicodeDecodeError, yaml.YAMLError, exception.IncorrectLease) as error:
        raise exception.IncorrectLease(f"{path}: {error}") from None


def lease(document: Any) -> Record:
    """Return the lease that a document describes.

    Raises:
        IncorrectLease: It does not describe one.
    """
    if isinstance(document, Mapping) and isinstance(document.get("lease"), Mapping):
        document = document["lease"]
    if not isinstance(document, Mapping):
        raise exception.IncorrectLease(_("it must hold an object with: %s") % ", ".join(LEASE_KEYS))
    is_shown = "id" in document
    unknown = [key for key in document if key not in (*LEASE_KEYS, *_SHOWN_OF_A_LEASE)]
    if unknown:
        names = {"unknown": ", ".join(map(str, unknown)), "known": ", ".join(LEASE_KEYS)}
        raise exception.IncorrectLease(_("unknown keys: %(unknown)s; known keys are: %(known)s") % names)
    found = {key: document[key] for key in LEASE_KEYS if document.get(key) is not None}
    found["reservations"] = [_reservation(each) for each in _objects(found.get("reservations", ()))]
    if is_shown:
        found.pop("events", None)
    return found


def _objects(items: Any) -> Iterable[Mapping[str, Any]]:
    if not isinstance(items, list | tuple) or not all(isinstance(each, Mapping) for each in items):
        raise exception.IncorrectLease(_("reservations must be a list of objects"))
    return items


def _reservation(given: Mapping[str, Any]) -> Record:
    if "lease_id" not in given:
        return reservations.new(given)
    known = reservations.CREATE_RESERVATION_KEYS.get(given.get("resource_type", ""))
    if known is None:
        return reservations.new(
            {key: value for key, value in given.items() if key not in _SHOWN_OF_A_RESERVATION}
        )
    values = {key: given[key] for key in known if given.get(key) is not None}
    if given["resource_type"] == _FLAVOR:
        values |= _source_flavor(given)
    return reservations.new(values)


def _source_flavor(shown: Mapping[str, Any]) -> Record:
    """Return the flavor, and the requirement, that were asked for.

    A shown reservation has a flavor of its own, and these as JSON.
    """
    try:
        source = json.loads(shown["resource_properties"])
        return {"flavor_id": source["id"], "resource_properties": source.get(_REQUIREMENT, "")}
    except (KeyError, TypeError, ValueError):
        raise exception.IncorrectLease(
            _("the reservation %s does not say which flavor it was made of") % shown.get("id")
        ) from None
