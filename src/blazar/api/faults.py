"""What an error looks like over HTTP: its status and its body.

Two shapes are written here. *A* is for everything that the service itself decides, that is for the
project's own errors; *B* is for what goes wrong with HTTP, that is for Falcon's errors. (The third
shape, *C*, is the authentication's in front.)

Source: rest-api 4.5, 4.6, 10.2; design 7 (deliberate differences).
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

import falcon

from blazar.domain import errors

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
    errors.CapabilityKeyTooLong: 400,
    errors.HostReferenceMissing: 400,
    errors.UsageDenied: 400,
    errors.ExtensionTooLong: 400,
    errors.Unauthorized: 401,
    errors.Forbidden: 403,
    errors.LeaseTooLong: 403,
    errors.QuotaExceeded: 403,
    errors.NotFound: 404,
    errors.LeaseNotFound: 404,
    errors.HostNotFound: 404,
    errors.FlavorNotFound: 404,
    errors.FloatingIPNotFound: 404,
    errors.PropertyNotFound: 404,
    errors.FreepoolNotFound: 404,
    errors.ProviderNotFound: 404,
    errors.Conflict: 409,
    errors.NotEnoughHosts: 409,
    # Unlike hosts that are short, for which clients know 500.
    errors.NotEnoughFloatingIPs: 400,
    errors.FlavorNotReservable: 409,
    errors.InvalidLeaseStatus: 409,
    errors.CannotChange: 409,
    errors.HostHasServers: 409,
    errors.HostAlreadyRegistered: 409,
    errors.HostReserved: 409,
    errors.FloatingIPAlreadyRegistered: 409,
    errors.FloatingIPInUse: 409,
    errors.FloatingIPReserved: 409,
    errors.CloudDisagrees: 409,
    errors.CapabilityInUse: 409,
    errors.ConcurrentUpdate: 409,
    errors.Unavailable: 503,
    errors.EnforcementUnavailable: 503,
    errors.LimitsUnavailable: 503,
    # Adapters' errors are translated before they come here; one that is not is a bug.
    errors.CloudError: 500,
    errors.CloudNotFound: 500,
    errors.CloudConflict: 500,
    errors.CloudRefused: 500,
    errors.CloudUnavailable: 503,
}
"""One line an error class; a test sees to it that none is missing."""


def status_of(error: errors.BlazarError) -> int:
    """Return the HTTP status of an error; that of its nearest known ancestor for an unknown class."""
    return next(STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES)


def shape_a(status: int, message: str) -> dict[str, object]:
    """Return the body for what the service decides; a 500 says nothing about its cause."""
    if status == 500:
        message = "Internal Server Error"
    name: object = "INTERNAL_SERVER_ERROR" if status == 500 else status
    return {"error_code": status, "error_message": message, "error_name": name}


def shape_b(status: int, message: str) -> dict[str, object]:
    """Return the body for what goes wrong before, or beside, the service's own decisions."""
    return {"error": status, "error_message": message}


def install(app: falcon.App[Any, Any]) -> None:
    """Make *app* answer every error in one of the two shapes."""
    app.add_error_handler(Exception, _unexpected)
    app.add_error_handler(falcon.HTTPStatus, _redirect)
    app.add_error_handler(falcon.HTTPError, _http)
    app.add_error_handler(errors.BlazarError, _decided)


def _answer(resp: falcon.Response, status: int, body: Mapping[str, object]) -> None:
    resp.status = status
    resp.content_type = falcon.MEDIA_JSON
    resp.data = json.dumps(body).encode()


def _decided(req: falcon.Request, resp: falcon.Response, ex: errors.BlazarError, params: object) -> None:
    status = status_of(ex)
    if status == 500:
        _log(req)
    elif status > 500:
        LOG.warning("Request not served: method=%s path=%r reason=%r", req.method, req.path, ex.message)
    _answer(resp, status, shape_a(status, ex.message))


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
    _answer(resp, 500, shape_a(500, ""))


def _log(req: falcon.Request) -> None:
    LOG.exception("Request failed: method=%s path=%r", req.method, req.path)
