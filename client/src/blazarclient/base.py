"""How requests are sent, and what all managers have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import quote, urlencode

import requests
from keystoneauth1 import adapter

from blazarclient import exception
from blazarclient.i18n import _

Record = dict[str, Any]
"""An object as the service gives it."""
Records = list[Record]

TIMEOUT_SECONDS = 600
"""How long the deprecated way waits; a service of old may take minutes to delete a running lease."""


class SessionClient(adapter.LegacyJsonAdapter):
    """Sends requests through a keystoneauth1 session; every method returns ``(response, body)``."""

    def request(self, url: str, method: str, **kwargs: Any) -> tuple[requests.Response, Any]:
        """Return the answer and its JSON body, None if it has none.

        Raises:
            BlazarClientException: The status is 400 or more.
        """
        kwargs["raise_exc"] = False
        response, body = super().request(url, method, **kwargs)
        if response.status_code >= 400:
            raise exception.from_response(response, body)
        return response, body


class RequestManager:
    """Sends requests to a URL with a token; deprecated, since it can neither log in again nor retry."""

    def __init__(self, blazar_url: str, auth_token: str, user_agent: str = "python-blazarclient") -> None:
        self.blazar_url = blazar_url
        self.auth_token = auth_token
        self.user_agent = user_agent

    def get(self, url: str) -> tuple[requests.Response, Any]:
        """GET *url*, see :meth:`request`."""
        return self.request(url, "GET")

    def post(self, url: str, body: object) -> tuple[requests.Response, Any]:
        """POST *body* to *url*, see :meth:`request`."""
        return self.request(url, "POST", body=body)

    def put(self, url: str, body: object) -> tuple[requests.Response, Any]:
        """PUT *body* to *url*, see :meth:`request`."""
        return self.request(url, "PUT", body=body)

    def patch(self, url: str, body: object) -> tuple[requests.Response, Any]:
        """PATCH *url* with *body*, see :meth:`request`."""
        return self.request(url, "PATCH", body=body)

    def delete(self, url: str) -> tuple[requests.Response, Any]:
        """DELETE *url*, see :meth:`request`."""
        return self.request(url, "DELETE")

    def request(self, url: str, method: str, **kwargs: Any) -> tuple[requests.Response, Any]:
        """Return the answer and its JSON body, None if it has none.

        Args:
            url: Relative to the URL of the service, beginning with a slash.
            method: The HTTP method.
            kwargs: ``body`` is sent as JSON; everything else goes to ``requests``.

        Raises:
            BlazarClientException: The status is 400 or more.
        """
        headers = {
            "Accept": "application/json",
            "User-Agent": self.user_agent,
            "X-Auth-Token": self.auth_token,
        } | kwargs.pop("headers", {})
        if "body" in kwargs:
            kwargs["json"] = kwargs.pop("body")
        kwargs.setdefault("timeout", TIMEOUT_SECONDS)
        response = requests.request(  # noqa: S113  (set in the line above)
            method, self.blazar_url.rstrip("/") + url, headers=headers, **kwargs
        )
        try:
            body = response.json()
        except ValueError:
            body = None
        if response.status_code >= 400:
            raise exception.from_response(response, body)
        return response, body


class BaseClientManager:
    """Base of the managers; ``request_manager`` sends requests of any kind."""

    user_agent = "python-blazarclient"

    request_manager: SessionClient | RequestManager

    def __init__(
        self,
        blazar_url: str | None = None,
        auth_token: str | None = None,
        session: Any = None,
        **kwargs: Any,
    ) -> None:
        self.blazar_url = blazar_url
        self.auth_token = auth_token
        self.session = session
        if session:
            self.request_manager = SessionClient(session=session, user_agent=self.user_agent, **kwargs)
        elif blazar_url and auth_token:
            self.request_manager = RequestManager(blazar_url, auth_token, self.user_agent)
        else:
            raise exception.InsufficientAuthInformation()


def path(*segments: object, **query: str | None) -> str:
    """Return a path of these *segments*, each escaped, and of those *query* values that are not None.

    Raises:
        NotFound: A segment that cannot be written as one; no resource has such an id, and the path
            would lead to another resource.
    """
    texts = ["" if segment is None else str(segment) for segment in segments]
    for text in texts:
        if text in ("", ".", ".."):
            raise exception.NotFound(_("ERROR: no resource has the id %r") % text)
    given = {key: value for key, value in query.items() if value is not None}
    escaped = "".join(f"/{quote(text, safe='')}" for text in texts)
    return f"{escaped}?{urlencode(given)}" if given else escaped


def one(body: Any, key: str) -> Record:
    """Return the object that *body*, an answer of the service, holds under *key*.

    Raises:
        BlazarClientException: It holds no such thing; something else than the service has answered.
    """
    if not isinstance(body, Mapping) or key not in body:
        raise exception.BlazarClientException(_("ERROR: the answer of the service has no %r") % key)
    found: Record = body[key]
    return found


def many(body: Any, key: str, sort_by: str | None = None) -> Records:
    """Return the objects that *body* holds under *key*, sorted by *sort_by* as :func:`ordered` does.

    Raises:
        BlazarClientException: It holds no such thing.
        InvalidSortKey: An object lacks the key.
    """
    return ordered(cast(Records, one(body, key)), sort_by)


def ordered(records: Records, sort_by: str | None) -> Records:
    """Return *records*, sorted by the value of one key if *sort_by* names one; null comes first.

    Values of different types are compared as text.

    Raises:
        InvalidSortKey: A record lacks the key.
    """
    if not sort_by:
        return records
    try:
        return sorted(records, key=lambda record: (record[sort_by] is not None, record[sort_by]))
    except KeyError:
        raise exception.InvalidSortKey(_("ERROR: cannot sort by %r") % sort_by) from None
    except TypeError:
        return sorted(records, key=lambda record: (record[sort_by] is not None, str(record[sort_by])))
