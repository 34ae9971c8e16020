"""During an upgrade, managers of the previous release run beside those of this one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, cast

import oslo_messaging
import pytest
from rpc.test_bus import ALWAYS_UP, CALLER, Named

from blazar.domain.errors import Unavailable, UnknownMethod
from blazar.ports.manager import Manager
from blazar.rpc.bus import NAMESPACE, bus_manager, make_server

OPERATOR = replace(CALLER, sees_private_properties=True)
NEWER = replace(CALLER, api_version=(1, 1))
KEYS = {"user_id", "project_id", "roles", "request_id", "global_request_id", "token"}
"""All keys that the previous release has in a caller."""


class Older:
    """The endpoint of a manager of the previous release."""

    target = oslo_messaging.Target(namespace=NAMESPACE, version="1.0")

    def ask(self, context: dict[str, Any], request: dict[str, Any]) -> dict[str, Any]:
        if request["caller"].keys() != KEYS:
            return {"error": {"code": "internal", "message": "Internal error in the manager", "fields": {}}}
        if request["method"] == "list_leases":
            return {"result": [{"manager": "older"}]}
        message = f"There is no method {request['method']}"
        return {"error": {"code": "internal", "message": message, "fields": {}}}


@pytest.fixture
def older(transport: Any, topic: str) -> Iterator[None]:
    """Run a manager of the previous release."""
    target = oslo_messaging.Target(topic=topic, server="older")
    server = oslo_messaging.get_rpc_server(transport, target, [Older()])
    server.start()
    yield
    server.stop()
    server.wait()


@pytest.fixture
def present(transport: Any, topic: str) -> Iterator[None]:
    """Run a manager of this release."""
    server = make_server(transport, topic, "present", cast("Manager", Named("present")), lambda: None)
    server.start()
    yield
    server.stop()
    server.wait()


@pytest.fixture
def manager(transport: Any, topic: str) -> Manager:
    return bus_manager(transport, topic, broker=ALWAYS_UP)


@pytest.mark.usefixtures("older")
class TestOnlyOlderManagers:
    @pytest.mark.parametrize("caller", [CALLER, OPERATOR], ids=["lessee", "operator"])
    def test_requests_of_the_first_api_are_answered(self, manager: Manager, caller: Any) -> None:
        assert list(manager.list_leases(caller, None)) == [{"manager": "older"}]

    def test_a_request_of_the_next_api_has_no_effect(self, manager: Manager) -> None:
        with pytest.raises(Unavailable, match="older version"):
            manager.list_leases(NEWER, None)

    def test_a_method_that_they_do_not_have_is_known_as_such(self, manager: Manager) -> None:
        with pytest.raises(UnknownMethod):
            manager.delete_owned_lease(OPERATOR, "1", {})


@pytest.mark.usefixtures("older", "present")
class TestBoth:
    def test_requests_of_lessees_are_answered_by_either(self, manager: Manager) -> None:
        answers = {manager.list_leases(CALLER, None)[0]["manager"] for _ in range(12)}

        assert answers == {"older", "present"}

    def test_each_request_of_an_operator_is_answered(self, manager: Manager) -> None:
        for _ in range(12):
            assert manager.list_leases(OPERATOR, None)[0]["manager"] in ("older", "present")

    def test_requests_of_the_next_api_reach_a_manager_that_knows_it(self, manager: Manager) -> None:
        answers = {manager.list_leases(NEWER, None)[0]["manager"] for _ in range(12)}

        assert answers == {"present"}
