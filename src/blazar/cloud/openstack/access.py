"""Tokens and the URLs that they are good for, shared by all threads and by services of one user."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import urlsplit

from keystoneauth1.exceptions import ClientException
from keystoneauth1.plugin import BaseAuthPlugin
from keystoneauth1.session import Session

from blazar.cloud.openstack.answers import short
from blazar.cloud.openstack.settings import Location
from blazar.domain.errors import CloudUnavailable

_VERSION = re.compile(r"v[0-9]+(\.[0-9]+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """Where a service is now, and the headers that make it answer; these are not shown by ``repr``."""

    url: str
    headers: Mapping[str, str] = field(repr=False)


class Access(Protocol):
    """Somebody's way to a service."""

    def grant(self) -> Grant:
        """Return the present grant. Raises CloudUnavailable if there is none to be had now."""

    def renew(self, refused: Grant) -> bool:
        """Return whether another grant may do better than this one, to which the service said 401."""


class Credentials:
    """A user of Keystone with one token, which is fetched when it is needed, and again before it expires."""

    def __init__(self, plugin: BaseAuthPlugin, session: Session) -> None:
        """Take the plugin over: nobody else may use it, as it is not safe to renew between threads.

        Args:
            plugin: Knows how to get a token.
            session: Speaks to Keystone.
        """
        self._plugin = plugin
        self._session = session
        self._lock = threading.Lock()
        self._current: Mapping[str, str] | None = None
        self._urls: dict[Location, str] = {}
        """Where services are by the catalog of the current token; looking through it costs milliseconds."""
        self._failures = 0
        self._failure = ""

    def grant(self, location: Location) -> Grant:
        """Return the token and the URL of a service.

        Raises:
            CloudUnavailable: Keystone gave no token, or its catalog has no such endpoint.
        """
        failures = self._failures
        with self._lock:
            if self._failures != failures:
                # Whoever waited here while Keystone did not answer does not ask it once more: that many
                # time-outs in a row would be waited for.
                raise CloudUnavailable(self._failure)
            headers = self._fetch()
            if location not in self._urls:
                self._urls[location] = self._locate(location)
            return Grant(url=self._urls[location], headers=headers)

    def user_id(self) -> str:
        """Return the user's id. Raises CloudUnavailable."""
        with self._lock:
            try:
                found = self._plugin.get_user_id(self._session)
            except (ClientException, OSError) as error:
                raise CloudUnavailable(f"Keystone: no token to be had: {short(str(error))}") from error
        if not found:
            raise CloudUnavailable("Keystone: the token does not say whose it is")
        return str(found)

    def renew(self, refused: Grant) -> bool:
        """Forget the token of this grant, unless another thread has done so already."""
        with self._lock:
            if refused.headers != self._current:
                return True
            self._current = None
            return self._plugin.invalidate()

    def _fetch(self) -> Mapping[str, str]:
        try:
            headers = self._plugin.get_headers(self._session)
        except (ClientException, OSError) as error:
            self._failures += 1
            self._failure = f"Keystone: no token to be had: {short(str(error))}"
            raise CloudUnavailable(self._failure) from error
        fetched = dict(headers or {})
        if fetched != self._current:
            self._current = fetched
            self._urls.clear()
        return fetched

    def _locate(self, location: Location) -> str:
        try:
            if location.url is not None:
                return _versioned(self._with_project(location.url), location.version)
            url = self._plugin.get_endpoint(
                self._session,
                service_type=location.service_type,
                service_name=location.service_name,
                interface=list(location.interfaces),
                region_name=location.region,
            )
        except (ClientException, OSError) as error:
            raise CloudUnavailable(f"Keystone: no endpoint to be had: {short(str(error))}") from error
        if not url:
            raise CloudUnavailable(f"Keystone: the catalog has no endpoint of {location.service_type}")
        return _versioned(url, location.version)

    def _with_project(self, url: str) -> str:
        for key in ("%(project_id)s", "%(tenant_id)s"):
            if key in url:
                url = url.replace(key, self._plugin.get_project_id(self._session) or "")
        return url


class ServiceAccess:
    """The service's own way to a service."""

    def __init__(self, credentials: Credentials, location: Location) -> None:
        self._credentials = credentials
        self._location = location

    def grant(self) -> Grant:
        """Return the present grant. Raises CloudUnavailable if there is none to be had now."""
        return self._credentials.grant(self._location)

    def renew(self, refused: Grant) -> bool:
        """Forget the token of this grant; the next one has another."""
        return self._credentials.renew(refused)


class LesseeAccess:
    """A lessee's way to where the service goes itself, with a token that nobody here can renew."""

    def __init__(self, service: Access, token: str) -> None:
        self._service = service
        self._token = token

    def grant(self) -> Grant:
        """Return the service's URL with the lessee's token. Raises CloudUnavailable if there is no URL."""
        return Grant(url=self._service.grant().url, headers={"X-Auth-Token": self._token})

    def renew(self, refused: Grant) -> bool:
        """Return False."""
        return False


def _versioned(url: str, version: str | None) -> str:
    url = url.rstrip("/")
    if version is None or any(_VERSION.fullmatch(part) for part in urlsplit(url).path.split("/")):
        return url
    return f"{url}/{version}"
