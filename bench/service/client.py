"""A client of the API with minimal cost."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from blazar.api.microversions import HEADER
from rig.cloud.identity import token_of

_TIMEOUT_SECONDS = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A response and its duration."""

    status: int
    body: Any
    milliseconds: float
    bytes: int

    def expect(self, status: int) -> Answer:
        """Return the response if it has this status; otherwise raise RuntimeError with its content."""
        if self.status != status:
            raise RuntimeError(f"{status} was expected: {self.status} {self.body}")
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """The API at a URL; thread-safe, with a connection for each request."""

    url: str
    headers: Mapping[str, str]

    def at(self, microversion: str) -> Client:
        """Return a client of the same user that requests a microversion."""
        return replace(self, headers={**self.headers, HEADER: f"reservation {microversion}"})

    def ask(self, method: str, path: str, body: object = None) -> Answer:
        """Return the response to a request; the duration is that from the connection to the last byte."""
        where = urlsplit(f"{self.url}{path}")
        target = f"{where.path}?{where.query}" if where.query else where.path
        content = None if body is None else json.dumps(body)
        began = time.perf_counter()
        connection = http.client.HTTPConnection(
            where.hostname or "", where.port or 80, timeout=_TIMEOUT_SECONDS
        )
        try:
            connection.request(method, target, content, {"Content-Type": "application/json", **self.headers})
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        milliseconds = (time.perf_counter() - began) * 1000
        return Answer(
            status=answer.status,
            body=json.loads(text) if text else None,
            milliseconds=milliseconds,
            bytes=len(text),
        )


def client_of(url: str, user: str, project_id: str, roles: str = "admin,member,reader") -> Client:
    """Return a client of a user of the simulated OpenStack."""
    headers = {
        "X-User-Id": user,
        "X-Project-Id": project_id,
        "X-Roles": roles,
        "X-Auth-Token": token_of(user, project_id),
    }
    return Client(url=url, headers=headers)
