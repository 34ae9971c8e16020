"""Construction of a manager's parts from settings."""

from __future__ import annotations

import ctypes
import gc
import logging
import os
import socket
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial

import sqlalchemy as sa
from oslo_config.cfg import ConfigOpts

from blazar.app.leases import cache_newest
from blazar.booking.clock_guard import ClockGuard
from blazar.booking.context import Context, Plugin
from blazar.booking.index import AvailabilityIndex
from blazar.db.store import SqlStore
from blazar.domain.requirements import Fact
from blazar.manager.collections import COLLECTIONS
from blazar.manager.plugins import (
    check_grace_periods,
    load_filters,
    load_limits,
    load_plugins,
    load_usage_rules,
)
from blazar.ports.clock import Clock, ReferenceClock
from blazar.ports.cloud import Cloud
from blazar.ports.store import Store
from blazar.ports.work import Waker
from blazar.settings import Settings

SWITCH_INTERVAL_SECONDS = 0.0005
"""Time that a thread may compute while others wait. With Python's default of 5 ms, queries delay requests."""

_FIRST_DAYS = timedelta(days=9)
"""A lease that begins today and lasts for a week, and the day around it by which hosts are preferred."""

_logger = logging.getLogger(__name__)


def manager_name() -> str:
    """Return a unique name for this manager: host, process and a random part."""
    return f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"


def build_context(
    engine: sa.Engine,
    clock: Clock,
    cloud: Cloud,
    settings: Settings,
    plugins: Mapping[str, Plugin],
    waker: Waker,
) -> Context:
    """Return the context of use cases and the reconciler, without enforcement filters."""
    store = SqlStore(engine, clock, plugins)
    return Context(
        store=store,
        clock=clock,
        cloud=cloud,
        plugins=plugins,
        indexes=make_indexes(store, clock, plugins, settings.region),
        collections=COLLECTIONS,
        settings=settings,
        waker=waker,
    )


def make_indexes(
    store: Store, clock: Clock, plugins: Mapping[str, Plugin], region: str | None = None
) -> Mapping[str, AvailabilityIndex]:
    """Return an empty index for each collection from which a plugin reserves.

    All resources have the fact ``region`` if the region of the service is configured.
    """
    collections = {plugin.collection for plugin in plugins.values()}
    texts = {each.name: each.text_facts for each in COLLECTIONS}
    common: Mapping[str, Fact] = {} if region is None else {"region": region}
    return {
        each: AvailabilityIndex(store, clock, each, texts.get(each, frozenset()), common)
        for each in collections
    }


def configured_context(
    conf: ConfigOpts, engine: sa.Engine, clock: Clock, cloud: Cloud, settings: Settings, waker: Waker
) -> Context:
    """Return a manager's context with the plugins, rules, filters and limits of the configuration.

    Raises:
        PluginError: One of them cannot be used.
    """
    plugins = load_plugins(conf.manager.plugins, settings, conf)
    check_grace_periods(settings.usage, plugins)
    context = build_context(engine, clock, cloud, settings, plugins, waker)
    return replace(
        context,
        rules=load_usage_rules(conf, plugins),
        filters=load_filters(conf),
        limits=load_limits(conf, clock),
    )


def guarded(context: Context, reference: ReferenceClock) -> Context:
    """Return the context of a manager that compares its clock with *reference*, which managers share."""
    limit = context.settings.reconciler.clock_limit
    guard = ClockGuard(context.clock, reference, limit)
    for index in context.indexes.values():
        index.correct_clock(guard.difference)
    return replace(context, clock_guard=guard)


def warm_up(context: Context) -> None:
    """Load the indexes of bookings and compare the clocks, so that no request has to wait for that."""
    _warm_up(context, AvailabilityIndex.refresh)
    _keep_from_garbage_collection()


def warm_up_for_first(context: Context) -> None:
    """Do as :func:`warm_up` for requests of the next days; :func:`load_all` has to follow in a thread."""
    until = context.clock.now() + _FIRST_DAYS
    _warm_up(context, lambda index: index.load_first(until))


def _warm_up(context: Context, load: Callable[[AvailabilityIndex], None]) -> None:
    with _without_garbage_collection():
        for index in context.indexes.values():
            load(index)
    context.clock_guard.compare(context.meter)
    favour_short_requests()


def load_all(context: Context) -> None:
    """Load the bookings that :func:`warm_up_for_first` has left out, then leases for the first list."""
    loads: list[Callable[[], None]] = [each.load_all for each in context.indexes.values()]
    loads.append(partial(cache_newest, context))
    for load in loads:
        try:
            load()
        except Exception as error:
            # Any error: the others are needed anyway. The next search or list tries again, and raises it.
            _logger.warning("cannot load in advance: reason=%s", error)
    _keep_from_garbage_collection()
    _return_memory()
    _logger.info("all bookings are loaded")


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Load without garbage collection, which would scan all modules and rows, and free nothing.

    Nor do later collections, until :func:`_keep_from_garbage_collection` frees what is not needed any more.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _keep_from_garbage_collection() -> None:
    """Collect once, and exclude what is left, which would be scanned again and again while requests wait."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def _return_memory() -> None:
    """Return freed memory to the operating system, which glibc keeps after reading a million rows.

    Other C libraries do not have the function, and some of them return memory anyway.
    """
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def favour_short_requests() -> None:
    """Make threads switch often enough that a long search hardly delays a short request.

    After each query, a thread waits until the computing thread is interrupted, and a request makes about
    ten queries.
    """
    sys.setswitchinterval(SWITCH_INTERVAL_SECONDS)
