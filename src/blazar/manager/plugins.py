"""Loading the resource plugins and the cloud driver that the configuration names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from oslo_config.cfg import ConfigOpts
from stevedore import driver
from stevedore.exception import NoMatches

from blazar.app.context import Plugin
from blazar.ports.clock import Clock
from blazar.ports.cloud import Cloud
from blazar.settings import Settings

PLUGINS = "blazar.resource.plugins"
PLACEHOLDER = "dummy.vm.plugin"
"""The existing service's default, which reserves nothing (behaviour 3.5)."""
CLOUDS = "blazar.cloud.drivers"


class PluginError(Exception):
    """The configuration names a plugin that cannot be used; the message says why."""


def load_plugins(names: Sequence[str], settings: Settings) -> Mapping[str, Plugin]:
    """Return the plugins by resource type.

    An entry point of the group ``blazar.resource.plugins`` is a function that takes the settings and
    returns a plugin. A bad plugin stops the start-up; the reference drops it with a warning and
    answers 500 for its type ever after (behaviour 12, 59). The existing service's placeholder is passed
    over, so that configurations which name it still work.

    Raises:
        PluginError: A name is unknown, a plugin fails to load, or two are for one resource type.
    """
    plugins: dict[str, Plugin] = {}
    for name in names:
        if name == PLACEHOLDER:
            continue
        make: Callable[[Settings], Plugin] = _load(PLUGINS, name, "[manager] plugins")
        try:
            plugin = make(settings)
        except Exception as error:
            raise PluginError(f"[manager] plugins: {name} could not be made: {error}") from error
        if plugin.resource_type in plugins:
            raise PluginError(f"[manager] plugins: {plugin.resource_type} is served twice, also by {name}")
        plugins[plugin.resource_type] = plugin
    return plugins


def load_cloud(name: str | None, conf: ConfigOpts, clock: Clock) -> Cloud:
    """Return the cloud that a driver makes of the configuration.

    An entry point of the group ``blazar.cloud.drivers`` is a function of (configuration, clock); it
    raises ValueError, naming group and option, for a configuration that it cannot use.

    Raises:
        PluginError: No driver is named, it is unknown, or it cannot use the configuration.
    """
    if not name:
        raise PluginError("[manager] cloud: must name a cloud driver")
    make: Callable[[ConfigOpts, Clock], Cloud] = _load(CLOUDS, name, "[manager] cloud")
    try:
        return make(conf, clock)
    except ValueError as error:
        raise PluginError(str(error)) from error


def _load(group: str, name: str, option: str) -> Any:
    try:
        return driver.DriverManager(group, name).driver
    except NoMatches as error:
        raise PluginError(f"{option}: there is nothing named {name}") from error
