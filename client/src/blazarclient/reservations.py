"""What ``--reservation`` means: a reservation in ``key=value`` form, or as a JSON object.

Both give the object that the service is sent. Keys of the resource types that are known here are
checked, and get their defaults; those of other types pass as they are, for the service to judge.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Collection, Mapping
from copy import copy
from typing import Any

from blazarclient import exception, pairs
from blazarclient.base import Record
from blazarclient.i18n import _

HOST = "physical:host"

CREATE_RESERVATION_KEYS: dict[str, dict[str, Any]] = {
    HOST: {
        "min": "",
        "max": "",
        "hypervisor_properties": "",
        "resource_properties": "",
        "before_end": None,
        "resource_type": HOST,
    },
    "virtual:instance": {
        "vcpus": "",
        "memory_mb": "",
        "disk_gb": "",
        "amount": "",
        "affinity": "None",
        "resource_properties": "",
        "resource_type": "virtual:instance",
    },
    "virtual:floatingip": {
        "amount": 1,
        "network_id": None,
        "required_floatingips": [],
        "resource_type": "virtual:floatingip",
    },
    "flavor:instance": {
        "amount": "",
        "flavor_id": "",
        "affinity": "None",
        "resource_properties": None,
        "resource_type": "flavor:instance",
    },
}
"""The keys of each known resource type with their defaults; None leaves a key out.

