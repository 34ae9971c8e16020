"""Clients made from options, environment variables and clouds.yaml."""

from __future__ import annotations

import argparse
import functools
import getpass
import sys
from collections.abc import Mapping, Set
from typing import Any

from keystoneauth1 import loading, session
from openstack.config import loader

from blazarclient import base, clock, exception, utils
from blazarclient import client as blazar_client
from blazarclient.i18n import _

SERVICE = "reservation"
_AUTH_TYPES_WITH_ENDPOINT = ("none", "http_basic", "admin_token")
"""Types of authentication that take the endpoint from their options instead of a service catalogue."""


_PAIRS = (
    ("project_id", "project_name"),
    ("tenant_id", "tenant_name"),
    ("user_id", "username"),
    ("domain_id", "domain_name"),
    ("user_domain_id", "user_domain_name"),
    ("project_domain_id", "project_domain_name"),
    ("default_domain_id", "default_domain_name"),
)
_TWINS = dict(_PAIRS) | {name: found for found, name in _PAIRS}
"""The key that names the same object as another key: a service given both uses the id."""


class Config(loader.OpenStackConfig):
    """Configuration of clouds: options, then the environment, then clouds.yaml.

    openstacksdk alone would take most authentication options from clouds.yaml first, and fail for those that
    the type of authentication does not have.
    """

    def __init__(self) -> None:
        super().__init__(pw_func=_prompt_for_password)
        self._auth: Mapping[str, str] = {}
        """Authentication options of the command line and the environment."""

    def register_argparse_arguments(
        self, parser: argparse.ArgumentParser, argv: list[str], service_keys: list[str] | None = None
    ) -> None:
        """Add the global options to *parser*; their set depends on the type of authentication."""
        if self._is_only_cloud_of_file() and _names_a_service(argv):
            self.default_cloud = None
        super().register_argparse_arguments(parser, argv, service_keys)

    def region(self, options: argparse.Namespace, given: Set[str] = frozenset()) -> Any:
        """Return the configuration; options take precedence over the environment and clouds.yaml.

        Args:
            options: The global options, with defaults from the environment.
            given: Names in *options* of those that are on the command line.

        Raises:
            InsufficientAuthInformation: Neither options, environment nor clouds.yaml specify a cloud.
        """
        is_password = getattr(options, "os_auth_url", "") is None
        if is_password and not options.os_cloud and self.default_cloud in ("defaults", self.envvar_key):
            raise exception.InsufficientAuthInformation(
                _(
                    "No cloud is specified: set OS_CLOUD, or source an openrc file; for a service without "
                    "Keystone, set OS_AUTH_TYPE=none and OS_ENDPOINT=http://<host>:<port>"
                )
            )
        from_environment = self.cloud_config["clouds"].get(self.envvar_key)
        if from_environment is not None and options.os_region_name:
            # Otherwise openstacksdk knows only the region of the environment, and refuses others.
            from_environment["region_name"] = options.os_region_name
        self._auth = _auth_options(options, given)
        # The option has a default, which openstacksdk must not put before the timeout in clouds.yaml.
        self._argv_timeout = "timeout" in given
        found = self.get_one(argparse=options, auth=dict(self._auth))
        _configure_session(found, options)
        return found

    def auth_config_hook(self, config: dict[str, Any]) -> dict[str, Any]:
        """Return *config* without ids and names that options replace."""
        found: dict[str, Any] = super().auth_config_hook(config)
        return {**self._without_twins(found), "auth": self._without_twins(found["auth"])}

    def _validate_auth(self, config: dict[str, Any], loader: Any) -> dict[str, Any]:
        """Return *config* with only the options that the type of authentication has.

        An openrc file for passwords sets the domain of the user, for example, which tokens do not have.
        """
        known = {name.replace("-", "_") for each in loader.get_options() for name in _names(each)}
        auth = {key: value for key, value in config["auth"].items() if key.replace("-", "_") in known}
        found: dict[str, Any] = super()._validate_auth({**config, "auth": auth}, loader)
        return found

    def _without_twins(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """Return *config* without the id of what an option names, and without the name for an id."""
        return {
            key: value
            for key, value in config.items()
            if key in self._auth or _TWINS.get(key) not in self._auth
        }

    def _is_only_cloud_of_file(self) -> bool:
        """Return whether the default is the only cloud of clouds.yaml, which the user did not choose."""
        return not utils.env("OS_CLOUD") and self.default_cloud not in (None, "defaults", self.envvar_key)


def _configure_session(cloud: Any, options: argparse.Namespace) -> None:
    """Apply the options of the connection that openstacksdk does not pass to its sessions."""
    if not cloud.config.get("api_timeout"):
        cloud.config["api_timeout"] = options.timeout
    cloud.config["timing"] = cloud.config.get("timing") or options.collect_timing
    # Older releases of keystoneauth1 have neither these options nor these arguments.
    names = ("tls_ciphers", "tls_min_version")
    tls = {name: value for name in names if (value := getattr(options, name, None))}
    cloud.set_session_constructor(functools.partial(session.Session, **tls))


def _names(option: Any) -> list[str]:
    """Return the names under which openstacksdk finds an option of a type of authentication."""
    return [option.name, option.dest, *(each.name for each in option.deprecated)]


def _names_a_service(argv: list[str]) -> bool:
    """Return whether the command line has no cloud, but an address at which to authenticate."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    for option in ("--os-cloud", "--os-auth-url", "--os-endpoint"):
        parser.add_argument(option, nargs="?")
    parser.add_argument("--os-auth-type", "--os-auth-plugin", nargs="?")
    found, _rest = parser.parse_known_args(argv)
    has_address = found.os_auth_url or found.os_endpoint or found.os_auth_type in _AUTH_TYPES_WITH_ENDPOINT
    return bool(has_address) and not found.os_cloud


def _auth_options(options: argparse.Namespace, given: Set[str]) -> dict[str, str]:
    """Return the authentication options that have a value, without the twins of those in *given*."""
    kind = options.os_auth_type
    names = [each.dest for each in loading.get_plugin_options(kind)] if kind else []
    found = {name: value for name in names if (value := getattr(options, f"os_{name}", None))}
    hidden = {_TWINS.get(name) for name in names if f"os_{name}" in given}
    return {name: value for name, value in found.items() if name not in hidden or f"os_{name}" in given}


def _prompt_for_password(prompt: str | None = None) -> str:
    """Return the password that the user types.

    Raises:
        InsufficientAuthInformation: Standard input is not a terminal.
    """
    if not sys.stdin.isatty():
        raise exception.InsufficientAuthInformation(
            _("No password is given: use --os-password, or set OS_PASSWORD")
        )
    return getpass.getpass(prompt or _("Password: "))


def major(version: str) -> str:
    """Return the major version of ``1``, ``1a0``, or a microversion such as ``1.0``.

    Raises:
        UnsupportedVersion: The major version is not 1.
    """
    if version == "1a0" or version.partition(".")[0] == "1":
        return "1"
    raise exception.UnsupportedVersion(
        _("Version %r of the reservation API is not supported; supported versions: 1, 1.0 and later 1.x")
        % version
    )


def microversion(version: str) -> str | None:
    """Return *version* if it is a microversion such as ``1.0``, else None."""
    return version if version.partition(".")[2] else None


def requested_version(options: argparse.Namespace) -> str:
    """Return the API version in the options of ``blazar``.

    ``OS_API_VERSION`` is ignored, as in release 4.6, because it configures other programs.
    """
    general = options.os_api_version
    if general and general != utils.env("OS_API_VERSION"):
        return str(general)
    return str(options.reservation_api_version)


def make_client(cloud: Any, options: argparse.Namespace) -> Any:
    """Return a client.

    Args:
        cloud: Configuration of a cloud's region, from openstacksdk.
        options: Global options of ``blazar``; they take precedence over *cloud*.
    """
    wanted = requested_version(options)
    return blazar_client.Client(
        major(wanted),
        service_type=options.service_type or options.os_service_type or cloud.get_service_type(SERVICE),
        session=cloud.get_session(),
        interface=options.endpoint_type or options.os_interface or cloud.get_interface(SERVICE),
        region_name=options.os_region_name or cloud.get_region_name(SERVICE),
        service_name=options.os_service_name or cloud.get_service_name(SERVICE),
        endpoint_override=endpoint(cloud, options.os_endpoint_override),
        default_microversion=microversion(wanted) or cloud.get_default_microversion(SERVICE),
        pause_before_retry=clock.pause,
    )


def endpoint(cloud: Any, override: str | None) -> str | None:
    """Return the configured URL of the service, with ``/v1`` added, or None without one."""
    url = override or cloud.config.get(f"{SERVICE}_endpoint_override")
    if not url and cloud.config.get("auth_type") in _AUTH_TYPES_WITH_ENDPOINT:
        url = (cloud.config.get("auth") or {}).get("endpoint")
    return base.with_version(url) if url else None
