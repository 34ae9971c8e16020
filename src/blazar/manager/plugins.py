"""Load the resource plugins, the cloud driver and the filters named in the configuration."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import timedelta
from typing import Any

from oslo_config.cfg import ConfigOpts
from stevedore import driver
from stevedore.exception import NoMatches

from blazar.booking.context import Plugin
from blazar.cloud.openstack.identity import find_auth_url
from blazar.domain.rules.rule import Rules
from blazar.enforcement.rules_file import load_rules
from blazar.known_options import unknown_keys
from blazar.plugins.capabilities import ObservesUse
from blazar.plugins.conformity import list_violations
from blazar.ports.clock import Clock
from blazar.ports.cloud import Cloud
from blazar.ports.enforcement import EnforcementFilter
from blazar.ports.quotas import Limits
from blazar.settings import Settings, UsageSettings

PLUGINS = "blazar.resource.plugins"
PLACEHOLDER = "dummy.vm.plugin"
"""The existing service's default plugin, which reserves nothing."""
CLOUDS = "blazar.cloud.drivers"
FILTERS = "blazar.enforcement.filters"


class PluginError(Exception):
    """The configuration names a plugin that cannot be used; the message gives the reason."""


def load_plugins(
    names: Sequence[str], settings: Settings, conf: ConfigOpts | None = None
) -> Mapping[str, Plugin]:
    """Return the plugins by resource type.

    An entry point of the group ``blazar.resource.plugins`` is a function of (settings, configuration) that
    returns a plugin. It may register options in the configuration; without a configuration, all options have
    their defaults. It raises ValueError, naming group and option, for a configuration that it cannot use.
    A plugin that cannot be used stops the start-up; the reference implementation only logs a warning, and
    then answers all requests for its type with 500. The existing service's placeholder is ignored, so that
    configurations which name it still work.

    Raises:
        PluginError: A name is unknown, a plugin fails to load or violates the contract, or two plugins serve
            one resource type.
    """
    plugins: dict[str, Plugin] = {}
    if conf is None:
        conf = ConfigOpts()
        conf([])
    for name in names:
        if name == PLACEHOLDER:
            continue
        plugin = make_plugin(name, _load(PLUGINS, name, "[manager] plugins"), settings, conf)
        if plugin.resource_type in plugins:
            raise PluginError(f"[manager] plugins: {plugin.resource_type} is served twice, also by {name}")
        plugins[plugin.resource_type] = plugin
    return plugins


def make_plugin(
    name: str, make: Callable[[Settings, ConfigOpts], Plugin], settings: Settings, conf: ConfigOpts
) -> Plugin:
    """Return the plugin that the target of its entry point makes.

    Raises:
        PluginError: It cannot be made, or violates the contract; the message names plugin and method.
    """
    try:
        plugin = make(settings, conf)
    except Exception as error:
        raise PluginError(f"[manager] plugins: {name} could not be loaded: {error}") from error
    violations = list_violations(plugin)
    if violations:
        raise PluginError(f"[manager] plugins: {name} violates the contract: {'; '.join(violations)}")
    return plugin


def load_cloud(name: str | None, conf: ConfigOpts, clock: Clock) -> Cloud:
    """Return the cloud that a driver creates from the configuration.

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


def load_filters(conf: ConfigOpts) -> Mapping[str, EnforcementFilter]:
    """Return the filters named in ``[enforcement] enabled_filters``, in their order.

    An entry point of the group ``blazar.enforcement.filters`` is a function that takes the configuration,
    in which it may register options, and returns a filter; it raises ValueError, naming group and option,
    for a configuration that it cannot use.

    Raises:
        PluginError: A name is unknown or occurs twice, a filter cannot use the configuration, or
            ``[enforcement]`` has an unknown option: a misspelled limit would have no effect.
    """
    names: Sequence[str] = conf.enforcement.enabled_filters
    if len(set(names)) < len(names):
        raise PluginError("[enforcement] enabled_filters: a filter is named twice")
    filters: dict[str, EnforcementFilter] = {}
    tell_where_keystone_is(conf)
    for name in names:
        make: Callable[[ConfigOpts], EnforcementFilter] = _load(
            FILTERS, name, "[enforcement] enabled_filters"
        )
        try:
            filters[name] = make(conf)
        except ValueError as error:
            raise PluginError(f"[enforcement] enabled_filters: {name}: {error}") from error
    unknown = unknown_keys(conf, only={"enforcement"})
    if unknown:
        raise PluginError("; ".join(unknown))
    return filters


def load_usage_rules(conf: ConfigOpts, resource_types: Collection[str]) -> Rules:
    """Return the usage rules of ``[enforcement] rules_file``; none if no file is configured.

    Args:
        conf: The configuration.
        resource_types: The types that can be reserved.

    Raises:
        PluginError: The file is invalid; the message names the file, the rule and the key.
    """
    try:
        return load_rules(conf, resource_types)
    except ValueError as error:
        raise PluginError(str(error)) from error


def check_grace_periods(settings: UsageSettings, plugins: Mapping[str, Plugin]) -> None:
    """Check that leases of all types with a grace period can be found unused.

    Raises:
        PluginError: A type is not enabled, or its use is not observed.
    """
    option = "[usage_records] no_show_grace_minutes"
    possible = sorted(key for key, plugin in plugins.items() if isinstance(plugin, ObservesUse))
    for each in sorted(settings.no_show_grace):
        if each not in possible:
            raise PluginError(
                f"{option}: the use of {each} is not observed; possible types: {', '.join(possible)}"
            )
    if settings.no_show_grace and not settings.interval:
        raise PluginError(f"{option}: needs [usage_records] observation_interval_minutes above 0")


def load_limits(conf: ConfigOpts, clock: Clock) -> Limits | None:
    """Return the limits of projects, or None if ``[quotas] enabled`` is not set.

    Raises:
        PluginError: The configuration cannot be used.
    """
    if not conf.quotas.enabled:
        return None
    # Imported only here: it imports openstacksdk, which nothing else here needs.
    from blazar.enforcement.limits import KeystoneLimits, connect

    try:
        enforcer = connect(conf)
    except ValueError as error:
        raise PluginError(f"[quotas] enabled: {error}") from error
    return KeystoneLimits(enforcer, clock, timedelta(seconds=conf.quotas.limits_lifetime))


def tell_where_keystone_is(conf: ConfigOpts) -> None:
    """Set the Keystone URL and region that filters report of a lease, unless they are configured."""
    if "os_auth_host" in conf:  # the options of the OpenStack driver are registered
        conf.set_default("external_service_auth_url", find_auth_url(conf), group="enforcement")
        conf.set_default("external_service_region_name", conf.os_region_name, group="enforcement")


def _load(group: str, name: str, option: str) -> Any:
    try:
        return _entry_point(group, name)
    except NoMatches as error:
        raise PluginError(f"{option}: there is nothing named {name}") from error


@functools.cache
def _entry_point(group: str, name: str) -> Any:
    """Return the target of an entry point; cached, because tests load the same plugins thousands of times."""
    return driver.DriverManager(group, name).driver
