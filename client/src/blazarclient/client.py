"""Entry point of the library: ``client.Client(session=...)``."""

from __future__ import annotations

from typing import Any

from blazarclient import exception
from blazarclient.i18n import _
from blazarclient.v1 import client as v1_client

_V1_NAMES = ("1", "1a0")


def Client(
    version: object = 1, service_type: str = "reservation", *args: Any, **kwargs: Any
) -> v1_client.Client:
    """Return a client of an API version.

    Args:
        version: Any object whose string is ``1`` or ``1a0``.
        service_type: Type of the service in the service catalogue.
        args: Passed to :class:`blazarclient.v1.client.Client`.
        kwargs: Likewise.

    Raises:
        UnsupportedVersion: *version* is another version.
        InsufficientAuthInformation: Neither a session nor both a URL and a token are given.
    """
    if str(version) not in _V1_NAMES:
        raise exception.UnsupportedVersion(
            _("Client version %(version)s is not supported; supported versions: %(supported)s")
            % {"version": version, "supported": ", ".join(_V1_NAMES)}
        )
    return v1_client.Client(*args, service_type=service_type, **kwargs)
