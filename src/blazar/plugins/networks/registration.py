"""Registration of network segments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, cast

from blazar.domain.collections import ResourceCollection
from blazar.domain.errors import InvalidParameter
from blazar.domain.plugin_resources import PluginResource
from blazar.domain.requirements import Fact
from blazar.domain.wording import first_few
from blazar.plugins.capabilities import RegistersResources
from blazar.plugins.contract import JsonObject
from blazar.plugins.networks.errors import NetworkSegmentInUse
from blazar.plugins.networks.segments import (
    NETWORK_FACTS,
    NETWORKS,
    check_keys,
    describe_segment,
    find_obstacle,
    lacks_physical_network,
    name_segment,
    parse_segments,
    say_in_use,
)
from blazar.ports.cloud import Cloud
from blazar.ports.segments import Segment, SegmentRange, Segments


class RegistersSegments(RegistersResources):
    """Operators register segments on which Neutron has no network and creates none automatically."""

    resource_collection: ClassVar[ResourceCollection] = NETWORKS

    def register(self, cloud: Cloud, body: JsonObject) -> PluginResource:
        """Return the only segment that an operator registers. Raises as :meth:`register_all`."""
        found = self.register_all(cloud, body)
        if len(found) > 1:
            raise InvalidParameter("segment_id", "must be one id")
        return found[0]

    def register_all(self, cloud: Cloud, body: JsonObject) -> Sequence[PluginResource]:
        """Return the segments that an operator registers.

        Raises:
            MissingParameter, InvalidParameter: A value is missing or invalid, or Neutron does not know the
                physical network.
            NetworkSegmentInUse: Neutron has a network on one of them, or may choose it for a project.
        """
        more = _capabilities(body)
        check_keys(more)
        wanted = parse_segments(body)
        ranges = cloud.segments.list_ranges()
        _check_physical_network(wanted[0], ranges)
        _check_free(cloud.segments, wanted, ranges)
        return [describe_segment(each, more) for each in wanted]

    def change(self, cloud: Cloud, resource: PluginResource, body: JsonObject) -> PluginResource:
        """Return a segment with other extra capabilities. Raises InvalidParameter."""
        for key in sorted(NETWORK_FACTS & body.keys()):
            if body[key] != resource.facts.get(key):
                raise InvalidParameter(key, "cannot be changed; register the other segment instead")
        changes = _capabilities(body)
        check_keys(changes)
        facts = {
            key: value
            for key, value in {**resource.facts, **changes}.items()
            if value is not None or key in NETWORK_FACTS
        }
        return replace(resource, facts=facts, properties=frozenset(facts) - NETWORK_FACTS)

    def check_removable(self, cloud: Cloud, resource: PluginResource) -> None:
        """Allow the removal of every segment that no lease holds: its network no longer exists."""


def _capabilities(body: JsonObject) -> Mapping[str, Fact]:
    return {key: cast("Fact", value) for key, value in body.items() if key not in NETWORK_FACTS}


def _check_physical_network(segment: Segment, ranges: Sequence[SegmentRange] | None) -> None:
    problem = lacks_physical_network(segment, ranges)
    if problem:
        raise InvalidParameter("physical_network", problem)


def _check_free(segments: Segments, wanted: Sequence[Segment], ranges: Sequence[SegmentRange] | None) -> None:
    for each in wanted:
        obstacle = find_obstacle(each, ranges)
        if obstacle:
            raise NetworkSegmentInUse(f"segment_id: {name_segment(each)} cannot be reserved: {obstacle}")
    if len(wanted) == 1:
        one = segments.find_network(wanted[0])
        taken = [] if one is None else [one]
    else:
        asked = frozenset(wanted)
        taken = [each for each in segments.list_networks(wanted[0].network_type) if each.segment in asked]
    if taken:
        raise NetworkSegmentInUse(f"segment_id: {first_few(map(say_in_use, taken))}")
