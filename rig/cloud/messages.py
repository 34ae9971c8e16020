"""What is asked of the cloud and what it answers, without the HTTP around it; and the table of both."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from email.message import Message
from typing import Any

from blazar.cloud.simulated import SimulatedCloud

LARGEST_PAGE = 1000
"""Items in one answer of Nova and Glance, whatever is asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks, as the token says."""

    user_id: str
    project_id: str | None
    is_admin: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What is asked, at a path that is in the table."""

    caller: Caller
    names: Mapping[str, str]
    """What stands in the path at the ``{names}`` of the template."""
    query: Mapping[str, list[str]]
    headers: Message[str, str]
    """Their names are found in any case."""
    body: Any
    base_url: str
    """Where the cloud listens."""

    def __getitem__(self, name: str) -> str:
        """Return what stands in the path at ``{name}``."""
        return self.names[name]

    def value(self, key: str) -> str | None:
        """Return the last value of a query parameter, or None."""
        return self.query[key][-1] if key in self.query else None

    @property
    def version(self) -> tuple[int, int]:
        """Return the microversion that is asked for; 2.1 without one."""
        _, _, text = self.headers.get("OpenStack-API-Version", "").partition(" ")
        major, _, minor = (text or "2.1").partition(".")
        return int(major), int(minor)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer; without a body for None."""

    status: int = 200
    body: object = None
    headers: Mapping[str, str] = field(default_factory=dict)


Handler = Callable[[SimulatedCloud, Call], Reply]


@dataclass(frozen=True, slots=True)
class Route:
    """One thing that can be asked of a service."""

    method: str
    template: str
    """The path below the service's own, with ``{names}`` for segments."""
    handler: Handler
    is_open: bool = False
    """Whether those may ask, too, who are no administrators."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """One of the cloud's APIs."""

    name: str
    """Its type in the catalog."""
    path: str
    error_body: Callable[[int, str], object]
    """Makes of a status and a message what the service says when it refuses."""
    routes: tuple[Route, ...]
    asks_for_token: bool = True


class RouteTable:
    """Finds what a path means."""

    def __init__(self, services: Iterable[Service]) -> None:
        self._services = tuple(services)
        self._routes: dict[tuple[str, str, int], list[tuple[list[str], Route]]] = defaultdict(list)
        for service in self._services:
            # A word in a template goes before a name.
            for route in sorted(service.routes, key=lambda each: each.template.count("{")):
                pattern = _segments(route.template)
                self._routes[service.name, route.method, len(pattern)].append((pattern, route))

    def service_at(self, path: str) -> Service | None:
        """Return the service below whose path this is."""
        return next((each for each in self._services if f"{path}/".startswith(f"{each.path}/")), None)

    def find(self, service: Service, method: str, path: str) -> tuple[Route, Mapping[str, str]] | None:
        """Return the route and what its names stand for; None for what the service does not have."""
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
