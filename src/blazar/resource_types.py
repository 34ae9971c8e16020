"""The resource types of this distribution, without their names.

A resource type is a folder of ``blazar.plugins`` and one line of wiring: the entry point of its plugin in the
group ``blazar.resource.plugins``. The folder may have further parts for the core, each a module with a
conventional name whose constant of the same name in capitals declares the part: ``options.py`` has
``OPTIONS``, ``collection.py`` has ``COLLECTION``. CONTRIBUTING lists the parts.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module, metadata, util
from typing import Final, TypeVar

DISTRIBUTION: Final = "blazar"
ENTRY_POINTS: Final = "blazar.resource.plugins"
"""The group of entry points of plugins."""

_PartT = TypeVar("_PartT")


@cache
def list_folders() -> tuple[str, ...]:
    """Return the packages of the resource types, by the names of their entry points."""
    found = metadata.distribution(DISTRIBUTION).entry_points.select(group=ENTRY_POINTS)
    return tuple(each.module.rpartition(".")[0] for each in sorted(found, key=lambda each: each.name))


def import_parts(name: str) -> None:
    """Import the modules with this name of all resource types that have one."""
    for folder in list_folders():
        if util.find_spec(f"{folder}.{name}") is not None:
            import_module(f"{folder}.{name}")


def load_parts(name: str, kind: type[_PartT]) -> tuple[_PartT, ...]:
    """Return the parts with this name of all resource types that have one.

    Raises:
        TypeError: A module does not declare such a part.
    """
    parts = []
    for folder in list_folders():
        if util.find_spec(f"{folder}.{name}") is not None:
            part = getattr(import_module(f"{folder}.{name}"), name.upper(), None)
            if not isinstance(part, kind):
                raise TypeError(f"{folder}.{name}.{name.upper()} must be of the class {kind.__name__}")
            parts.append(part)
    return tuple(parts)
