"""Tokens and the service URLs that belong to them; shared by all threads, and by services with one user."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import urlsplit

from keystoneauth1.exceptions import ClientException, Forbidden, NotFound, Unauthorized
from keystoneauth1.identity import Token
from keystoneauth1.plugin import BaseAuthPlugin
from keystoneauth1.session import Session

from blazar.cloud.openstack.answers import short
from blazar.cloud.openstack.settings import Location
from blazar.domain.errors import CloudRefused, CloudUnavailable

_ADMIN = "admin"
"""The role of administrators, as Cinder and Glance know them by default."""
_VERSION = re.compile(r"v[0-9]+(\.[0-9]+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """The present URL of a service, and the headers that authenticate a call; ``repr`` omits the headers."""

    url: str
    headers: Mapping[str, str] = field(repr=False)


class Access(Protocol):
    """Access to one service with one user's credentials."""

    def grant(self) -> Grant:
        """Return the present grant. Raises CloudUnavailable if none is available."""

    def renew(self, refused: Grant) -> bool:
        """Return whether a new grant may be accepted, after the service answered 401 to this one."""


class Credentials:
    """A Keystone user and its token, which is fetched on demand and again before it expires."""

    def __init__(self, plugin: BaseAuthPlugin, session: Session) -> None:
        """Take ownership of the plugin; no other object may use it, because its renewal is not thread-safe.

        Args:
            plugin: Gets tokens from Keystone.
            session: Sends the plugin's requests.
        """
        self._plugin = plugin
        self._session = session
        self._lock = threading.Lock()
        self._current: Mapping[str, str] | None = None
        self._urls: dict[Location, str] = {}
        """URLs of services from the catalog of the current token; a search takes milliseconds."""
        self._failures = 0
        self._failure = ""

    def grant(self, location: Location) -> Grant:
        """Return the token and the URL of a service.

        Raises:
            CloudUnavailable: Keystone issued no token, or its catalog has no such endpoint.
        """
        failures = self._failures
        with self._lock:
            if self._failures != failures:
                # Another thread's request failed while this one waited. Another attempt could time out as
                # well, and the time-outs of all waiting threads would add up.
                raise CloudUnavailable(self._failure)
            headers = self._fetch()
            if location not in self._urls:
                self._urls[location] = self._locate(location)
            return Grant(url=self._urls[location], headers=headers)

    def user_id(self) -> str:
        """Return the id of the user. Raises CloudUnavailable."""
        with self._lock:
            try:
                found = self._plugin.get_user_id(self._session)
            except (ClientException, OSError) as error:
                raise CloudUnavailable(f"Keystone: no token is available: {short(str(error))}") from error
        if not found:
            raise CloudUnavailable("Keystone: the token has no user")
        return str(found)

    def project_id(self) -> str:
        """Return the id of the project that the token is for; empty for none. Raises CloudUnavailable."""
        with self._lock:
            try:
                return self._plugin.get_project_id(self._session) or ""
            except (ClientException, OSError) as error:
                raise CloudUnavailable(f"Keystone: no token is available: {short(str(error))}") from error

    def in_project(self, project_id: str) -> Credentials:
        """Return the same user's credentials in a project in which it has a role.

        Raises:
            CloudRefused: The user has no role there, or an administrator's, or the type of its credentials
                gives no token for other projects.
            CloudUnavailable: Keystone issued no token.
        """
        with self._lock:
            token = self._fetch().get("X-Auth-Token")
        auth_url = getattr(self._plugin, "auth_url", None)
        if not token or not auth_url:
            raise CloudRefused("Keystone: the service's credentials give no token for other projects")
        plugin = Token(auth_url, token=token, project_id=project_id)
        try:
            roles = frozenset(plugin.get_access(self._session).role_names or ())
        except (Unauthorized, Forbidden, NotFound) as error:
            raise CloudRefused(
                f"Keystone: the service's account gets no token for project {project_id}; it needs a role"
                f" there: {short(str(error))}"
            ) from error
        except (ClientException, OSError) as error:
            raise CloudUnavailable(f"Keystone: no token is available: {short(str(error))}") from error
        if _ADMIN in roles:
            raise CloudRefused(
                f"Keystone: the service's account has the role {_ADMIN} in project {project_id}, with which"
                " it sees what members do not; it needs another role there"
            )
        return Credentials(plugin, self._session)

    def renew(self, refused: Grant) -> bool:
        """Discard the token of this grant, unless another thread has done so already."""
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
            self._failure = f"Keystone: no token is available: {short(str(error))}"
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
            raise CloudUnavailable(f"Keystone: no endpoint is available: {short(str(error))}") from error
        if not url:
            raise CloudUnavailable(f"Keystone: the catalog has no endpoint for {location.service_type}")
        return _versioned(url, location.version)

    def _with_project(self, url: str) -> str:
        for key in ("%(project_id)s", "%(tenant_id)s"):
            if key in url:
                url = url.replace(key, self._plugin.get_project_id(self._session) or "")
        return url


class ServiceAccess:
    """Access to a service with the service's own credentials."""

    def __init__(self, credentials: Credentials, location: Location) -> None:
        self._credentials = credentials
        self._location = location

    def grant(self) -> Grant:
        """Return the present grant. Raises CloudUnavailable if none is available."""
        return self._credentials.grant(self._location)

    def in_project(self, project_id: str) -> ProjectAccess:
        """Return access with the same account in one project. Makes no call."""
        return ProjectAccess(self._credentials, self._location, project_id)

    def renew(self, refused: Grant) -> bool:
        """Discard the token of this grant; the next grant has a new one."""
        return self._credentials.renew(refused)


class ProjectAccess:
    """Access to a service with the service's own account in one project; for a few calls."""

    def __init__(self, credentials: Credentials, location: Location, project_id: str) -> None:
        self._credentials = credentials
        self._location = location
        self._project_id = project_id
        self._own: Credentials | None = None

    def grant(self) -> Grant:
        """Return the present grant. Raises CloudRefused, CloudUnavailable."""
        if self._own is None:
            self._own = self._credentials.in_project(self._project_id)
        return self._own.grant(self._location)

    def renew(self, refused: Grant) -> bool:
        """Return False: the token has just been issued."""
        return False


class LesseeAccess:
    """Access to a service with the token of a lessee, which cannot be renewed."""

    def __init__(self, service: Access, token: str) -> None:
        self._service = service
        self._token = token

    def grant(self) -> Grant:
        """Return the service's URL with the lessee's token. Raises CloudUnavailable if there is no URL."""
        return Grant(url=self._service.grant().url, headers={"X-Auth-Token": self._token})

    def renew(self, refused: Grant) -> bool:
        """Return False: there is no other token."""
        return False


def _versioned(url: str, version: str | None) -> str:
    url = url.rstrip("/")
    if version is None or any(_VERSION.fullmatch(part) for part in urlsplit(url).path.split("/")):
        return url
    return f"{url}/{version}"
