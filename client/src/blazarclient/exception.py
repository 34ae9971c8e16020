"""Exceptions of the library.

::

    BlazarClientException
    ├── BadRequest, NotAuthorized, Forbidden, NotFound, Conflict, ServiceUnavailable   by HTTP status
    │   └── NotFound: ResourcePropertyNotFound
    ├── InvalidDate, InvalidDuration (ValueErrors), InvalidSortKey (a KeyError)
    ├── NoUniqueMatch, UnsupportedVersion, InsufficientAuthInformation
    ├── LeaseInError, WaitTimeout
    └── CommandError, NoBlazarEndpoint, IncorrectLease, DuplicatedLeaseParameters      for commands

A status that is not listed raises ``BlazarClientException``.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

import requests

from blazarclient.i18n import _


class BlazarClientException(Exception):
    """Base class; ``args[0]`` is the message, ``code`` and ``kwargs["code"]`` are the status.

    Without a *message*, the exception uses the message of its class, formatted with *kwargs*.
    """

    message: ClassVar[str] = _("An unknown exception occurred.")
    code: int = 500

    def __init__(self, message: str | None = None, **kwargs: Any) -> None:
        self.kwargs = kwargs
        self.code = kwargs.setdefault("code", type(self).code)
        if not message:
            try:
                message = self.message % kwargs
            except KeyError:
                message = self.message
        super().__init__(message)

    def __str__(self) -> str:
        return str(self.args[0])


class BadRequest(BlazarClientException):
    """The service rejects the request as invalid."""

    message = _("Bad request.")
    code = 400


class NotAuthorized(BlazarClientException):
    """The request is not authenticated."""

    message = _("Not authorized.")
    code = 401


class Forbidden(BlazarClientException):
    """The user is not allowed to make the request."""

    message = _("Forbidden.")
    code = 403


class NotFound(BlazarClientException):
    """The resource does not exist."""

    message = _("Not found.")
    code = 404


class Conflict(BlazarClientException):
    """The request is valid, but conflicts with the current state, such as too few free hosts."""

    message = _("Conflict.")
    code = 409


class ServiceUnavailable(BlazarClientException):
    """The service is temporarily unavailable; the same request may succeed later."""

    message = _("Service unavailable.")
    code = 503


class CommandError(BlazarClientException):
    """The arguments of a command are invalid."""

    message = _("The arguments of the command are invalid.")
    code = 401


class NoBlazarEndpoint(BlazarClientException):
    """The service catalogue has no endpoint for the service."""

    message = _("The service catalogue has no endpoint for the reservation service.")
    code = 404


class NoUniqueMatch(BlazarClientException):
    """More than one resource has the given name."""

    message = _("More than one resource has that name; use an id instead.")
    code = 409


class UnsupportedVersion(BlazarClientException):
    """The client does not support the requested API version."""

    message = _("The client version is not supported.")
    code = 406


class IncorrectLease(BlazarClientException):
    """The description of a lease is incomplete or contradictory."""

    message = _("The description of the lease is incorrect.")
    code = 409


class DuplicatedLeaseParameters(BlazarClientException):
    """A description of a reservation has the same key twice."""

    message = _("A parameter of the lease is given twice.")
    code = 400


class InsufficientAuthInformation(BlazarClientException):
    """Neither a session nor both a URL and a token are given."""

    message = _("A client needs either a session, or a URL and a token.")
    code = 400


class ResourcePropertyNotFound(NotFound):
    """No resource property that the user can see has this name."""

    message = _("The resource property does not exist.")


class InvalidDate(BlazarClientException, ValueError):
    """A date is malformed, or later than the year 9999."""

    message = _("Invalid date.")
    code = 400


class InvalidDuration(BlazarClientException, ValueError):
    """A duration is malformed or too long."""

    message = _("Invalid duration.")
    code = 400


class InvalidSortKey(BlazarClientException, KeyError):
    """A listed item does not have the sort key."""

    message = _("Invalid sort key.")
    code = 400


class LeaseInError(BlazarClientException):
    """The lease is in ERROR at the end of a wait."""

    message = _("The lease is in ERROR.")
    code = 409


class WaitTimeout(BlazarClientException):
    """The lease did not reach the expected status within the timeout."""

    message = _("The lease did not reach the expected status within the timeout.")
    code = 504


_BY_STATUS: dict[int, type[BlazarClientException]] = {
    each.code: each for each in (BadRequest, NotAuthorized, Forbidden, NotFound, Conflict, ServiceUnavailable)
}


def from_response(response: requests.Response, body: object) -> BlazarClientException:
    """Return the exception for a response with an error status.

    For a lease that API 1.1 refuses, its ``kwargs`` have ``reasons`` and ``alternatives``.

    Args:
        response: The response.
        body: Its parsed body, None if that is not JSON.
    """
    if isinstance(body, dict) and "error_message" in body:
        problem = body["error_message"]
    elif isinstance(body, dict | list):
        problem = body
    else:
        problem = response.text or response.reason
    status = response.status_code
    explained = body if isinstance(body, dict) else {}
    return _BY_STATUS.get(status, BlazarClientException)(
        f"ERROR: {problem}",
        code=status,
        request_id=response.headers.get("X-OpenStack-Request-ID"),
        retry_after=retry_after(response),
        **{key: explained[key] for key in ("reasons", "alternatives") if key in explained},
    )


def retry_after(response: requests.Response) -> int | None:
    """Return the seconds in ``Retry-After``, or None if the header is missing or holds a date."""
    seconds = response.headers.get("Retry-After", "").strip()
    return int(seconds) if re.fullmatch(r"[0-9]{1,9}", seconds) else None
