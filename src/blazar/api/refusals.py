"""Error responses of the layers in front of the API, such as authentication."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from wsgiref.types import StartResponse


def refuse(
    start_response: StartResponse, code: int, body: Mapping[str, object], *headers: tuple[str, str]
) -> Iterable[bytes]:
    """Start an error response in JSON and return its body."""
    content = json.dumps(body).encode()
    start_response(
        f"{code} {HTTPStatus(code).phrase}",
        [("Content-Type", "application/json"), ("Content-Length", str(len(content))), *headers],
    )
    return [content]


def shape_c(code: int, message: str) -> Mapping[str, object]:
    """Return the body of an authentication error."""
    return {"error": {"code": code, "title": HTTPStatus(code).phrase, "message": message}}
