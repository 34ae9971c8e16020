"""From the configuration: who speaks to which service, and over what connections.

Services whose groups say the same of their user share its token.
"""

from __future__ import annotations

from keystoneauth1.session import Session, TCPKeepAliveAdapter
from oslo_config import cfg

from blazar import __version__
from blazar.cloud.openstack.access import Credentials, ServiceAccess
from blazar.cloud.openstack.identity import has_credentials, load_plugin, make_old_plugin
from blazar.cloud.openstack.options import KEYSTONE
from blazar.cloud.openstack.rest import RestClient
from blazar.cloud.openstack.settings import Connection, read_connection, read_location


class Services:
    """Makes the clients of the services of one configuration, in which all options are registered."""

    def __init__(self, conf: cfg.ConfigOpts, *, connections: int) -> None:
        """Read nothing yet.

        Args:
            conf: The configuration.
            connections: Threads that may speak to one service at the same time.
        """
        self._conf = conf
        self._connections = connections
        self._credentials: dict[object, Credentials] = {}

    def client(
        self, group: str, *, name: str, version: str | None = None, versioned_as: str | None = None
    ) -> RestClient:
        """Return the client of a service.

        Args:
            group: Of its options.
            name: For messages.
            version: Put at the end of a URL in which no version is; None if its URLs have none.
            versioned_as: What it is called in the header of microversions; None if it has none.

        Raises:
            OptionError: The options cannot be used.
        """
        location = read_location(self._conf, group, version)
        session = self._session(read_connection(self._conf, group))
        access = ServiceAccess(self.credentials(group), location)
        return RestClient(name, session, access, versioned_as=versioned_as)

    def credentials(self, group: str) -> Credentials:
        """Return the user of a service: of its own group, of ``[keystone]``, or of the old options."""
        owner = next((each for each in (group, KEYSTONE) if has_credentials(self._conf, each)), None)
        plugin = make_old_plugin(self._conf) if owner is None else load_plugin(self._conf, owner)
        connection = read_connection(self._conf, owner or KEYSTONE)
        # A plugin that cannot say what makes it special is shared by the group that describes it.
        key = (plugin.get_cache_id() or owner, connection)
        if key not in self._credentials:
            self._credentials[key] = Credentials(plugin, self._session(connection))
        return self._credentials[key]

    def _session(self, connection: Connection) -> Session:
        session = Session(
            verify=connection.verify,
            cert=connection.certificate,
            timeout=connection.timeout_seconds,
            app_name="blazar",
            app_version=__version__,
        )
        for scheme in ("http://", "https://"):
            session.mount(scheme, TCPKeepAliveAdapter(pool_maxsize=self._connections))
        return session
