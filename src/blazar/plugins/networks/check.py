"""Comparison of registered network segments with Neutron, to find unusable ones before a lease needs them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from blazar.booking.context import Context
from blazar.booking.health import record_health
from blazar.domain.errors import CloudConflict, CloudNotFound, CloudRefused
from blazar.domain.health import HEALTHY, Diagnosis, Health
from blazar.domain.plugin_resources import PluginResource
from blazar.plugins.networks.segments import (
    NETWORKS,
    find_obstacle,
    lacks_physical_network,
    say_in_use,
    segment_of,
)
from blazar.ports.allocations import Holder
from blazar.ports.segments import Segment, SegmentNetwork, SegmentRange

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _View:
    """The state of Neutron."""

    networks: Mapping[Segment, SegmentNetwork]
    ranges: Sequence[SegmentRange] | None


def check_networks(
    context: Context, actor: str, *, check_claim: Callable[[], None] = lambda: None
) -> Mapping[str, str]:
    """Update the health of registered network segments.

    A segment has failed if it has a network that no running reservation of its project explains, if Neutron
    may now choose it for projects, or if Neutron does not know its physical network.

    Args:
        context: The context.
        actor: The actor recorded in the journal.
        check_claim: Called before each longer step; an exception from it ends the check.

    Returns:
        The problem of each failed segment, by name.

    Raises:
        CloudUnavailable: Neutron does not respond; results stored so far remain.
    """
    try:
        found = find_problems(context, check_claim=check_claim)
    except (CloudConflict, CloudNotFound, CloudRefused) as error:
        _logger.warning("cannot check network segments: reason=%s", error)
        return {}
    for each, problem in found:
        diagnosis = Diagnosis(health=Health.FAILED, problem=problem) if problem else HEALTHY
        if diagnosis != each.diagnosis:
            check_claim()
            record_health(context, actor, each.id, f"network segment {each.name}", diagnosis)
    return {each.name: problem for each, problem in found if problem}


def find_problems(
    context: Context, *, check_claim: Callable[[], None] = lambda: None
) -> Sequence[tuple[PluginResource, str]]:
    """Return the registered segments, each with its problem, empty for a healthy one; nothing is recorded.

    Raises:
        CloudError: Neutron does not respond, or refuses.
    """
    with context.store.read() as transaction:
        registered = transaction.plugin_resources.list(NETWORKS.name)
        before = transaction.allocations.list_holders(NETWORKS.name)
    if not registered:
        return ()
    check_claim()
    view = _look(context, {str(each.facts["network_type"]) for each in registered})
    with context.store.read() as transaction:
        registered = transaction.plugin_resources.list(NETWORKS.name)
        # A lease that started or ended since may explain what Neutron returned, so read the holders again.
        after = transaction.allocations.list_holders(NETWORKS.name)
    now, found = context.clock.now(), []
    for each in registered:
        holders = (*before.get(each.id, ()), *after.get(each.id, ()))
        found.append((each, _find_problem(segment_of(each.facts), view, holders, now)))
    return found


def _look(context: Context, network_types: Collection[str]) -> _View:
    segments = context.cloud.segments
    networks = {
        found.segment: found for each in sorted(network_types) for found in segments.list_networks(each)
    }
    return _View(networks=networks, ranges=segments.list_ranges())


def _find_problem(segment: Segment, view: _View, holders: Iterable[Holder], now: datetime) -> str:
    """Return the problem of a segment; empty if it is healthy."""
    obstacle = lacks_physical_network(segment, view.ranges) or find_obstacle(segment, view.ranges)
    if obstacle:
        return obstacle
    found = view.networks.get(segment)
    if found is None or any(each.start <= now and each.project_id == found.project_id for each in holders):
        return ""
    return say_in_use(found)
