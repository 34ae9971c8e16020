"""Requests and responses of the cloud without HTTP, and the table of routes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from email.message import Message
from typing import Any

from blazar.cloud.simulated import SimulatedCloud

LARGEST_PAGE = 1000
"""Maximum number of items in one response of Nova and Glance, regardless of the requested limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The caller, according to the token."""

    user_id: str
    project_id: str | None
    is_admin: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request to a path of the table."""

    caller: Caller
    names: Mapping[str, str]
    """The segments of the path at the ``{names}`` of the template."""
    query: Mapping[str, list[str]]
    headers: Message[str, str]
    """Headers; their names are case-insensitive."""
    body: Any
    base_url: str
    """The URL of the cloud."""

    def __getitem__(self, name: str) -> str:
        """Return the segment of the path at ``{name}``."""
        return self.names[name]

    def value(self, key: str) -> str | None:
        """Return the last value of a query parameter, or None."""
        return self.query[key][-1] if key in self.query else None

    @property
    def version(self) -> tuple[int, int]:
        """Return the requested microversion; 2.1 if there is none."""
        _, _, text = self.headers.get("OpenStack-API-Version", "").partition(" ")
        major, _, minor = (text or "2.1").partition(".")
        return int(major), int(minor)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A response; it has no body if that is None."""

    status: int = 200
    body: object = None
    headers: Mapping[str, str] = field(default_factory=dict)


Handler = Callable[[SimulatedCloud, Call], Reply]


@dataclass(frozen=True, slots=True)
class Route:
    """An operation of a service."""

    method: str
    template: str
    """The path under the service's own, with ``{names}`` for segments."""
    handler: Handler
    is_open: bool = False
    """Whether callers who are not administrators may use it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """One of the cloud's APIs."""

    name: str
    """The service's type in the catalog."""
    path: str
    error_body: Callable[[int, str], object]
    """Converts a status and a message to the body of the service's error."""
    routes: tuple[Route, ...]
    asks_for_token: bool = True


class RouteTable:
    """Finds the route of a path."""

    def __init__(self, services: Iterable[Service]) -> None:
        self._services = tuple(services)
        self._routes: dict[tuple[str, str, int], list[tuple[list[str], Route]]] = defaultdict(list)
        for service in self._services:
            # A literal segment of a template takes precedence over a name.
            for route in sorted(service.routes, key=lambda each: each.template.count("{")):
                pattern = _segments(route.template)
                self._routes[service.name, route.method, len(pattern)].append((pattern, route))

    def service_at(self, path: str) -> Service | None:
        """Return the service that this path belongs to."""
        return next((each for each in self._services if f"{path}/".startswith(f"{each.path}/")), None)

    def find(self, service: Service, method: str, path: str) -> tuple[Route, Mapping[str, str]] | None:
        """Return the route and the values of its names; None if the service has no such route."""
        segments = _segments(path.removeprefix(service.path))
        for pattern, route in self._routes.get((service.name, method, len(segments)), ()):
            pairs = tuple(zip(pattern, segments, strict=True))
            if all(_is_name(each) or each == segment for each, segment in pairs):
                return route, {each[1:-1]: segment for each, segment in pairs if _is_name(each)}
        return None


def _segments(path: str) -> list[str]:
    return [each for each in path.split("/") if each]


def _is_name(word: str) -> bool:
    return word.startswith("{")
