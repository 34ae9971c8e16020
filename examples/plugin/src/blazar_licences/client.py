"""An HTTP client for the licence server; it returns typed values and raises the service's errors."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import requests

from blazar.domain.errors import CloudConflict, CloudError, CloudNotFound, CloudRefused, CloudUnavailable
from blazar_licences.port import Grant, LicenceServer, Pool, PoolState

_ERRORS: Mapping[int, type[CloudError]] = {404: CloudNotFound, 409: CloudConflict, 429: CloudUnavailable}


class HttpLicenceServer:
    """Implementation of :class:`blazar_licences.port.LicenceServer`; thread-safe."""

    def __init__(self, endpoint: str, token: str | None = None, timeout: timedelta = timedelta(seconds=10)):
        self._endpoint = endpoint
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._timeout = timeout.total_seconds()

    def list_pools(self) -> tuple[Pool, ...]:
        """Return all pools."""
        return tuple(_read(_pool, each) for each in self._ask("GET", "pools")["pools"])

    def list_grants(self, prefix: str) -> tuple[Grant, ...]:
        """Return the grants whose ids start with *prefix*."""
        found = self._ask("GET", f"grants?prefix={quote(prefix, safe='')}")["grants"]
        return tuple(_read(_grant, each) for each in found)

    def put_grant(self, grant: Grant) -> None:
        """Create or change a grant."""
        body = {
            "pool": grant.pool,
            "project_id": grant.project_id,
            "seats": grant.seats,
            "until": grant.until.isoformat(),
        }
        self._ask("PUT", _path(grant.id), body)

    def put_notice(self, grant_id: str, at: datetime) -> None:
        """Notify the users of a grant of its end."""
        self._ask("PUT", f"{_path(grant_id)}/notice", {"at": at.isoformat()})

    def delete_grant(self, grant_id: str) -> None:
        """Delete a grant."""
        self._ask("DELETE", _path(grant_id))

    def _ask(self, method: str, path: str, body: object = None) -> Any:
        """Return the JSON body of a response. Raises as in the port."""
        url = f"{self._endpoint}/{path}"
        try:
            answer = requests.request(method, url, json=body, headers=self._headers, timeout=self._timeout)
        except requests.RequestException as error:
            raise CloudUnavailable(f"the licence server does not respond: {error}") from error
        if answer.status_code >= 400:
            kind = _ERRORS.get(
                answer.status_code, CloudUnavailable if answer.status_code >= 500 else CloudRefused
            )
            raise kind(f"the licence server answered: {answer.text[:200] or answer.status_code}")
        try:
            return answer.json() if answer.content else None
        except ValueError as error:
            raise CloudUnavailable("the licence server's response is not JSON") from error


def _path(grant_id: str) -> str:
    return f"grants/{quote(grant_id, safe='')}"


def _read(parse: Any, value: Any) -> Any:
    try:
        return parse(value)
    except (KeyError, TypeError, ValueError) as error:
        raise CloudUnavailable(f"the licence server's response is invalid: {error!r}") from error


def _pool(value: Mapping[str, Any]) -> Pool:
    return Pool(
        name=value["name"],
        product=value["product"],
        seats=int(value["seats"]),
        state=PoolState(value["state"]),
        note=value["note"],
    )


def _grant(value: Mapping[str, Any]) -> Grant:
    notice = value["notice"]
    return Grant(
        id=value["id"],
        pool=value["pool"],
        project_id=value["project_id"],
        seats=int(value["seats"]),
        until=datetime.fromisoformat(value["until"]),
        in_use=int(value["in_use"]),
        notice=None if notice is None else datetime.fromisoformat(notice),
    )


if TYPE_CHECKING:
    _: type[LicenceServer] = HttpLicenceServer
