"""A client for the REST API of one service: calls, errors, pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from keystoneauth1.exceptions import ClientException, ConnectTimeout
from keystoneauth1.session import Session

from blazar.cloud.openstack.access import Access, Grant
from blazar.cloud.openstack.answers import Answer, failure, short
from blazar.domain.errors import CloudError, CloudNotFound, CloudUnavailable
from blazar.http_deadlines import DeadlineExceeded
from blazar.telemetry.log_context import global_request_id

if TYPE_CHECKING:
    from requests import Response

ItemT = TypeVar("ItemT")
Means = Mapping[int, type[CloudError]]

_NOTHING_SPECIAL: Means = {}
_PASSING = frozenset({500, 502, 503})
"""Statuses that a service or its proxy may return only briefly."""
_OF_A_LIST: Means = {404: CloudUnavailable}
"""Errors for a list. If it always exists, possibly empty, a 404 does not come from the service."""
_OF_A_LATER_PAGE: Means = {400: CloudUnavailable, 404: CloudUnavailable}
"""Errors for a later page. The item before it was deleted, so the list must be read again."""


class RestClient:
    """A service with one user's credentials; thread-safe.

    A path is given as its segments, which are escaped. Every method may raise, in addition to the errors that
    it names:

    * ``CloudNotFound`` for 404;
    * ``CloudConflict`` for 409;
    * ``CloudRefused`` for any other 4xx except 401, 408, 425 and 429;
    * ``CloudUnavailable`` for every other unusable response, and if there is no response.
    """

    def __init__(
        self,
        name: str,
        session: Session,
        access: Access,
        *,
        versioned_as: str | None,
        proof_path: str | None = None,
    ) -> None:
        """Create the client; makes no call.

        Args:
            name: The service's name, for messages.
            session: Sends the requests.
            access: Returns the URL and the headers.
            versioned_as: The service's name in the microversion header; None if it has no microversions.
            proof_path: A path that only administrators may read. After the service did not respond, nothing
                else is read until this is: a service that has just started may treat an administrator as a
                user, and answer with empty lists.
        """
        self.name = name
        self.access = access
        self._session = session
        self._versioned_as = versioned_as
        self._proof_path = proof_path
        self._needs_proof = False

    def seen_with(self, access: Access) -> RestClient:
        """Return a client for the same service with another user's credentials, over the same connections."""
        return RestClient(self.name, self._session, access, versioned_as=self._versioned_as)

    def get(
        self,
        *segments: str | int,
        params: Mapping[str, Any] | None = None,
        version: str | None = None,
        means: Means = _NOTHING_SPECIAL,
    ) -> Answer:
        """Return the response to a GET; parameters that are None are omitted."""
        given = {key: value for key, value in (params or {}).items() if value is not None}
        return self._call("GET", segments, version=version, means=means, params=given)

    def find(
        self, *segments: str | int, params: Mapping[str, Any] | None = None, version: str | None = None
    ) -> Answer | None:
        """Return the response to a GET, or None for 404."""
        try:
            return self.get(*segments, params=params, version=version)
        except CloudNotFound:
            return None

    def post(
        self,
        *segments: str | int,
        body: object,
        version: str | None = None,
        means: Means = _NOTHING_SPECIAL,
    ) -> Answer:
        """Return the response to a POST of a JSON body."""
        return self._call("POST", segments, version=version, means=means, json=body)

    def put(
        self,
        *segments: str | int,
        body: object,
        version: str | None = None,
        means: Means = _NOTHING_SPECIAL,
    ) -> Answer:
        """Return the response to a PUT of a JSON body."""
        return self._call("PUT", segments, version=version, means=means, json=body)

    def patch(self, *segments: str | int, body: object, content_type: str) -> Answer:
        """Return the response to a PATCH of a JSON body with this content type."""
        return self._call("PATCH", segments, json=body, headers={"Content-Type": content_type})

    def delete(
        self,
        *segments: str | int,
        params: Mapping[str, str] | None = None,
        version: str | None = None,
        means: Means = _NOTHING_SPECIAL,
    ) -> Answer:
        """Return the response to a DELETE."""
        return self._call("DELETE", segments, version=version, means=means, params=dict(params or {}))

    def list(
        self,
        *segments: str | int,
        key: str,
        parse: Callable[[Any], ItemT],
        params: Mapping[str, Any] | None = None,
        version: str | None = None,
        until_empty: bool = False,
        is_optional: bool = False,
    ) -> tuple[ItemT, ...]:
        """Return the items of all pages.

        Args:
            segments: The path.
            key: The key of the items in the body; if there are several pages, items have an ``id``.
            parse: Returns the result for one item.
            params: Sent with every page.
            version: The microversion.
            until_empty: Read pages until one is empty, instead of while the service names a next one.
            is_optional: The service has this list only with one of its own plugins, or for an object that
                exists; a 404 then comes from the service.

        Raises:
            CloudNotFound: The list is optional and does not exist.
            CloudUnavailable: The list changed while it was read, or one of the general reasons applies.
        """
        of_first_page = _NOTHING_SPECIAL if is_optional else _OF_A_LIST
        items: list[ItemT] = []
        marker: str | None = None
        while True:
            answer = self.get(
                *segments,
                params={**(params or {}), "marker": marker},
                version=version,
                means=of_first_page if marker is None else _OF_A_LATER_PAGE,
            )
            page, following = answer.read(lambda body: _page(body, key, parse, until_empty=until_empty))
            items += page
            if following is None:
                return tuple(items)
            if following == marker:
                raise CloudUnavailable(f"{answer.call}: the same page was returned twice")
            marker = following

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
            raise CloudNotFound(f"{call}: no object can have this name")
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

    def _prove(self, grant: Grant) -> None:
        """Raise CloudUnavailable if the service may not treat this client as an administrator's yet."""
        if not self._needs_proof:
            return
        call = f"{self.name}: GET /{self._proof_path}"
        response = self._exchange(call, grant, "GET", str(self._proof_path), {})
        if response.status_code == 403:
            raise CloudUnavailable(f"{call}: the service is starting, or this user is no administrator")
        if response.status_code >= 500:
            raise failure(call, response, _NOTHING_SPECIAL)
        # After a 401, the read also gets one, and is repeated with a new token.
        self._needs_proof = response.status_code == 401

    def _read(self, call: str, grant: Grant, method: str, path: str, content: Mapping[str, Any]) -> Response:
        """Return the response to a call that changes nothing; repeat it once unless it timed out.

        An observation of a reservation makes many such calls, and is useless if one of them fails.
        """
        self._prove(grant)
        try:
            response = self._exchange(call, grant, method, path, content)
        except CloudUnavailable as error:
            if isinstance(error.__cause__, (ConnectTimeout, DeadlineExceeded)):
                raise
        else:
            if response.status_code not in _PASSING:
                return response
        self._prove(grant)
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
                # The token is in the headers already; the session's own authentication is not thread-safe.
                authenticated=False,
                raise_exc=False,
            )
        except ConnectTimeout as error:
            self._needs_proof = self._proof_path is not None
            raise CloudUnavailable(f"{call}: no answer in {self._session.timeout:g} s") from error
        except (ClientException, OSError) as error:
            self._needs_proof = self._proof_path is not None
            raise CloudUnavailable(f"{call}: {short(str(error))}") from error


def _page(
    body: Mapping[str, Any], key: str, parse: Callable[[Any], ItemT], *, until_empty: bool
) -> tuple[Sequence[ItemT], str | None]:
    """Return the items of a page, and the marker of the next page or None."""
    return [parse(each) for each in body[key]], _next_marker(body, key, until_empty=until_empty)


def _next_marker(body: Mapping[str, Any], key: str, *, until_empty: bool) -> str | None:
    """Return the marker of the next page, if Glance's ``next`` or other services' links name one."""
    # Cinder names the links of most lists in the singular.
    links = body.get(f"{key}_links") or body.get(f"{key.removesuffix('s')}_links", ())
    has_next = until_empty or body.get("next") or any(link["rel"] == "next" for link in links)
    return str(body[key][-1]["id"]) if has_next and body[key] else None
