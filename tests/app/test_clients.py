"""Behaviour that published clients depend on: one test for each row of the contract's table of that name.

Rows 24 and 28 are about other resource types.
"""

from __future__ import annotations

import json
import re
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

import pytest
from app.http_env import ADMIN, FREE, LESSEE, Answer, HttpEnv, Json, good, host_reservation, lease_of, refusal
from app.wire import client_of, session_to
from keystoneauth1.discover import Discover

from blazarclient.exception import BadRequest, BlazarClientException, NotFound

pytestmark = pytest.mark.usefixtures("hosts")

STRICT = "%Y-%m-%dT%H:%M:%S.%f"


def test_row_01_lease_dates_have_a_fraction_so_that_clients_can_count_from_them(env: HttpEnv) -> None:
    client = client_of(env, who=LESSEE)
    lease = client.lease.create("x", env.date(60), env.date(120), [host_reservation()], [])

    for date in (lease["start_date"], lease["end_date"], *(each["time"] for each in lease["events"])):
        assert datetime.strptime(date, STRICT).strftime(STRICT) == date  # noqa: DTZ007 - as clients do
    later = client.lease.update(lease["id"], prolong_for="1h", defer_by="30m")
    assert (later["start_date"], later["end_date"]) == (env.shown(90), env.shown(180))
    sooner = client.lease.update(lease["id"], reduce_by="30m", advance_by="10m")
    assert (sooner["start_date"], sooner["end_date"]) == (env.shown(80), env.shown(150))


def test_row_02_allocation_dates_have_the_same_format(env: HttpEnv) -> None:
    env.create(60, 120)

    found = [one for each in client_of(env).allocation.list("os-hosts") for one in each["reservations"]]

    assert [(each["start_date"], each["end_date"]) for each in found] == [(env.shown(60), env.shown(120))]


@pytest.mark.parametrize("start", ["now", "2031-01-01 00:00"])
def test_row_03_now_and_the_current_minute_are_accepted_as_a_start(env: HttpEnv, start: str) -> None:
    lease = client_of(env).lease.create("x", start, env.date(60), [host_reservation()], [])

    assert (lease["status"], lease["start_date"]) == ("PENDING", env.shown(0))
    env.work()
    assert env.status(lease) == "ACTIVE"


def test_row_04_the_current_minute_is_accepted_as_the_end_of_a_running_lease(env: HttpEnv) -> None:
    lease = env.create()
    env.pass_time(10.7)

    ended = client_of(env, who=LESSEE).lease.update(lease["id"], end_date=env.date(10))
    env.work()

    assert ended["end_date"] == env.shown(10)
    assert env.status(lease) == "TERMINATED"


def test_row_05_host_ids_are_strings_of_digits(env: HttpEnv, hosts: list[str]) -> None:
    assert all(re.fullmatch("[0-9]+", each["id"]) for each in client_of(env).host.list())
    assert {each["id"] for each in client_of(env).host.list()} == set(hosts)


def test_row_06_lease_and_reservation_ids_are_uuids(env: HttpEnv) -> None:
    lease = env.create()

    for found in (lease["id"], lease["reservations"][0]["id"], *(each["id"] for each in lease["events"])):
        assert str(uuid.UUID(found)) == found


def test_row_07_lists_return_complete_objects_that_can_be_sorted(env: HttpEnv) -> None:
    leases = [env.create(), env.create(60, 90)]
    client = client_of(env)

    listed = client.lease.list(sort_by="name")
    assert {each["id"]: each for each in listed} == {each["id"]: env.lease(each["id"]) for each in leases}
    hosts = client.host.list(sort_by="hypervisor_hostname")
    assert [each["hypervisor_hostname"] for each in hosts] == sorted(FREE)
    assert hosts == [client.host.get(each["id"]) for each in hosts]
    assert client.allocation.list("os-hosts", sort_by="resource_id")
    assert [each["property"] for each in client.host.list_properties(sort_by="property")] == ["rack", "slots"]


def test_row_08_answers_are_wrapped_as_clients_unwrap_them(env: HttpEnv, hosts: list[str]) -> None:
    lease = env.create()
    bodies: dict[str, type] = {
        "/leases": list,
        f"/leases/{lease['id']}": dict,
        "/os-hosts": list,
        f"/os-hosts/{hosts[0]}": dict,
        "/os-hosts/allocations": list,
        f"/os-hosts/{hosts[0]}/allocation": dict,
        "/os-hosts/properties": list,
    }
    wrappers = ["leases", "lease", "hosts", "host", "allocations", "allocation", "resource_properties"]

    for (path, kind), wrapper in zip(bodies.items(), wrappers, strict=True):
        body = good(env.get(path))
        assert list(body) == [wrapper]
        assert isinstance(body[wrapper], kind)
    assert list(good(env.patch("/os-hosts/properties/rack", {}))) == ["resource_property"]


