"""PCI devices of flavors that Nova counts in Placement.

A flavor refers to devices by aliases from ``nova.conf``, which Nova's API does not return. Therefore
operators configure the same lines for this service (``[flavor:instance] pci_alias``). Each device becomes a
group with one unit of the resource class under which Nova reports it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import os_resource_classes
import os_traits

from blazar.domain.capacity import Group

_DEVICE = re.compile(r"\s*([^:\s]+)\s*:\s*(\d{1,2})\s*")
_NOT_IN_A_NAME = re.compile(r"[^A-Z0-9_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class PciAlias:
    """The representation of one device of an alias in Placement."""

    resource_class: str
    traits: frozenset[str] = frozenset()


def parse_aliases(lines: Iterable[str]) -> Mapping[str, PciAlias]:
    """Return the aliases of ``[pci] alias`` lines of ``nova.conf``, by name.

    An alias that is defined by several lines is left out: Nova does not count such aliases in Placement.

    Raises:
        ValueError: A line is not a JSON object with a name and either a resource class or a vendor id and a
            product id; the error quotes it.
    """
    found: dict[str, PciAlias] = {}
    repeated: set[str] = set()
    for line in lines:
        try:
            alias = json.loads(line)
            name = alias["name"]
            resource_class = alias.get("resource_class") or f"PCI_{alias['vendor_id']}_{alias['product_id']}"
            traits = [each.strip() for each in alias.get("traits", "").split(",") if each.strip()]
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"{line[:80]!r} must be a JSON object with a name and either resource_class or"
                " vendor_id and product_id"
            ) from error
        if name in found:
            repeated.add(name)
        found[name] = PciAlias(
            resource_class=_class_name(resource_class), traits=frozenset(map(_trait_name, traits))
        )
    return {name: alias for name, alias in found.items() if name not in repeated}


def list_devices(text: str, aliases: Mapping[str, PciAlias]) -> tuple[Group, ...] | None:
    """Return the devices that a flavor's ``pci_passthrough:alias`` requests, one group for each.

    Returns:
        None if the text is invalid or has an unknown alias, so that the devices cannot be counted.
    """
    groups: list[Group] = []
    for part in text.split(","):
        match = _DEVICE.fullmatch(part)
        alias = aliases.get(match[1]) if match else None
        if match is None or alias is None:
            return None
        group = Group(amounts=((alias.resource_class, 1),), required_traits=alias.traits)
        groups += [group] * int(match[2])
    return tuple(groups)


def _class_name(text: str) -> str:
    """Return the resource class as Nova writes it: standard names unchanged, others with ``CUSTOM_``."""
    name = _NOT_IN_A_NAME.sub("_", text.upper())
    is_known = name in os_resource_classes.STANDARDS or name.startswith("CUSTOM_")
    return name if is_known else f"CUSTOM_{name}"


def _trait_name(text: str) -> str:
    name = _NOT_IN_A_NAME.sub("_", text.upper())
    is_known = name.startswith("CUSTOM_") or name in os_traits.get_traits()
    return name if is_known else f"CUSTOM_{name}"
