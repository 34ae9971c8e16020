"""From options, environment and clouds.yaml to a client."""

from __future__ import annotations

import argparse
import getpass
import sys
from typing import Any
from urllib.parse import urlsplit

from keystoneauth1 import loading
from openstack.config import loader

from blazarclient import client as blazar_client
from blazarclient import exception, utils
from blazarclient.i18n import _

SERVICE = "reservation"
_FIXED = ("none", "http_basic", "admin_token")
"""The types of authentication that are told the endpoint instead of looking it up."""


class Config(loader.OpenStackConfig):
    """The configuration of clouds, in which some types of authentication overlook the rest of an openrc."""

    def __init__(self) -> None:
        super().__init__(pw_func=_ask)

    def region(self, options: argparse.Namespace) -> Any:
        """Return the configuration for a user's options, which go before environment and clouds.yaml."""
        from_environment = self.cloud_config["clouds"].get(self.envvar_key)
        if from_environment is not None and options.os_region_name:
            # Else the region of the environment would be the only one there is.
            from_environment["region_name"] = options.os_region_name
        return self.get_one(argparse=options)

    def auth_config_hook(self, config: dict[str, Any]) -> dict[str, Any]:
        """Return *config*, without what the type of authentication knows nothing of."""
        found: dict[str, Any] = super().auth_config_hook(config)
        if found.get("auth_type") in _FIXED:
            known = {each.dest for each in loading.get_plugin_options(found["auth_type"])}
            auth = {key: value for key, value in found["auth"].items() if key in known}
            return {**found, "auth": auth}
        return found


def _ask(prompt: str | None = None) -> str:
    """Return the password that the user types, if there is a terminal to type it on."""
    if not sys.stdin.isatty():
        raise exception.InsufficientAuthInformation(
            _("There is no password: give --os-password, or set OS_PASSWORD")
        )
    return getpass.getpass(prompt or _("Password: "))


def major(version: str) -> str:
    """Return the major version of what a user asks for: ``1``, ``1a0``, or a microversion such as ``1.0``.

    Raises:
        UnsupportedVersion: There is no such version.
    """
    if version == "1a0" or version.partition(".")[0] == "1":
        return "1"
    raise exception.UnsupportedVersion(
        _("Version %r of the reservation API is not supported; supported are: 1, 1.0 and later 1.x") % version
    )


def microversion(version: str) -> str | None:
    """Return the microversion in what a user asks for, None if it names none."""
    return version if version.partition(".")[2] else None


def asked_version(options: argparse.Namespace) -> str:
    """Return the API version that a user of ``blazar`` asks for.

    ``OS_API_VERSION`` is not looked at: it never was, and says something to other programs.
    """
    general = options.os_api_version
    if general and general != utils.env("OS_API_VERSION"):
        return str(general)
    return str(options.reservation_api_version)


def make_client(cloud: Any, options: argparse.Namespace) -> Any:
    """Return a client for the cloud of that configuration, as the user's *options* have it.

    Args:
        cloud: A region of openstacksdk's configuration.
        options: Those of ``blazar``.
    """
    wanted = asked_version(options)
    return blazar_client.Client(
        major(wanted),
        service_type=options.service_type or options.os_service_type or cloud.get_service_type(SERVICE),
        session=cloud.get_session(),
        interface=options.endpoint_type or options.os_interface or cloud.get_interface(SERVICE),
        region_name=options.os_region_name or cloud.get_region_name(SERVICE),
        service_name=options.os_service_name or cloud.get_service_name(SERVICE),
        endpoint_override=endpoint(cloud, options.os_endpoint_override),
        default_microversion=microversion(wanted) or cloud.get_default_microversion(SERVICE),
    )


def endpoint(cloud: Any, override: str | None) -> str | None:
    """Return the URL of the service if the user names one; ``/v1`` may be left out."""
    url = override or cloud.config.get(f"{SERVICE}_endpoint_override")
    if not url and cloud.config.get("auth_type") in _FIXED:
        url = (cloud.config.get("auth") or {}).get("endpoint")
    return with_version(url) if url else None


def with_version(url: str) -> str:
    """Return *url*, with ``/v1`` if it does not end in a version."""
    last = urlsplit(url).path.rstrip("/").rpartition("/")[2]
    is_version = last[:1] == "v" and last[1:2].isdigit()
    return url if is_version else f"{url.rstrip('/')}/v1"
