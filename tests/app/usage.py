"""External services of an operator that decide about usage, over real HTTP."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.http_env import HttpEnv
from served import served

from blazar.enforcement.external import ExternalService, ExternalSettings

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

CREDITS = Path(__file__).parents[2] / "examples" / "credits"
CALLS = ("check-create", "check-update", "on-end", "commit", "abort", "estimate-cost")


@contextmanager
def serving(application: WSGIApplication) -> Iterator[str]:
    """Serve an application on loopback; yield its URL, with a slash at the end."""
    with served(application) as url:
        yield f"{url}/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request that the service received."""

    call: str
    body: dict[str, Any]
    key: str
    headers: dict[str, str]


@dataclass(slots=True)
class Oracle:
    """WSGI application that gives a fixed answer to every call and records the requests."""

    status: int = 204
    answer: bytes = b""
    asked: list[Asked] = field(default_factory=list)
    answer_to: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    """Other answers, by call."""

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        body = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
        self.asked.append(
            Asked(
                call=environ["PATH_INFO"].strip("/"),
                body=json.loads(body),
                key=environ.get("HTTP_IDEMPOTENCY_KEY", ""),
                headers={key: value for key, value in environ.items() if key.startswith("HTTP_")},
            )
        )
        status, answer = self.answer_to.get(self.asked[-1].call, (self.status, self.answer))
        start_response(f"{status} Said So", [("Content-Type", "application/json")])
        return [answer]

    @property
    def calls(self) -> list[str]:
        return [each.call for each in self.asked]


def external(url: str, **fields: Any) -> ExternalService:
    """Return the filter that calls the service at *url*."""
    settings = ExternalSettings(
        urls={each: url + each for each in CALLS},
        headers={"X-Auth-Token": "key to the service"},
        timeout_seconds=5,
        allow_on_error=False,
        exempt_project_ids=frozenset(),
        auth_url="http://keystone.example/v3",
        region_name="RegionOne",
        verify=True,
    )
    return ExternalService(replace(settings, **fields))


def ask_service(env: HttpEnv, url: str, **fields: Any) -> None:
    """Let the environment ask the service at *url* about every lease."""
    env.restart(replace(env.context, filters={"ExternalServiceFilter": external(url, **fields)}))


def new_credits(now: Callable[[], datetime]) -> tuple[Any, WSGIApplication]:
    """Return the ledger and the WSGI application of the credits example."""
    sys.path.insert(0, str(CREDITS))
    try:
        ledger = importlib.import_module("ledger").Ledger(now=now)
        application: WSGIApplication = importlib.import_module("application").CreditService(ledger)
    finally:
        sys.path.remove(str(CREDITS))
    return ledger, application
