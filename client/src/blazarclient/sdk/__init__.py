"""The reservation service for openstacksdk: ``conn.reservation`` with typed resources.

openstacksdk has no proxy for the service: its ``conn.reservation`` only sends requests. Either of these
statements installs the proxy for all connections of the process::

    blazarclient.sdk.install(conn)
    conn = openstack.connect(cloud="mine", vendor_hook="blazarclient.sdk:install")

For a cloud in clouds.yaml, set ``vendor_hook: blazarclient.sdk:install``.
"""

from __future__ import annotations

from typing import Any

from openstack import service_description

from blazarclient.sdk.proxy import Proxy

__all__ = ["SERVICE", "Proxy", "install"]


class ReservationService(service_description.ServiceDescription):  # type: ignore[type-arg]
    """Description of the service for openstacksdk."""

    supported_versions = {"1": Proxy}  # noqa: RUF012  (openstacksdk declares it so)


SERVICE = ReservationService(service_type="reservation")


def install(conn: Any) -> None:
    """Make ``conn.reservation`` a :class:`~blazarclient.sdk.proxy.Proxy`.

    openstacksdk stores services in the class of the connection, so this affects all connections.
    """
    conn._proxies.pop(SERVICE.service_type, None)
    conn.add_service(SERVICE)
