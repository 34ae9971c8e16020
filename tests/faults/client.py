"""The API as a lessee or an operator uses it, who knows what an answer says and what it leaves open."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import requests

from rig.cloud.identity import token_of

PROJECT = "project"
_TIMEOUT_SECONDS = 40
_ATTEMPTS = 5


class Said(Enum):
    """What an answer says about a request."""

    DONE = "done"
    REFUSED = "refused"
    """It changed nothing."""
    UNKNOWN = "unknown"
    """It may have been done, or may still be."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a request."""

    said: Said
    status: int | None
    """None without an answer."""
    body: Any


class Client:
    """One user's connection; to be used from one thread."""

    def __init__(self, url: str, user: str, project: str = PROJECT) -> None:
        self._url = url
        self._session = requests.Session()
        self._session.trust_env = False
        roles = "admin,member,reader" if user == "admin" else "member,reader"
        self._session.headers.update(
            {
                "X-User-Id": user,
                "X-Project-Id": project,
                "X-Roles": roles,
                "X-Auth-Token": token_of(user, project),
            }
        )

    def ask(self, method: str, path: str, body: object = None) -> Answer:
        """Return what came of a request.

        Raises:
            AssertionError: It was answered as nothing may be answered: by an error inside of the service.
        """
        try:
            answer = self._session.request(method, f"{self._url}{path}", json=body, timeout=_TIMEOUT_SECONDS)
        except requests.RequestException:
            return Answer(Said.UNKNOWN, None, None)
        if answer.status_code in (502, 503, 504):
            return Answer(Said.UNKNOWN, answer.status_code, None)
        assert answer.status_code < 500, (method, path, body, answer.status_code, answer.text)
        content = answer.json() if answer.content else None
        said = Said.DONE if answer.ok else Said.REFUSED
        return Answer(said, answer.status_code, content)

    def get(self, path: str, key: str) -> Any:
        """Return what stands at a path, asking until there is an answer. Raises AssertionError."""
        answers = (self.ask("GET", path) for _ in range(_ATTEMPTS))
        found = next((each for each in answers if each.said is Said.DONE), None)
        assert found is not None, f"nothing is answered at {path}"
        return found.body[key]

    def close(self) -> None:
        """Close the connection."""
        self._session.close()
