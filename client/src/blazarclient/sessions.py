"""Clients made from options, environment variables and clouds.yaml."""

from __future__ import annotations

import argparse
import getpass
import sys
from typing import Any

from keystoneauth1 import loading
from openstack.config import loader

from blazarclient import base, clock, exception, utils
from blazarclient import client as blazar_client
from blazarclient.i18n import _

SERVICE = "reservation"
_AUTH_TYPES_WITH_ENDPOINT = ("none", "http_basic", "admin_token")
"""Types of authentication that take the endpoint from their options instead of a service catalogue."""


class Config(loader.OpenStackConfig):
    """Configuration of clouds; some types of authentication ignore options that they do not have."""

    def __init__(self) -> None:
        super().__init__(pw_func=_prompt_for_password)

    def region(self, options: argparse.Namespace) -> Any:
        """Return the configuration; options take precedence over the environment and clouds.yaml.

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
        return self.get_one(argparse=options)

    def auth_config_hook(self, config: dict[str, Any]) -> dict[str, Any]:
        """Return *config* without the options that the type of authentication does not have."""
        found: dict[str, Any] = super().auth_config_hook(config)
        if found.get("auth_type") in _AUTH_TYPES_WITH_ENDPOINT:
            known = {each.dest for each in loading.get_plugin_options(found["auth_type"])}
            auth = {key: value for key, value in found["auth"].items() if key in known}
            return {**found, "auth": auth}
        return found


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
