"""Instances of ``virtual:instance`` in place of whole hosts that are not free."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from blazar.domain.expressions import render
from blazar.domain.requirements import Fact, number_of
from blazar.plugins.contract import JsonObject
from blazar.plugins.hosts.spec import HostSpec

_TYPE: Final = "virtual:instance"
_PARTS: Final = (1, 2, 4)
"""The sizes of an instance, as parts of the smallest host: an empty host may only be closed to whole use."""
_SIZES: Final = {"vcpus": "vcpus", "memory_mb": "memory_mb", "disk_gb": "local_gb"}
"""The fact of a host that corresponds to each key of an instance."""


def instances_instead(
    spec: HostSpec, facts: Sequence[Mapping[str, Fact]]
) -> Iterator[tuple[str, JsonObject]]:
    """Yield requests for one instance per host, each on a different host, largest instances first.

    Args:
        spec: The spec of the hosts.
        facts: The facts of the hosts that satisfy its requirement.
    """
    sizes = [found for each in facts if (found := _size(each)) is not None]
    if not sizes:
        return
    smallest = min(sizes, key=lambda each: (each["vcpus"], each["memory_mb"]))
    for part in _PARTS:
        size = {key: int(amount) // part for key, amount in smallest.items()}
        if not size["vcpus"] or not size["memory_mb"]:
            return
        amount = spec.minimum
        hosts = "host" if amount == 1 else "hosts"
        summary = (
            f"{amount} of {_TYPE} with {size['vcpus']} vCPUs and {size['memory_mb']} MB each,"
            f" instead of {amount} {hosts}"
        )
        yield (
            summary,
            {
                "resource_type": _TYPE,
                **size,
                "amount": amount,
                "affinity": False if amount > 1 else None,
                "resource_properties": render(spec.requirement),
            },
        )


def _size(facts: Mapping[str, Fact]) -> dict[str, int] | None:
    """Return the size of a host; None if it is not known."""
    known: dict[str, int] = {}
    for key, fact in _SIZES.items():
        value = facts.get(fact)
        number = None if value is None else number_of(value)
        if number is None:
            return None
        known[key] = int(number)
    return known
