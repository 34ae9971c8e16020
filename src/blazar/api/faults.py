"""Errors over HTTP: status and body.

Shape *A* is for decisions of the service, which raise the project's errors. Shape *B* is for errors of HTTP,
which Falcon raises. The third shape, *C*, is used by authentication.

The status of a shortage, or of a refusal by Nova, depends on the microversion: some clients of 1.0 treat only
400 and 500 of a create request as final and repeat the request after any other status.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import falcon

from blazar.api.microversions import STATUS_OF_SHORTAGES, requested_version
from blazar.api.type_api import TypeApi
from blazar.domain import errors
from blazar.domain.feeds import CalendarNotFound, FeedNotFound, TooManyFeeds
from blazar.domain.maintenance import MaintenanceNotFound
from blazar.domain.offers import TooManyOffers
from blazar.domain.rules.errors import RuleForbidsChange, RuleForbidsLease
from blazar.domain.subscriptions import SubscriptionNotFound, TooManySubscriptions
from blazar.telemetry.log_context import shown_path

RETRY_AFTER_SECONDS = 5
"""``Retry-After`` of every 503, in seconds."""

LOG = logging.getLogger(__name__)

STATUSES: Mapping[type[errors.BlazarError], int] = {
    errors.BlazarError: 500,
    errors.BadRequest: 400,
    errors.MissingParameter: 400,
    errors.InvalidParameter: 400,
    errors.InvalidDate: 400,
    errors.InvalidPeriod: 400,
    errors.BeforeEndOutsideLease: 403,
    errors.InvalidRange: 400,
    errors.InvalidRequirement: 400,
    errors.UnsupportedResourceType: 400,
    errors.UsageDenied: 400,
    errors.ExtensionTooLong: 400,
    RuleForbidsChange: 400,
    errors.Unauthorized: 401,
    errors.Forbidden: 403,
    errors.LeaseTooLong: 403,
    RuleForbidsLease: 403,
    errors.QuotaExceeded: 403,
    errors.NotFound: 404,
    errors.LeaseNotFound: 404,
    errors.OfferNotFound: 404,
    MaintenanceNotFound: 404,
    FeedNotFound: 404,
    CalendarNotFound: 404,
    SubscriptionNotFound: 404,
    errors.Conflict: 409,
    errors.NotEnoughResources: 409,
    errors.InvalidLeaseStatus: 409,
    errors.CannotChange: 409,
    errors.CloudDisagrees: 409,
    errors.CloudRefusesLease: 409,
    errors.IdempotencyKeyReused: 409,
    errors.AlreadyAnswered: 409,
    errors.AlreadyExecuted: 409,
    errors.OfferCommitted: 409,
    errors.OfferOutdated: 409,
    TooManyOffers: 409,
    TooManyFeeds: 409,
    TooManySubscriptions: 409,
    errors.ConcurrentUpdate: 409,
    errors.OfferExpired: 410,
    errors.Unavailable: 503,
    errors.EnforcementUnavailable: 503,
    errors.LimitsUnavailable: 503,
    # Handled by the API itself; one that arrives here is a bug, and its text must not be sent.
    errors.UnknownMethod: 500,
    errors.OwnerMismatch: 500,
    # Errors of adapters are translated by the use cases; one that arrives here is a bug.
    errors.CloudError: 500,
    errors.CloudNotFound: 500,
    errors.CloudConflict: 500,
    errors.CloudRefused: 500,
    errors.CloudUnavailable: 503,
}
"""Status of each error class of the core at the newest microversion; a test checks that no class is missing.

