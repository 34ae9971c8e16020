"""What is in our own database before anything is taken over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from blazar.domain.capacity import Share
from blazar.domain.floatingips import FloatingIP
from blazar.domain.hosts import Host, ResourceProperty
from blazar.domain.interval import Interval
from blazar.domain.lease import Lease, ResourceId

IMPORT = "import"
"""The journal's event of everything that was imported; of what is no lease, the reason says what it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """That somebody holds a resource, or a share of it, in a window."""

    window: Interval
    share: Share | None
    holder: str
    """Whose it is, for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Here:
    """All of it that matters for what is to come."""

    now: datetime
    leases: Mapping[str, Lease] = field(default_factory=dict)
    hosts: Mapping[str, Host] = field(default_factory=dict)
    floatingips: Mapping[str, FloatingIP] = field(default_factory=dict)
    properties: tuple[ResourceProperty, ...] = ()
    promises: Mapping[ResourceId, tuple[Promise, ...]] = field(default_factory=dict)
    imported_before: frozenset[str] = frozenset()
    """Ids of leases, and of what is no lease as in ``host 12``, whether they are still here or not."""
