"""The demand of a server of an existing flavor, equal to what Nova's scheduler requests from Placement."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from blazar.domain.capacity import Demand, Group
from blazar.domain.errors import InvalidParameter
from blazar.plugins.flavors import extra_specs
from blazar.plugins.flavors.errors import FlavorNotReservable
from blazar.plugins.parameters import LARGEST_NUMBER, TRUE_WORDS
from blazar.ports.compute import Flavor

_CLASS = re.compile(r"[A-Z0-9_]{1,255}")
_NOT_IN_A_NAME = re.compile(r"[^A-Z0-9_]+")
_TPM_TRAITS = {"1.2": "COMPUTE_SECURITY_TPM_1_2", "2.0": "COMPUTE_SECURITY_TPM_2_0"}
_THREAD_TRAITS = {"isolate": "forbidden", "require": "required"}


def check_reservable(flavor: Flavor) -> None:
    """Check that slots for servers of a flavor can be reserved.

    Raises:
        FlavorNotReservable: It has extra specs with which this service marks flavors; the error names all of
            them.
        InvalidParameter: It has an invalid extra spec, or its servers need no resources.
    """
    forbidden = extra_specs.list_forbidden(flavor.extra_specs)
    if forbidden:
        raise FlavorNotReservable(flavor.id, "only this service may set", forbidden)
    try:
        demand_of(flavor)
    except ValueError as error:
        raise InvalidParameter(
            "flavor_id", f"servers of flavor {flavor.id} need nothing that can be reserved"
        ) from error


def demand_of(flavor: Flavor, devices: Sequence[Group] = ()) -> Demand:
    """Return the demand of one server: the flavor's sizes, unless extra specs override them.

    A resource class that an extra spec names in any group replaces the flavor's own size.

    Args:
        flavor: The flavor.
        devices: Additional PCI devices that its servers need.

    Raises:
        InvalidParameter: An extra spec is invalid; the error names it.
        ValueError: The demand is empty.
    """
    amounts = _amounts(flavor)
    traits = _traits(flavor)
    named = {name for each in amounts.values() for name in each}
    own = {**_sizes(flavor, named), **amounts.get("", {}), **_counted(flavor)}
    groups = [
        Group(
            amounts=tuple(sorted((name, n) for name, n in amounts[suffix].items() if n)),
            required_traits=frozenset(traits[suffix]["required"]),
            forbidden_traits=frozenset(traits[suffix]["forbidden"]),
        )
        for suffix in sorted(amounts)
        if suffix and any(amounts[suffix].values())
    ]
    wanted = {**traits[""], "required": [*traits[""]["required"], *_security_traits(flavor)]}
    thread_policy = flavor.extra_specs.get(extra_specs.THREAD_POLICY, "")
    if thread_policy in _THREAD_TRAITS:
        wanted[_THREAD_TRAITS[thread_policy]] = [
            *wanted[_THREAD_TRAITS[thread_policy]],
            "HW_CPU_HYPERTHREADING",
        ]
    return Demand.of(
        own,
        wanted["required"],
        wanted["forbidden"],
        groups=[*groups, *devices],
        is_isolated=flavor.extra_specs.get(extra_specs.GROUP_POLICY) == "isolate",
    )


def _sizes(flavor: Flavor, named: set[str]) -> Mapping[str, int]:
    """Return the amounts for the flavor's own sizes, without classes that an extra spec names."""
    specs = flavor.extra_specs
    sizes = {"MEMORY_MB": flavor.memory_mb, "DISK_GB": flavor.disk_gb + flavor.ephemeral_gb}
    policy = specs.get(extra_specs.CPU_POLICY)
    emulator = int(specs.get(extra_specs.EMULATOR_POLICY) == "isolate")
    if policy == "dedicated":
        sizes["PCPU"] = flavor.vcpus + emulator
    elif policy == "mixed":
        dedicated = extra_specs.count_dedicated(flavor)
        sizes |= {"PCPU": dedicated + emulator, "VCPU": flavor.vcpus - dedicated}
    elif not named & {"PCPU", "VCPU"}:
        sizes["VCPU"] = flavor.vcpus
    return {name: amount for name, amount in sizes.items() if name not in named}


def _counted(flavor: Flavor) -> Mapping[str, int]:
    """Return the amounts for extra specs other than ``resources``."""
    specs = flavor.extra_specs
    found: Counter[str] = Counter()
    if specs.get(extra_specs.ENCRYPTION, "").lower() in TRUE_WORDS:
        found["MEM_ENCRYPTION_CONTEXT"] = 1
    for label in filter(None, specs.get(extra_specs.PERSISTENT_MEMORY, "").split(",")):
        name = _NOT_IN_A_NAME.sub("_", f"CUSTOM_PMEM_NAMESPACE_{label.strip()}".upper())
        found[name] += 1
    return found


def _security_traits(flavor: Flavor) -> Iterator[str]:
    """Yield the traits that a host needs for the server's firmware and devices."""
    specs = flavor.extra_specs
    if specs.get(extra_specs.SECURE_BOOT) == "required":
        yield "COMPUTE_SECURITY_UEFI_SECURE_BOOT"
    if specs.get(extra_specs.TPM_VERSION) in _TPM_TRAITS:
        yield _TPM_TRAITS[specs[extra_specs.TPM_VERSION]]
    if specs.get(extra_specs.PCI_AFFINITY) == "socket":
        yield "COMPUTE_SOCKET_PCI_NUMA_AFFINITY"


def _amounts(flavor: Flavor) -> Mapping[str, Mapping[str, int]]:
    """Return the amounts of a flavor's ``resources`` extra specs: by group, then by resource class.

    Raises:
        InvalidParameter: One of them is not an amount of a resource class; the error names it.
    """
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for key, value in flavor.extra_specs.items():
        kind, suffix, name = extra_specs.split_grouped(key) or ("", "", "")
        if kind != extra_specs.RESOURCES:
            continue
        if not value.isascii() or not value.isdecimal() or len(value) > len(str(LARGEST_NUMBER)):
            raise extra_specs.senseless(flavor, key, value)
        if not _CLASS.fullmatch(name) or int(value) > LARGEST_NUMBER:
            raise extra_specs.senseless(flavor, key, value)
        found[suffix][name] = int(value)
    return found


def _traits(flavor: Flavor) -> Mapping[str, Mapping[str, list[str]]]:
    """Return the traits by group, then by ``required`` and ``forbidden``.

    Raises:
        InvalidParameter: A trait has another value; the error names it.
    """
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: {"required": [], "forbidden": []})
    for key, value in flavor.extra_specs.items():
        kind, suffix, name = extra_specs.split_grouped(key) or ("", "", "")
        if kind != extra_specs.TRAITS:
            continue
        if value not in ("required", "forbidden") or not _CLASS.fullmatch(name):
            raise extra_specs.senseless(flavor, key, value)
        found[suffix][value].append(name)
    return found
