"""What Falcon calls: from the route table to the handlers, through version, policy and schema."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from urllib.parse import quote

import falcon

from blazar.api import microversions
from blazar.api.bodies import read_json
from blazar.api.call import Call, caller_of, identity_of
from blazar.api.policies import Policy
from blazar.api.routes import Route
from blazar.domain.errors import InvalidParameter, LeaseNotFound
from blazar.ports.manager import Manager
from blazar.telemetry.pages import NO_ROUTE, note_route

_SLASHES = re.compile("/{2,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """What every resource answers with."""

    manager: Manager
    policy: Policy
    max_body_bytes: int


class Resource:
    """All methods of one path; Falcon looks its ``on_…`` responders up by name."""

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
        """Say which methods the path has."""
        resp.set_header("Allow", ", ".join(self.methods))
        resp.set_header("Content-Length", "0")

    def _answer(self, route: Route, req: falcon.Request, resp: falcon.Response, **params: str) -> None:
        call = self._authorized(route, self._call(req, params))
        if route.body is not None:
            body = route.body.check(read_json(req, self._service.max_body_bytes))
            call = replace(call, body=body)
        value = route.handler(call)
        resp.status = route.status
        if value is not None:
            resp.content_type = falcon.MEDIA_JSON
            resp.data = json.dumps(value).encode()

    def _call(self, req: falcon.Request, params: Mapping[str, str]) -> Call:
        identity = identity_of(req.env, params.get("lease_id"))
        return Call(
            manager=self._service.manager,
            policy=self._service.policy,
            identity=identity,
            caller=caller_of(identity),
            base_url=req.prefix.rstrip("/"),
            params=params,
            query=_first_values(req),
        )

    def _authorized(self, route: Route, call: Call) -> Call:
        """Return the call with the lease it is about, once every rule of the route is satisfied.

        Somebody else's lease is refused by the first rule; one that does not exist is reported to
        those who may look at their own.

        Source: rest-api 2.4.
        """
        if not route.about_lease:
            self._require(route.rules[:1], call, call.own_target)
            if route.looked_up_by is not None:
                route.looked_up_by(call)
            self._require(route.rules[1:], call, call.own_target)
            return call
        try:
            lease = call.manager.get_lease(call.caller, call.params["lease_id"])
        except LeaseNotFound:
            self._require(route.rules[:1], call, call.own_target)
            raise
        owner = {"project_id": lease["project_id"], "user_id": lease["user_id"]}
        self._require(route.rules, call, owner)
        return replace(call, lease=lease)

    def _require(self, rules: Sequence[str], call: Call, target: Mapping[str, object]) -> None:
        for rule in rules:
            self._service.policy.require(call.identity, rule, target)


class Gate:
    """Falcon middleware: what is settled before a handler is chosen.

    In this order: doubled slashes, unknown paths, methods, the microversion.
    """

    def process_request(self, req: falcon.Request, resp: falcon.Response) -> None:
        """Redirect a path with doubled slashes, as of a base URL that ends in one."""
        if "//" in req.path:
            path = quote(req.root_path.rstrip("/") + _SLASHES.sub("/", req.path))
            raise falcon.HTTPPermanentRedirect(f"{path}?{req.query_string}" if req.query_string else path)

    def process_resource(
        self, req: falcon.Request, resp: falcon.Response, resource: Resource, params: Mapping[str, str]
    ) -> None:
        """Refuse what has no handler, then settle the microversion."""
        note_route(req.env, req.uri_template or NO_ROUTE)
        if any(not value or "\0" in value for value in params.values()):
            raise falcon.HTTPRouteNotFound()
        if req.method not in resource.methods:
            raise falcon.HTTPMethodNotAllowed(resource.methods)
        if not resource.is_public:
            version = microversions.negotiate(req.get_header(microversions.HEADER))
            resp.set_header(microversions.HEADER, f"{microversions.SERVICE} {microversions.text(version)}")
            resp.set_header("Vary", microversions.HEADER)


def _first_values(req: falcon.Request) -> dict[str, str]:
    first = {
        name: value[0] if isinstance(value, list) else value for name, value in (req.params or {}).items()
    }
    for name, value in first.items():
        if "\0" in value:
            raise InvalidParameter(name[:64], "may not contain NUL")
    return first
