"""A Keystone for tests of sign-in: a user with a password, an application credential, and two projects."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import count
from typing import Any

SERVICE_TOKEN = "service"
PASSWORD = "correct horse"
PROJECTS = {"p1": "astronomy", "p2": "biology"}
_DATES = {"issued_at": "2020-01-01T00:00:00.000000Z", "expires_at": "2999-01-01T00:00:00.000000Z"}
_USER = {"id": "u7", "name": "alice", "domain": {"id": "default", "name": "Default"}}


class _Refused(Exception):
    """A request that gets an error."""


@dataclass
class FakeKeystone:
    """The part of Keystone's API that sign-in and the validation of tokens need."""

    tokens: dict[str, str | None] = field(default_factory=dict)
    """The project of each valid token; None for one without a project."""
    suffix: str = ""
    """What every token ends with."""
    asked: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._numbers = count(1)

    def add(self, project_id: str | None) -> str:
        """Return a new token."""
        token = f"token-{next(self._numbers)}{self.suffix}"
        self.tokens[token] = project_id
        return token

    def __call__(self, environ: dict[str, Any], start_response: Any) -> list[bytes]:
        """Respond to a request."""
        self.asked.append(f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']}")
        headers = [("Content-Type", "application/json")]
        try:
            status, body, token = self._respond(environ)
        except _Refused as error:
            status, body, token = str(error), {"error": {"message": str(error)}}, None
        start_response(status, [*headers, *([("X-Subject-Token", token)] if token else [])])
        return [json.dumps(body).encode()]

    def _respond(self, environ: dict[str, Any]) -> tuple[str, object, str | None]:
        caller, subject = environ.get("HTTP_X_AUTH_TOKEN"), environ.get("HTTP_X_SUBJECT_TOKEN")
        match environ["REQUEST_METHOD"], environ["PATH_INFO"]:
            case "POST", "/v3/auth/tokens":
                length = int(environ["CONTENT_LENGTH"])
                token = self._issue(json.loads(environ["wsgi.input"].read(length))["auth"])
                return "201 Created", {"token": self._describe(token)}, token
            case "GET", "/v3/auth/tokens" if caller == SERVICE_TOKEN and subject in self.tokens:
                return "200 OK", {"token": self._describe(str(subject))}, subject
            case "DELETE", "/v3/auth/tokens" if caller in self.tokens and subject in self.tokens:
                del self.tokens[str(subject)]
                return "204 No Content", None, None
            case "GET", "/v3/auth/projects" if caller in self.tokens:
                return "200 OK", {"projects": [{"id": k, "name": v} for k, v in PROJECTS.items()]}, None
            case _, "/v3/auth/tokens":
                raise _Refused("404 Not Found")
            case _, "/v3/auth/projects":
                raise _Refused("401 Unauthorized")
        url = f"http://{environ['HTTP_HOST']}/v3/"
        version = {"id": "v3.14", "status": "stable", "links": [{"rel": "self", "href": url}]}
        return "200 OK", {"version": version}, None

    def _issue(self, auth: dict[str, Any]) -> str:
        identity, scope = auth["identity"], auth.get("scope", {})
        project_id = scope["project"]["id"] if "project" in scope else None
        match identity["methods"]:
            case ["password"]:
                user = identity["password"]["user"]
                is_right = (user["name"], user["domain"]["name"], user["password"]) == (
                    "alice",
                    "Default",
                    PASSWORD,
                )
            case ["application_credential"]:
                credential = identity["application_credential"]
                is_right, project_id = (credential["id"], credential["secret"]) == ("c1", "s1"), "p2"
            case ["token"]:
                is_right = identity["token"]["id"] in self.tokens
            case _:
                is_right = False
        if not is_right or project_id not in {None, *PROJECTS}:
            raise _Refused("401 Unauthorized")
        return self.add(project_id)

    def _describe(self, token: str) -> dict[str, object]:
        project_id = self.tokens[token]
        described: dict[str, object] = {"methods": ["password"], "user": _USER, **_DATES}
        if project_id is None:
            return described
        project = {
            "id": project_id,
            "name": PROJECTS[project_id],
            "domain": {"id": "default", "name": "Default"},
        }
        return {
            **described,
            "project": project,
            "roles": [{"id": "1", "name": "reader"}, {"id": "2", "name": "member"}],
        }
