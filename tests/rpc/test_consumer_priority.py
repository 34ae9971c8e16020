"""Managers that receive requests only if no other manager can."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import pytest
from broker import broker_connection
from programs import wait_until
from rpc.test_bus import ALWAYS_UP, CALLER, Named

from blazar.ports.manager import Manager
from blazar.rpc.bus import bus_manager, make_server
from blazar.rpc.consumer_priority import receive_requests
from blazar.rpc.ending import end


@pytest.fixture
def servers(transport: Any, topic: str) -> Iterator[dict[str, Any]]:
    servers = {
        name: make_server(transport, topic, name, cast("Manager", Named(name)), lambda: None)
        for name in ("one", "two")
    }
    for each in servers.values():
        each.start()
    yield servers
    for each in servers.values():
        end(each)
    with broker_connection() as connection:
        channel = connection.channel()
        for name in ("", ".one", ".two"):
            channel.queue_delete(f"{topic}{name}")


def answering(transport: Any, topic: str, requests: int = 10) -> set[str]:
    """Return the names of the managers that answer requests."""
    client = bus_manager(transport, topic, broker=ALWAYS_UP)
    return {str(client.list_leases(CALLER, None)[0]["manager"]) for _ in range(requests)}


def test_a_manager_that_is_last_gets_no_request_until_it_receives_as_usual(
    transport: Any, topic: str, servers: dict[str, Any]
) -> None:
    receive_requests(servers["one"], topic, last=True)

    assert wait_until(lambda: answering(transport, topic) == {"two"})

    receive_requests(servers["one"], topic, last=False)

    assert wait_until(lambda: answering(transport, topic) == {"one", "two"})


def test_if_all_managers_are_last_each_of_them_answers(
    transport: Any, topic: str, servers: dict[str, Any]
) -> None:
    receive_requests(servers["one"], topic, last=True)
    assert wait_until(lambda: answering(transport, topic) == {"two"})

    receive_requests(servers["two"], topic, last=True)

    assert wait_until(lambda: answering(transport, topic) == {"one", "two"})


def test_the_only_manager_answers_although_it_is_last(
    transport: Any, topic: str, servers: dict[str, Any]
) -> None:
    receive_requests(servers["one"], topic, last=True)
    assert wait_until(lambda: answering(transport, topic) == {"two"})

    end(servers["two"])

    assert answering(transport, topic) == {"one"}


def test_a_server_that_has_not_started_is_left_alone(transport: Any, topic: str) -> None:
    server = make_server(transport, topic, "later", cast("Manager", Named("later")), lambda: None)

    receive_requests(server, topic, last=True)

    assert server.listener is None
