"""Changes of a lease in one request to the manager, with the owner for which the policy allows them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import falcon
import falcon.testing
import pytest
from api.conftest import Api
from api.fake_manager import FakeManager
from api.manager_answers import lease
from api.test_policies import conf_with
from oslo_config import cfg

from blazar.api import faults
from blazar.api.permissions import Policy
from blazar.api.policies import make_policy
from blazar.api.request_ids import with_request_ids
from blazar.api.resource import Gate, Resource, Service
from blazar.api.routes import ROUTES
from blazar.domain.errors import OwnerMismatch
from blazar.ports.manager import JsonObject, Manager
from blazar.rpc.messages import answer, remote_manager

PATH = "/v1/leases/{lease_id}"
OWNER = {"project_id": "p1", "user_id": "u1"}
OTHER = {"project_id": "p2", "user_id": "u1"}
CHANGES = {"PUT": "update", "DELETE": "delete"}
every_change = pytest.mark.parametrize("method", CHANGES)


def names(manager: FakeManager) -> list[str]:
    """Return the names of the requests that a manager got."""
    return [name for name, *_ in manager.calls]


@every_change
def test_a_change_of_an_own_lease_takes_one_request(api: Api, method: str) -> None:
    answered = api.request(method, "/v1/leases/l1", roles="member,reader", body='{"name": "new"}')

    assert answered.status_code in (200, 204)
    assert names(api.manager) == [f"{CHANGES[method]}_owned_lease"]
    assert api.manager.calls[0][2] == OWNER


@every_change
def test_a_change_by_an_operator_takes_two_requests_at_most(api: Api, method: str) -> None:
    answered = api.request(method, "/v1/leases/l2", roles="admin", body='{"name": "new"}')

    assert answered.status_code in (200, 204)
    assert names(api.manager) == [f"{CHANGES[method]}_owned_lease"] * 2
    assert [call[2] for call in api.manager.calls] == [OWNER, OTHER]
    assert api.manager.leases.get("l2", {"name": "new"})["name"] == "new"
    assert api.manager.leases["l1"] == lease("l1")


@every_change
def test_a_change_by_a_stranger_takes_one_request_and_names_no_owner(api: Api, method: str) -> None:
    before = json.dumps(api.manager.leases)

    refused = api.request(method, "/v1/leases/l2", roles="member,reader", body='{"name": "new"}')

    assert refused.json == api.get("/v1/leases/l2", roles="member,reader").json
    assert "p2" not in str(refused.headers) + refused.text
    assert names(api.manager) == [f"{CHANGES[method]}_owned_lease", "get_lease"]
    assert json.dumps(api.manager.leases) == before


@pytest.mark.parametrize(("path", "status"), [("l1", 400), ("l2", 403), ("nowhere", 404)])
@pytest.mark.parametrize("body", ["{", "[]", '{"name": null}', '{"name": "' + "x" * 81 + '"}'])
def test_an_invalid_body_is_refused_after_a_missing_or_forbidden_lease(
    api: Api, path: str, status: int, body: str
) -> None:
    answered = api.put(f"/v1/leases/{path}", roles="member,reader", body=body)

    assert answered.status_code == status
    assert names(api.manager) == ["get_lease"]


class Moving(FakeManager):
    """A manager to which something happens after it has named the real owner."""

    def __init__(self, happens: Callable[[FakeManager], object]) -> None:
        super().__init__()
        self._happens = happens

    def _check_owner(self, lease_id: str, owner: JsonObject) -> None:
        try:
            super()._check_owner(lease_id, owner)
        except OwnerMismatch:
            self._happens(self)
            raise


@every_change
def test_a_lease_that_is_deleted_in_between_is_missing(make_service: MakeService, method: str) -> None:
    manager = Moving(lambda manager: manager.leases.pop("l2"))
    ask = make_service(manager)

    assert ask(method, "l2", roles="admin").status_code == 404
    assert len(manager.calls) == 2


@every_change
def test_a_manager_that_names_another_owner_each_time_ends_in_an_error(
    make_service: MakeService, method: str
) -> None:
    owners = iter(["p3", "p4", "p5", "p6"])
    manager = Moving(lambda manager: manager.leases.update(l2=lease("l2", next(owners))))

    answered = make_service(manager)(method, "l2", roles="admin")

    assert answered.status_code == 500
    assert answered.json["error_message"] == "Internal Server Error"
    assert len(manager.calls) == 2
    assert "l2" in manager.leases


class TestAgainstReadingFirst:
    """The answers equal those of the way that reads the lease, checks policy, and changes it unchecked."""

    RULES: tuple[dict[str, str], ...] = (
        {},
        {"blazar:leases:get": "@"},
        {"blazar:leases:get": "@", "blazar:leases:put": "@", "blazar:leases:delete": "@"},
        {"blazar:leases:get": "!"},
        {"blazar:leases:put": "!", "blazar:leases:delete": "!"},
        {"blazar:leases:get": "not project_id:%(project_id)s"},
        {
            "blazar:leases:get": "@",
            "blazar:leases:put": "not user_id:%(user_id)s",
            "blazar:leases:delete": "not project_id:%(project_id)s",
        },
        {"blazar:leases:put": "user_id:%(user_id)s", "blazar:leases:delete": "user_id:%(user_id)s"},
        {"blazar:leases:get": "'p2':%(project_id)s"},
        {"blazar:leases:put": "'u2':%(user_id)s", "blazar:leases:delete": "'u1':%(user_id)s"},
        {"blazar:leases:put": "field:x:y=z", "blazar:leases:delete": "project_id:%(name)s"},
        {"blazar:leases:put": "role:auditor or project_id:%(id)s", "blazar:leases:delete": "role:auditor"},
        {"blazar:leases:get": "None:%(project_id)s or role:member"},
    )
    CALLERS = (
        {"roles": "admin"},
        {"roles": "admin", "project": ""},
        {"roles": "member,reader"},
        {"roles": "member,reader", "project": "p2"},
        {"roles": "member,reader", "project": "", "user": ""},
        {"roles": "member,reader", "user": "u2"},
        {"roles": "reader"},
        {"roles": "auditor"},
        {"roles": "cook"},
    )
    BODIES = ("", '{"name": "new"}', "{", '{"name": 1, "colour": 2}', '{"reservations": 7}')

    @pytest.mark.parametrize("rules", RULES, ids=str)
    def test_they_are_the_same(
        self, conf: cfg.ConfigOpts, make_service: MakeService, tmp_path: Path, rules: dict[str, str]
    ) -> None:
        file = tmp_path / "policy.yaml"
        file.write_text(json.dumps(rules))
        conf_with(conf, file)
        one, two = FakeManager(), FakeManager()
        ask_one, ask_two = make_service(one), make_service(two, reads_first=True)
        differing = []
        for caller in self.CALLERS:
            for lease_id in ("l1", "l2", "l3", "l4", "nowhere"):
                for method, body in [*(("PUT", each) for each in self.BODIES), ("DELETE", "")]:
                    self._reset(one, two)
                    answers = [ask(method, lease_id, body=body, **caller) for ask in (ask_one, ask_two)]
                    first, second = ((each.status, each.content) for each in answers)
                    is_same = (first, one.leases) == (second, two.leases)
                    if not is_same or len(one.calls) > 2 or {"update_lease", "delete_lease"} & {*names(one)}:
                        differing.append((caller, lease_id, method, body, first, second, names(one)))

        assert differing == []

    @staticmethod
    def _reset(*managers: FakeManager) -> None:
        for each in managers:
            each.calls.clear()
            each.leases = {"l1": lease("l1"), "l2": lease("l2", "p2"), "l3": lease("l3", None, user_id=None)}
            each.leases["l4"] = lease("l4", "p1", user_id="u2")


def test_a_policy_that_refuses_own_leases_is_asked_about_the_stored_one(
    conf: cfg.ConfigOpts, make_service: MakeService, tmp_path: Path
) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text('{"blazar:leases:put": "not project_id:%(project_id)s", "blazar:leases:get": "@"}')
    conf_with(conf, file)
    manager = FakeManager()
    ask = make_service(manager)

    refused = ask("PUT", "l1", roles="member")
    allowed = ask("PUT", "l2", roles="member")

    assert (refused.status_code, allowed.status_code) == (403, 200)
    assert names(manager) == ["get_lease", "get_lease", "update_owned_lease"]
    assert manager.calls[-1][2] == OTHER


class TestAnOlderManager:
    """A manager without the methods that check an owner; its refusal is the text of that version."""

    @pytest.fixture
    def manager(self) -> FakeManager:
        return FakeManager()

    @staticmethod
    def bus(manager: FakeManager, *, ages: Sequence[str]) -> Manager:
        """Return the managers as the API sees them; each request goes to the next one of *ages*."""
        turns = [*ages] * 9

        def carry(request: dict[str, Any]) -> dict[str, Any]:
            method = request["method"]
            if turns.pop(0) == "old" and "_owned_" in method:
                manager.calls.append(("refused",))
                return {"error": {"code": "internal", "message": f"Unknown method {method}", "fields": {}}}
            reply: dict[str, Any] = json.loads(json.dumps(answer(manager, json.loads(json.dumps(request)))))
            return reply

        return remote_manager(carry)

    @every_change
    @pytest.mark.parametrize(("lease_id", "roles"), [("l1", "member,reader"), ("l2", "admin")])
    def test_changes_a_lease_after_it_was_read(
        self, make_service: MakeService, manager: FakeManager, method: str, lease_id: str, roles: str
    ) -> None:
        ask = make_service(self.bus(manager, ages=["old"]))

        assert ask(method, lease_id, roles=roles).status_code in (200, 204)
        assert names(manager) == ["refused", "get_lease", f"{CHANGES[method]}_lease"]

    @every_change
    @pytest.mark.parametrize("ages", [["old"], ["old", "new"], ["new", "old"]], ids=str)
    @pytest.mark.parametrize("roles", ["member,reader", "reader", "cook"])
    def test_changes_nothing_of_others(
        self, make_service: MakeService, manager: FakeManager, method: str, ages: list[str], roles: str
    ) -> None:
        before = json.dumps(manager.leases)
        ask = make_service(self.bus(manager, ages=ages))

        refused, missing = ask(method, "l2", roles=roles), ask(method, "nowhere", roles=roles)

        assert (refused.status_code, missing.status_code) == (403, 403 if roles == "cook" else 404)
        assert json.dumps(manager.leases) == before
        assert "delete_lease" not in names(manager)
        assert "update_lease" not in names(manager)

    @every_change
    def test_that_gets_the_second_request_changes_the_lease_of_the_owner_it_was_told(
        self, make_service: MakeService, manager: FakeManager, method: str
    ) -> None:
        ask = make_service(self.bus(manager, ages=["new", "old", "old"]))

        assert ask(method, "l2", roles="admin").status_code in (200, 204)
        assert names(manager) == [f"{CHANGES[method]}_owned_lease", "refused", f"{CHANGES[method]}_lease"]

    def test_that_lacks_all_methods_ends_in_an_error(self, make_service: MakeService) -> None:
        def carry(request: dict[str, Any]) -> dict[str, Any]:
            message = f"Unknown method {request['method']}"
            return {"error": {"code": "internal", "message": message, "fields": {}}}

        ask = make_service(remote_manager(carry))

        assert [ask(method, "l1", roles="admin").status_code for method in ("GET", *CHANGES)] == [500] * 3


Ask = Callable[..., falcon.testing.Result]
MakeService = Callable[..., Ask]


def _client(manager: Manager, policy: Policy, *, reads_first: bool) -> Ask:
    """Return a function that sends requests about a lease."""
    app: falcon.App[Any, Any] = falcon.App(middleware=[Gate()])
    faults.install(app, 400)
    routes = [replace(each, expects_owner=each.expects_owner and not reads_first) for each in ROUTES]
    service = Service(manager=manager, policy=policy, max_body_bytes=1000)
    app.add_route(PATH, Resource([each for each in routes if each.path == PATH], service))
    client = falcon.testing.TestClient(with_request_ids(app))

    def ask(
        method: str, lease_id: str, *, roles: str, project: str = "p1", user: str = "u1", body: str = "{}"
    ) -> falcon.testing.Result:
        headers = {"X-Roles": roles, "X-Project-Id": project, "X-User-Id": user}
        return client.simulate_request(method, PATH.format(lease_id=lease_id), headers=headers, body=body)

    return ask


@pytest.fixture
def make_service(conf: cfg.ConfigOpts) -> MakeService:
    """Return a function that serves leases; with *reads_first*, changes read the lease first."""

    def make(manager: Manager, *, reads_first: bool = False) -> Ask:
        return _client(manager, make_policy(conf), reads_first=reads_first)

    return make
