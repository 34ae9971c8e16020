"""Responses of the services: their content, and the errors that they represent."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from blazar.cloud.statuses import error_of_status
from blazar.domain.errors import CloudError, CloudRefused, CloudUnavailable

if TYPE_CHECKING:
    from requests import Response

ResultT = TypeVar("ResultT")

_LONGEST_TEXT = 300
_NEVER_BY_WAITING = frozenset({"OverQuota"})
"""Types of Neutron errors with status 409 that no later change of the cloud's state can resolve."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The response to a call that a service accepted."""

    call: str
    """Service, method and path, for messages."""
    response: Response

    def read(self, parse: Callable[[Any], ResultT]) -> ResultT:
        """Return the result of *parse* for the JSON body.

        Raises:
            CloudUnavailable: The body is not JSON, or *parse* cannot process it.
        """
        try:
            return parse(self.response.json())
        except (AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
            problem = short(f"{type(error).__name__}: {error}")
            raise CloudUnavailable(f"{self.call}: the answer cannot be used: {problem}") from error


def failure(call: str, response: Response, means: Mapping[int, type[CloudError]]) -> CloudError:
    """Return the error for a response other than 2xx.

    Args:
        call: Service, method and path.
        response: The response.
        means: Errors by status for this call, where they differ from the general ones.
    """
    status = response.status_code
    kind, text = _problem(response)
    request_id = response.headers.get("x-openstack-request-id") or response.headers.get(
        "x-compute-request-id"
    )
    text = short(re.sub(r"<[^>]*>", " ", text))
    message = f"{call}: {status} {text}".rstrip() + (f" ({request_id})" if request_id else "")
    if kind in _NEVER_BY_WAITING:
        return CloudRefused(message)
    error = means.get(status) or error_of_status(status)
    return error(message)


def short(text: str) -> str:
    """Return a string in one line of bounded length, without credentials in URLs."""
    text = re.sub(r"//[^/@\s]*@", "//", " ".join(text.split()))
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}…"


def _problem(response: Response) -> tuple[str, str]:
    """Return the type (empty except with Neutron) and the text of an error.

    Nova, Neutron and Keystone wrap an object with a ``message`` in an object with one key; Glance does not
    wrap it. Placement has a list of ``errors``. Proxies send HTML.
    """
    try:
        body = json.loads(response.text)
    except ValueError:
        return "", re.sub(r"(?s)<head>.*?</head>|<h1>.*?</h1>", " ", response.text) or response.reason or ""
    if not isinstance(body, dict):
        return "", response.reason or ""
    errors = body.get("errors")
    if isinstance(errors, list) and errors and isinstance(errors[0], dict):
        # The text before the last blank line is the general meaning of the status.
        return "", str(errors[0].get("detail") or errors[0].get("title")).strip().split("\n\n")[-1]
    wrapped = [each for each in body.values() if isinstance(each, dict) and "message" in each]
    if wrapped:
        return str(wrapped[0].get("type", "")), str(wrapped[0]["message"])
    return "", str(body.get("message") or response.reason or "")
