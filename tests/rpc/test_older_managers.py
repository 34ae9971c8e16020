"""During an upgrade, managers of the previous release run beside those of this one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final, cast

import oslo_messaging
import pytest
from rpc.test_bus import ALWAYS_UP, CALLER, Named

from blazar.domain.errors import Unavailable, UnknownMethod
from blazar.ports.manager import Manager
from blazar.rpc.bus import NAMESPACE, bus_manager, make_server
from blazar.rpc.messages import answer, remote_manager
from blazar.rpc.packing import packed

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


class TestInstants:
    """The previous release sends instants with an offset; clients of API v1 parse two other formats."""

    LEASE: Final = {
        "name": "2031-04-05T06:07:00+00:00",
        "start_date": "2031-04-05T06:07:00+00:00",
        "created_at": "2031-04-05T06:07:08.900000+00:00",
        "updated_at": None,
        "events": [{"time": "2031-04-05T06:07:00+00:00"}],
    }

    @pytest.fixture
    def older_manager(self) -> Manager:
        return remote_manager(lambda request: {"result": self.LEASE})

    def test_they_have_the_formats_of_the_api(self, older_manager: Manager) -> None:
        lease = older_manager.get_lease(CALLER, "1")

        assert lease == {
            "name": "2031-04-05T06:07:00+00:00",
            "start_date": "2031-04-05T06:07:00.000000",
            "created_at": "2031-04-05 06:07:08",
            "updated_at": None,
            "events": [{"time": "2031-04-05T06:07:00.000000"}],
        }

    def test_two_answers_have_other_stamps(self, older_manager: Any) -> None:
        made = older_manager.update_resource_property(CALLER, "gpu", None)

        assert made["created_at"] == "2031-04-05T06:07:08.900000"

    def test_a_packed_list_is_read(self) -> None:
        reply = {"packed": packed(json.dumps([self.LEASE]))}
        (lease,) = remote_manager(lambda request: reply).list_leases(CALLER, None)

        assert lease["start_date"] == "2031-04-05T06:07:00.000000"

    def test_answers_of_this_release_are_not_read(self) -> None:
        lease = remote_manager(lambda request: answer(cast("Manager", Holding()), request)).get_lease(
            CALLER, "1"
        )

        assert lease == self.LEASE


class Holding(Named):
    """A manager of this release."""

    def __init__(self) -> None:
        super().__init__("present")

    def get_lease(self, caller: Any, lease_id: str) -> dict[str, Any]:
        return dict(TestInstants.LEASE)
