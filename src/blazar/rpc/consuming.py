"""The library's connection with which an RPC server consumes requests."""

from __future__ import annotations

from typing import Any

import oslo_messaging


def listener_of(server: oslo_messaging.MessageHandlingServer) -> Any | None:
    """Return the library's listener on RabbitMQ; None before the server has started, or on another bus.

    Its attribute ``conn.connection`` is the connection, with the consumers. Another bus queues no requests.
    """
    listener = getattr(server.listener, "_poll_style_listener", None)
    connection = getattr(getattr(listener, "conn", None), "connection", None)
    return listener if hasattr(connection, "_consumers") else None
