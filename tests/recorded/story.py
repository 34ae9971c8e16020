"""Stories: requests to the API, and steps between them, as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from app.http_env import (
    ADMIN,
    LESSEE,
    PLUGINS,
    READER,
    STRANGER,
    HttpEnv,
    Json,
    Who,
    host_reservation,
    quiet_settings,
)
from recorded.names import Names

from blazar.settings import Settings

if TYPE_CHECKING:
    from blazar.api.auth import Guard

CALLERS: Mapping[str, Who | None] = {
    "admin": ADMIN,
    "lessee": LESSEE,
    # The same user with a token for another project.
    "lessee elsewhere": Who(user=LESSEE.user, project="elsewhere"),
    "colleague": Who(user="colleague"),
    "reader": READER,
    "stranger": STRANGER,
    "no role": Who(user="newcomer", roles=""),
    "other role": Who(user="newcomer", roles="auditor"),
    "no project": Who(user="newcomer", project=None),
    "admin without project": Who(user="operator", project=None, roles="admin"),
    "anonymous": None,
}
"""Callers by their names in the recording. The last one sends no identity headers."""

NOTHING = object()
"""The body of a request without a body."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request. Its path, headers and body may contain stable names such as ``<lease-1>``."""

    method: str
    path: str
    """Includes the query, if there is one."""
    who: str = "admin"
    """A key of :data:`CALLERS`."""
    body: object = NOTHING
    """A JSON value, or raw bytes."""
    headers: Mapping[str, str] = field(default_factory=dict)
    mounted_at: str = ""
    """The path under which the web server serves the API."""


@dataclass(frozen=True, slots=True)
class Step:
    """An event between two requests."""

    label: str
    act: Callable[[HttpEnv, Names], None]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Story:
    """Requests that are sent in order, to a new installation."""

    name: str
    """Also the name of the file with its responses."""
    parts: tuple[Request | Step, ...]
    settings: Settings = field(default_factory=quiet_settings)
    plugins: tuple[str, ...] = PLUGINS
    guard: Callable[[Path], Guard] | None = None
    """Makes the authentication for the API, given a folder; None to trust identity headers."""

    @property
    def requests(self) -> tuple[Request, ...]:
        """Return the requests, in order."""
        return tuple(each for each in self.parts if isinstance(each, Request))


def get(path: str, who: str = "admin", **headers: str) -> Request:
    """Return a GET request. In header names, underscores stand for hyphens."""
    return Request(method="GET", path=path, who=who, headers=_headers(headers))


def post(path: str, body: object = NOTHING, who: str = "admin", **headers: str) -> Request:
    """Return a POST request."""
    return Request(method="POST", path=path, body=body, who=who, headers=_headers(headers))


def put(path: str, body: object = NOTHING, who: str = "admin", **headers: str) -> Request:
    """Return a PUT request."""
    return Request(method="PUT", path=path, body=body, who=who, headers=_headers(headers))


def patch(path: str, body: object = NOTHING, who: str = "admin", **headers: str) -> Request:
    """Return a PATCH request."""
    return Request(method="PATCH", path=path, body=body, who=who, headers=_headers(headers))


def delete(path: str, who: str = "admin", **headers: str) -> Request:
    """Return a DELETE request."""
    return Request(method="DELETE", path=path, who=who, headers=_headers(headers))


def other(method: str, path: str, who: str = "admin", **headers: str) -> Request:
    """Return a request with any other method, without a body."""
    return Request(method=method, path=path, who=who, headers=_headers(headers))


def date(hours: float) -> str:
    """Return a date in request format, given in hours after the midnight at which stories start."""
    minutes = round(hours * 60)
    return f"2031-01-{1 + minutes // 1440:02} {minutes // 60 % 24:02}:{minutes % 60:02}"


def lease(start: float | str, end: float | str, *reservations: Json, **keys: object) -> Json:
    """Return the body of a request for a lease; see :func:`date` for numbers.

    Args:
        start: The start date.
        end: The end date.
        *reservations: The reservations; by default one host without requirements.
        **keys: Further keys.
    """
    dates = (each if isinstance(each, str) else date(each) for each in (start, end))
    return {
        "name": "night",
        **dict(zip(("start_date", "end_date"), dates, strict=True)),
        "reservations": list(reservations or (host_reservation(),)),
        **keys,
    }


def change(number: int, **keys: object) -> Json:
    """Return the body of a request to change ``<reservation-number>``."""
    return {"reservations": [{"id": f"<reservation-{number}>", **keys}]}


def without(body: Json, *keys: str) -> Json:
    """Return an object without some of its keys."""
    return {key: value for key, value in body.items() if key not in keys}


def _headers(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}
