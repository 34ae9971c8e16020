"""HTTP requests to the service, and the base of the managers."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast
from urllib.parse import quote, urlencode, urlsplit

import requests
from keystoneauth1 import adapter

from blazarclient import exception
from blazarclient.i18n import _

LOG = logging.getLogger(__name__)

Record = dict[str, Any]
"""A JSON object of the service."""
Records = list[Record]

SERVICE_TYPE = "reservation"
"""Type of the service in the header of the API version."""
API_1_1 = {"OpenStack-API-Version": f"{SERVICE_TYPE} 1.1"}
"""Headers of requests to endpoints that API 1.0 does not have."""
TIMEOUT_SECONDS = 600
"""Timeout of requests with a URL and a token; older services may take minutes to delete an active lease."""
LONGEST_RETRY_AFTER_SECONDS = 10
"""The longest ``Retry-After`` after which a request is repeated."""

Pause = Callable[[float], None]
"""Waits for a number of seconds."""


class SessionClient(adapter.LegacyJsonAdapter):
    """Sends requests through a keystoneauth1 session; every method returns ``(response, body)``.

    Args:
        pause_before_retry: If given, a GET that is answered with 503 and a ``Retry-After`` of at most
            ``LONGEST_RETRY_AFTER_SECONDS`` is repeated once after that time.
        args: Passed to ``keystoneauth1.adapter.LegacyJsonAdapter``.
        kwargs: Likewise.
    """

    def __init__(self, *args: Any, pause_before_retry: Pause | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._pause_before_retry = pause_before_retry

    def request(self, url: str, method: str, **kwargs: Any) -> tuple[requests.Response, Any]:
        """Return the response and its JSON body, None if it has none.

        Raises:
            BlazarClientException: The status is 400 or more.
        """
        kwargs["raise_exc"] = False
        if self.default_microversion is not None or kwargs.get("microversion") is not None:
            # The type in the catalogue is configurable; the type in the header is not.
            kwargs.setdefault("microversion_service_type", SERVICE_TYPE)
        response, body = super().request(url, method, **kwargs)
        seconds = _seconds_before_retry(method, response)
        if self._pause_before_retry is not None and seconds is not None:
            LOG.warning("Service unavailable, retrying: seconds=%d", seconds)
            self._pause_before_retry(seconds)
            response, body = super().request(url, method, **kwargs)
        if response.status_code >= 400:
            raise exception.from_response(response, body)
        return response, body


def _seconds_before_retry(method: str, response: requests.Response) -> int | None:
    """Return the time after which to repeat a request, or None if it must not be repeated."""
    # Methods that change something may have taken effect although the status is 503.
    if method != "GET" or response.status_code != requests.codes.unavailable:
        return None
    seconds = exception.retry_after(response)
    return seconds if seconds is not None and seconds <= LONGEST_RETRY_AFTER_SECONDS else None


class RequestManager:
    """Sends requests to a URL with a token; deprecated, because it can neither reauthenticate nor retry."""

    def __init__(self, blazar_url: str, auth_token: str, user_agent: str = "python-blazarclient") -> None:
        self.blazar_url = blazar_url
        self.auth_token = auth_token
        self.user_agent = user_agent

    def get(self, url: str) -> tuple[requests.Response, Any]:
        """Send GET *url*; see :meth:`request`."""
        return self.request(url, "GET")

    def post(self, url: str, body: object) -> tuple[requests.Response, Any]:
        """Send POST *url* with *body*; see :meth:`request`."""
        return self.request(url, "POST", body=body)

    def put(self, url: str, body: object) -> tuple[requests.Response, Any]:
        """Send PUT *url* with *body*; see :meth:`request`."""
        return self.request(url, "PUT", body=body)

    def patch(self, url: str, body: object) -> tuple[requests.Response, Any]:
        """Send PATCH *url* with *body*; see :meth:`request`."""
        return self.request(url, "PATCH", body=body)

    def delete(self, url: str) -> tuple[requests.Response, Any]:
        """Send DELETE *url*; see :meth:`request`."""
        return self.request(url, "DELETE")

    def request(self, url: str, method: str, **kwargs: Any) -> tuple[requests.Response, Any]:
        """Return the response and its JSON body, None if it has none.

        Args:
            url: Path below the URL of the service, with a leading slash.
            method: The HTTP method.
            kwargs: ``body`` is sent as JSON; all others are passed to ``requests``.

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


Sender = SessionClient | RequestManager
"""Sends requests; every method returns ``(response, body)``."""


