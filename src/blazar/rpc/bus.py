"""The bus: oslo.messaging with its threading server (see the package).

All managers serve one topic: a request goes to any one of them, a wake-up goes to all.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import oslo_messaging
from oslo_config.cfg import ConfigOpts
from oslo_messaging import TransportOptions

from blazar.domain.errors import Unavailable
from blazar.ports.manager import Manager
from blazar.rpc.broker import Broker
from blazar.rpc.messages import VERSION, answer, needs_newer_manager, older_form, remote_manager
from blazar.rpc.unattended import make_watch

NAMESPACE = "manager.api"
_OLDEST_VERSION = "1.0"
"""The version of most messages, which managers of the previous release understand, too."""
_UNSUPPORTED = "UnsupportedVersion"
_ATTEMPTS = 4
"""Attempts to reach a manager that understands a request while older ones run beside it."""
_RETRIES = 1
"""Attempts to send a request again over a new connection after the first attempt failed."""

_logger = logging.getLogger(__name__)


class _Endpoint:
    """The methods that can be called on a manager over the bus."""

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
    """Return the transport named by ``transport_url``; this opens no connection.

    *conf* must be the global ``cfg.CONF``, because the library registers some of its options only there.
    """
    return oslo_messaging.get_rpc_transport(conf)


def make_server(
    transport: oslo_messaging.Transport,
    topic: str,
    name: str,
    manager: Manager,
    on_wake: Callable[[], None],
) -> oslo_messaging.MessageHandlingServer:
    """Return an RPC server for *manager* that is not started yet.

    Args:
        transport: The result of :func:`get_transport`.
        topic: The topic that all managers share.
        name: The name of this manager.
        manager: The manager that serves the requests.
        on_wake: Called when another manager reports that it committed work.
    """
    return oslo_messaging.get_rpc_server(
        transport,
        oslo_messaging.Target(topic=topic, server=name),
        [_Endpoint(manager, on_wake)],
    )


def bus_manager(
    transport: oslo_messaging.Transport, topic: str, *, broker: Broker, silence_seconds: int = 20
) -> Manager:
    """Return one proxy for all managers of a topic; it raises Unavailable within seconds if none can serve.

    Args:
        transport: The result of :func:`get_transport`.
        topic: The topic that the managers serve.
        broker: The brokers of the transport.
        silence_seconds: Time after which a request fails if a manager has received it and is not working on
            it any more; a manager that works on it reports at half of this interval. 0 to wait for
            ``rpc_response_timeout``. A request that no manager receives fails within five seconds.
    """
    client = make_client(
        transport,
        topic,
        call_monitor_timeout=silence_seconds or None,
        retry=_RETRIES,
        # The broker rejects a request that has no queue, because no manager has started yet.
        transport_options=TransportOptions(at_least_once=True),
    )

    ask = _asking(client)
    watch = make_watch(transport, topic)

    def carry(request: dict[str, Any]) -> dict[str, Any]:
        if not broker.is_up():
            raise Unavailable("The message broker cannot be reached")
        reply: dict[str, Any]
        try:
            with watch.waiting() if watch else nullcontext():
                reply = ask(request)
        except Unavailable:
            raise
        except oslo_messaging.MessageUndeliverable as error:
            raise Unavailable("No manager has started yet") from error
        except oslo_messaging.MessagingTimeout as error:
            broker.note(has_succeeded=False)
            raise Unavailable("No manager answered in time") from error
        except oslo_messaging.MessagingException as error:
            broker.note(has_succeeded=False)
            raise Unavailable("The message broker cannot be reached") from error
        except Exception as error:
            # The library also raises other exceptions: those of the connection to the broker, and those that
            # the library met in the manager's process. The manager may have carried out the request.
            broker.note(has_succeeded=False)
            _logger.exception("unexpected error of the message bus")
            raise Unavailable("The message bus has failed") from error
        broker.note(has_succeeded=True)
        return reply

    return remote_manager(carry)


def _asking(client: Any) -> Callable[[dict[str, Any]], Any]:
    """Return a function that sends a request, in the form that the manager which receives it understands.

    During an upgrade, the broker gives a request to any manager, of this version or of the previous one.
    """
    newer = client.prepare(version=VERSION)

    def ask(request: dict[str, Any]) -> Any:
        if not needs_newer_manager(request):
            return client.call({}, "ask", request=request)
        older = older_form(request)
        for _ in range(_ATTEMPTS):
            try:
                return newer.call({}, "ask", request=request)
            except oslo_messaging.RemoteError as error:
                if error.exc_type != _UNSUPPORTED:
                    raise
            if older is not None:
                return client.call({}, "ask", request=older)
        raise Unavailable(
            "A manager has an older version, which does not know this request; it had no effect"
        )

    return ask


def make_wake_others(transport: oslo_messaging.Transport, topic: str) -> Callable[[], None]:
    """Return a function that notifies all managers of work; a lost message does no harm."""
    # One attempt only, because the use case that committed the work waits for it.
    client = make_client(transport, topic, fanout=True, retry=_RETRIES)

    def wake_others() -> None:
        try:
            client.cast({}, "wake")
        except oslo_messaging.MessagingException as error:
            _logger.info("cannot wake other managers: reason=%s", error)

    return wake_others


def make_client(
    transport: oslo_messaging.Transport,
    topic: str,
    *,
    server: str | None = None,
    fanout: bool | None = None,
    **options: Any,
) -> Any:
    """Return a client for the managers of a topic.

    Args:
        transport: The result of :func:`get_transport`.
        topic: The topic that the managers serve.
        server: The manager to call; any manager by default.
        fanout: Whether to call all managers.
        **options: Options of ``oslo_messaging.get_rpc_client``.
    """
    target = oslo_messaging.Target(
        topic=topic, namespace=NAMESPACE, version=_OLDEST_VERSION, server=server, fanout=fanout
    )
    return oslo_messaging.get_rpc_client(transport, target, **options)
