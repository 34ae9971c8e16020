"""Receiving requests only if no other manager can, by RabbitMQ's consumer priorities.

The broker gives requests to the managers in turn. A manager that cannot reach its database would answer its
share of them with an error, although the others could serve them. With a lower priority it receives a request
only if no other manager does, so the last manager, or all of them without a database, still answer at once.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import Any, Final

import oslo_messaging

from blazar.rpc.consuming import listener_of

_ARGUMENT: Final = "x-priority"
_NORMAL: Final = 0
_LOW: Final = -1

_logger = logging.getLogger(__name__)


def receive_requests(server: oslo_messaging.MessageHandlingServer, topic: str, *, last: bool) -> None:
    """Let the broker give requests to this server as usual, or only if no other server receives any.

    The change is made soon after the call, by the thread that reads requests. A lost connection to the broker
    undoes it, so it has to be repeated. Nothing happens on a bus without priorities, or before the server has
    started.

    Args:
        server: The result of :func:`blazar.rpc.bus.make_server`.
        topic: The topic that all managers share.
        last: Whether to receive a request only if no other server can.
    """
    listener = listener_of(server)
    if listener is None:
        return
    connection, wanted = listener.conn.connection, _LOW if last else _NORMAL
    for consumer in list(connection._consumers):
        if consumer.queue_name == topic and _priority(consumer) != wanted:
            listener._message_operations_handler.do(partial(_replace, connection, consumer, wanted))


def _replace(connection: Any, consumer: Any, priority: int) -> None:
    """Consume again with another priority, which RabbitMQ cannot change, and then cancel what was before."""
    if _priority(consumer) == priority:
        return
    tag, old_tag = next(connection._tags), connection._consumers[consumer]
    consumer.queue.consumer_arguments = {**(consumer.queue.consumer_arguments or {}), _ARGUMENT: priority}
    try:
        consumer.queue.consume(callback=consumer._callback, consumer_tag=str(tag), nowait=consumer.nowait)
        connection._consumers[consumer] = connection._active_tags[consumer.queue_name] = tag
        consumer.cancel(old_tag)
    except Exception as error:
        # The library connects again, which undoes the change.
        _logger.info("cannot change the priority of a consumer: reason=%s", error)
        return
    _logger.warning("priority for requests has changed: priority=%s", priority)


def _priority(consumer: Any) -> int:
    return int((consumer.queue.consumer_arguments or {}).get(_ARGUMENT, _NORMAL))
