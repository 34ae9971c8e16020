"""One service's REST API: a call, its error, its pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from keystoneauth1.exceptions import ClientException, ConnectTimeout
from keystoneauth1.session import Session

from blazar.cloud.openstack.access import Access, Grant
from blazar.cloud.openstack.answers import Answer, failure, short
from blazar.domain.errors import CloudError, CloudNotFound, CloudUnavailable
from blazar.telemetry.trail import global_request_id

if TYPE_CHECKING:
    from requests import Response

ItemT = TypeVar("ItemT")
Means = Mapping[int, type[CloudError]]

_NOTHING_SPECIAL: Means = {}
_PASSING = frozenset({500, 502, 503})
"""Said by a service, or by what is before it, that may be well the next moment."""
_OF_A_LIST: Means = {404: CloudUnavailable}
"""Lists may be empty, but are always there; it was not the service that said this."""
_OF_A_LATER_PAGE: Means = {400: CloudUnavailable, 404: CloudUnavailable}
"""What the page begins after has gone meanwhile; the list must be read anew."""


class RestClient:
    """A service, as somebody sees it; safe to use from any thread.

    A path is given as its segments, which are escaped. Every method may raise, besides what it names:

    * ``CloudNotFound`` for 404;
    * ``CloudConflict`` for 409;
    * ``CloudRefused`` for any other 4xx but 401, 408, 425 and 429;
    * ``CloudUnavailable`` for everything else that is no usable answer.
    """

    def __init__(self, name: str, session: Session, access: Access, *, versioned_as: str | None) -> None:
        """Make no call yet.

        Args:
            name: Of the service, for messages.
            session: Speaks to the service.
            access: Says where it is, and what it wants to see.
            versioned_as: What it is called in the header of microversions; None if it has none.
        """
        self.name = name
        self.access = access
        self._session = session
        self._versioned_as = versioned_as

    def seen_with(self, access: Access) -> RestClient:
        """Return the same service as somebody else sees it, over the same connections."""
        return RestClient(self.name, self._session, access, versioned_as=self._versioned_as)

    def get(
        self,
        *segments: str | int,
        params: Mapping[str, Any] | None = None,
        version: str | None = None,
        means: Means = _NOTHING_SPECIAL,
    ) -> Answer:
        """Return the answer to a GET; parameters that are None are left out."""
        given = {key: value for key, value in (params or {}).items() if value is not None}
        return self._call("GET", segments, version=version, means=means, params=given)

    def find(
        self, *segments: str | int, params: Mapping[str, Any] | None = None, version: str | None = None
    ) -> Answer | None:
        """Return the answer to a GET, or None for 404."""
        try:
            return self.get(*segments, params=params, version=version)
        except CloudNotFound:
            return None

    def post(self, *segments: str | int, body: object, version: str | None = None) -> Answer:
        """Return the answer to a POST of a JSON body."""
        return self._call("POST", segments, version=version, json=body)

    def put(self, *segments: str | int, body: object, version: str | None = None) -> Answer:
        """Return the answer to a PUT of a JSON body."""
        return self._call("PUT", segments, version=version, json=body)

    def patch(self, *segments: str | int, body: object, content_type: str) -> Answer:
        """Return the answer to a PATCH of a JSON body of a special type."""
        return self._call("PATCH", segments, json=body, headers={"Content-Type": content_type})

    def delete(
        self, *segments: str | int, version: str | None = None, means: Means = _NOTHING_SPECIAL
    ) -> Answer:
        """Return the answer to a DELETE."""
        return self._call("DELETE", segments, version=version, means=means)

    def list(
        self,
        *segments: str | int,
        key: str,
        parse: Callable[[Any], ItemT],
        params: Mapping[str, Any] | None = None,
        version: str | None = None,
        until_empty: bool = False,
    ) -> tuple[ItemT, ...]:
        """Return the items of all pages.

        Args:
            segments: The path.
            key: Where in the body the items are; they have an ``id``, if there is more than one page.
            parse: Makes of an item what is returned.
            params: Sent with every page.
            version: The microversion.
            until_empty: Ask on until a page is empty, instead of as long as the service names a next one.

        Raises:
            CloudUnavailable: The list changed while it was read, besides the usual reasons.
        """
        items: list[ItemT] = []
        marker: str | None = None
        while True:
            answer = self.get(
                *segments,
                params={**(params or {}), "marker": marker},
                version=version,
                means=_OF_A_LIST if marker is None else _OF_A_LATER_PAGE,
            )
            items += answer.read(lambda body: [parse(each) for each in body[key]])
            before = marker
            marker = answer.read(lambda body: _next_marker(body, key, until_empty=until_empty))
            if marker is None:
                return tuple(items)
            if marker == before:
                raise CloudUnavailable(f"{answer.call}: the same page came twice")

    def _call(
        self,
        method: str,
        segments: tuple[str | int, ...],
        *,
        version: str | None = None,
        means: Means = _NOTHING_SPECIAL,
        **content: Any,
    ) -> Answer:
        path = "/".join(quote(str(each), safe="") for each in segments)
        call = f"{self.name}: {method} /{path}"
        if any(str(each) in ("", ".", "..") for each in segments):
            raise CloudNotFound(f"{call}: there is nothing of this name")
        if version is not None:
            content["microversion"] = version
            content["microversion_service_type"] = self._versioned_as
        grant = self.access.grant()
        exchange = self._read if method == "GET" else self._exchange
        response = exchange(call, grant, method, path, content)
        if response.status_code == 401 and self.access.renew(grant):
            response = exchange(call, self.access.grant(), method, path, content)
        if not 200 <= response.status_code < 300:
            raise failure(call, response, means)
        return Answer(call, response)

    def _read(self, call: str, grant: Grant, method: str, path: str, content: Mapping[str, Any]) -> Response:
        """Return the answer to what changes nothing: if there is none at once, that to asking once more.

        A look at a reservation is many of these, and is worth nothing if one of them fails.
        """
        try:
            response = self._exchange(call, grant, method, path, content)
        except CloudUnavailable as error:
            if isinstance(error.__cause__, ConnectTimeout):
                raise
        else:
            if response.status_code not in _PASSING:
                return response
        return self._exchange(call, grant, method, path, content)

    def _exchange(
        self, call: str, grant: Grant, method: str, path: str, content: Mapping[str, Any]
    ) -> Response:
        headers = {"Accept": "application/json", **grant.headers, **content.get("headers", {})}
        request_id = global_request_id()
        if request_id is not None:
            headers["X-Openstack-Request-Id"] = request_id
        try:
            return self._session.request(
                f"{grant.url}/{path}",
                method,
                **{**content, "headers": headers},
                # The token is in the headers already; asking the session for it would not be thread-safe.
                authenticated=False,
                raise_exc=False,
            )
        except ConnectTimeout as error:
            raise CloudUnavailable(f"{call}: no answer in {self._session.timeout:g} s") from error
        except (ClientException, OSError) as error:
            raise CloudUnavailable(f"{call}: {short(str(error))}") from error


def _next_marker(body: Mapping[str, Any], key: str, *, until_empty: bool) -> str | None:
    """Return what the next page begins after, if there is one by Glance's ``next`` or the others' links."""
    links = body.get(f"{key}_links", ())
    has_next = until_empty or body.get("next") or any(link["rel"] == "next" for link in links)
    return str(body[key][-1]["id"]) if has_next and body[key] else None
