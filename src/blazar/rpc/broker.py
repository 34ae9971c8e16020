"""Reachability of the message broker."""

from __future__ import annotations

import socket
import threading
from collections.abc import Sequence

import oslo_messaging
from oslo_config.cfg import ConfigOpts

_CONNECT_SECONDS = 2
_RABBIT = frozenset({"rabbit", "kombu"})
_PORT, _TLS_PORT = 5672, 5671


class Broker:
    """The brokers of ``transport_url``; probed only while it is uncertain whether one of them is up.

    If the broker is down when the first call is made, oslo.messaging waits without limit. Therefore, a
    connection is tried before a call unless the last call succeeded.
    """

    def __init__(self, addresses: Sequence[tuple[str, int]]) -> None:
        """Create an object for pairs of host and port; without any, it always counts as up."""
        self._addresses = addresses
        self._is_known = threading.Event()

    def is_up(self) -> bool:
        """Return whether the last call succeeded, or else whether a broker accepts connections now."""
        return self._is_known.is_set() or not self._addresses or any(map(_accepts, self._addresses))

    def note(self, *, has_succeeded: bool) -> None:
        """Record the outcome of a call."""
        if has_succeeded:
            self._is_known.set()
        else:
            self._is_known.clear()


def configured_broker(conf: ConfigOpts, transport_url: str | None = None) -> Broker:
    """Return the brokers of a URL, by default of ``transport_url``; none if it does not name RabbitMQ."""
    url = oslo_messaging.TransportURL.parse(conf, transport_url)
    if url.transport not in _RABBIT:
        return Broker(())
    group = "oslo_messaging_rabbit"
    port = _TLS_PORT if group in conf and conf[group].ssl else _PORT
    return Broker([(each.hostname, each.port or port) for each in url.hosts if each.hostname])


def _accepts(address: tuple[str, int]) -> bool:
    try:
        socket.create_connection(address, timeout=_CONNECT_SECONDS).close()
    except OSError:
        return False
    return True
