"""The bus: oslo.messaging with its threading server (see the package).

All managers serve one topic, so a request goes to any one of them; wake-ups go to all.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import oslo_messaging
from oslo_config.cfg import ConfigOpts

from blazar.domain.errors import Unavailable
from blazar.ports.manager import Manager
from blazar.rpc.messages import RemoteManager, answer

NAMESPACE = "manager.api"
VERSION = "1.0"

_logger = logging.getLogger(__name__)


class _Endpoint:
    """What can be called on a manager from the bus."""

    target = oslo_messaging.Target(namespace=NAMESPACE, version=VERSION)

    def __init__(self, manager: Manager, on_wake: Callable[[], None]) -> None:
        self._manager = manager
        self._on_wake = on_wake

    def ask(self, context: dict[str, Any], request: dict[str, Any]) -> dict[str, Any]:
        return answer(self._manager, request)

    def ping(self, context: dict[str, Any]) -> None:
        return None

    def wake(self, context: dict[str, Any]) -> None:
        self._on_wake()


def get_transport(conf: ConfigOpts) -> oslo_messaging.Transport:
    """Return the transport that ``transport_url`` names; nothing is connected yet.

    *conf* must be the global ``cfg.CONF``: the library registers some of its options there only.
    """
    return oslo_messaging.get_rpc_transport(conf)


def make_server(
    transport: oslo_messaging.Transport,
    topic: str,
    name: str,
    manager: Manager,
    on_wake: Callable[[], None],
) -> oslo_messaging.MessageHandlingServer:
    """Return an RPC server for *manager*, not started yet.

    Args:
        transport: From :func:`get_transport`.
        topic: Shared by all managers.
        name: This manager's own.
        manager: Who answers.
        on_wake: Called when another manager says that it committed work.
    """
    return oslo_messaging.get_rpc_server(
        transport,
        oslo_messaging.Target(topic=topic, server=name),
        [_Endpoint(manager, on_wake)],
    )


def bus_manager(transport: oslo_messaging.Transport, topic: str) -> RemoteManager:
    """Return the managers behind a topic, as one."""
    client = make_client(transport, topic)

    def carry(request: dict[str, Any]) -> dict[str, Any]:
        try:
            return client.call({}, "ask", request=request)  # type: ignore[no-any-return]
        except oslo_messaging.MessagingTimeout as error:
            raise Unavailable("No manager answered in time") from error
        except oslo_messaging.MessagingException as error:
            raise Unavailable("The message bus cannot be reached") from error

    return RemoteManager(carry)


def make_wake_others(transport: oslo_messaging.Transport, topic: str) -> Callable[[], None]:
    """Return what tells all managers that there is work; a message that is lost does no harm."""
    client = make_client(transport, topic, fanout=True)

    def wake_others() -> None:
        try:
            client.cast({}, "wake")
        except oslo_messaging.MessagingException as error:
            _logger.info("other managers were not woken up: %s", error)

    return wake_others


def make_client(transport: oslo_messaging.Transport, topic: str, **target: Any) -> Any:
    """Return what calls the managers behind a topic; *target* as for ``oslo_messaging.Target``."""
    return oslo_messaging.get_rpc_client(
        transport, oslo_messaging.Target(topic=topic, namespace=NAMESPACE, version=VERSION, **target)
    )