class BaseClientManager:
    """Base of the managers; ``request_manager`` sends arbitrary requests."""

    user_agent = "python-blazarclient"

    request_manager: Sender

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
            if kwargs.get("endpoint_override"):
                kwargs["endpoint_override"] = with_version(kwargs["endpoint_override"])
            self.request_manager = SessionClient(session=session, user_agent=self.user_agent, **kwargs)
        elif blazar_url and auth_token:
            self.request_manager = RequestManager(with_version(blazar_url), auth_token, self.user_agent)
        else:
            raise exception.InsufficientAuthInformation()


def with_version(url: str) -> str:
    """Return the URL of the service, with ``/v1`` appended if no segment of its path is a version."""
    has_version = any(re.fullmatch(r"v\d+(\.\d+)?", each) for each in urlsplit(url).path.split("/"))
    return url if has_version else f"{url.rstrip('/')}/v1"


def path(*segments: object, **query: str | None) -> str:
    """Return a path of the escaped *segments*, and a query of the values that are not None.

    Raises:
        NotFound: A segment is empty, ``.`` or ``..``. No resource has such an id, and the path would
            address another resource.
    """
    texts = ["" if segment is None else str(segment) for segment in segments]
    for text in texts:
        if text in ("", ".", ".."):
            raise exception.NotFound(_("ERROR: invalid id %r: it must not be empty, . or ..") % text)
    given = {key: value for key, value in query.items() if value is not None}
    escaped = "".join(f"/{quote(text, safe='')}" for text in texts)
    return f"{escaped}?{urlencode(given)}" if given else escaped


def one(body: Any, key: str) -> Record:
    """Return the object under *key* in *body*, a response of the service.

    Raises:
        BlazarClientException: *body* has no such key, so the response is not one of the service.
    """
    if not isinstance(body, Mapping) or key not in body:
        raise exception.BlazarClientException(
            _("ERROR: the response has no %r; check that the URL is that of the reservation service") % key
        )
    found: Record = body[key]
    return found


def many(body: Any, key: str, sort_by: str | None = None) -> Records:
    """Return the list under *key* in *body*, sorted by *sort_by* as in :func:`ordered`.

    Raises:
        BlazarClientException: *body* has no such key.
        InvalidSortKey: An object does not have the sort key.
    """
    return ordered(cast(Records, one(body, key)), sort_by)


def all_pages(
    sender: Sender, url: str, key: str, sort_by: str | None = None, headers: Mapping[str, str] | None = None
) -> Records:
    """Return a list of the service from all of its pages, sorted by *sort_by* as in :func:`ordered`.

    From API 1.1 on, a list ends after the service's limit, and has a link to the next page. Only the query
    of a link is used: the service may know itself by another address than its clients do.

    Args:
        sender: Sends the requests.
        url: Path of the list, with the query.
        key: Key of the list in responses.
        sort_by: The sort key.
        headers: Headers of all requests.

    Raises:
        BlazarClientException: A response has no such key, or a link leads to a page that was read before.
        InvalidSortKey: An object does not have the sort key.
    """
    pages: list[str] = []
    records: Records = []
    following: str | None = url
    while following is not None:
        if following in pages:
            raise exception.BlazarClientException(
                _("ERROR: the pages of the list have no end: %s is linked again") % following
            )
        pages.append(following)
        answer: tuple[Any, Any] = (
            sender.request(following, "GET", headers=dict(headers)) if headers else sender.get(following)
        )
        body = answer[1]
        records += many(body, key)
        following = _next_page(body.get(f"{key}_links") or (), url)
    return ordered(records, sort_by)


def _next_page(links: Iterable[Mapping[str, str]], url: str) -> str | None:
    """Return *url* with the query of the link to the next page, or None if no link is one."""
    queries = [urlsplit(each["href"]).query for each in links if each.get("rel") == "next"]
    return f"{url.partition('?')[0]}?{queries[0]}" if queries else None


def ordered(records: Records, sort_by: str | None) -> Records:
    """Return *records*, sorted by the key *sort_by* if it is not empty; null sorts first.

    Values of different types are compared as text.

    Raises:
        InvalidSortKey: A record does not have the key.
    """
    if not sort_by:
        return records
    try:
        return sorted(records, key=lambda record: (record[sort_by] is not None, record[sort_by]))
    except KeyError:
        raise exception.InvalidSortKey(
            _("ERROR: cannot sort by %r: not all items have it") % sort_by
        ) from None
    except TypeError:
        return sorted(records, key=lambda record: (record[sort_by] is not None, str(record[sort_by])))
