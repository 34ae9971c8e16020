"""Keys of reservations of each resource type, their defaults, and the kinds of their values."""

from __future__ import annotations

from typing import Any

HOST = "physical:host"

CREATE_RESERVATION_KEYS: dict[str, dict[str, Any]] = {
    HOST: {
        "min": "",
        "max": "",
        "hypervisor_properties": "",
        "resource_properties": "",
        "before_end": None,
        "same": None,
        "spread": None,
        "resource_type": HOST,
    },
    "virtual:instance": {
        "vcpus": "",
        "memory_mb": "",
        "disk_gb": "",
        "amount": "",
        "affinity": "None",
        "resource_properties": "",
        "same": None,
        "spread": None,
        "resource_type": "virtual:instance",
    },
    "virtual:floatingip": {
        "amount": 1,
        "network_id": None,
        "required_floatingips": [],
        "resource_type": "virtual:floatingip",
    },
    "network": {
        "network_name": "",
        "network_description": None,
        "amount": 1,
        "network_properties": "",
        "resource_properties": "",
        "before_end": None,
        "same": None,
        "spread": None,
        "resource_type": "network",
    },
    "virtual:volume": {
        "gibibytes": "",
        "amount": 1,
        "affinity": "None",
        "resource_properties": None,
        "volume_name": None,
        "volumes": None,
        "before_end": None,
        "end_action": None,
        "same": None,
        "spread": None,
        "resource_type": "virtual:volume",
    },
    "physical:storage": {
        "min": "",
        "max": "",
        "resource_properties": None,
        "volume_name": None,
        "before_end": None,
        "end_action": None,
        "same": None,
        "spread": None,
        "resource_type": "physical:storage",
    },
    "flavor:instance": {
        "amount": "",
        "flavor_id": "",
        "affinity": "None",
        "resource_properties": None,
        "same": None,
        "spread": None,
        "resource_type": "flavor:instance",
    },
}
"""Keys of each known resource type and their defaults; a key whose default is None is left out.

Other distributions may add types.
"""

MANDATORY: dict[str, tuple[str, ...]] = {
    HOST: ("min", "max"),
    "virtual:instance": ("vcpus", "memory_mb", "disk_gb", "amount"),
    "virtual:floatingip": ("network_id",),
    "network": ("network_name",),
    "virtual:volume": ("gibibytes",),
    "physical:storage": ("min", "max"),
    "flavor:instance": ("flavor_id", "amount"),
}
"""Required keys of each known resource type."""

UPDATE_KEYS = (
    "id",
    *("min", "max", "hypervisor_properties", "resource_properties", "before_end"),
    *("vcpus", "memory_mb", "disk_gb", "amount", "affinity", "flavor_id"),
    *("network_id", "required_floatingips", "resource_type"),
    *("network_name", "network_description", "network_properties"),
    *("gibibytes", "volume_name", "volumes", "end_action"),
    *("same", "spread"),
    *("release", "on_conflict", "remove"),
)
"""Keys that an update of a reservation may contain."""

AFFINITIES = ("None", "True", "False")

GROUPING_KEYS = ("same", "spread")
"""Keys of reservations that a service understands from API 1.1 on; at 1.0 it would ignore them."""

CHOSEN_TYPES = (HOST, "virtual:floatingip", "network")
"""Types whose resources can be chosen one by one, for ``release`` and ``on_conflict``."""

NEWER_KEYS = (*GROUPING_KEYS, "release", "on_conflict", "remove")
"""All keys of reservations, and of changes of them, that API 1.0 ignores."""

COUNTS = ("min", "max", "vcpus", "memory_mb", "disk_gb", "amount", "gibibytes")
"""Keys whose values are numbers."""
ARRAYS = {
    "required_floatingips": '["192.0.2.5"]',
    "volumes": '[{"size": 10, "name": "data"}]',
    "release": '["17"]',
}
"""Keys whose values are arrays, with an example of each."""
REQUIREMENTS = ("hypervisor_properties", "network_properties", "resource_properties")
"""Keys whose values are requirements."""
