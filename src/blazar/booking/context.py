"""Dependencies of the use cases and the reconciler."""

from __future__ import annotations

import random
import threading
import uuid
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from blazar.booking.clock_guard import ClockGuard
from blazar.booking.contention import Contention
from blazar.booking.index import AvailabilityIndex
from blazar.booking.lease_cache import LeaseCache
from blazar.booking.recent_refusals import RecentRefusals
from blazar.booking.waits import Waits
from blazar.domain.errors import ConcurrentUpdate, UnsupportedResourceType
from blazar.domain.lease import ResourceId
from blazar.domain.quotas import Units
from blazar.domain.rules.rule import Rules
from blazar.null_ports import NoLogContext, NoMeter
from blazar.plugins.contract import JsonObject, ResourcePlugin
from blazar.ports.clock import Clock
from blazar.ports.cloud import Cloud
from blazar.ports.enforcement import EnforcementFilter
from blazar.ports.log_context import LogContext
from blazar.ports.meter import Meter
from blazar.ports.quotas import Limits
from blazar.ports.store import Store, Transaction
from blazar.ports.work import Waker
from blazar.settings import Settings

Plugin = ResourcePlugin[Any, Any, Any]


def new_uuid() -> str:
    """Return a new random id."""
    return str(uuid.uuid4())


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodicTask:
    """A periodic task. To run it at once, schedule its key, as for a lease."""

    run: Callable[[Context, str, Callable[[], None]], object]
    """Called with the context, the actor, and the function to call before each step."""
    interval: timedelta = timedelta(0)
    """Time between two runs; zero for runs only at the start of a manager and on request."""
    is_enabled: bool = True
    """Whether the task runs at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnCollection:
    """A collection with periodic tasks or tables of its own, and what only it knows about its resources.

    Collections without a table of their own are stored alike; the core describes their resources.
    """

    name: str
    describe: Callable[[Transaction, Set[ResourceId]], Mapping[ResourceId, JsonObject]] = (
        lambda transaction, ids: {}
    )
    """Returns the given resources that are in tables of the collection, as filters receive them."""
    periodic_tasks: Callable[[Settings], Mapping[str, PeriodicTask]] = lambda settings: {}
    """Returns the collection's periodic tasks by key; new keys begin with ``TASK_PREFIX``."""
    text_facts: frozenset[str] = frozenset()
    """Built-in facts whose texts are compared without regard to case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The dependencies of a use case; created once in the wiring."""

    store: Store
    clock: Clock
    cloud: Cloud
    plugins: Mapping[str, Plugin]
    indexes: Mapping[str, AvailabilityIndex]
    """Availability indexes by collection, for each collection that a plugin reserves from."""
    collections: Sequence[OwnCollection]
    """The declared collections, whether or not a plugin reserves from them."""
    settings: Settings
    waker: Waker
    filters: Mapping[str, EnforcementFilter] = field(default_factory=dict)
    """The operator's enforcement filters by name, in the order in which they are asked."""
    rules: Rules = field(default_factory=Rules)
    """The operator's usage rules."""
    limits: Limits | None = None
    """The projects' limits; None if reservations are not limited."""
    lease_cache: LeaseCache = field(default_factory=LeaseCache)
    """JSON texts of leases that were listed, as rendered by these plugins."""
    event_cache: LeaseCache = field(default_factory=LeaseCache)
    """Events of leases in calendars, by the id of the lease and the alarm, at :data:`ports.feeds.Version`."""
    contention: Contention = field(default_factory=Contention)
    """Counter of requests of this process that are searching for resources."""
    waits: Waits = field(default_factory=Waits)
    """Requests of this process that are waiting for the reconciler."""
    recent_refusals: RecentRefusals = field(default_factory=RecentRefusals)
    """Requests that were refused and need not be recorded again."""
    random: random.Random = field(default_factory=random.Random)
    new_id: Callable[[], str] = new_uuid
    """Source of the ids of stored objects; with a fixed source and *random*, a run is reproducible."""
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

    def shared_now(self) -> datetime:
        """Return the present by the database's clock, which all managers share, as last compared."""
        return self.clock.now() - self.clock_guard.difference()

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
                f"resource_type: {resource_type[:66]} is not supported; supported types: {known}"
            )
        return plugin
