"""The APIs of the resource types whose plugins are enabled, including those of other distributions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stevedore import ExtensionManager

from blazar.api.collection_api import api_of
from blazar.api.routes import ROUTES, TYPE_APIS
from blazar.api.type_api import TypeApi
from blazar.domain.collections import ResourceCollection

ENTRY_POINTS = "blazar.resource.collections"
"""The group of entry points of declarations; each has the name of its plugin's entry point."""


def load_apis(plugins: Sequence[str]) -> tuple[TypeApi, ...]:
    """Return the APIs of the resource types whose plugins are named, including those of other distributions.

    Raises:
        ValueError: A declaration cannot be loaded or is invalid, or two of them have the same path.
    """
    own = tuple(each for each in TYPE_APIS if each.plugin in plugins)
    declared = _load_declared(plugins)
    _check(declared)
    return (*own, *(api_of(name, each) for name, each in declared.items()))


def _load_declared(plugins: Sequence[str]) -> Mapping[str, Any]:
    """Return the targets of the entry points of these plugins, in the order of the names."""
    failures: dict[str, BaseException] = {}
    found: ExtensionManager[Any] = ExtensionManager(
        ENTRY_POINTS,
        on_load_failure_callback=lambda _, entry_point, error: failures.update({entry_point.name: error}),
    )
    for name in plugins:
        if name in failures:
            raise ValueError(
                f"[manager] plugins: the collection of {name} cannot be loaded: {failures[name]}"
            )
    by_name: dict[str, Any] = {each.name: each.plugin for each in found}
    return {name: by_name[name] for name in dict.fromkeys(plugins) if name in by_name}


def _check(declared: Mapping[str, Any]) -> None:
    taken = {route.path for route in ROUTES}
    for each in declared.values():
        if not isinstance(each, ResourceCollection):
            raise ValueError(f"[manager] plugins: {each!r} is not a ResourceCollection")
        path = f"/v1/{each.path}"
        if path in taken:
            raise ValueError(f"[manager] plugins: the path {path} is served already")
        taken.add(path)
