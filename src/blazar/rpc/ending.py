"""Ending an RPC server without losing a request.

oslo.messaging stops reading requests at once, and closes its connection to RabbitMQ when those that it has
read are answered. In between, RabbitMQ goes on to give it some; and while the connection is being closed they
are acknowledged, unread, so that nobody ever answers them: whoever asked waits in vain, for as long as
``rpc_response_timeout``. Each restart of a manager lost requests like that. Here they go back to the queue,
and so to the other managers, as soon as nothing is read any more.
"""

from __future__ import annotations

import logging
from typing import Any

import oslo_messaging

_logger = logging.getLogger(__name__)


def end(server: oslo_messaging.MessageHandlingServer) -> None:
    """Have a server take no more requests, answer those that it has taken, and end."""
    server.stop()
    connection = _connection_of(server)
    if connection is not None:
        try:
            _give_back(connection)
        except Exception as error:
            # The broker is away, and with it what there was to be given back.
            _logger.info("requests that were not read cannot be given back: %s", error)
    server.wait()


def _connection_of(server: oslo_messaging.MessageHandlingServer) -> Any | None:
    """Return the library's own connection to RabbitMQ; None for another bus, which keeps no requests."""
    listener = getattr(server.listener, "_poll_style_listener", None)
    connection = getattr(getattr(listener, "conn", None), "connection", None)
    return connection if hasattr(connection, "_consumers") else None


def _give_back(connection: Any) -> None:
    """Close the channel on which requests come; what is to be done on it still is done on another."""
    # Whatever comes while it is being closed is passed over, and given to others when it is.
    connection.channel.close()
    connection.channel = connection.connection.channel()
    for consumer in connection._consumers:
        consumer.queue = consumer.queue(connection.channel)
