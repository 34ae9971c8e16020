"""Credentials from the configuration, as keystoneauth plugins."""

from __future__ import annotations

from keystoneauth1 import loading
from keystoneauth1.exceptions import ClientException, MissingRequiredOptions, NoMatchingPlugin
from keystoneauth1.identity import V3Password
from keystoneauth1.plugin import BaseAuthPlugin
from oslo_config import cfg

from blazar.cloud.openstack.options import KEYSTONE
from blazar.cloud.openstack.settings import OptionError, check_url, read

_PASSWORD_TYPES = frozenset({"password", "v3password"})
_NEEDED_WITH_PASSWORDS = (
    ("username", "user_id"),
    ("password",),
    ("project_name", "project_id", "system_scope", "domain_name", "domain_id", "trust_id"),
)
"""Groups of options of which one must be set; if none is, the first is named."""
_DOMAINS = {
    "username": ("user_domain_name", "user_domain_id", "default_domain_name", "default_domain_id"),
    "project_name": ("project_domain_name", "project_domain_id", "default_domain_name", "default_domain_id"),
}
"""Groups of options of which one must be set if the key is; a name is unique only in a domain."""


def has_credentials(conf: cfg.ConfigOpts, group: str) -> bool:
    """Return whether a group has credentials, its own or by reference to another group."""
    loading.register_auth_conf_options(conf, group)
    # With auth_section, auth_type is an option of that section.
    return bool(conf[group].auth_section or conf[group].auth_type)


def load_plugin(conf: cfg.ConfigOpts, group: str) -> BaseAuthPlugin:
    """Return the keystoneauth plugin for the credentials of a group.

    Raises:
        OptionError: The credentials are incomplete, or their type is not installed.
    """
    section = conf[group].auth_section or group
    try:
        plugin: BaseAuthPlugin | None = loading.load_auth_from_conf_options(conf, group)
    except NoMatchingPlugin as error:
        raise OptionError(section, "auth_type", f"there is nothing named {error.name}") from error
    except MissingRequiredOptions as error:
        raise OptionError(section, error.options[0].dest, "is not set") from error
    except (ClientException, cfg.Error, ValueError, TypeError) as error:
        raise OptionError(section, "auth_type", str(error)) from error
    if plugin is None:
        raise OptionError(section, "auth_type", f"is not set, though [{group}] auth_section names this")
    if conf[section].auth_type in _PASSWORD_TYPES:
        _check_password(conf, section)
    auth_url = getattr(plugin, "auth_url", None)
    if auth_url is not None:
        check_url(auth_url, section, "auth_url")
    return plugin


def find_auth_url(conf: cfg.ConfigOpts) -> str | None:
    """Return Keystone's URL from the credentials in ``[keystone]`` or the old options, or None."""
    plugin = load_plugin(conf, KEYSTONE) if has_credentials(conf, KEYSTONE) else make_old_plugin(conf)
    url: str | None = getattr(plugin, "auth_url", None)
    return url


def make_old_plugin(conf: cfg.ConfigOpts) -> V3Password:
    """Return the keystoneauth plugin for the credentials in the existing service's options.

    Raises:
        OptionError: A value is invalid.
    """
    host = read(conf, "DEFAULT", "os_auth_host")
    host = f"[{host}]" if ":" in host else host
    server = f"{read(conf, 'DEFAULT', 'os_auth_protocol')}://{host}:{read(conf, 'DEFAULT', 'os_auth_port')}"
    path = [conf.os_auth_prefix.strip("/"), read(conf, "DEFAULT", "os_auth_version")]
    return V3Password(
        "/".join([server, *filter(None, path)]),
        username=conf.os_admin_username,
        password=conf.os_admin_password,
        project_name=conf.os_admin_project_name,
        user_domain_name=conf.os_admin_user_domain_name,
        project_domain_name=conf.os_admin_project_domain_name,
    )


def _check_password(conf: cfg.ConfigOpts, section: str) -> None:
    def is_set(option: str) -> bool:
        # Not every type of credentials has all of these options.
        return bool(getattr(conf[section], option, None))

    for options in _NEEDED_WITH_PASSWORDS:
        if not any(map(is_set, options)):
            raise OptionError(section, options[0], "is not set")
    for name, domains in _DOMAINS.items():
        if is_set(name) and not any(map(is_set, domains)):
            raise OptionError(section, domains[0], f"is not set, though {name} is")
