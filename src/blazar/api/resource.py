"""Falcon resources: from the route table to the handlers, with version, policy and schema checks."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from urllib.parse import quote

import falcon

from blazar.api import microversions
from blazar.api.authorization import respond
from blazar.api.bodies import read_json
from blazar.api.call import Call, Response, caller_of, identity_of
from blazar.api.idempotency import sent_key
from blazar.api.permissions import Policy
from blazar.api.route import Route
from blazar.api.validation import JsonSchema
from blazar.domain.errors import InvalidParameter
from blazar.domain.written_objects import WrittenObjects
from blazar.ports.manager import JsonObject, Manager
from blazar.settings import DEFAULT_MAX_LIMIT
from blazar.telemetry.pages import NO_ROUTE, note_route

_SLASHES = re.compile("/{2,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """Dependencies and settings that all resources share."""

    manager: Manager
    policy: Policy
    max_body_bytes: int
    max_limit: int = DEFAULT_MAX_LIMIT
    """The most items of a page of a list."""
    reservation_schemas: Mapping[str, JsonSchema] = field(default_factory=dict)
    """The schemas of the reservations of the served resource types, by type."""
    collections: Sequence[JsonObject] = ()
    """The served collections of resources, as the catalogue describes them."""


class Resource:
    """All methods of one path; Falcon finds the ``on_…`` responders by name."""

    def __init__(self, routes: Sequence[Route], service: Service) -> None:
        self._service = service
        self.is_public = all(route.is_public for route in routes)
        responders: dict[str, Callable[..., None]] = {
            route.method: partial(self._answer, route) for route in routes
        }
        if "GET" in responders:
            responders["HEAD"] = responders["GET"]
        self.methods = sorted([*responders, "OPTIONS"])
        for method, responder in responders.items():
            setattr(self, f"on_{method.lower()}", responder)

    def on_options(self, req: falcon.Request, resp: falcon.Response, **params: str) -> None:
        """Send the methods of the path in ``Allow``."""
        resp.set_header("Allow", ", ".join(self.methods))
        resp.set_header("Content-Length", "0")

    def _answer(self, route: Route, req: falcon.Request, resp: falcon.Response, **params: str) -> None:
        if not route.is_public and microversions.requested_version(req) < route.since:
            raise falcon.HTTPRouteNotFound()
        value = respond(route, self._call(route, req, params), partial(self._read_body, route, req))
        resp.status = route.status
        if isinstance(value, Response):
            resp.set_headers(dict(value.headers))
            resp.status = value.status or route.status
            value = value.value
        if value is not None:
            is_json = route.media_type == falcon.MEDIA_JSON
            resp.content_type = route.media_type if is_json else f"{route.media_type}; charset=utf-8"
            resp.data = (written(value) if is_json else str(value)).encode()

    def _call(self, route: Route, req: falcon.Request, params: Mapping[str, str]) -> Call:
        identity = identity_of(
            _without_claims(req.env) if route.is_public else req.env, params.get("lease_id")
        )
        version = microversions.requested_version(req)
        return Call(
            manager=self._service.manager,
            policy=self._service.policy,
            identity=identity,
            caller=caller_of(identity, version),
            base_url=req.prefix.rstrip("/"),
            max_limit=self._service.max_limit,
            reservation_schemas=self._service.reservation_schemas,
            collections=self._service.collections,
            version=version,
            params=params,
            query=_first_values(req),
            known_tags=_known_tags(req) if route.has_tag else (),
            idempotency_key=sent_key(req.headers, version) if route.accepts_idempotency_key else None,
        )

    def _read_body(self, route: Route, req: falcon.Request) -> JsonObject:
        """Return the valid body; an empty object for a route without one. Raises as the two checks do."""
        if route.body is None:
            return {}
        schema, version = route.body, microversions.requested_version(req)
        if route.body_at_1_0 is not None and version == microversions.MIN_VERSION:
            schema = route.body_at_1_0
        return schema.check(read_json(req, self._service.max_body_bytes))


class Gate:
    """Falcon middleware: checks made before a handler is chosen.

    Their order is: repeated slashes, unknown paths, methods, the microversion.
    """

    def process_request(self, req: falcon.Request, resp: falcon.Response) -> None:
        """Redirect a path with repeated slashes, which results from a base URL with a trailing slash."""
        if "//" in req.path:
            path = quote(req.root_path.rstrip("/") + _SLASHES.sub("/", req.path))
            raise falcon.HTTPPermanentRedirect(f"{path}?{req.query_string}" if req.query_string else path)

    def process_resource(
        self, req: falcon.Request, resp: falcon.Response, resource: Resource, params: Mapping[str, str]
    ) -> None:
        """Refuse a request without a handler, then negotiate the microversion."""
        note_route(req.env, req.uri_template or NO_ROUTE)
        if any(not value or "\0" in value for value in params.values()):
            raise falcon.HTTPRouteNotFound()
        if req.method not in resource.methods:
            raise falcon.HTTPMethodNotAllowed(resource.methods)
        if not resource.is_public:
            version = microversions.negotiate(req.get_header(microversions.HEADER))
            req.context.version = version
            resp.set_header(microversions.HEADER, f"{microversions.SERVICE} {microversions.text(version)}")
            resp.set_header("Vary", microversions.HEADER)


def written(value: object) -> str:
    """Return the JSON of a response; members that are already JSON are used as they are."""
    if not isinstance(value, dict):
        return json.dumps(value)
    members = (
        f"{json.dumps(key)}: {each.text if isinstance(each, WrittenObjects) else json.dumps(each)}"
        for key, each in value.items()
    )
    return f"{{{', '.join(members)}}}"


def _first_values(req: falcon.Request) -> dict[str, str]:
    first = {
        name: value[0] if isinstance(value, list) else value for name, value in (req.params or {}).items()
    }
    for name, value in first.items():
        if "\0" in value:
            raise InvalidParameter(name[:64], "may not contain NUL")
    return first


def _without_claims(environ: Mapping[str, object]) -> dict[str, object]:
    """Return the environment of a request without the claimed identity, which no guard has checked."""
    return {key: value for key, value in environ.items() if not key.startswith("HTTP_")}


def _known_tags(req: falcon.Request) -> tuple[str, ...]:
    """Return the tags in ``If-None-Match``; ``*`` names none, because the caller must have an answer."""
    return tuple(str(each) for each in req.if_none_match or () if each != "*")
