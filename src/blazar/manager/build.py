"""A manager's parts, from settings."""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import Mapping

import sqlalchemy as sa

from blazar.app.availability import AvailabilityIndex
from blazar.app.context import Context, Plugin
from blazar.db.store import SqlStore
from blazar.domain.hosts import HOST_TEXT_FACTS
from blazar.ports.clock import Clock
from blazar.ports.cloud import Cloud
from blazar.ports.waker import Waker
from blazar.settings import Settings


def manager_name() -> str:
    """Return a name that no other manager has: host, process and a random part."""
    return f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"


def build_context(
    engine: sa.Engine,
    clock: Clock,
    cloud: Cloud,
    settings: Settings,
    plugins: Mapping[str, Plugin],
    waker: Waker,
) -> Context:
    """Return what use cases and the reconciler work with, without filters of usage."""
    store = SqlStore(engine, clock)
    collections = {plugin.collection for plugin in plugins.values()}
    return Context(
        store=store,
        clock=clock,
        cloud=cloud,
        plugins=plugins,
        indexes={each: AvailabilityIndex(store, clock, each, HOST_TEXT_FACTS) for each in collections},
        settings=settings,
        waker=waker,
    )


def warm_up(context: Context) -> None:
    """Load the indexes of bookings, so that no request has to wait for that."""
    for index in context.indexes.values():
        with index.searching():
            pass
