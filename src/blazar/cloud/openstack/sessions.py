"""Clients for the services of the configuration, with their credentials and connections.

Services whose groups have the same credentials share a token.
"""

from __future__ import annotations

from typing import Any

from keystoneauth1.session import Session, TCPKeepAliveAdapter
from oslo_config import cfg

from blazar import __version__
from blazar.cloud.openstack.access import Credentials, ServiceAccess
from blazar.cloud.openstack.identity import has_credentials, load_plugin, make_old_plugin
from blazar.cloud.openstack.options import KEYSTONE
from blazar.cloud.openstack.rest import RestClient
from blazar.cloud.openstack.settings import Connection, read_connection, read_location
from blazar.http_deadlines import DeadlineAdapter, deadline

_PARTS_OF_A_CALL = 3
"""The parts of a call: connecting, waiting, reading. The whole call is limited to this many timeouts."""


class BoundedSession(Session):
    """A session whose calls end after three timeouts, even if the response arrives slowly."""

    def request(self, *arguments: Any, **options: Any) -> Any:
        """Return the response. Raises DeadlineExceeded, in addition to the errors of a session."""
        timeout = options.get("timeout") or self.timeout
        if timeout is None:
            return super().request(*arguments, **options)
        with deadline(_PARTS_OF_A_CALL * float(timeout)):
            return super().request(*arguments, **options)


class _Adapter(DeadlineAdapter, TCPKeepAliveAdapter):
    """Connections with keep-alive that end at a deadline."""


class Services:
    """Factory for the clients of one configuration, in which all options are registered."""

    def __init__(self, conf: cfg.ConfigOpts, *, connections: int) -> None:
        """Create the factory; reads no option yet.

        Args:
            conf: The configuration.
            connections: Maximum number of concurrent connections to one service.
        """
        self._conf = conf
        self._connections = connections
        self._credentials: dict[object, Credentials] = {}

    def client(
        self,
        group: str,
        *,
        name: str,
        version: str | None = None,
        versioned_as: str | None = None,
        proof_path: str | None = None,
    ) -> RestClient:
        """Return the client of a service.

        Args:
            group: The group of its options.
            name: The service's name, for messages.
            version: Appended to a URL without a version; None if the service's URLs have no version.
            versioned_as: The service's name in the microversion header; None if it has no microversions.
            proof_path: As in :class:`RestClient`.

        Raises:
            OptionError: An option is invalid or missing.
        """
        session = self._session(read_connection(self._conf, group))
        access = self.access(group, version=version)
        return RestClient(name, session, access, versioned_as=versioned_as, proof_path=proof_path)

    def access(self, group: str, *, version: str | None = None) -> ServiceAccess:
        """Return the access of the client of a service. Raises OptionError."""
        return ServiceAccess(self.credentials(group), read_location(self._conf, group, version))

    def credentials(self, group: str) -> Credentials:
        """Return the user of a service, from its own group, ``[keystone]``, or the old options."""
        owner = next((each for each in (group, KEYSTONE) if has_credentials(self._conf, each)), None)
        plugin = make_old_plugin(self._conf) if owner is None else load_plugin(self._conf, owner)
        connection = read_connection(self._conf, owner or KEYSTONE)
        # A plugin without a cache id is shared by the services that use its group.
        key = (plugin.get_cache_id() or owner, connection)
        if key not in self._credentials:
            self._credentials[key] = Credentials(plugin, self._session(connection))
        return self._credentials[key]

    def _session(self, connection: Connection) -> Session:
        session = BoundedSession(
            verify=connection.verify,
            cert=connection.certificate,
            timeout=connection.timeout_seconds,
            app_name="blazar",
            app_version=__version__,
        )
        for scheme in ("http://", "https://"):
            session.mount(scheme, _Adapter(pool_maxsize=self._connections))
        return session
