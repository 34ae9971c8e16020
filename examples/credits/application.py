"""The ledger over HTTP, as ``ExternalServiceFilter`` calls it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ledger import Ledger, cost_of

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment


class CreditService:
    """A WSGI application with six paths: check-create, check-update, on-end, commit, abort, estimate-cost."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Serve one request: 204 if it is accepted, 403 with a message if it is refused, 200 with a cost."""
        path = environ.get("PATH_INFO", "").strip("/")
        length = int(environ.get("CONTENT_LENGTH") or 0)
        body = json.loads(environ["wsgi.input"].read(length))
        if path == "estimate-cost":
            start_response("200 OK", [("Content-Type", "application/json")])
            return [json.dumps({"amount": cost_of(body["lease"]), "unit": "credits"}).encode()]
        refusal = self._act(path, body["lease"], environ.get("HTTP_IDEMPOTENCY_KEY", ""))
        if refusal is None:
            start_response("204 No Content", [])
            return []
        start_response("403 Forbidden", [("Content-Type", "application/json")])
        return [json.dumps({"message": refusal}).encode()]

    def _act(self, path: str, lease: dict[str, Any], key: str) -> str | None:
        match path:
            case "check-create" | "check-update":
                return self._ledger.hold(lease, key)
            case "commit":
                self._ledger.commit(key)
            case "abort":
                self._ledger.abort(key)
            case "on-end":
                self._ledger.end(lease)
            case _:
                return f"there is no {path}"
        return None
