"""Client of API version 1."""

from __future__ import annotations

import logging
from typing import Any

from blazarclient.v1 import (
    allocations,
    availability,
    catalogue,
    feeds,
    floatingips,
    hosts,
    leases,
    maintenance,
    networks,
    offers,
    storage_pools,
    subscriptions,
    timeline,
    usage,
)

LOG = logging.getLogger(__name__)


class Client:
    """Client of the service, with a manager for each resource.

    Attributes:
        lease: Leases.
        host: Hosts and their resource properties.
        floatingip: Floating IPs.
        network: Network segments.
        storage_pool: Storage pools.
        maintenance: Maintenance of resources.
        allocation: Allocations of resources.
        availability: Free times.
        catalogue: What can be reserved.
        timeline: Resources over time, for calendars.
        usage: Usage of reserved resources.
        offer: Offers.
        feed: Feeds, which calendar programs read.
        subscription: Subscriptions to notices.

    Args:
        blazar_url: Deprecated: the URL of the service; ``/v1`` may be left out.
        auth_token: Deprecated: a token for *blazar_url*.
        session: A keystoneauth1 session, or an adapter of one.
        kwargs: With a session: options of ``keystoneauth1.adapter.Adapter``, such as ``interface``,
            ``region_name``, ``endpoint_override`` (``/v1`` may be left out), ``connect_retries`` and
            ``default_microversion``; and ``pause_before_retry`` of
            :class:`blazarclient.base.SessionClient`.

    Raises:
        InsufficientAuthInformation: Neither a session nor both a URL and a token are given.
        TypeError: The adapter does not accept a keyword.
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

        connection = (blazar_url, auth_token, session)
        self.lease = leases.LeaseClientManager(*connection, version=self.version, **kwargs)
        self.host = hosts.ComputeHostClientManager(*connection, version=self.version, **kwargs)
        self.floatingip = floatingips.FloatingIPClientManager(*connection, version=self.version, **kwargs)
        self.network = networks.NetworkClientManager(*connection, version=self.version, **kwargs)
        self.storage_pool = storage_pools.StoragePoolClientManager(
            *connection, version=self.version, **kwargs
        )
        self.maintenance = maintenance.MaintenanceClientManager(*connection, version=self.version, **kwargs)
        self.availability = availability.AvailabilityClientManager(
            *connection, version=self.version, **kwargs
        )
        self.catalogue = catalogue.CatalogueClientManager(*connection, version=self.version, **kwargs)
        self.timeline = timeline.TimelineClientManager(*connection, version=self.version, **kwargs)
        self.usage = usage.UsageClientManager(*connection, version=self.version, **kwargs)
        self.offer = offers.OfferClientManager(*connection, version=self.version, **kwargs)
        self.feed = feeds.FeedClientManager(*connection, version=self.version, **kwargs)
        self.subscription = subscriptions.SubscriptionClientManager(
            *connection, version=self.version, **kwargs
        )
        self.allocation = allocations.AllocationClientManager(*connection, version=self.version, **kwargs)

        if not session:
            LOG.warning("blazar_url and auth_token are deprecated; pass a keystoneauth1 session")
