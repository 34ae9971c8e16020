"""The resource providers of a host from which a server is allocated: a small part of Placement.

Each class comes from one provider of the host's tree that has room for the whole amount. The first candidate
is used; the root comes before its descendants. Numbered groups (``resources1:…``) are not supported.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from blazar.cloud.simulated.placement import bump_generation
from blazar.cloud.simulated.state import CloudState, Consumption
from blazar.ports.compute import Flavor
from blazar.ports.placement import Provider

_RESOURCES = "resources:"
_TRAITS = "trait:"

Candidate = Mapping[str, str]
"""UUIDs of providers by resource class."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The resources and traits that a server of a flavor needs."""

    amounts: Mapping[str, int]
    optional: frozenset[str]
    """Classes that are skipped if no provider of the host has them, for example for a host without a disk."""
    required_traits: frozenset[str]
    forbidden_traits: frozenset[str]


def request_of(flavor: Flavor) -> Request:
    """Return the request for a server of the flavor.

    The amounts are the flavor's sizes, replaced or extended by extra specs ``resources:<class>``. Like Nova,
    this ignores invalid values.
    """
    specs = flavor.extra_specs
    named = {name: int(text) for name, text in _below(specs, _RESOURCES) if text.isdecimal()}
    traits = dict(_below(specs, _TRAITS))
    amounts = {**_sizes(flavor), **named}
    return Request(
        amounts={name: amount for name, amount in amounts.items() if amount},
        optional=frozenset({"VCPU", "MEMORY_MB", "DISK_GB"} - named.keys()),
        required_traits=frozenset(name for name, word in traits.items() if word == "required"),
        forbidden_traits=frozenset(name for name, word in traits.items() if word == "forbidden"),
    )


def find_candidate(state: CloudState, root_name: str, request: Request) -> Candidate | None:
    """Return the providers of the tree from which a server can be allocated; None if there is no room.

    A provider with a forbidden trait is never used. A required trait must be on any of the providers.
    """
    tree = _tree(state, root_name)
    if not tree:
        return None
    on_offer = {name for each in tree for name in state.inventories[each.uuid]}
    choices = [
        [(name, each.uuid) for each in tree if _gives(state, each, request, name)]
        for name in request.amounts
        if name in on_offer or name not in request.optional
    ]
    for chosen in itertools.product(*choices):
        traits = frozenset().union(*(state.traits[uuid] for _, uuid in chosen))
        if request.required_traits <= traits:
            return dict(chosen)
    return None


def consume(state: CloudState, consumer_id: str, request: Request, candidate: Candidate) -> None:
    """Allocate the requested amounts to a consumer."""
    state.consumptions += tuple(
        Consumption(
            consumer_id=consumer_id,
            provider_uuid=uuid,
            resource_class=name,
            amount=request.amounts[name],
        )
        for name, uuid in candidate.items()
    )
    for uuid in sorted(set(candidate.values())):
        bump_generation(state, uuid)


def _sizes(flavor: Flavor) -> Mapping[str, int]:
    is_pinned = flavor.extra_specs.get("hw:cpu_policy") == "dedicated"
    return {
        "PCPU" if is_pinned else "VCPU": flavor.vcpus,
        "MEMORY_MB": flavor.memory_mb,
        "DISK_GB": flavor.disk_gb + flavor.ephemeral_gb,
    }


def _below(extra_specs: Mapping[str, str], prefix: str) -> Iterator[tuple[str, str]]:
    for key, value in extra_specs.items():
        if key.startswith(prefix):
            yield key.removeprefix(prefix), value


def _tree(state: CloudState, root_name: str) -> list[Provider]:
    """Return the providers of a tree, parents before children; empty if the root does not exist."""
    roots = [
        each.uuid for each in state.providers.values() if each.name == root_name and each.parent_uuid is None
    ]
    return [each for each in state.providers.values() if each.root_uuid in roots]


def _gives(state: CloudState, provider: Provider, request: Request, name: str) -> bool:
    """Return whether a provider has room for the requested amount of a class."""
    inventory, amount = state.inventories[provider.uuid].get(name), request.amounts[name]
    if inventory is None or state.traits[provider.uuid] & request.forbidden_traits:
        return False
    fits_units = inventory.min_unit <= amount <= inventory.max_unit and amount % inventory.step_size == 0
    capacity = (inventory.total - inventory.reserved) * inventory.allocation_ratio
    return fits_units and state.used(provider.uuid, name) + amount <= capacity
