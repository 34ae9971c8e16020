"""The client of API version 1."""

from __future__ import annotations

import logging
from typing import Any

from blazarclient.v1 import allocations, floatingips, hosts, leases

LOG = logging.getLogger(__name__)


class Client:
    """Everything that the service offers, by manager.

    Attributes:
        lease: Leases.
        host: Hosts and the resource properties of hosts.
        floatingip: Floating IPs.
        allocation: What resources are allocated to.

    Args:
        blazar_url: Deprecated: the URL of the service, ``/v1`` included.
        auth_token: Deprecated: a token, to go with *blazar_url*.
        session: A keystoneauth1 session, or an adapter of one.
        kwargs: With a session: what ``keystoneauth1.adapter.Adapter`` accepts, such as ``interface``,
            ``region_name``, ``endpoint_override``, ``connect_retries`` and ``default_microversion``.

    Raises:
        InsufficientAuthInformation: Neither a session nor both a URL and a token were given.
        TypeError: The adapter does not know a keyword.
    """

    version = "1"

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

        where = (blazar_url, auth_token, session)
        self.lease = leases.LeaseClientManager(*where, version=self.version, **kwargs)
        self.host = hosts.ComputeHostClientManager(*where, version=self.version, **kwargs)
        self.floatingip = floatingips.FloatingIPClientManager(*where, version=self.version, **kwargs)
        self.allocation = allocations.AllocationClientManager(*where, version=self.version, **kwargs)

        if not session:
            LOG.warning("blazar_url and auth_token are deprecated; give the client a keystoneauth1 session")
