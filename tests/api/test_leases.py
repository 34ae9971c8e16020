from __future__ import annotations

import json

import pytest
from api.conftest import LEASE, Api
from api.manager_answers import lease

from blazar.api.resource import written
from blazar.domain import errors
from blazar.domain.written_objects import WrittenObjects
from blazar.plugins.hosts.errors import NotEnoughHosts

OWNER = {"project_id": "p1", "user_id": "u1"}


def test_an_operator_lists_the_leases_of_all_projects(api: Api) -> None:
    answer = api.get("/v1/leases")

    assert answer.status_code == 200
    assert [lease["id"] for lease in answer.json["leases"]] == ["l1", "l2"]


@pytest.mark.parametrize("leases", [[], [lease("l1", name='ü "🌙" \\'), lease("l2")]])
def test_a_list_that_is_written_already_becomes_the_same_response(leases: list[object]) -> None:
    body = {"leases": leases, "more": [1]}

    assert written({**body, "leases": WrittenObjects(json.dumps(leases))}) == json.dumps(body)


def test_a_reader_lists_the_leases_of_the_own_project_only(api: Api) -> None:
    answer = api.get("/v1/leases", roles="reader", project="p2")

    assert [lease["id"] for lease in answer.json["leases"]] == ["l2"]


def test_only_an_operator_without_a_project_lists_everything(api: Api) -> None:
    everything = api.get("/v1/leases", project="", roles="admin")
    refused = api.get("/v1/leases", project="", roles="reader")

    assert len(everything.json["leases"]) == 2
    assert refused.status_code == 403


def test_a_member_without_a_project_creates_no_lease(api: Api) -> None:
    refused = api.post("/v1/leases", json=LEASE, project="", roles="member")

    assert refused.status_code == 403
    assert "project" in refused.json["error_message"]


def test_dates_have_the_two_formats_of_version_1(api: Api) -> None:
    lease = api.get("/v1/leases/l1").json["lease"]

    assert lease["start_date"] == "2031-04-05T20:00:00.000000"
    assert lease["end_date"] == "2031-04-06T06:00:00.000000"
    assert lease["created_at"] == "2031-04-01 09:15:42"
    assert lease["updated_at"] is None
    assert lease["reservations"][0]["created_at"] == "2031-04-01 09:15:42"
    assert lease["events"][0]["time"] == "2031-04-05T20:00:00.000000"
    assert lease["events"][0]["created_at"] == "2031-04-01 09:15:42"


def test_creating_a_lease_answers_it_with_201(api: Api) -> None:
    body = {**LEASE, "before_end_date": None, "events": [], "reservations": [{"resource_type": "x", "a": 1}]}

    answer = api.post("/v1/leases", json=body, roles="member,reader")

    assert answer.status_code == 201
    assert answer.json["lease"]["name"] == "night"
    sent = {key: value for key, value in body.items() if key != "events"}
    assert api.manager.calls == [("create_lease", sent)]


def test_only_documented_keys_reach_the_manager(api: Api) -> None:
    harmful = {"id": "x", "project_id": "p9", "status": "ACTIVE", "trust_id": "t", "degraded": True}
    events = [{"event_type": "start_lease", "status": "UNDONE"}]

    api.post("/v1/leases", json={**LEASE, **harmful, "events": events})
    api.put("/v1/leases/l1", json={"name": "new", **harmful, "events": events})

    assert ("create_lease", LEASE) in api.manager.calls
    assert ("update_owned_lease", "l1", OWNER, {"name": "new"}) in api.manager.calls


def test_a_name_that_is_a_number_is_stored_as_text(api: Api) -> None:
    api.post("/v1/leases", json={**LEASE, "name": 12})

    assert api.manager.calls[-1][1]["name"] == "12"


