"""Plugins that violate the contract are refused; wrappers keep the capabilities of their plugin."""

from __future__ import annotations

from typing import Any

import pytest
from app.shelves import Shelf, Things
from oslo_config.cfg import ConfigOpts
from telemetry.counting import Counts

from blazar.domain.discovered import DiscoveredResource
from blazar.domain.plugin_resources import PluginResource
from blazar.manager.plugins import PluginError, make_plugin
from blazar.plugins.capabilities import (
    CAPABILITIES,
    ActsBeforeEnd,
    CreatesAsLessee,
    HasIndependentSteps,
    RegistersResources,
)
from blazar.plugins.conformity import list_violations
from blazar.plugins.flavors.plugin import Flavors
from blazar.plugins.floatingips.plugin import FloatingIPs
from blazar.plugins.hosts.plugin import Hosts
from blazar.plugins.hosts.settings import HostSettings
from blazar.plugins.instances.plugin import Instances
from blazar.ports.cloud import Cloud
from blazar.settings import Settings
from blazar.telemetry.measured import measured_plugin
from blazar_plugin_testing.faults import Repeating

PLUGINS: list[Any] = [
    Hosts(HostSettings()),
    Instances(HostSettings()),
    Flavors(HostSettings()),
    FloatingIPs(),
    Shelf(),
]


class Misspelt(Things, ActsBeforeEnd[Any]):
    def befor_end(self) -> None:
        """Never called."""


class Undeclared(Things):
    def provide(self, spec: Any, reservation_id: str, lessee: Any, *, afresh: bool) -> Any:
        return spec


class Half(Things, CreatesAsLessee[Any]):
    provide = Undeclared.provide


class Outdated(Things, ActsBeforeEnd[Any]):
    def before_end(self, cloud: Cloud, assignment: Any) -> Any:  # type: ignore[override]
        """Lack the last argument."""


class WithoutRanks(Things, HasIndependentSteps):
    """The ranks are not named."""


class Both(Shelf, RegistersResources):
    def register(self, *arguments: Any) -> PluginResource:
        raise NotImplementedError

    def change(self, *arguments: Any) -> PluginResource:
        raise NotImplementedError

    def check_removable(self, *arguments: Any) -> None:
        """Allow it."""


def capabilities_of(plugin: object) -> list[str]:
    return [each.__name__ for each in CAPABILITIES if isinstance(plugin, each)]


@pytest.mark.parametrize("plugin", PLUGINS, ids=lambda each: each.resource_type)
def test_plugins_that_conform_have_no_violations(plugin: object) -> None:
    assert list_violations(plugin) == ()


@pytest.mark.parametrize("kind", [Misspelt, Half])
def test_a_plugin_that_lacks_a_method_of_a_declared_capability_cannot_be_made(kind: type) -> None:
    with pytest.raises(TypeError, match=r"abstract method '?(before_end|withdraw)"):
        kind()


@pytest.mark.parametrize(
    ("plugin", "violation"),
    [
        (Undeclared(), "provide belongs to a capability that is not declared: inherit CreatesAsLessee"),
        (Outdated(), r"the method before_end of ActsBeforeEnd must accept .*\(cloud, assignment, due\)"),
        (WithoutRanks(), "the attribute independent_ranks of HasIndependentSteps is missing"),
        (Both(), "the attribute resource_collection of RegistersResources is missing"),
        (Both(), "either discovered or registered"),
        (object(), "the method observe is missing"),
        (object(), "the attribute quota_unit is missing"),
    ],
)
def test_a_violation_names_the_method_and_the_capability(plugin: object, violation: str) -> None:
    with pytest.raises(AssertionError, match=violation):
        raise AssertionError("; ".join(list_violations(plugin)))


@pytest.mark.parametrize(
    ("kind", "problem"),
    [
        (Misspelt, "strange.plugin could not be loaded: .*abstract method '?before_end"),
        (Undeclared, "strange.plugin violates the contract: provide .* inherit CreatesAsLessee"),
    ],
)
def test_a_manager_does_not_start_with_a_plugin_that_violates_the_contract(kind: type, problem: str) -> None:
    with pytest.raises(PluginError, match=problem):
        make_plugin("strange.plugin", lambda settings, conf: kind(), Settings(), ConfigOpts())


@pytest.mark.parametrize("plugin", PLUGINS, ids=lambda each: each.resource_type)
def test_a_wrapper_has_the_capabilities_of_its_plugin_and_no_others(plugin: Any) -> None:
    for wrapped in (measured_plugin(plugin, Counts()), Repeating(plugin)):
        assert capabilities_of(wrapped) == capabilities_of(plugin)


def test_the_former_name_of_the_class_of_resources_still_works() -> None:
    assert DiscoveredResource is PluginResource
