"""Parser of ``--reservation``: a reservation in ``key=value`` form, or as a JSON object.

Both forms result in the object of the request. Keys of known resource types are checked and get their
defaults; keys of other types are passed to the service unchecked.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from copy import copy
from typing import Any

from blazarclient import exception, pairs
from blazarclient.base import Record, Records
from blazarclient.i18n import _
from blazarclient.reservation_keys import (
    AFFINITIES,
    ARRAYS,
    COUNTS,
    CREATE_RESERVATION_KEYS,
    HOST,
    MANDATORY,
    NEWER_KEYS,
    REQUIREMENTS,
    UPDATE_KEYS,
)

_OPERATORS = ("=", "==", "!=", ">=", "<=", ">", "<")
_INTEGER = re.compile(r"0|-?[1-9][0-9]*")

_SINGLE_QUOTES = _(
    "; in a shell, put the argument in single quotes: in double quotes, the shell replaces $name"
)


def to_create(argument: str) -> Record:
    """Return the new reservation that *argument* describes, with defaults.

    Raises:
        IncorrectLease: A key is unknown or missing, or a value is invalid.
        DuplicatedLeaseParameters: A key occurs twice.
    """
    return _read(argument, "reservation", new)


def to_create_hosts(argument: str) -> Record:
    """Return the new reservation that *argument* describes, of the type ``physical:host``.

    A ``resource_type`` in the argument is ignored.

    Raises:
        IncorrectLease: As in :func:`to_create`.
        DuplicatedLeaseParameters: As in :func:`to_create`.
    """
    return _read(argument, "physical-reservation", lambda given: new({**given, "resource_type": HOST}))


def to_update(argument: str) -> Record:
    """Return the change of a reservation that *argument* describes; an id may be missing or short.

    Raises:
        IncorrectLease: A key is unknown, or a value is invalid.
        DuplicatedLeaseParameters: A key occurs twice.
    """
    return _read(argument, "reservation", changed)


def new(given: Mapping[str, Any]) -> Record:
    """Return a new reservation with defaults.

    Args:
        given: Keys and values; a value is text of the command line or parsed JSON.

    Raises:
        IncorrectLease: As in :func:`to_create`.
    """
    kind = _plain(given.get("resource_type", ""))
    if not kind:
        known = ", ".join(CREATE_RESERVATION_KEYS)
        raise exception.IncorrectLease(_("resource_type is missing; known types: %s") % known)
    if kind not in CREATE_RESERVATION_KEYS:
        return {key: _guess(value) for key, value in given.items()}
    defaults = CREATE_RESERVATION_KEYS[kind]
    _refuse_unknown(given, defaults)
    values = {key: _typed(key, value) for key, value in given.items()}
    missing = [key for key in MANDATORY.get(kind, ()) if values.get(key) in (None, "")]
    if missing:
        names = {"type": kind, "missing": ", ".join(missing)}
        raise exception.IncorrectLease(_("missing keys of a %(type)s reservation: %(missing)s") % names)
    reservation = {key: copy(value) for key, value in defaults.items() if value is not None} | values
    if kind == HOST:
        _check_hosts(reservation)
    return reservation


def changed(given: Mapping[str, Any]) -> Record:
    """Return a change of a reservation.

    Args:
        given: Keys and values; a value is text of the command line or parsed JSON.

    Raises:
        IncorrectLease: As in :func:`to_update`.
    """
    if not _plain(given.get("id", "?")):
        raise exception.IncorrectLease(_("id is empty; use the form id=<reservation id>,key=value"))
    kind = _plain(given.get("resource_type", ""))
    if kind and kind not in CREATE_RESERVATION_KEYS:
        return {key: _plain(value) if key == "id" else _guess(value) for key, value in given.items()}
    _refuse_unknown(given, UPDATE_KEYS)
    return {key: _typed(key, value) for key, value in given.items()}


def grouped(reservations: Records, groupings: Mapping[str, str | None]) -> Records:
    """Return *reservations*, those with requirements with these values of *GROUPING_KEYS*.

    Raises:
        CommandError: A value is given, and no reservation has requirements.
    """
    given = {key: value for key, value in groupings.items() if value is not None}
    if not given:
        return reservations
    kinds = [kind for kind, keys in CREATE_RESERVATION_KEYS.items() if "same" in keys]
    if not any(each.get("resource_type") in kinds for each in reservations):
        names = {"options": ", ".join(f"--{key}" for key in given), "kinds": ", ".join(kinds)}
        raise exception.CommandError(
            _("%(options)s: a reservation of one of the types %(kinds)s is missing") % names, code=400
        )
    return [{**each, **given} if each.get("resource_type") in kinds else each for each in reservations]


def changes_need_1_1(changes: Collection[Record]) -> bool:
    """Return whether changes of reservations need API 1.1, as new reservations in a lease do."""
    return need_1_1(changes) or any("id" not in each for each in changes)


def need_1_1(reservations: Iterable[Record]) -> bool:
    """Return whether a reservation, or a change of one, has keys or requirements that need API 1.1."""
    return any(
        key in each or _is_newer(each.get(requirement))
        for each in reservations
        for key in NEWER_KEYS
        for requirement in REQUIREMENTS
    )


def _is_newer(requirement: Any) -> bool:
    """Return whether API 1.0 refuses a requirement that API 1.1 accepts, if it is valid."""
    if not isinstance(requirement, str) or not requirement.strip():
        return False
    if not _is_json(requirement):
        return True
    try:
        return _has_newer_parts(json.loads(requirement))
    except ValueError:
        return False


def _is_json(requirement: str) -> bool:
    """Return whether a requirement has the JSON form, not the short one."""
    return requirement.lstrip().startswith("[")


def _has_newer_parts(expression: Any) -> bool:
    match expression:
        case ["and", *parts]:
            return any(map(_has_newer_parts, parts))
        case [str(operator), str(), str()]:
            return operator not in _OPERATORS
    return True


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
        raise exception.IncorrectLease(_("invalid JSON: %s") % error) from None
    given: Mapping[str, Any] = found
    return given


def _without_duplicates(items: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in items:
        if key in found:
            raise exception.DuplicatedLeaseParameters(_("key %r occurs twice; remove one") % key)
        found[key] = value
    return found


def _refuse_unknown(given: Mapping[str, Any], known: Collection[str]) -> None:
    for key in given:
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            hint = _("; did you mean %s?") % near[0] if near else ""
            raise exception.IncorrectLease(
                _("unknown key %(key)r%(hint)s known keys: %(known)s")
                % {"key": key, "hint": hint or ";", "known": ", ".join(known)}
            )


def _typed(key: str, value: Any) -> Any:
    """Return a value in the type that the service expects for *key*; parsed JSON is unchanged."""
    if key in REQUIREMENTS:
        return _requirement(key, value)
    if not isinstance(value, pairs.Text):
        return str(value) if key == "id" else value
    if key in COUNTS:
        return _count(key, value.text)
    if key in ARRAYS:
        return _array(key, value.text)
    if key == "remove":
        return _boolean(key, value.text)
    if key == "affinity":
        return _affinity(value.text)
    return value.text


def _count(key: str, text: str) -> int | str:
    if text == "":
        return ""
    if not re.fullmatch(r"\+?[0-9]{1,18}", text):
        raise exception.IncorrectLease(
            _("%(key)s must be a whole number of 0 or more, not %(text)r") % {"key": key, "text": text}
        )
    return int(text)


def _requirement(key: str, value: Any) -> Any:
    """Return a requirement as text; a list becomes JSON. The service checks the short form."""
    text = json.dumps(value) if isinstance(value, list) else _plain(value)
    if isinstance(text, str) and _is_json(text):
        try:
            condition = _without_name(json.loads(text))
        except ValueError as error:
            raise exception.IncorrectLease(
                _('%(key)s must be JSON such as ["==", "$name", "value"]: %(error)s%(hint)s')
                % {"key": key, "error": error, "hint": _SINGLE_QUOTES}
            ) from None
        if condition is not None:
            names = {"key": key, "condition": json.dumps(condition), "hint": _SINGLE_QUOTES}
            raise exception.IncorrectLease(
                _("%(key)s: a property needs a leading $, as in $rack, but has none in %(condition)s%(hint)s")
                % names
            )
    return text


def _without_name(expression: Any) -> Any:
    """Return the first condition whose property does not begin with ``$``, or None."""
    match expression:
        case ["and", *parts]:
            return next((each for each in map(_without_name, parts) if each is not None), None)
        case [str(operator), str(name), _] if operator in _OPERATORS and not re.match(r"\$\S", name):
            return expression
    return None


def _array(key: str, text: str) -> Any:
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, list):
        names = {"key": key, "example": ARRAYS[key], "text": text}
        raise exception.IncorrectLease(
            _("%(key)s must be a JSON array such as %(example)s, not %(text)r") % names
        )
    return found


def _boolean(key: str, text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise exception.IncorrectLease(
            _("%(key)s must be true or false, not %(text)r") % {"key": key, "text": text}
        )
    return text.lower() == "true"


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
            _("min is %(min)s and max is %(max)s, but 1 <= min <= max is required")
            % {"min": least, "max": most}
        )


def _guess(value: Any) -> Any:
    """Return a value of an unknown resource type; whole numbers and JSON are parsed."""
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
