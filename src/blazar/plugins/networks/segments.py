"""Network segments as resources: their declaration, their facts, and their comparison with Neutron."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from blazar.domain.collections import ResourceCollection
from blazar.domain.errors import InvalidParameter, MissingParameter
from blazar.domain.plugin_resources import PluginResource
from blazar.domain.requirements import Fact
from blazar.domain.wording import first_few
from blazar.plugins.parameters import check_capability_names
from blazar.ports.segments import LARGEST_VLAN, LARGEST_VXLAN, Segment, SegmentNetwork, SegmentRange

MOST_AT_ONCE: Final = LARGEST_VLAN
"""The most segments that one request can register."""
NETWORK_FACTS: Final = frozenset({"network_type", "physical_network", "segment_id"})
"""Facts that every segment has; operators cannot change them."""
PUBLIC_NETWORK_FACTS: Final = frozenset({"network_type", "physical_network"})

_TAKEN_KEYS: Final = NETWORK_FACTS | {"id", "name", "amounts", "reservable"}
_LARGEST_IDS: Final[Mapping[str, int]] = {"vlan": LARGEST_VLAN, "vxlan": LARGEST_VXLAN}
_LONGEST_PHYSICAL_NETWORK: Final = 64
_LONGEST_ID: Final = 8

_TYPES: Final = ["string", "integer", "number", "boolean"]
_CAPABILITY: Final = {
    "type": _TYPES,
    "maxLength": 255,
    "description": "An extra capability, for requirements.",
}

NETWORKS: Final = ResourceCollection(
    name="network",
    path="networks",
    singular="network",
    plural="networks",
    registers_several=True,
    create_schema={
        "type": "object",
        "description": "Other keys are extra capabilities.",
        "examples": [
            {"network_type": "vlan", "physical_network": "physnet1", "segment_id": "201-240", "rack": "r1"}
        ],
        "required": ["network_type"],
        "properties": {
            "network_type": {"enum": ["vlan", "vxlan", "flat"]},
            "physical_network": {
                "type": ["string", "null"],
                "maxLength": _LONGEST_PHYSICAL_NETWORK,
                "description": "The name of a physical network in Neutron; required, but not for `vxlan`.",
                "examples": ["physnet1"],
            },
            "segment_id": {
                "type": ["integer", "string", "null"],
                "maxLength": 2 * _LONGEST_ID + 1,
                "description": f"For `vlan`, 1 to {LARGEST_VLAN}; for `vxlan`, 1 to {LARGEST_VXLAN}; not for "
                f"`flat`. A range such as `201-240` registers all of its segments, at most {MOST_AT_ONCE}, "
                "or none; the response then has `networks`.",
                "examples": [201, "201-240"],
            },
        },
        "additionalProperties": _CAPABILITY,
    },
    update_schema={
        "type": "object",
        "description": "Extra capabilities; null removes one. The segment itself cannot be changed.",
        "properties": {key: {} for key in sorted(NETWORK_FACTS)},
        "additionalProperties": {**_CAPABILITY, "type": [*_TYPES, "null"]},
    },
)


def parse_segments(body: Mapping[str, object]) -> tuple[Segment, ...]:
    """Return the segments that a registration names. Raises MissingParameter, InvalidParameter."""
    network_type = str(body["network_type"])
    physical_network = _parse_physical_network(network_type, body.get("physical_network"))
    return tuple(
        Segment(network_type=network_type, physical_network=physical_network, segment_id=each)
        for each in _parse_ids(network_type, body.get("segment_id"))
    )


def describe_segment(segment: Segment, more: Mapping[str, Fact]) -> PluginResource:
    """Return a segment as a resource, with extra capabilities."""
    facts: dict[str, Fact] = {
        **more,
        "network_type": segment.network_type,
        "physical_network": segment.physical_network,
        "segment_id": segment.segment_id,
    }
    return PluginResource(
        collection=NETWORKS.name, name=name_segment(segment), facts=facts, properties=frozenset(more)
    )


def name_segment(segment: Segment) -> str:
    """Return the name of a segment, such as ``vlan:physnet1:201``, ``vxlan:5000`` or ``flat:physnet2``."""
    parts = (segment.network_type, segment.physical_network, segment.segment_id)
    return ":".join(str(each) for each in parts if each is not None)


def segment_of(facts: Mapping[str, Fact]) -> Segment:
    """Return the segment of a registered resource."""
    physical_network, segment_id = facts.get("physical_network"), facts.get("segment_id")
    return Segment(
        network_type=str(facts["network_type"]),
        physical_network=None if physical_network is None else str(physical_network),
        segment_id=None if segment_id is None else int(segment_id),
    )


def check_keys(keys: Iterable[str]) -> None:
    """Check the names of extra capabilities. Raises InvalidParameter."""
    check_capability_names(keys, _TAKEN_KEYS)


def find_obstacle(segment: Segment, ranges: Iterable[SegmentRange] | None) -> str:
    """Return why Neutron could allocate a segment to projects automatically; empty if it cannot.

    Ranges of a single project do not count: with a range for a project that has no users, operators keep the
    segments for themselves.

    Args:
        segment: The segment.
        ranges: The ranges of Neutron; None if it does not report them.
    """
    if segment.segment_id is None:
        return ""
    for each in ranges or ():
        if (
            each.project_id is None
            and each.network_type == segment.network_type
            and each.physical_network == segment.physical_network
            and each.first <= segment.segment_id <= each.last
        ):
            return (
                f"Neutron gives segments {each.first}-{each.last} to all projects (network segment range"
                f" {each.id})"
            )
    return ""


def lacks_physical_network(segment: Segment, ranges: Iterable[SegmentRange] | None) -> str:
    """Return the problem that Neutron does not know the physical network of a VLAN; empty if it may know it.

    Neutron lists a range for each physical network that may have VLANs, but does not list those of flat
    networks.
    """
    if segment.network_type != "vlan" or ranges is None:
        return ""
    known = sorted({each.physical_network or "" for each in ranges if each.network_type == "vlan"})
    if segment.physical_network in known:
        return ""
    names = f"it has {first_few(known)}" if known else "it has none"
    return f"Neutron has no physical network {segment.physical_network} for VLANs; {names}"


def say_in_use(found: SegmentNetwork) -> str:
    """Return the reason that a segment is occupied, for messages."""
    return (
        f"segment {name_segment(found.segment)} is in use in Neutron: network {found.id} of project"
        f" {found.project_id}"
    )


def _parse_physical_network(network_type: str, value: object) -> str | None:
    if network_type == "vxlan":
        if value not in (None, ""):
            raise InvalidParameter("physical_network", "must be omitted: a VXLAN has no physical network")
        return None
    if value is None:
        raise MissingParameter("physical_network")
    name = str(value)
    if not 0 < len(name) <= _LONGEST_PHYSICAL_NETWORK or not name.isprintable() or name != name.strip():
        raise InvalidParameter(
            "physical_network", f"must have 1 to {_LONGEST_PHYSICAL_NETWORK} printable characters"
        )
    return name


def _parse_ids(network_type: str, value: object) -> Iterable[int | None]:
    if network_type == "flat":
        if value not in (None, ""):
            raise InvalidParameter("segment_id", "must be omitted: a flat network has no id")
        return (None,)
    if value is None:
        raise MissingParameter("segment_id")
    largest = _LARGEST_IDS[network_type]
    first_text, dash, last_text = str(value).partition("-")
    first = _parse_id(first_text, largest)
    if not dash:
        return (first,)
    last = _parse_id(last_text, largest)
    if last <= first:
        raise InvalidParameter("segment_id", "must be a range whose last id is greater than its first one")
    if last - first >= MOST_AT_ONCE:
        raise InvalidParameter("segment_id", f"must be a range of at most {MOST_AT_ONCE} segments")
    return range(first, last + 1)


def _parse_id(text: str, largest: int) -> int:
    text = text.strip()
    if 0 < len(text) <= _LONGEST_ID and text.isascii() and text.isdecimal() and 1 <= int(text) <= largest:
        return int(text)
    raise InvalidParameter("segment_id", f"must be a number from 1 to {largest}, or a range such as 201-240")
