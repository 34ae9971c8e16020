"""Stopping an RPC server without losing requests.

oslo.messaging stops reading requests at once, and closes its connection to RabbitMQ when the requests that it
has read are answered. In between, RabbitMQ continues to deliver requests. While the connection is being
closed, these are acknowledged unread and never answered: the caller waits in vain until
``rpc_response_timeout``. Each restart of a manager lost requests in this way. This module returns them to
the queue, and so to the other managers, as soon as the server reads no more requests.
"""

from __future__ import annotations

import logging
from typing import Any

import oslo_messaging

from blazar.rpc.consuming import listener_of

_logger = logging.getLogger(__name__)


def end(server: oslo_messaging.MessageHandlingServer) -> None:
    """Stop a server: accept no more requests, answer the accepted ones, and return."""
    server.stop()
    listener = listener_of(server)
    if listener is not None:
        try:
            _give_back(listener.conn.connection)
        except Exception as error:
            # The broker is unreachable, so there are no requests to return.
            _logger.info("cannot return unread requests to the queue: reason=%s", error)
    server.wait()


def _give_back(connection: Any) -> None:
    """Close the channel that delivers requests; a new channel serves what remains to be done."""
    # Requests that arrive while the channel is being closed are ignored; the broker redelivers them.
    connection.channel.close()
    connection.channel = connection.connection.channel()
    for consumer in connection._consumers:
        consumer.queue = consumer.queue(connection.channel)
