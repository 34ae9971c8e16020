"""What the library raises.

::

    BlazarClientException
    ├── BadRequest, NotAuthorized, Forbidden, NotFound, Conflict, ServiceUnavailable   by HTTP status
    │   └── NotFound: ResourcePropertyNotFound
    ├── InvalidDate, InvalidDuration (ValueErrors), InvalidSortKey (a KeyError)
    ├── NoUniqueMatch, UnsupportedVersion, InsufficientAuthInformation
    ├── LeaseInError, WaitTimeout
    └── CommandError, NoBlazarEndpoint, IncorrectLease, DuplicatedLeaseParameters      for commands

A status without a class of its own raises ``BlazarClientException``.
"""

from __future__ import annotations

from typing import Any, ClassVar

import requests

from blazarclient.i18n import _


class BlazarClientException(Exception):
    """Base of all; ``args[0]`` is the text, ``code`` and ``kwargs["code"]`` are the status.

    Without a *message* the text is that of the class, filled in from *kwargs*.
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
    """The service does not accept the request as it stands."""

    message = _("Bad request.")
    code = 400


class NotAuthorized(BlazarClientException):
    """The service does not know who asks."""

    message = _("Not authorized.")
    code = 401


class Forbidden(BlazarClientException):
    """Who asks may not do that."""

    message = _("Forbidden.")
    code = 403


class NotFound(BlazarClientException):
    """There is no such thing."""

    message = _("Not found.")
    code = 404


class Conflict(BlazarClientException):
    """The request is fine, but the state of things forbids it; not enough free hosts, for example."""

    message = _("Conflict.")
    code = 409


class ServiceUnavailable(BlazarClientException):
    """The service cannot answer now; the same request may succeed later."""

    message = _("Service unavailable.")
    code = 503


class CommandError(BlazarClientException):
    """A command was used in a way it cannot be."""

    message = _("The command cannot be used like that.")
    code = 401


class NoBlazarEndpoint(BlazarClientException):
    """The service catalogue does not list the service."""

    message = _("The service catalogue has no endpoint of the reservation service.")
    code = 404


class NoUniqueMatch(BlazarClientException):
    """Several resources share the given name."""

    message = _("Several resources have that name.")
    code = 409


class UnsupportedVersion(BlazarClientException):
    """The factory was asked for an API version that it does not know."""

    message = _("That client version is not supported.")
    code = 406


class IncorrectLease(BlazarClientException):
    """The description of a lease contradicts itself."""

    message = _("The lease is not described correctly.")
    code = 409


class DuplicatedLeaseParameters(BlazarClientException):
    """A key appears twice in one description of a reservation."""

    message = _("A parameter of the lease is given twice.")
    code = 400


class InsufficientAuthInformation(BlazarClientException):
    """Neither a session nor a URL and a token was given."""

    message = _("A client needs a session, or a URL and a token.")
    code = 400


class ResourcePropertyNotFound(NotFound):
    """No resource property has this name, or none that the caller may see."""

    message = _("The resource property does not exist.")


class InvalidDate(BlazarClientException, ValueError):
    """A date cannot be understood, or a duration leads out of the calendar."""

    message = _("Invalid date.")
    code = 400


class InvalidDuration(BlazarClientException, ValueError):
    """A duration cannot be understood."""

    message = _("Invalid duration.")
    code = 400


class InvalidSortKey(BlazarClientException, KeyError):
    """A listed item lacks the key that the list was to be sorted by."""

    message = _("Invalid sort key.")
    code = 400


class LeaseInError(BlazarClientException):
    """The lease that was waited for has settled in ERROR."""

    message = _("The lease is in ERROR.")
    code = 409


class WaitTimeout(BlazarClientException):
    """The lease that was waited for has not settled in time."""

    message = _("The lease has not settled in time.")
    code = 504


_BY_STATUS: dict[int, type[BlazarClientException]] = {
    each.code: each for each in (BadRequest, NotAuthorized, Forbidden, NotFound, Conflict, ServiceUnavailable)
}


def from_response(response: requests.Response, body: object) -> BlazarClientException:
    """Return the exception for an answer with an error status.

    Args:
        response: The answer.
        body: What its body holds, None if that is not JSON.
    """
    if isinstance(body, dict) and "error_message" in body:
        problem = body["error_message"]
    elif isinstance(body, dict | list):
        problem = body
    else:
        problem = response.text or response.reason
    status = response.status_code
    return _BY_STATUS.get(status, BlazarClientException)(
        f"ERROR: {problem}", code=status, request_id=response.headers.get("X-OpenStack-Request-ID")
    )
