"""Answers of the services: their content, and the errors that they mean."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from blazar.domain.errors import CloudConflict, CloudError, CloudNotFound, CloudRefused, CloudUnavailable

if TYPE_CHECKING:
    from requests import Response

ResultT = TypeVar("ResultT")

_LONGEST_TEXT = 300
_KINDS: Mapping[int, type[CloudError]] = {
    401: CloudUnavailable,
    404: CloudNotFound,
    408: CloudUnavailable,
    409: CloudConflict,
    425: CloudUnavailable,
    429: CloudUnavailable,
}
"""The other 4xx are refusals; everything else that is not 2xx is no usable answer."""

_NEVER_BY_WAITING = frozenset({"OverQuota"})
"""Types of errors that Neutron reports with 409, though no change of the cloud's state is to come."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a service said to one call that it accepted."""

    call: str
    """Service, method and path, for messages."""
    response: Response

    def read(self, parse: Callable[[Any], ResultT]) -> ResultT:
        """Return what *parse* makes of the JSON body.

        Raises:
            CloudUnavailable: The body is no JSON, or *parse* finds it to be something else.
        """
        try:
            return parse(self.response.json())
        except (AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
            problem = short(f"{type(error).__name__}: {error}")
            raise CloudUnavailable(f"{self.call}: the answer cannot be used: {problem}") from error


def failure(call: str, response: Response, means: Mapping[int, type[CloudError]]) -> CloudError:
    """Return the error that an answer other than 2xx means.

    Args:
        call: Service, method and path.
        response: The answer.
        means: What statuses mean for this call, where that differs from what they mean in general.
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
    default = CloudRefused if 400 <= status < 500 else CloudUnavailable
    return {**_KINDS, **means}.get(status, default)(message)


def short(text: str) -> str:
    """Return a text in one line of bounded length, without what may stand before a URL's host."""
    text = re.sub(r"//[^/@\s]*@", "//", " ".join(text.split()))
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}…"


def _problem(response: Response) -> tuple[str, str]:
    """Return the type (empty but with Neutron) and the text of an error.

    Nova, Neutron and Keystone wrap an object with a ``message`` into an object with one key, Glance does
    not wrap it, Placement has a list of ``errors``, and proxies send HTML.
    """
    try:
        body = json.loads(response.text)
    except ValueError:
        return "", re.sub(r"(?s)<head>.*?</head>|<h1>.*?</h1>", " ", response.text) or response.reason or ""
    if not isinstance(body, dict):
        return "", response.reason or ""
    errors = body.get("errors")
    if isinstance(errors, list) and errors and isinstance(errors[0], dict):
        # Before the last blank line is what the status means in general.
        return "", str(errors[0].get("detail") or errors[0].get("title")).strip().split("\n\n")[-1]
    wrapped = [each for each in body.values() if isinstance(each, dict) and "message" in each]
    if wrapped:
        return str(wrapped[0].get("type", "")), str(wrapped[0]["message"])
    return "", str(body.get("message") or response.reason or "")