@pytest.mark.parametrize("mounted_at", ["", "/reservation"])
def test_row_09_version_discovery_leads_to_version_1(env: HttpEnv, mounted_at: str) -> None:
    session = session_to(env, "/", mounted_at=mounted_at)

    found = Discover(session, f"http://blazar.example{mounted_at}/", authenticated=False)

    url = found.url_for("1")
    assert url == f"http://blazar.example{mounted_at}/v1"
    assert session.get(f"{url}/leases").json() == {"leases": []}


def test_row_10_paths_are_appended_to_a_catalogue_url_that_ends_in_v1(env: HttpEnv) -> None:
    assert session_to(env).get("/leases", endpoint_filter={"service_type": "reservation"}).json() == {
        "leases": []
    }


def test_row_11_clients_print_the_error_message(env: HttpEnv) -> None:
    with pytest.raises(BlazarClientException) as caught:
        client_of(env).lease.create("x", "now", env.date(60), [host_reservation(min=9, max=9)], [])

    assert "Not enough hosts available" in str(caught.value)
    assert caught.value.kwargs["code"] == 400


def test_row_12_what_is_missing_has_the_code_404(env: HttpEnv) -> None:
    client = client_of(env)

    for ask in (client.lease.get, client.lease.delete, client.host.get, client.host.delete):
        with pytest.raises(NotFound) as caught:
            ask("17000")
        assert caught.value.code == caught.value.kwargs["code"] == 404


def test_row_13_errors_are_json_by_their_content_type(env: HttpEnv) -> None:
    answers = [
        env.get("/leases/x"),
        env.get("/nothing"),
        env.post("/leases", []),
        env.ask("POST", "/leases", body=b"{"),
        env.ask("PATCH", "/leases"),
        env.get("/leases", headers={"OpenStack-API-Version": "reservation 9.9"}),
        env.get("/os-hosts", who=LESSEE),
    ]

    assert [each.status_code for each in answers] == [404, 404, 400, 400, 405, 406, 403]
    assert {each.headers["Content-Type"] for each in answers} == {"application/json"}
    assert all(each.json["error_message"] for each in answers)


def test_row_14_a_deletion_is_answered_with_nothing(env: HttpEnv, hosts: list[str]) -> None:
    lease = env.create()

    for path in (f"/leases/{lease['id']}", f"/os-hosts/{hosts[3]}"):
        answer = env.delete(path)
        assert (answer.status_code, answer.content) == (204, b"")
        assert "Content-Length" not in answer.headers


def test_row_15_the_service_can_be_mounted_below_a_path(env: HttpEnv) -> None:
    session = session_to(env, mounted_at="/reservation")

    assert len(session.get("http://127.0.0.1/reservation/v1/os-hosts").json()["hosts"]) == 4


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"end_date": "2030-01-01 00:00"}, "End date must be later than start date."),
        ({"start_date": "bogus"}, "bogus is an invalid date. Required format: %Y-%m-%d %H:%M"),
        ({"end_date": None}, "Missing parameter end_date"),
    ],
)
def test_row_16_the_texts_that_published_tests_compare(env: HttpEnv, change: Json, text: str) -> None:
    body = {key: value for key, value in {**env.wish(), **change}.items() if value is not None}

    assert text in refusal(env.post("/leases", body), 400)


def test_row_16_the_text_for_a_capability_key_that_is_too_long(env: HttpEnv) -> None:
    env.cloud.add_hypervisor("h9")

    with pytest.raises(BadRequest, match="Extra capability key too long"):
        client_of(env).host.create("h9", **{"k" * 65: "x"})


def test_row_17_a_lease_may_have_no_reservations(env: HttpEnv) -> None:
    body = {"name": "x", "start_date": "now", "end_date": env.date(10)}

    lease = lease_of(env.post("/leases", body), 201)
    assert lease["reservations"] == []
    env.work()
    assert env.status(lease) == "ACTIVE"
    env.pass_time(10)
    assert env.status(lease) == "TERMINATED"


def test_row_18_a_deleted_lease_is_gone_from_the_list(env: HttpEnv) -> None:
    client = client_of(env)
    lease = env.create(60, 120)
    assert [each["id"] for each in client.lease.list()] == [lease["id"]]

    client.lease.delete(lease["id"])

    assert client.lease.list() == []


def test_row_19_a_filter_keeps_one_element_for_each_host(env: HttpEnv, hosts: list[str]) -> None:
    lease = env.create()

    found = client_of(env).allocation.list("os-hosts", lease_id=lease["id"])

    assert sorted(each["resource_id"] for each in found) == sorted(hosts)
    assert sum(len(each["reservations"]) for each in found) == 1


