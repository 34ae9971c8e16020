"""Managers behind a real broker."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, cast

import pytest
from oslo_context import context as oslo
from telemetry.listening import listening

from blazar.domain.errors import LeaseNotFound, Unavailable
from blazar.ports.manager import Caller, Manager
from blazar.rpc.broker import Broker
from blazar.rpc.bus import bus_manager, make_server, make_wake_others
from blazar.rpc.ending import end

ALWAYS_UP = Broker(())
CALLER = Caller(user_id="u", project_id="p", roles=("member",))


class Named:
    """A manager that returns its name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.woken = threading.Event()

    def list_leases(self, caller: Caller, project_id: str | None) -> list[dict[str, object]]:
        return [{"manager": self.name, "asked_by": caller.user_id, "roles": list(caller.roles)}]

    def get_lease(self, caller: Caller, lease_id: str) -> dict[str, object]:
        raise LeaseNotFound(lease_id)


@pytest.fixture
def managers(transport: Any, topic: str) -> Any:
    managers = [Named("one"), Named("two")]
    servers = [
        make_server(transport, topic, each.name, cast("Manager", each), each.woken.set) for each in managers
    ]
    for server in servers:
        server.start()
    yield managers
    for server in servers:
        server.stop()
        server.wait()


def test_managers_share_requests(transport: Any, topic: str, managers: list[Named]) -> None:
    client = bus_manager(transport, topic, broker=ALWAYS_UP)

    answers = [client.list_leases(CALLER, None)[0] for _ in range(20)]

    assert Counter(each["manager"] for each in answers) == {"one": 10, "two": 10}
    assert answers[0]["asked_by"] == "u"
    assert answers[0]["roles"] == ["member"]


def test_errors_cross_the_bus(transport: Any, topic: str, managers: list[Named]) -> None:
    with pytest.raises(LeaseNotFound, match="lease_id abc"):
        bus_manager(transport, topic, broker=ALWAYS_UP).get_lease(CALLER, "abc")


def test_a_wake_up_reaches_every_manager(transport: Any, topic: str, managers: list[Named]) -> None:
    make_wake_others(transport, topic)()

    assert all(each.woken.wait(timeout=60) for each in managers)


def test_without_a_manager_the_service_is_unavailable(transport: Any, topic: str) -> None:
    with pytest.raises(Unavailable, match="No manager has started yet"):
        bus_manager(transport, topic, broker=ALWAYS_UP).list_leases(CALLER, None)


def test_a_request_keeps_its_ids_on_the_way_to_a_manager(transport: Any, topic: str) -> None:
    seen: list[dict[str, Any]] = []

    class Looking:
        def delete_lease(self, caller: Caller, lease_id: str) -> None:
            present: Any = oslo.get_current()
            seen.append(present.get_logging_values())

    server = make_server(transport, topic, "one", cast("Manager", Looking()), lambda: None)
    server.start()
    caller = replace(CALLER, request_id="req-1", global_request_id="req-2", token="secret")

    with listening(None) as lines:
        bus_manager(transport, topic, broker=ALWAYS_UP).delete_lease(caller, "lease-1")
    server.stop()
    server.wait()

    assert [seen[0][each] for each in ("request_id", "global_request_id", "user_id", "project_id")] == [
        "req-1",
        "req-2",
        "u",
        "p",
    ]
    assert seen[0]["lease_id"] == "lease-1"
    assert "secret" not in "\n".join(f"{each.text} {each.about}" for each in lines)


class Slow(Named):
    """A manager that does not respond to its first request until it is allowed to."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.is_asked, self.may_answer = threading.Event(), threading.Event()

    def list_leases(self, caller: Caller, project_id: str | None) -> list[dict[str, object]]:
        if not self.is_asked.is_set():
            self.is_asked.set()
            assert self.may_answer.wait(120)
        return super().list_leases(caller, project_id)


def test_requests_that_an_ending_manager_has_not_read_are_answered_by_another(
    transport: Any, topic: str
) -> None:
    ending, other = Slow("ending"), Named("other")
    servers = [
        make_server(transport, topic, each.name, cast("Manager", each), lambda: None)
        for each in (ending, other)
    ]
    servers[0].start()
    client = bus_manager(transport, topic, broker=ALWAYS_UP)
    with ThreadPoolExecutor(9) as pool:
        first = pool.submit(client.list_leases, CALLER, None)
        assert ending.is_asked.wait(120)
        end_of_server = pool.submit(end, servers[0])
        # No other manager runs yet: RabbitMQ keeps these requests, or delivers them to the ending manager.
        rest = [pool.submit(client.list_leases, CALLER, None) for _ in range(7)]
        servers[1].start()
        answers = [each.result(120)[0]["manager"] for each in rest]
        ending.may_answer.set()
        end_of_server.result(120)

    assert first.result()[0]["manager"] == "ending"
    assert set(answers) <= {"ending", "other"}
    servers[1].stop()
    servers[1].wait()
