"""The API as a WSGI application."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import falcon

from blazar.api import faults, routes
from blazar.api.calendar_limits import with_calendar_limits
from blazar.api.failures import with_failures_answered
from blazar.api.permissions import Policy
from blazar.api.request_ids import with_request_ids
from blazar.api.resource import Gate, Resource, Service
from blazar.api.type_api import TypeApi, describe_collections, reservation_schemas
from blazar.ports.manager import Manager
from blazar.settings import ApiSettings
from blazar.telemetry.log_context import CALENDARS
from blazar.telemetry.pages import HEALTHCHECK, note_route

if TYPE_CHECKING:
    from collections.abc import Iterable
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

    Wrapper = Callable[[WSGIApplication], WSGIApplication]


def make_app(
    manager: Manager,
    settings: ApiSettings,
    policy: Policy,
    *,
    guard: Wrapper,
    healthcheck: Wrapper,
    types: Sequence[TypeApi] = routes.TYPE_APIS,
) -> WSGIApplication:
    """Return the API.

    Version documents, calendars and ``/healthcheck`` need no authentication; all other paths are behind
    *guard*.

    Args:
        manager: The manager that serves the calls.
        settings: The maximum size of a body, the status of shortages, and how often calendars are read.
        policy: From :func:`blazar.api.policies.make_policy`.
        guard: From :func:`blazar.api.auth.make_guard`.
        healthcheck: From :func:`blazar.api.health.make_healthcheck`; it passes the health checks that it
            does not serve on to the guarded application.
        types: The APIs of the resource types to serve; *policy* has their rules.
    """
    app = _falcon_app(manager, settings, policy, types)
    guarded = guard(app)
    healthy = healthcheck(guarded)
    calendars = with_calendar_limits(app, settings)
    public = {"", *(route.path for route in routes.CORE_ROUTES if route.is_public)}

    def front(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if path in public:
            return app(environ, start_response)
        if path.startswith(CALENDARS):
            return calendars(environ, start_response)
        if path == HEALTHCHECK:
            note_route(environ, HEALTHCHECK)
            return healthy(environ, start_response)
        return guarded(environ, start_response)

    return with_request_ids(with_failures_answered(front))


def _falcon_app(
    manager: Manager, settings: ApiSettings, policy: Policy, types: Sequence[TypeApi]
) -> falcon.App[Any, Any]:
    app: falcon.App[Any, Any] = falcon.App(middleware=[Gate()])
    app.req_options.keep_blank_qs_values = True
    faults.install(app, settings.shortage_status, types)
    service = Service(
        manager=manager,
        policy=policy,
        max_body_bytes=settings.max_body_bytes,
        max_limit=settings.max_limit,
        reservation_schemas=reservation_schemas(types),
        collections=describe_collections(types),
    )
    for path, served in routes.by_path(types).items():
        app.add_route(path, Resource(served, service))
    return app
