"""Classification of a flavor's extra specs by their effect on the choice of a host.

There are four kinds:

- *Counted* ones become part of a slot's demand, as Nova's scheduler translates them for Placement: resource
  classes and traits, in numbered groups or not, pinned CPUs, memory encryption, persistent memory, a TPM,
  secure boot.
- *Harmless* ones affect only the server.
- *Unguaranteed* ones select hosts by a rule that Placement cannot count, such as whether huge pages are free.
  The reservation's flavor has them too, but a host may lack room for a server with them.
- *Forbidden* ones mark flavors for this service and BlazarFilter.

The names are those of Nova's documentation of extra specs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set

from blazar.domain.errors import InvalidParameter
from blazar.plugins.parameters import FALSE_WORDS, TRUE_WORDS
from blazar.ports.compute import Flavor

RESOURCES = "resources"
TRAITS = "trait"
GROUP_POLICY = "group_policy"
CPU_POLICY = "hw:cpu_policy"
CPU_MASKS = ("hw:cpu_dedicated_mask", "hw:cpu_realtime_mask")
THREAD_POLICY = "hw:cpu_thread_policy"
EMULATOR_POLICY = "hw:emulator_threads_policy"
ENCRYPTION = "hw:mem_encryption"
PERSISTENT_MEMORY = "hw:pmem"
TPM_VERSION = "hw:tpm_version"
SECURE_BOOT = "os:secure_boot"
PCI_AFFINITY = "hw:pci_numa_affinity_policy"
PCI_ALIAS = "pci_passthrough:alias"

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
"""Extra specs without effect on the choice of a host, in scopes that contain several kinds."""

_GUARANTEED_VALUES: Mapping[str, Set[str]] = {
    CPU_POLICY: {"shared", "dedicated", "mixed"},
    THREAD_POLICY: {"prefer", "isolate"},
    EMULATOR_POLICY: {"isolate"},
    ENCRYPTION: TRUE_WORDS | FALSE_WORDS,
    TPM_VERSION: {"1.2", "2.0"},
    SECURE_BOOT: {"disabled", "optional", "required"},
    PCI_AFFINITY: {"preferred"},
    GROUP_POLICY: {"none", "isolate"},
}
"""Extra specs of the same scopes that are counted or harmless only with these values."""

_COUNTED = frozenset({"hw:cpu_dedicated_mask", PERSISTENT_MEMORY, "hw:tpm_model"})
"""Extra specs that are counted, or depend on counted ones, whatever their value."""

_MIXED_SCOPES = frozenset({"", "hw", "os"})
"""Keys without a scope may be compared with hosts or with aggregates, depending on the scheduler's
configuration."""
_PLACING_SCOPES = frozenset({"accel", "aggregate_instance_extra_specs", "capabilities", "pci_passthrough"})
_FORBIDDEN = frozenset({"aggregate_instance_extra_specs:reservation"})
_FORBIDDEN_SCOPE = "blazar"

_GROUPED = re.compile(r"(resources|trait)([a-zA-Z0-9_-]{1,64})?:(.*)")
_MASK_PART = re.compile(r"(\^?)(\d{1,5})(?:-(\d{1,5}))?")


def list_forbidden(extra_specs: Mapping[str, str]) -> list[str]:
    """Return the keys that no reservation's flavor can have, sorted."""
    return sorted(key for key in extra_specs if key in _FORBIDDEN or _scope(key) == _FORBIDDEN_SCOPE)


def list_unguaranteed(extra_specs: Mapping[str, str]) -> list[str]:
    """Return the keys of extra specs that no reservation can guarantee, sorted.

    ``pci_passthrough:alias`` is one of them; the caller may remove it if all aliases are configured.
    """
    keys = {key for key, value in extra_specs.items() if _is_unguaranteed(key, value)}
    parts = {key: part for key in extra_specs if (part := split_grouped(key)) is not None}
    counted = {suffix for kind, suffix, _ in parts.values() if kind == RESOURCES}
    # Traits of a group without amounts select no provider.
    keys |= {key for key, (_, suffix, _) in parts.items() if suffix and suffix not in counted}
    return sorted(keys)


def split_grouped(key: str) -> tuple[str, str, str] | None:
    """Return kind (``resources`` or ``trait``), suffix and name of a key for Placement; None for others."""
    match = _GROUPED.fullmatch(key)
    return (match[1], match[2] or "", match[3]) if match else None


def count_dedicated(flavor: Flavor) -> int:
    """Return the number of pinned CPUs of a flavor with ``hw:cpu_policy=mixed``.

    Raises:
        InvalidParameter: There is no mask, or it is invalid; the error names it.
    """
    key = next((each for each in CPU_MASKS if each in flavor.extra_specs), CPU_MASKS[0])
    text = flavor.extra_specs.get(key, "")
    included: set[int] = set()
    excluded: set[int] = set()
    for part in text.split(","):
        match = _MASK_PART.fullmatch(part.strip())
        first = int(match[2]) if match else 0
        found = range(first, int(match[3] or first) + 1) if match else ()
        if match is None or not found:
            raise senseless(flavor, key, text)
        (excluded if match[1] else included).update(found)
    # A mask that only excludes applies to all CPUs of the flavor.
    dedicated = (included or set(range(flavor.vcpus))) - excluded
    if not dedicated or max(dedicated) >= flavor.vcpus:
        raise senseless(flavor, key, text)
    return len(dedicated)


def senseless(flavor: Flavor, key: str, value: str) -> InvalidParameter:
    """Return the error for a flavor with an invalid extra spec."""
    return InvalidParameter("flavor_id", f"flavor {flavor.id} has an invalid extra spec {key}={value[:40]!r}")


def _is_unguaranteed(key: str, value: str) -> bool:
    scope = _scope(key)
    if scope in _MIXED_SCOPES:
        is_known = key in _HARMLESS or key in _COUNTED
        return not is_known and value.lower() not in _GUARANTEED_VALUES.get(key, ())
    return scope in _PLACING_SCOPES and key not in _FORBIDDEN


def _scope(key: str) -> str:
    return key.partition(":")[0] if ":" in key else ""
