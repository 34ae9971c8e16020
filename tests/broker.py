"""The message broker that tests use."""

from __future__ import annotations

import os
import socket
from urllib.parse import urlsplit

import amqp
from needed import give_up

_DEFAULT_URL = "rabbit://guest:guest@127.0.0.1:5672/"
_CONNECT_TIMEOUT_SECONDS = 5


def broker_url() -> str:
    """Return the URL of RabbitMQ.

    Where it cannot be reached the test is skipped, or fails if ``CI`` is set.
    """
    url = os.environ.get("BLAZAR_TEST_RABBITMQ_URL", _DEFAULT_URL)
    host, _, port = url.rsplit("@", 1)[1].strip("/").partition(":")
    try:
        socket.create_connection((host, int(port or 5672)), timeout=_CONNECT_TIMEOUT_SECONDS).close()
    except OSError as error:
        give_up(f"no RabbitMQ at {host}:{port}: {error}")
    return url


def broker_connection() -> amqp.Connection:
    """Return a connection to RabbitMQ, to be used in a ``with`` statement. Skips and fails as above."""
    url = urlsplit(broker_url())
    return amqp.Connection(f"{url.hostname}:{url.port or 5672}", userid=url.username, password=url.password)
