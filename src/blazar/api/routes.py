"""All routes: those of the core, which the module of each noun declares, and those of resource types.

To add an endpoint, add a handler, its route and its rule to the module of its noun, or to ``api.py`` in the
folder of its resource type, and its schemas. Then write the output of ``python -m blazar.api.openapi`` to
``doc/openapi.json``. Tests fail if a part is missing.
"""

from __future__ import annotations

from collections.abc import Iterable

from blazar.api import availability, feeds, leases, maintenance, offers, subscriptions, usage, versions
from blazar.api.permissions import BY_OPERATORS, PRIVATE_PROPERTIES, Rule
from blazar.api.route import Route
from blazar.api.type_api import TypeApi
from blazar.resource_types import load_parts

CORE_ROUTES: tuple[Route, ...] = (
    *versions.ROUTES,
    *leases.ROUTES,
    *availability.ROUTES,
    *offers.ROUTES,
    *maintenance.ROUTES,
    *usage.ROUTES,
    *feeds.ROUTES,
    *subscriptions.ROUTES,
)
CORE_RULES: tuple[Rule, ...] = (
    *leases.RULES,
    *availability.RULES,
    *offers.RULES,
    *maintenance.RULES,
    *usage.RULES,
    *feeds.RULES,
    *subscriptions.RULES,
    Rule(
        name=PRIVATE_PROPERTIES,
        check=BY_OPERATORS,
        description="See private resource properties, and use them in requirements; for other callers "
        "they do not exist. Also see why resources cannot be reserved.",
    ),
)

TYPE_APIS: tuple[TypeApi, ...] = load_parts("api", TypeApi)
"""The APIs of the resource types of this distribution."""


def routes_of(types: Iterable[TypeApi]) -> tuple[Route, ...]:
    """Return the routes of the core and of these resource types, each once.

    Types that reserve the same resources declare the same routes.
    """
    found = list(CORE_ROUTES)
    for each in types:
        found += [route for route in each.routes if route not in found]
    return tuple(found)


ROUTES: tuple[Route, ...] = routes_of(TYPE_APIS)
"""The routes of this distribution."""


def by_path(types: Iterable[TypeApi]) -> dict[str, tuple[Route, ...]]:
    """Return the routes of the core and of these resource types, grouped by path."""
    grouped: dict[str, tuple[Route, ...]] = {}
    for route in routes_of(types):
        grouped[route.path] = (*grouped.get(route.path, ()), route)
    return grouped
