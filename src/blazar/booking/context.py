"""What use cases and the reconciler work with."""

from __future__ import annotations

import random
import threading
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from blazar.booking.clock_guard import ClockGuard
from blazar.booking.contention import Contention
from blazar.booking.index import AvailabilityIndex
from blazar.booking.lease_cache import LeaseMemory
from blazar.booking.contention import Rush
from blazar.domain.errors import UnsupportedResourceType
from blazar.plugins.contract import ResourcePlugin
from blazar.ports.clock import Clock
from blazar.ports.cloud import Cloud
from blazar.ports.enforcement import EnforcementFilter
from blazar.ports.limits import Limits
from blazar.ports.meter import Meter, NoMeter
from blazar.ports.store import Store
from blazar.ports.trail import NoTrail, Trail
from blazar.ports.waker import Waker
from blazar.settings import Settings

Plugin = ResourcePlugin[Any, Any, Any]


def new_uuid() -> str:
    """Return an id that nobody had before."""
    return str(uuid.uuid4())


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Everything a use case needs; made once in the wiring."""

    store: Store
    clock: Clock
    cloud: Cloud
    plugins: Mapping[str, Plugin]
    indexes: Mapping[str, AvailabilityIndex]
    """By collection, for every collection that a plugin reserves from."""
    settings: Settings
    waker: Waker
    filters: Mapping[str, EnforcementFilter] = field(default_factory=dict)
    """The operator's rules about usage by name, in the order in which they are asked."""
    limits: Limits | None = None
    """What projects may reserve; None where that is not limited."""
    lease_memory: LeaseMemory = field(default_factory=LeaseMemory)
    """What these plugins made of the leases that were listed."""
    rush: Rush = field(default_factory=Rush)
    """Who of this process is after resources now."""
    random: random.Random = field(default_factory=random.Random)
    new_id: Callable[[], str] = new_uuid
    """Where the ids of what is stored come from; with this and *random*, a run can be repeated exactly."""
    meter: Meter = field(default_factory=NoMeter)
    """The metrics sink."""
    log_context: LogContext = field(default_factory=NoLogContext)
    """The log context of each thread."""
    clock_guard: ClockGuard = field(default_factory=ClockGuard)
    """The check of this process's clock."""
    ending: threading.Event = field(default_factory=threading.Event)
    """Set when the process is about to end; from then on, requests no longer wait."""

    @property
    def quota_units(self) -> Units:
        """Return the units in which each resource type is counted."""
        return {key: plugin.quota_unit for key, plugin in self.plugins.items()}

    def doubt(self, error: ConcurrentUpdate) -> None:
        """Before the next search, read again from the database the resources that a claim found stale."""
        if error.stale:
            for index in self.indexes.values():
                index.doubt(error.stale)

    def plugin_for(self, resource_type: str) -> Plugin:
        """Return the plugin of a resource type. Raises UnsupportedResourceType."""
        plugin = self.plugins.get(resource_type)
        if plugin is None:
            known = ", ".join(sorted(self.plugins))
            raise UnsupportedResourceType(
                f"resource_type: {resource_type[:66]} is not supported; known are: {known}"
            )
        return plugin
