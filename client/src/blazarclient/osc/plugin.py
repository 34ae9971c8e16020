"""Plugin interface of OpenStackClient: the client and the global option."""

from __future__ import annotations

import argparse
import logging
from typing import Any

from blazarclient import base, clock, exception, sessions, utils
from blazarclient.i18n import _
from blazarclient.v1 import client

LOG = logging.getLogger(__name__)

API_NAME = "reservation"
DEFAULT_API_VERSION = "1"
API_VERSION_OPTION = "os_reservation_api_version"
_VERSION_KEY_OF_4_6 = "reservations_api_version"
"""Key from which release 4.6 read the version in clouds.yaml."""
API_VERSIONS = {"1": "blazarclient.v1.client.Client"}


def make_client(instance: Any) -> client.Client:
    """Return a client for the options of ``openstack``.

    Args:
        instance: Client manager of ``openstack``.
    """
    cloud = instance._cli_options
    # The type in the catalogue is configurable; the type in the API version header is not.
    url = cloud.config.get(f"{API_NAME}_endpoint_override") or instance.get_endpoint_for_service_type(
        cloud.get_service_type(API_NAME), region_name=instance.region_name, interface=instance.interface
    )
    LOG.debug("the endpoint of the reservation service: url=%s", url)
    wanted = str(instance._api_version[API_NAME])
    if wanted == DEFAULT_API_VERSION:
        wanted = str(cloud.config.get(_VERSION_KEY_OF_4_6, wanted))
    return client.Client(
        session=instance.session,
        service_type=API_NAME,
        interface=instance.interface,
        region_name=instance.region_name,
        endpoint_override=base.with_version(url) if url else None,
        default_microversion=sessions.microversion(wanted) or cloud.get_default_microversion(API_NAME),
        pause_before_retry=clock.pause,
    )


def check_api_version(version: str) -> bool:
    """Return whether the version is supported; if not, ``openstack`` omits the commands."""
    try:
        sessions.major(version)
    except exception.UnsupportedVersion:
        return False
    return True


def build_option_parser(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Return *parser* with the option for the API version."""
    parser.add_argument(
        "--os-reservation-api-version",
        metavar="<reservation-api-version>",
        default=utils.env("OS_RESERVATION_API_VERSION", "OS_RESERVATIONS_API_VERSION") or None,
        help=_("API version, or microversion such as 1.0; default %s (Env: OS_RESERVATION_API_VERSION)")
        % DEFAULT_API_VERSION,
    )
    return parser
