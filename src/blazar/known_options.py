"""Keys of configuration files without effect: unknown keys, and keys of the existing service.

A misspelled key must not be ignored silently. In groups of this service, an unknown key prevents the start.
``[DEFAULT]`` also has options of libraries; there, an unknown key prevents the start only if it resembles an
option of this service.
"""

from __future__ import annotations

import difflib
import functools
import logging
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path

from oslo_config import cfg

from blazar.cloud.openstack import options as openstack
from blazar.options import GROUPS

DEFAULT = "DEFAULT"
WITHOUT_EFFECT: Mapping[str, frozenset[str]] = {
    DEFAULT: frozenset(
        {
            "db_driver",
            "enable_v1_api",
            "endpoint_type",
            "identity_service",
            "keystone_client_version",
            "log_exchange",
        }
    ),
    "api": frozenset({"api_v2_controllers"}),
    "manager": frozenset({"event_max_retries"}),
    "nova": frozenset({"project_id_key"}),
}
"""Options of the existing service that are accepted with a warning and have no effect."""
OF_MESSAGING = frozenset(
    {
        "control_exchange",
        "executor_thread_pool_size",
        "rpc_ping_enabled",
        "rpc_response_timeout",
        "transport_url",
    }
)
"""The options of oslo.messaging in ``[DEFAULT]``; programs that send no messages do not load them."""
_CLOSE = 0.75

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A key of a configuration file."""

    file: str
    group: str
    name: str

    def __str__(self) -> str:
        return f"{self.file}: [{self.group}] {self.name}"


def check_keys(
    conf: cfg.ConfigOpts, *, without: Collection[str] = (), plugin_groups: Collection[str] = ()
) -> None:
    """Log a warning for each key without effect. See :func:`unknown_keys` for the arguments.

    Raises:
        ValueError: Keys are unknown; the message has all of them.
    """
    for key in keys_without_effect(conf):
        _logger.warning("Option without effect: file=%s group=%s option=%s", key.file, key.group, key.name)
    unknown = unknown_keys(conf, without=without, plugin_groups=plugin_groups)
    if unknown:
        raise ValueError("; ".join(unknown))


def flags_without_effect(conf: cfg.ConfigOpts, names: Collection[str]) -> list[str]:
    """Return those of the options that were set on the command line, as flags."""
    found = []
    for name in names:
        location = conf.get_location(name)
        if location is not None and location.location is cfg.Locations.command_line:
            found.append(f"--{name}")
    return found


def keys_without_effect(conf: cfg.ConfigOpts) -> list[Key]:
    """Return the keys of the files that are options of the existing service without effect here."""
    return [each for each in _keys(conf) if each.name in WITHOUT_EFFECT.get(each.group, ())]


def unknown_keys(
    conf: cfg.ConfigOpts,
    *,
    only: Collection[str] = (),
    without: Collection[str] = (),
    plugin_groups: Collection[str] = (),
) -> list[str]:
    """Return a message for each unknown key, with the most similar option.

    Args:
        conf: The configuration, with the options of the plugins and filters that this program loads.
        only: The groups to check; if empty, all groups of this service and *plugin_groups*.
        without: Groups to skip, because this program does not know all of their options.
        plugin_groups: Groups of plugins from other distributions.
    """
    own = set(only) or {group or DEFAULT for group in (*GROUPS, *dict(openstack.list_opts()), *plugin_groups)}
    found = []
    for key in _keys(conf):
        if key.group not in own - set(without) or key.name in WITHOUT_EFFECT.get(key.group, ()):
            continue
        is_ours = key.group != DEFAULT
        names = _own_names(key.group) | (_registered(conf, key.group) if is_ours else set())
        if key.name in names | _registered(conf, key.group) | _credential_names(key.group):
            continue
        nearest = difflib.get_close_matches(key.name, sorted(names), n=1, cutoff=0 if is_ours else _CLOSE)
        if is_ours or nearest:
            hint = f"; did you mean {nearest[0]}?" if nearest else ""
            found.append(f"{key}: there is no such option{hint}")
        elif key.name not in OF_MESSAGING:
            _logger.warning("Unknown option: file=%s group=%s option=%s", key.file, key.group, key.name)
    return found


def _keys(conf: cfg.ConfigOpts) -> Iterator[Key]:
    """Yield the keys of all files that were read, with underscores as in option names."""
    for path in _files(conf):
        sections: dict[str, dict[str, list[str]]] = {}
        cfg.ConfigParser(path, sections).parse()
        for group, values in sections.items():
            for name in values:
                yield Key(file=path, group=group, name=name.replace("-", "_"))


def _files(conf: cfg.ConfigOpts) -> Iterator[str]:
    yield from conf.config_file or ()
    for folder in conf.config_dir or ():
        yield from (str(each) for each in sorted(Path(folder).expanduser().glob("*.conf")))


def _own_names(group: str) -> set[str]:
    """Return the names of this service's options in a group, including former names."""
    names = set()
    for home, options in (*GROUPS.items(), *openstack.list_opts()):
        for option in options:
            if (home or DEFAULT) == group:
                names.add(option.dest)
            names |= {
                (former.name or option.dest).replace("-", "_")
                for former in option.deprecated_opts
                if (former.group or home or DEFAULT) == group
            }
    return names


def _registered(conf: cfg.ConfigOpts, group: str) -> set[str]:
    """Return the options that libraries, plugins and filters have registered in a group."""
    if group == DEFAULT:
        return set(conf)
    return set(conf[group]) if group in conf else set()


@functools.cache
def _credentials() -> frozenset[str]:
    # Imported here because the import is slow and few programs need it.
    from keystoneauth1 import loading

    options = [*loading.get_session_conf_options(), *loading.get_adapter_conf_options()]
    options += loading.get_auth_common_conf_options()
    # keystoneauth's own list logs an error for each plugin whose optional library is not installed.
    for each in entry_points(group=loading.PLUGIN_NAMESPACE):
        with suppress(Exception):
            options += loading.get_auth_plugin_conf_options(each.load()())
    return frozenset(each.dest for each in options)


def _credential_names(group: str) -> frozenset[str]:
    return _credentials() if group in openstack.CREDENTIAL_GROUPS else frozenset()
