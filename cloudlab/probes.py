"""Health probes of services."""

from __future__ import annotations

import http.client
import socket
from datetime import UTC, datetime
from typing import Final

import amqp

from cloudlab import sql
from cloudlab.plan import Plan
from cloudlab.ports import ADDRESS

USER_AGENT: Final = "cloudlab"
"""User agent of the lab's own requests in access logs."""
SERVICE_DOWN_SECONDS: Final = 30
"""Seconds after which Nova treats a service that does not report as down."""
_TIMEOUT_SECONDS: Final = 5


def listens(port: int) -> bool:
    """Return whether a port accepts connections."""
    try:
        socket.create_connection((ADDRESS, port), timeout=_TIMEOUT_SECONDS).close()
    except OSError:
        return False
    return True


def serves_http(port: int) -> bool:
    """Return whether the root of an API responds without a server error."""
    connection = http.client.HTTPConnection(ADDRESS, port, timeout=_TIMEOUT_SECONDS)
    try:
        connection.request("GET", "/", headers={"User-Agent": USER_AGENT})
        return connection.getresponse().status < http.HTTPStatus.INTERNAL_SERVER_ERROR
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def serves_sql(plan: Plan) -> bool:
    """Return whether the database server answers a query."""
    return sql.find_row(plan, "SELECT 1") is not None


def serves_messages(plan: Plan, broker: str = "rabbitmq") -> bool:
    """Return whether a node of the message broker accepts clients."""
    return _consumers(plan, broker, None) is not None


def consumers(plan: Plan, queue: str) -> int:
    """Return the number of consumers of a queue of the message broker; 0 if it is not known."""
    found = (_consumers(plan, broker, queue) for broker in plan.brokers)
    return next((each for each in found if each is not None), 0)


def compute_is_up(plan: Plan, host: str, since: datetime) -> bool:
    """Return whether a compute service accepts requests, and has reported recently and after *since*.

    It reports through the conductor. This queries the database instead of the compute API, because other
    parts of Nova may be down, and because the query is cheap.
    """
    row = sql.find_row(
        plan,
        "SELECT last_seen_up FROM nova.services"
        " WHERE `binary` = 'nova-compute' AND host = %s AND deleted = 0"
        " AND last_seen_up > UTC_TIMESTAMP() - INTERVAL %s SECOND",
        host,
        str(SERVICE_DOWN_SECONDS),
    )
    if row is None or row[0].replace(tzinfo=UTC) < since.replace(microsecond=0):
        return False
    return consumers(plan, f"compute.{host}") > 0


def _consumers(plan: Plan, broker: str, queue: str | None) -> int | None:
    """Return the number of consumers of a queue, 0 for no name; None without such a queue or broker."""
    connection = amqp.Connection(
        plan.address(broker),
        userid="cloudlab",
        password=plan.passwords["rabbitmq"],
        connect_timeout=_TIMEOUT_SECONDS,
        read_timeout=_TIMEOUT_SECONDS,
    )
    try:
        with connection:
            if queue is None:
                return 0
            return int(connection.channel().queue_declare(queue, passive=True).consumer_count)
    except (OSError, amqp.exceptions.AMQPError):
        return None
