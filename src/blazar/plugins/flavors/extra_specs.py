"""Which extra specs of a flavor a reservation can guarantee, and what they say of a server's needs.

Some say how much of what a server takes of a host: those are understood, and become part of the demand.
Some say which hosts will do by a rule that is nowhere to be looked up in advance, such as whether huge
pages are free: a flavor with one of them is refused. All others are for the server alone.

The names are those of Nova's documentation of extra specs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from blazar.domain.errors import InvalidParameter
from blazar.plugins.parameters import LARGEST_NUMBER
from blazar.ports.compute import Flavor

RESOURCES = "resources:"
TRAITS = "trait:"
CPU_POLICY = "hw:cpu_policy"

_HARMLESS = frozenset(
    {
        "hide_hypervisor_id",
        "hw:boot_menu",
        "hw:cpu_cores",
        "hw:cpu_max_cores",
        "hw:cpu_max_sockets",
        "hw:cpu_max_threads",
        "hw:cpu_sockets",
        "hw:cpu_threads",
        "hw:hide_hypervisor_id",
        "hw:max_cpu_cores",
        "hw:max_cpu_sockets",
        "hw:max_cpu_threads",
        "hw:pmu",
        "hw:serial_port_count",
        "hw:vif_multiqueue_enabled",
        "hw:watchdog_action",
    }
)
"""Of the scopes that have both kinds: what does not matter to where a server can run."""

_HARMLESS_VALUES: Mapping[str, frozenset[str]] = {
    CPU_POLICY: frozenset({"shared", "dedicated"}),
    "hw:cpu_thread_policy": frozenset({"prefer"}),
    "os:secure_boot": frozenset({"disabled"}),
}
"""The same, with what does not matter only if it has one of these values."""

_MIXED_SCOPES = frozenset({"", "hw", "os"})
"""What is without a scope may be compared with hosts or with aggregates, as the scheduler is configured."""
_PLACING_SCOPES = frozenset(
    {"accel", "aggregate_instance_extra_specs", "blazar", "capabilities", "pci_passthrough"}
)
_GROUPED = re.compile(r"(resources|trait).+")
"""Scopes of what is to come from one provider, whichever: ``resources1``, ``trait_COMPUTE``."""
_CLASS = re.compile(r"[A-Z0-9_]{1,255}")


def list_obstacles(extra_specs: Mapping[str, str]) -> list[str]:
    """Return the keys of those that no reservation can guarantee, sorted."""
    return sorted(key for key, value in extra_specs.items() if _is_obstacle(key, value))


def resource_amounts(flavor: Flavor) -> Mapping[str, int]:
    """Return what a flavor's ``resources:`` say, by resource class.

    Raises:
        InvalidParameter: One of them is no amount of a resource class; it is named.
    """
    amounts = {}
    for key, value in flavor.extra_specs.items():
        if not key.startswith(RESOURCES):
            continue
        if not value.isascii() or not value.isdecimal() or len(value) > len(str(LARGEST_NUMBER)):
            raise _senseless(flavor, key, value)
        if not _CLASS.fullmatch(key.removeprefix(RESOURCES)) or int(value) > LARGEST_NUMBER:
            raise _senseless(flavor, key, value)
        amounts[key.removeprefix(RESOURCES)] = int(value)
    return amounts


def list_traits(flavor: Flavor, word: str) -> list[str]:
    """Return the traits that are ``required``, or those that are ``forbidden``.

    Raises:
        InvalidParameter: One of them is neither; it is named.
    """
    traits = {key: value for key, value in flavor.extra_specs.items() if key.startswith(TRAITS)}
    for key, value in traits.items():
        if value not in ("required", "forbidden") or not _CLASS.fullmatch(key.removeprefix(TRAITS)):
            raise _senseless(flavor, key, value)
    return [key.removeprefix(TRAITS) for key, value in traits.items() if value == word]


def _is_obstacle(key: str, value: str) -> bool:
    scope = key.partition(":")[0] if ":" in key else ""
    if scope in _MIXED_SCOPES:
        return key not in _HARMLESS and value not in _HARMLESS_VALUES.get(key, ())
    return scope in _PLACING_SCOPES or bool(_GROUPED.fullmatch(scope))


def _senseless(flavor: Flavor, key: str, value: str) -> InvalidParameter:
    return InvalidParameter("flavor_id", f"flavor {flavor.id} has an extra spec {key}={value[:40]!r}")
