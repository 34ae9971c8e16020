"""Reading a request's body as JSON.

Everything refused here is refused in shape B. What is let through can be stored and sent on: numbers
are finite and fit 64 bits, text is encodable and free of NUL, nesting is shallow.

Source: rest-api 4.1.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable

import falcon

MAX_DEPTH = 32
_MAX_INTEGER = 2**63


def read_json(req: falcon.Request, max_bytes: int) -> object:
    """Return the body; an empty object where there is none.

    Raises:
        falcon.HTTPBadRequest: It is not declared as JSON, or is not JSON that can be used.
        falcon.HTTPContentTooLarge: It is longer than *max_bytes*.
    """
    kind = (req.content_type or "").partition(";")[0].strip().lower()
    if kind not in {"", falcon.MEDIA_JSON}:
        raise falcon.HTTPBadRequest(description="The body's content type must be application/json")
    raw = _read(req, max_bytes)
    if not raw.strip():
        return {}
    try:
        value: object = json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise falcon.HTTPBadRequest(description="The body is not valid JSON in UTF-8") from error
    problem = _problem(value)
    if problem:
        raise falcon.HTTPBadRequest(description=f"The body cannot be used: {problem}")
    return value


def _read(req: falcon.Request, max_bytes: int) -> bytes:
    declared = req.content_length
    if declared is None and not _is_terminated(req):
        return b""  # Reading on could wait for ever.
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
    """Return whether the server ends the stream where the body ends, as it does for chunked ones."""
    chunked = "chunked" in (req.get_header("Transfer-Encoding") or "").lower()
    return chunked or bool(req.env.get("wsgi.input_terminated"))


def _too_large(max_bytes: int) -> falcon.HTTPContentTooLarge:
    return falcon.HTTPContentTooLarge(description=f"The body is longer than {max_bytes} bytes")


def _problem(value: object) -> str | None:
    """Return what is wrong with a JSON value, or None. Walks without recursion."""
    level: list[object] = [value]
    for _ in range(MAX_DEPTH):
        below: list[object] = []
        for item in level:
            problem = _scalar_problem(item)
            if problem:
                return problem
            below.extend(_parts(item))
        if not below:
            return None
        level = below
    return f"it is nested more than {MAX_DEPTH} deep"


def _parts(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return (*value.keys(), *value.values())
    return value if isinstance(value, list) else ()


def _scalar_problem(value: object) -> str | None:
    if isinstance(value, str) and not _is_storable(value):
        return "text may not contain NUL or half a surrogate pair"
    if isinstance(value, float) and not math.isfinite(value):
        return "a number is not finite"
    if isinstance(value, int) and not -_MAX_INTEGER <= value < _MAX_INTEGER:
        return "a number does not fit 64 bits"
    return None


def _is_storable(text: str) -> bool:
    if text.isascii():
        return "\0" not in text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return "\0" not in text