def test_an_empty_object_stands_for_no_reservations(api: Api) -> None:
    api.post("/v1/leases", json={**LEASE, "reservations": {}})

    assert api.manager.calls[-1][1]["reservations"] == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": None}, "name: must be of type string or number"),
        ({"name": True}, "name: must be of type string or number"),
        ({"name": ["x"]}, "name: must be of type string or number"),
        ({"name": "x" * 81}, "name: must be at most 80 characters long"),
        ({"name": "x" * 100_000}, "name: must be at most 80 characters long"),
        ({"start_date": None}, "start_date: must be of type string"),
        ({"end_date": 7}, "end_date: must be of type string"),
        ({"end_date": "9" * 65}, "end_date: must be at most 64 characters long"),
        ({"before_end_date": 7}, "before_end_date: must be of type string or null"),
        ({"reservations": None}, "reservations: must be of type array or object"),
        ({"reservations": "x"}, "reservations: must be of type array or object"),
        ({"reservations": {"a": 1}}, "reservations: must be a list, or empty"),
        ({"reservations": [7]}, "reservations[0]: must be of type object"),
        ({"reservations": [{}]}, "Missing parameter reservations[0].resource_type"),
        ({"reservations": [{"resource_type": 7}]}, "reservations[0].resource_type: must be of type string"),
        ({"events": "x"}, "events: must be of type array or null"),
        ({"events": [7]}, "events[0]: must be of type object"),
    ],
)
def test_a_lease_that_is_not_as_it_must_be_is_refused_by_name(
    api: Api, changes: dict[str, object], message: str
) -> None:
    answer = api.post("/v1/leases", json={**LEASE, **changes})

    assert answer.status_code == 400
    assert answer.json == {"error_code": 400, "error_message": message, "error_name": 400}
    assert api.manager.calls == []


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ({}, "name, start_date, end_date"),
        ({"lease": LEASE}, "name, start_date, end_date"),
        ({"name": "x", "start_date": "now"}, "end_date"),
        ({"name": None, "start_date": "now", "reservations": 7}, "end_date"),
    ],
)
def test_all_missing_keys_are_named(api: Api, body: dict[str, object], names: str) -> None:
    answer = api.post("/v1/leases", json=body)

    assert answer.status_code == 400
    assert answer.json["error_message"] == f"Missing parameter {names}"


@pytest.mark.parametrize("body", ["[]", '"x"', "7", "null", "true"])
def test_a_lease_that_is_no_object_is_refused(api: Api, body: str) -> None:
    answer = api.post("/v1/leases", body=body)

    assert answer.status_code == 400
    assert answer.json["error_message"] == "body: must be of type object"


@pytest.mark.parametrize("body", ["", "{}", "null", ' \n{"events": []}'])
def test_an_empty_change_answers_the_lease_as_it_is(api: Api, body: str) -> None:
    answer = api.put("/v1/leases/l1", body=body)

    assert answer.status_code == 200
    assert answer.json["lease"]["id"] == "l1"
    assert api.manager.calls == [("update_owned_lease", "l1", OWNER, {})]


def test_a_change_passes_the_reservations_keys_through(api: Api) -> None:
    body = {
        "end_date": "now",
        "before_end_date": None,
        "reservations": [{"id": "r1", "resource_type": "physical:host", "min": "2", "max": None}],
    }

    answer = api.put("/v1/leases/l1", json=body, roles="member,reader")

    assert answer.status_code == 200
    assert api.manager.calls == [("update_owned_lease", "l1", OWNER, body)]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"name": None}, "name: must be of type string or number"),
        ({"reservations": None}, "reservations: must be of type array or object"),
        ({"reservations": [{}]}, "Missing parameter reservations[0].id"),
        ({"reservations": [{"id": "r1"}, {"id": 7}]}, "reservations[1].id: must be of type string"),
        ([], "body: must be of type object or null"),
    ],
)
def test_a_change_that_is_not_as_it_must_be_changes_nothing(api: Api, body: object, message: str) -> None:
    answer = api.put("/v1/leases/l1", json=body)

    assert answer.status_code == 400
    assert answer.json["error_message"] == message
    assert [call[0] for call in api.manager.calls] == ["get_lease"]


def test_deleting_a_lease_answers_204_without_a_body_and_then_404(api: Api) -> None:
    first = api.delete("/v1/leases/l1", roles="member,reader")
    second = api.delete("/v1/leases/l1", roles="member,reader")

    assert first.status_code == 204
    assert first.content == b""
    assert "content-length" not in first.headers
    assert second.status_code == 404
    assert "lease_id l1" in second.json["error_message"]


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
@pytest.mark.parametrize("role", ["reader", "member,reader", "admin"])
def test_an_unknown_lease_is_404_to_everybody(api: Api, method: str, role: str) -> None:
    answer = api.request(method, "/v1/leases/nowhere", roles=role, body="{}")

    assert answer.status_code == 404
    assert answer.json["error_code"] == answer.json["error_name"] == 404


@pytest.mark.parametrize(
    ("failure", "status"),
    [
        (NotEnoughHosts("2 hosts asked for, 1 is free"), 400),
        (errors.InvalidDate("start_date", "x"), 400),
        (errors.BeforeEndOutsideLease("before_end_date must lie inside the lease"), 403),
        (errors.UnsupportedResourceType("no such type"), 400),
        (errors.ConcurrentUpdate("try again"), 409),
        (errors.Unavailable("no manager answers"), 503),
    ],
)
def test_the_managers_refusals_keep_their_text(api: Api, failure: errors.BlazarError, status: int) -> None:
    api.manager.failure = failure

    answer = api.post("/v1/leases", json=LEASE)

    assert answer.status_code == status
    assert answer.json == {
        "error_code": status,
        "error_message": failure.message,
        "error_name": status,
    }
    assert answer.headers["openstack-api-version"] == "reservation 1.0"
