"""A minimal WSGI application: a small JSON response."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment

_BODY = b'{"lease": {"id": "00000000-0000-0000-0000-000000000000", "status": "PENDING"}}'


def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Respond."""
    environ["wsgi.input"].read()
    start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(_BODY)))])
    return [_BODY]
