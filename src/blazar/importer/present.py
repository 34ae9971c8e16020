"""The contents of this service's database before an import."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from blazar.domain.capacity import Share
from blazar.domain.interval import Interval
from blazar.domain.lease import Lease, ResourceId
from blazar.domain.plugin_resources import ResourceProperty
from blazar.plugins.floatingips.floatingip import FloatingIP
from blazar.plugins.hosts.host import Host

IMPORT = "import"
"""The event name of journal entries about imported objects; for non-leases, the reason names the object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Booking:
    """A resource, or a share of it, that is reserved in a window."""

    window: Interval
    share: Share | None
    holder: str
    """The holder's name in messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Present:
    """The contents of this service's database that affect an import."""

    now: datetime
    leases: Mapping[str, Lease] = field(default_factory=dict)
    hosts: Mapping[str, Host] = field(default_factory=dict)
    floatingips: Mapping[str, FloatingIP] = field(default_factory=dict)
    properties: tuple[ResourceProperty, ...] = ()
    bookings: Mapping[ResourceId, tuple[Booking, ...]] = field(default_factory=dict)
    imported_before: frozenset[str] = frozenset()
    """Ids of leases, and names of other objects such as ``host 12``, whether or not they still exist here."""
    first_import: datetime | None = None
    """When the first object was imported; None if none was."""
    usage_start: datetime | None = None
    """The instant before which leases that have ended may be missing in reports of usage; None if none is."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """Reasons why rows are not imported because of their ids, by name: ``lease 5b0c…``, ``host 12``."""