Other distributions may add types.
"""

MANDATORY: dict[str, tuple[str, ...]] = {
    HOST: ("min", "max"),
    "virtual:instance": ("vcpus", "memory_mb", "disk_gb", "amount"),
    "virtual:floatingip": ("network_id",),
    "flavor:instance": ("flavor_id", "amount"),
}
"""What has no default that makes sense."""

UPDATE_KEYS = (
    "id",
    *("min", "max", "hypervisor_properties", "resource_properties", "before_end"),
    *("vcpus", "memory_mb", "disk_gb", "amount", "affinity", "flavor_id"),
    *("network_id", "required_floatingips", "resource_type"),
)
"""What can be said of a reservation that exists."""

AFFINITIES = ("None", "True", "False")

_COUNTS = ("min", "max", "vcpus", "memory_mb", "disk_gb", "amount")
_REQUIREMENTS = ("hypervisor_properties", "resource_properties")
_INTEGER = re.compile(r"0|-?[1-9][0-9]*")


def to_create(argument: str) -> Record:
    """Return the reservation that *argument* asks for, complete.

    Raises:
        IncorrectLease: A key is unknown or missing, or a value makes no sense; it says which.
        DuplicatedLeaseParameters: A key is given twice.
    """
    return _read(argument, "reservation", new)


def to_create_hosts(argument: str) -> Record:
    """Return a reservation of hosts, whatever type *argument* names.

    Raises:
        IncorrectLease: As :func:`to_create`.
        DuplicatedLeaseParameters: As :func:`to_create`.
    """
    return _read(argument, "physical-reservation", lambda given: new({**given, "resource_type": HOST}))


def to_update(argument: str) -> Record:
    """Return the change of a reservation that *argument* asks for.

    Raises:
        IncorrectLease: There is no ``id``, a key is unknown, or a value makes no sense.
        DuplicatedLeaseParameters: A key is given twice.
    """
    return _read(argument, "reservation", changed)


def new(given: Mapping[str, Any]) -> Record:
    """Return a reservation from its keys, with defaults; values as they were typed or as JSON has them.

    Raises:
        IncorrectLease: See :func:`to_create`.
    """
    kind = _plain(given.get("resource_type", ""))
    if not kind:
        known = ", ".join(CREATE_RESERVATION_KEYS)
        raise exception.IncorrectLease(_("resource_type is missing; known types are: %s") % known)
    if kind not in CREATE_RESERVATION_KEYS:
        return {key: _guess(value) for key, value in given.items()}
    defaults = CREATE_RESERVATION_KEYS[kind]
    _refuse_unknown(given, defaults)
    values = {key: _typed(key, value) for key, value in given.items()}
    missing = [key for key in MANDATORY.get(kind, ()) if values.get(key) in (None, "")]
    if missing:
        names = {"type": kind, "missing": ", ".join(missing)}
        raise exception.IncorrectLease(_("a reservation of %(type)s needs: %(missing)s") % names)
    reservation = {key: copy(value) for key, value in defaults.items() if value is not None} | values
    if kind == HOST:
        _check_hosts(reservation)
    return reservation


def changed(given: Mapping[str, Any]) -> Record:
    """Return a change of a reservation from its keys.

    Raises:
        IncorrectLease: See :func:`to_update`.
    """
    if not _plain(given.get("id", "")):
        raise exception.IncorrectLease(_("the id of the reservation is missing: id=<id>,key=value"))
    kind = _plain(given.get("resource_type", ""))
    if kind and kind not in CREATE_RESERVATION_KEYS:
        return {key: _plain(value) if key == "id" else _guess(value) for key, value in given.items()}
    _refuse_unknown(given, UPDATE_KEYS)
    return {key: _typed(key, value) for key, value in given.items()}


def _read(argument: str, option: str, make: Callable[[Mapping[str, Any]], Record]) -> Record:
    try:
        return make(_given(argument))
    except (exception.IncorrectLease, exception.DuplicatedLeaseParameters) as error:
        names = {"option": option, "argument": argument, "reason": error}
        raise type(error)(_("Invalid %(option)s argument '%(argument)s': %(reason)s") % names) from None


def _given(argument: str) -> Mapping[str, Any]:
    if not argument.lstrip().startswith("{"):
        return pairs.split(argument)
    try:
        found = json.loads(argument, object_pairs_hook=_without_duplicates)
    except ValueError as error:
        raise exception.IncorrectLease(_("it is not JSON: %s") % error) from None
    given: Mapping[str, Any] = found
    return given


def _without_duplicates(items: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in items:
        if key in found:
            raise exception.DuplicatedLeaseParameters(_("%s is given twice") % key)
        found[key] = value
    return found


def _refuse_unknown(given: Mapping[str, Any], known: Collection[str]) -> None:
    for key in given:
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            hint = _("; did you mean %s?") % near[0] if near else ""
            raise exception.IncorrectLease(
                _("unknown key %(key)r%(hint)s known keys are: %(known)s")
                % {"key": key, "hint": hint or ";", "known": ", ".join(known)}
            )


def _typed(key: str, value: Any) -> Any:
    """Return a value as the service wants it under that key; what JSON has typed stays."""
    if key in _REQUIREMENTS:
        return _requirement(key, value)
    if not isinstance(value, pairs.Text):
        return str(value) if key == "id" else value
    if key in _COUNTS:
        return _count(key, value.text)
    if key == "required_floatingips":
        return _addresses(value.text)
    if key == "affinity":
        return _affinity(value.text)
    return value.text


def _count(key: str, text: str) -> int | str:
    if text == "":
        return ""
    if not re.fullmatch(r"\+?[0-9]{1,18}", text):
        raise exception.IncorrectLease(
            _("%(key)s must be a whole number, not %(text)r") % {"key": key, "text": text}
        )
    return int(text)


def _requirement(key: str, value: Any) -> Any:
    """Return a requirement as text, as it was typed."""
    if isinstance(value, list):
        return json.dumps(value)
    text = _plain(value)
    if isinstance(text, str) and text.strip():
        try:
            json.loads(text)
        except ValueError as error:
            raise exception.IncorrectLease(
                _('%(key)s must be JSON such as ["==", "$name", "value"]: %(error)s')
                % {"key": key, "error": error}
            ) from None
    return text


def _addresses(text: str) -> Any:
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, list):
        raise exception.IncorrectLease(
            _('required_floatingips must be a JSON array such as ["192.0.2.5"], not %r') % text
        )
    return found


def _affinity(text: str) -> str:
    words = ("", "none", "true", "false", "yes", "no", "on", "off", "1", "0", "t", "f", "y", "n")
    if text.lower() not in words:
        raise exception.IncorrectLease(
            _("affinity must be one of %(known)s, not %(text)r")
            % {"known": ", ".join(AFFINITIES), "text": text}
        )
    return text


def _check_hosts(reservation: Mapping[str, Any]) -> None:
    least, most = reservation["min"], reservation["max"]
    if not (isinstance(least, int) and isinstance(most, int)):
        return
    if not 1 <= least <= most:
        raise exception.IncorrectLease(
            _("1 <= min <= max must hold, and min is %(min)s, max is %(max)s") % {"min": least, "max": most}
        )


def _guess(value: Any) -> Any:
    """Return a value of a resource type that is not known here: whole numbers and JSON as what they are."""
    if not isinstance(value, pairs.Text):
        return value
    if value.is_quoted:
        return value.text
    if _INTEGER.fullmatch(value.text):
        return int(value.text)
    if value.text[:1] in ("[", "{"):
        try:
            return json.loads(value.text)
        except ValueError:
            return value.text
    return value.text


def _plain(value: Any) -> Any:
    return value.text if isinstance(value, pairs.Text) else value
