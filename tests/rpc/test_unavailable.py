"""Errors that a request gets within seconds if no manager or no broker is available."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import pytest
from broker import broker_connection, broker_url
from oslo_config import cfg
from oslo_messaging._drivers.amqpdriver import AMQPIncomingMessage
from programs import free_port, wait_until
from rpc.test_bus import CALLER, Named
from rpc.test_bus import Slow as Held
from wires import Wire

from blazar import config
from blazar.domain.errors import Unavailable
from blazar.ports.manager import Caller, Manager
from blazar.rpc.broker import configured_broker
from blazar.rpc.bus import bus_manager, get_transport, make_server
from blazar.rpc.ending import end

NEVER_SECONDS = 600
"""A timeout that never elapses in a test that passes."""


@pytest.fixture
def through(tmp_path: Path, topic: str) -> Iterator[Any]:
    """Return a function that makes clients of a broker on a local port."""
    cfg.CONF.reset()
    path = tmp_path / "through.conf"
    transports = []

    def make(port: int, silence_seconds: int = 20, options: str = "") -> tuple[Manager, Any]:
        credentials = broker_url().split("://")[1].rsplit("@", 1)[0]
        path.write_text(
            f"[DEFAULT]\ntransport_url = rabbit://{credentials}@127.0.0.1:{port}/\n"
            # An exchange of its own: that of other tests is not durable, and cannot serve quorum queues.
            f"control_exchange = {topic}\n"
            f"rpc_response_timeout = {NEVER_SECONDS}\n"
            f"[oslo_messaging_rabbit]\n{options}\n"
        )
        conf = config.make_conf([], "test", config_files=[str(path)], conf=cfg.CONF)
        transport = get_transport(conf)
        transports.append(transport)
        broker = configured_broker(conf)
        return bus_manager(transport, topic, broker=broker, silence_seconds=silence_seconds), transport

    yield make
    for each in transports:
        each.cleanup()
    cfg.CONF.reset()
    with broker_connection() as connection:
        channel = connection.channel()
        for name in ("", ".one", ".other", ".slow", ".later"):
            channel.queue_delete(f"{topic}{name}")
        channel.exchange_delete(topic)


def test_a_broker_that_is_away_is_said_at_once(through: Any) -> None:
    client, _ = through(free_port())

    for _ in range(2):
        with pytest.raises(Unavailable, match="The message broker cannot be reached"):
            client.list_leases(CALLER, None)


def test_before_any_manager_has_started_that_is_said_at_once(through: Any, wire: Wire) -> None:
    client, _ = through(wire.port)

    with pytest.raises(Unavailable, match="No manager has started yet"):
        client.list_leases(CALLER, None)


def test_a_broker_that_goes_away_after_a_call_is_said_within_seconds(
    through: Any, wire: Wire, topic: str
) -> None:
    client, transport = through(wire.port)
    server = make_server(transport, topic, "one", cast("Manager", Named("one")), lambda: None)
    server.start()
    assert client.list_leases(CALLER, None)[0]["manager"] == "one"
    end(server)

    wire.cut()

    for _ in range(2):
        with pytest.raises(Unavailable, match="The message broker cannot be reached"):
            client.list_leases(CALLER, None)


KINDS_OF_QUEUES = pytest.mark.parametrize("options", ["", "rabbit_quorum_queue = true"])


@KINDS_OF_QUEUES
def test_requests_that_no_manager_receives_are_refused_and_have_no_effect(
    through: Any, wire: Wire, topic: str, options: str
) -> None:
    client, transport = through(wire.port, NEVER_SECONDS, options)
    server = make_server(transport, topic, "one", cast("Manager", Named("one")), lambda: None)
    server.start()
    end(server)  # its queue remains, as after a kill

    with ThreadPoolExecutor(3) as pool:
        for refused in [pool.submit(client.list_leases, CALLER, None) for _ in range(3)]:
            with pytest.raises(Unavailable, match="No manager is running; the request had no effect"):
                refused.result()

    later = Counting("later")
    server = make_server(transport, topic, "later", cast("Manager", later), lambda: None)
    server.start()
    assert client.list_leases(CALLER, None)[0]["manager"] == "later"
    assert later.requests == 1
    end(server)


def count_consumers(queue: str) -> int:
    with broker_connection() as connection:
        found = connection.channel().queue_declare(queue, passive=True)
        return int(found.consumer_count)


@KINDS_OF_QUEUES
def test_a_request_that_a_slow_manager_has_received_is_not_refused_while_the_manager_ends(
    through: Any, wire: Wire, topic: str, options: str
) -> None:
    client, transport = through(wire.port, NEVER_SECONDS, options)
    slow = Held("slow")
    server = make_server(transport, topic, "slow", cast("Manager", slow), lambda: None)
    server.start()
    with ThreadPoolExecutor(3) as pool:
        received = pool.submit(client.list_leases, CALLER, None)
        assert slow.is_asked.wait(30)
        end_of_server = pool.submit(end, server)
        assert wait_until(lambda: count_consumers(topic) == 0)
        # This request is refused, and only this one.
        late = pool.submit(client.list_leases, CALLER, None)
        with pytest.raises(Unavailable, match="No manager is running"):
            late.result()
        assert not received.done()
        slow.may_answer.set()
        end_of_server.result()

    assert received.result()[0]["manager"] == "slow"


def test_a_manager_that_starts_soon_receives_the_requests_that_wait(
    through: Any, wire: Wire, topic: str
) -> None:
    client, transport = through(wire.port)
    servers = [
        make_server(transport, topic, name, cast("Manager", Named(name)), lambda: None)
        for name in ("one", "other")
    ]
    servers[0].start()
    end(servers[0])
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(client.list_leases, CALLER, None)
        threading.Event().wait(1)
        servers[1].start()

        assert waiting.result()[0]["manager"] == "other"
    end(servers[1])


def test_a_request_that_its_manager_does_not_work_on_any_more_is_given_up(
    through: Any, wire: Wire, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AMQPIncomingMessage, "heartbeat", lambda message: None)
    client, transport = through(wire.port, silence_seconds=2)
    slow = Held("slow")
    server = make_server(transport, topic, "slow", cast("Manager", slow), lambda: None)
    server.start()

    with pytest.raises(Unavailable, match="No manager answered in time"):
        client.list_leases(CALLER, None)
    slow.may_answer.set()
    end(server)


class Counting(Named):
    """A manager that counts its requests."""

    requests = 0

    def list_leases(self, caller: Caller, project_id: str | None) -> list[dict[str, object]]:
        self.requests += 1
        return super().list_leases(caller, project_id)


class Slow(Named):
    """A manager that works for longer than a caller waits without a report."""

    def list_leases(self, caller: Caller, project_id: str | None) -> list[dict[str, object]]:
        threading.Event().wait(8)
        return super().list_leases(caller, project_id)


def test_a_manager_that_works_for_longer_is_waited_for(through: Any, wire: Wire, topic: str) -> None:
    client, transport = through(wire.port, silence_seconds=6)
    server = make_server(transport, topic, "slow", cast("Manager", Slow("slow")), lambda: None)
    server.start()

    assert client.list_leases(CALLER, None)[0]["manager"] == "slow"
    end(server)


@pytest.mark.parametrize("error", [ConnectionResetError("reset"), AttributeError("no channel")])
def test_an_error_of_the_bus_in_the_manager_is_no_internal_error_of_the_api(
    through: Any, wire: Wire, topic: str, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library raises the manager's built-in exceptions here again."""

    def fail(manager: Manager, request: object) -> None:
        raise error

    monkeypatch.setattr("blazar.rpc.bus.answer", fail)
    client, transport = through(wire.port)
    server = make_server(transport, topic, "one", cast("Manager", Named("one")), lambda: None)
    server.start()

    with pytest.raises(Unavailable, match="The message bus has failed"):
        client.list_leases(CALLER, None)
    end(server)