An error of a resource type has the status of the class from which it is derived.
"""

EXPLANATIONS = ("reasons", "alternatives")
"""Additional fields of an error that its body includes; managers set them from API 1.1 on."""

Statuses = Mapping[type[errors.BlazarError], int]

SHORTAGES_AT_1_0: Mapping[int, Statuses] = {
    status: {errors.NotEnoughResources: status, errors.CloudRefusesLease: status}
    for status in (400, 409, 500)
}
"""The statuses that may differ before microversion 1.1, by ``[api] shortage_status``."""


def status_of(error: errors.BlazarError, statuses: Statuses = STATUSES) -> int:
    """Return the HTTP status of an error; for an unknown class, that of its nearest known ancestor."""
    return next(statuses[kind] for kind in type(error).__mro__ if kind in statuses)


def statuses_at_1_0(shortage_status: int, types: Iterable[TypeApi] = ()) -> Statuses:
    """Return the status of each error class before microversion 1.1."""
    statuses = {**STATUSES, **SHORTAGES_AT_1_0[shortage_status]}
    for each in types:
        statuses |= each.shortages_at_1_0.get(shortage_status, {})
    return statuses


def shape_a(status: int, message: str) -> dict[str, Any]:
    """Return the body of an error of the service."""
    return {"error_code": status, "error_message": message, "error_name": status}


def defect() -> dict[str, object]:
    """Return the body of an internal error; it does not include the cause."""
    return {
        "error_code": 500,
        "error_message": "Internal Server Error",
        "error_name": "INTERNAL_SERVER_ERROR",
    }


def shape_b(status: int, message: str) -> dict[str, object]:
    """Return the body of an error of HTTP, such as an unknown path."""
    return {"error": status, "error_message": message}


def install(app: falcon.App[Any, Any], shortage_status: int, types: Iterable[TypeApi] = ()) -> None:
    """Make *app* respond to every error in shape A or B.

    Args:
        app: The application.
        shortage_status: The status of a shortage at microversion 1.0.
        types: The APIs of the resource types that are served.
    """
    app.add_error_handler(Exception, _unexpected)
    app.add_error_handler(falcon.HTTPStatus, _redirect)
    app.add_error_handler(falcon.HTTPError, _http)
    app.add_error_handler(errors.BlazarError, partial(_decided, statuses_at_1_0(shortage_status, types)))


def _answer(resp: falcon.Response, status: int, body: Mapping[str, object]) -> None:
    resp.status = status
    resp.content_type = falcon.MEDIA_JSON
    resp.data = json.dumps(body).encode()


def _decided(
    at_1_0: Statuses,
    req: falcon.Request,
    resp: falcon.Response,
    ex: errors.BlazarError,
    params: object,
) -> None:
    is_at_1_0 = requested_version(req) < STATUS_OF_SHORTAGES
    status = status_of(ex, at_1_0 if is_at_1_0 else STATUSES)
    if status_of(ex) == 500:
        _log(req)
        _answer(resp, 500, defect())
        return
    if status > 500:
        LOG.warning(
            "Request not served: method=%s path=%r reason=%r", req.method, shown_path(req.path), ex.message
        )
    if "retry_after" in ex.fields:
        resp.set_header("Retry-After", str(ex.fields["retry_after"]))
    if status == 503:
        resp.set_header("Retry-After", str(RETRY_AFTER_SECONDS))
    body = shape_a(status, ex.message)
    body |= {key: ex.fields[key] for key in EXPLANATIONS if key in ex.fields}
    _answer(resp, status, body)


def _http(req: falcon.Request, resp: falcon.Response, ex: falcon.HTTPError, params: object) -> None:
    if ex.headers:
        resp.set_headers(ex.headers)
    reason = ex.description or ex.title or ""
    _answer(resp, ex.status_code, shape_b(ex.status_code, reason))


def _redirect(req: falcon.Request, resp: falcon.Response, ex: falcon.HTTPStatus, params: object) -> None:
    if ex.headers:
        resp.set_headers(ex.headers)
    resp.status = ex.status


def _unexpected(req: falcon.Request, resp: falcon.Response, ex: Exception, params: object) -> None:
    _log(req)
    _answer(resp, 500, defect())


def _log(req: falcon.Request) -> None:
    LOG.exception("Request failed: method=%s path=%r", req.method, shown_path(req.path))
