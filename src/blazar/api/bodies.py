"""Reading a request's body as JSON.

A body that is not JSON is refused in shape B. JSON that cannot be stored is refused in shape A, with the key.
Accepted bodies can be stored and sent on: numbers are finite and fit 64 bits, text is encodable and has no
NUL, and nesting is shallow.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable

import falcon

from blazar.domain.errors import InvalidParameter

MUST_DECLARE_JSON = "blazar.must_declare_json"
"""Key of the request environment; if it is true, a POST must be declared as JSON."""
MAX_DEPTH = 32
_MAX_INTEGER = 2**63
_SHOWN_DEPTH = 3
"""Number of steps shown of the path to a value that is nested too deeply."""


def read_json(req: falcon.Request, max_bytes: int) -> object:
    """Return the body as a JSON value; an empty object if the request has no body.

    Raises:
        falcon.HTTPBadRequest: The body is not declared as JSON, or is not JSON.
        falcon.HTTPContentTooLarge: The body is longer than *max_bytes*.
        InvalidParameter: A value cannot be stored; the message gives its path.
    """
    kind = (req.content_type or "").partition(";")[0].strip().lower()
    undeclared_is_json = req.method != "POST" or not req.env.get(MUST_DECLARE_JSON)
    if kind != falcon.MEDIA_JSON and (kind or not undeclared_is_json):
        raise falcon.HTTPBadRequest(description="The body's content type must be application/json")
    raw = read_body(req, max_bytes)
    if not raw.strip():
        return {}
    try:
        value: object = json.loads(raw.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise falcon.HTTPBadRequest(description="The body is not valid JSON in UTF-8") from error
    _check_storable(value)
    return value


def place_of(steps: Iterable[str | int]) -> str:
    """Return the path of a value in a body, such as ``reservations[0].min``; empty for the body itself."""
    text = ""
    for step in steps:
        text += f"[{step}]" if isinstance(step, int) else f".{_printable(step[:64])}"
    return text.removeprefix(".")


def read_body(req: falcon.Request, max_bytes: int) -> bytes:
    """Return the body; empty if its end is not known.

    Raises:
        falcon.HTTPContentTooLarge: It is longer than *max_bytes*.
    """
    declared = req.content_length
    if declared is None and not _is_terminated(req):
        return b""  # Without a length or an end of stream, a read could block forever.
    if declared is not None and declared > max_bytes:
        raise _too_large(max_bytes)
    wanted = max_bytes + 1 if declared is None else declared
    stream, parts = req.env["wsgi.input"], []
    while wanted > 0 and (part := stream.read(wanted)):
        parts.append(part)
        wanted -= len(part)
    raw = b"".join(parts)
    if len(raw) > max_bytes:
        raise _too_large(max_bytes)
    return raw


def _is_terminated(req: falcon.Request) -> bool:
    """Return whether the server ends the stream at the end of the body, as it does for chunked bodies."""
    chunked = "chunked" in (req.get_header("Transfer-Encoding") or "").lower()
    return chunked or bool(req.env.get("wsgi.input_terminated"))


def _too_large(max_bytes: int) -> falcon.HTTPContentTooLarge:
    return falcon.HTTPContentTooLarge(description=f"The body is longer than {max_bytes} bytes")


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def _check_storable(value: object) -> None:
    """Raise InvalidParameter if a value cannot be stored. Does not recurse."""
    level: list[tuple[tuple[str | int, ...], object]] = [((), value)]
    for _ in range(MAX_DEPTH):
        below: list[tuple[tuple[str | int, ...], object]] = []
        for steps, item in level:
            problem = _scalar_problem(item)
            if problem:
                raise InvalidParameter(place_of(steps) or "body", problem)
            below.extend(((*steps, step), part) for step, part in _parts(item))
        if not below:
            return
        level = below
    raise InvalidParameter(
        place_of(level[0][0][:_SHOWN_DEPTH]), f"is nested more than {MAX_DEPTH} levels deep"
    )


def _parts(value: object) -> Iterable[tuple[str | int, object]]:
    """Return the parts of an object or a list, each with its step; keys of objects are parts too."""
    if isinstance(value, dict):
        return (pair for key, part in value.items() for pair in ((key, key), (key, part)))
    return enumerate(value) if isinstance(value, list) else ()


def _scalar_problem(value: object) -> str | None:
    if isinstance(value, str) and not _is_storable(value):
        return "may not contain NUL or half a surrogate pair"
    if isinstance(value, float) and not math.isfinite(value):
        return "is not a finite number"
    if isinstance(value, int) and not -_MAX_INTEGER <= value < _MAX_INTEGER:
        return "does not fit 64 bits"
    return None


def _is_storable(text: str) -> bool:
    if text.isascii():
        return "\0" not in text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def _printable(text: str) -> str:
    return text.encode("unicode_escape", "replace").decode() if not _is_storable(text) else text
