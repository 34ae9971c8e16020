"""A client of the API, for a lessee or an operator, that tracks requests of unknown outcome."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import requests
from faults.gateway import Gateway

from rig.cloud.identity import token_of

PROJECT = "project"
FIRST_API, NEWEST_API = "1.0", "1.1"
"""Versions of the API; only the newest one has offers."""
_TIMEOUT_SECONDS = 40
_ATTEMPTS = 5


class Said(Enum):
    """The outcome of a request, as far as the client knows it."""

    DONE = "done"
    REFUSED = "refused"
    """The request changed nothing."""
    UNKNOWN = "unknown"
    """The request may have been carried out, or still may be."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a request."""

    said: Said
    status: int | None
    """The HTTP status; None without an answer."""
    body: Any
    detail: str = ""
    """The error, if the outcome is unknown."""


class Client:
    """One user's connection; use it from one thread only."""

    def __init__(
        self, gateway: Gateway, user: str, project: str = PROJECT, *, version: str = NEWEST_API
    ) -> None:
        self._gateway = gateway
        self._session = requests.Session()
        self._session.trust_env = False
        roles = "admin,member,reader" if user == "admin" else "member,reader"
        self._session.headers.update(
            {
                "X-User-Id": user,
                "X-Project-Id": project,
                "X-Roles": roles,
                "X-Auth-Token": token_of(user, project),
                "OpenStack-API-Version": f"reservation {version}",
            }
        )

    def ask(self, method: str, path: str, body: object = None) -> Answer:
        """Send a request and return its answer.

        Raises:
            AssertionError: The answer is an internal server error.
        """
        try:
            with self._gateway.use() as url:
                answer = self._session.request(method, f"{url}{path}", json=body, timeout=_TIMEOUT_SECONDS)
        except requests.RequestException as error:
            return Answer(Said.UNKNOWN, None, None, str(error))
        if answer.status_code in (502, 503, 504):
            return Answer(Said.UNKNOWN, answer.status_code, None, answer.text)
        assert answer.status_code < 500, (method, path, body, answer.status_code, answer.text)
        content = answer.json() if answer.content else None
        said = Said.DONE if answer.ok else Said.REFUSED
        return Answer(said, answer.status_code, content)

    def get(self, path: str, key: str) -> Any:
        """Return the value under *key* at a path, repeating the request until it is answered.

        Raises:
            AssertionError: All attempts failed.
        """
        answers = (self.ask("GET", path) for _ in range(_ATTEMPTS))
        found = next((each for each in answers if each.said is Said.DONE), None)
        assert found is not None, f"no answer at {path}"
        return found.body[key]

    def close(self) -> None:
        """Close the connection."""
        self._session.close()