@pytest.mark.parametrize("counts", [{"min": "1"}, {"min": "x", "max": "y"}, {"min": "", "max": ""}])
def test_row_20_and_27_counts_that_are_missing_or_no_numbers_are_refused(env: HttpEnv, counts: Json) -> None:
    reservation = {"resource_type": "physical:host", "hypervisor_properties": "", "resource_properties": ""}

    with pytest.raises(BadRequest):
        client_of(env).lease.create("x", "now", env.date(60), [{**reservation, **counts}], [])


def test_row_21_and_22_statuses_are_written_as_clients_wait_for_them(env: HttpEnv) -> None:
    lease = env.create()
    seen = [statuses(lease)]
    for minutes in (1, 60):
        env.pass_time(minutes)
        seen.append(statuses(env.lease(lease["id"])))

    assert seen == [
        ("PENDING", "pending", "UNDONE"),
        ("ACTIVE", "active", "UNDONE"),
        ("TERMINATED", "deleted", "DONE"),
    ]


def statuses(lease: Json) -> tuple[str, str, str]:
    """Return the statuses of a lease, its reservation and its end."""
    (end,) = (each["status"] for each in lease["events"] if each["event_type"] == "end_lease")
    return lease["status"], lease["reservations"][0]["status"], end


def test_row_23_the_reservation_id_is_the_name_of_the_aggregate(env: HttpEnv) -> None:
    lease = env.create(max=2)
    env.work()

    (aggregate,) = (each for each in env.cloud.aggregates.list_aggregates() if each.name != "freepool")
    assert aggregate.name == lease["reservations"][0]["id"]
    assert aggregate.availability_zone == f"blazar_{aggregate.name}"
    assert aggregate.metadata == {"blazar:owner": "project"}


def test_row_25_a_null_before_end_date_and_an_empty_list_of_events(env: HttpEnv) -> None:
    body = {**env.wish(60, 240), "before_end_date": None, "events": []}

    lease = lease_of(env.post("/leases", body), 201)

    times = {each["event_type"]: each["time"] for each in lease["events"]}
    assert times["before_end_lease"] == env.shown(180)


def test_row_26_numbers_for_whatever_looks_like_one(env: HttpEnv) -> None:
    env.cloud.add_hypervisor("42")
    client = client_of(env)

    lease = client.lease.create(2031, "now", env.date(60), [host_reservation(min=1, max=2)], [])
    host = client.host.create(42, slots=8)

    assert lease["name"] == "2031"
    assert (host["hypervisor_hostname"], host["slots"]) == ("42", "8")


def test_row_29_property_texts_may_be_null_and_the_host_list_is_there(env: HttpEnv) -> None:
    reservation = host_reservation(hypervisor_properties=None, resource_properties=None)
    body = {**env.wish(), "reservations": [reservation], "before_end_date": None, "events": None}

    lease = lease_of(env.post("/leases", body), 201)

    assert lease["reservations"][0]["hypervisor_properties"] is None
    assert len(client_of(env).host.list()) == 4


def test_row_30_to_32_what_host_pages_show(env: HttpEnv) -> None:
    for host in client_of(env).host.list():
        assert isinstance(json.loads(host["cpu_info"]), dict)
        assert host["reservable"] is True
        assert isinstance(host["hypervisor_hostname"], str)
        assert {"rack", "slots"} < host.keys()


def test_row_33_what_the_lease_page_shows(env: HttpEnv) -> None:
    lease = env.create()

    assert (lease["degraded"], lease["status"]) == (False, "PENDING")
    assert all({"time", "status", "event_type"} <= each.keys() for each in lease["events"])
    (reservation,) = lease["reservations"]
    assert (reservation["missing_resources"], reservation["resources_changed"]) == (False, False)


def test_row_34_detailed_properties_have_their_values(env: HttpEnv) -> None:
    client = client_of(env)

    found = client.host.list_properties(detail=True)
    assert [each["property_values"] for each in found] == [["r1", "r2"], ["10", "8"]]
    client.host.set_property("rack", private=True)
    assert client.host.get_property("rack")["private"] is True


def test_row_35_null_removes_a_capability(env: HttpEnv, hosts: list[str]) -> None:
    host = client_of(env).host.update(hosts[0], {"rack": None})

    assert "rack" not in host


def test_row_36_ten_lists_at_once_are_all_answered(env: HttpEnv) -> None:
    env.create()

    def ask(path: str) -> Answer:
        return env.get(path)

    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(ask, ["/leases", "/os-hosts", "/os-hosts/allocations"] * 10))

    assert {each.status_code for each in answers} == {200}


def test_an_answer_in_error_is_an_exception_with_its_code(env: HttpEnv) -> None:
    with pytest.raises(BlazarClientException) as caught:
        client_of(env, who=LESSEE).host.list()

    assert caught.value.code == 403
    everything: list[Any] = client_of(env, who=ADMIN).host.list()
    assert len(everything) == 4
