"""The HTTP API of the ledger, in JSON.

======================================  ==========================================================
``GET /pools``                          all pools
``PUT, DELETE /pools/<name>``           add, change, close, revoke or delete a pool
``GET /grants?prefix=<text>``           grants whose ids start with the text
``PUT, DELETE /grants/<id>``            set a grant's project, seats and end, or delete it
``PUT /grants/<id>/notice``             notify its users of its end
``PUT /grants/<id>/uses/<client>``      set the seats that a program uses; 0 for none
======================================  ==========================================================
"""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from blazar_licences.server.ledger import Impossible, Ledger, Unknown

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment

_NAME = re.compile(r"[\w.-]{1,100}")
_STATES = ("open", "closed", "revoked")


class LicenceService:
    """A WSGI application for the ledger."""

    def __init__(self, ledger: Ledger, token: str | None = None) -> None:
        self._ledger = ledger
        self._token = token

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Serve one request."""
        status, answer = self._answer(environ)
        content = answer.encode() if isinstance(answer, str) else json.dumps(answer).encode()
        kind = "text/plain" if isinstance(answer, str) else "application/json"
        headers = [("Content-Type", kind), ("Content-Length", str(len(content)))]
        start_response(f"{status} {HTTPStatus(status).phrase}", [] if status == 204 else headers)
        return [] if status == 204 else [content]

    def _answer(self, environ: WSGIEnvironment) -> tuple[int, object]:
        given = environ.get("HTTP_AUTHORIZATION", "")
        if self._token and not hmac.compare_digest(given.encode(), f"Bearer {self._token}".encode()):
            return 401, "the token is missing or wrong"
        try:
            found = self._serve(environ)
        except (KeyError, TypeError, ValueError) as error:
            return 400, f"invalid request: {error}"
        except Unknown as error:
            return 404, str(error)
        except Impossible as error:
            return 409, str(error)
        return (204, "") if found is None else (200, found)

    def _serve(self, environ: WSGIEnvironment) -> object:
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"].strip("/").split("/")
        match method, path:
            case "GET", ["pools"]:
                return {"pools": self._ledger.list_pools()}
            case "GET", ["grants"]:
                prefix = parse_qs(environ.get("QUERY_STRING", "")).get("prefix", [""])[0]
                return {"grants": self._ledger.list_grants(prefix)}
            case "DELETE", ["pools", name]:
                self._ledger.delete_pool(name)
            case "DELETE", ["grants", grant_id]:
                self._ledger.delete_grant(grant_id)
            case "PUT", _:
                self._put(path, _body(environ))
            case _:
                raise Unknown(f"unknown method or path: {method} {environ['PATH_INFO']}")
        return None

    def _put(self, path: list[str], body: Mapping[str, Any]) -> None:
        match path:
            case ["pools", name] if _NAME.fullmatch(name):
                state = body.get("state", "open")
                if state not in _STATES:
                    raise ValueError(f"state: must be one of {', '.join(_STATES)}")
                note = str(body.get("note", ""))
                self._ledger.put_pool(name, str(body["product"]), _count(body), state, note)
            case ["grants", grant_id]:
                until = _instant(body["until"])
                project_id = str(body["project_id"])
                self._ledger.put_grant(grant_id, str(body["pool"]), project_id, _count(body), until)
            case ["grants", grant_id, "notice"]:
                self._ledger.put_notice(grant_id, _instant(body["at"]))
            case ["grants", grant_id, "uses", client]:
                self._ledger.use(grant_id, client, _count(body))
            case _:
                raise Unknown("unknown path")


def _body(environ: WSGIEnvironment) -> Mapping[str, Any]:
    body = json.loads(environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0)))
    if not isinstance(body, dict):
        raise TypeError("the body must be an object")
    return body


def _count(body: Mapping[str, Any]) -> int:
    seats = body["seats"]
    if not isinstance(seats, int) or isinstance(seats, bool) or seats < 0:
        raise ValueError("seats: must be a whole number, 0 or above")
    return seats


def _instant(value: Any) -> str:
    instant = datetime.fromisoformat(value)
    if instant.utcoffset() is None:
        raise ValueError(f"{value}: must have a UTC offset")
    return instant.isoformat()
