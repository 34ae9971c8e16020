"""The reservation service for openstacksdk: ``conn.reservation`` with typed resources.

openstacksdk knows of the service, but has no proxy for it: there, ``conn.reservation`` only sends requests.
Either of these puts the proxy in its place, for all connections of the process::

    blazarclient.sdk.install(conn)
    conn = openstack.connect(cloud="mine", vendor_hook="blazarclient.sdk:install")

or, in clouds.yaml, ``vendor_hook: blazarclient.sdk:install`` for a cloud.
"""

from __future__ import annotations

from typing import Any

from openstack import service_description

from blazarclient.sdk.proxy import Proxy

__all__ = ["SERVICE", "Proxy", "install"]


class ReservationService(service_description.ServiceDescription):  # type: ignore[type-arg]
    """What openstacksdk has to know of the service."""

    supported_versions = {"1": Proxy}  # noqa: RUF012  (as openstacksdk declares it)


SERVICE = ReservationService(service_type="reservation")


def install(conn: Any) -> None:
    """Make ``conn.reservation`` a :class:`~blazarclient.sdk.proxy.Proxy`.

    openstacksdk keeps services on the class of a connection, so that other connections get it, too.
    """
    conn._proxies.pop(SERVICE.service_type, None)
    conn.add_service(SERVICE)
