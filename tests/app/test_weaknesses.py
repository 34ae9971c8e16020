"""Known weaknesses of the reference service, none of which may exist here.

Each test names its entry in the contract's list of known weaknesses. Entries about the shape of
requests are covered by the tests of malformed input, and entries about several managers and crashes
by the engine's tests.
"""

from __future__ import annotations

import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
import sqlalchemy as sa
from app.http_env import FREE, Answer, HttpEnv, Json, events_of, good, lease_of, refusal

from blazar.db.tables import metadata

pytestmark = pytest.mark.usefixtures("hosts")


def test_weakness_01_requests_at_once_for_the_only_host_get_it_once(env: HttpEnv) -> None:
    env.create(0, 120, min=3, max=3)
    barrier = threading.Barrier(6)

    def ask(number: int) -> Answer:
        barrier.wait()
        return env.post("/leases", env.wish(30 + number, 60))

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(ask, range(6)))

    assert sorted(each.status_code for each in answers) == [201, 400, 400, 400, 400, 400]


def test_weakness_03_a_lease_is_deleted_while_it_is_changed(env: HttpEnv) -> None:
    lease = env.create(60, 120, min=4, max=4)
    path, barrier = f"/leases/{lease['id']}", threading.Barrier(2)

    def ask(method: str) -> Answer:
        barrier.wait()
        return env.ask(method, path, json={"end_date": env.date(180)})

    with ThreadPoolExecutor(2) as pool:
        changed, deleted = pool.map(ask, ["PUT", "DELETE"])
    env.work()

    assert changed.status_code in (200, 404, 409)
    assert deleted.status_code == 204
    refusal(env.get(path), 404)
    env.create(60, 180, min=4, max=4)


def test_weakness_12_a_lease_that_ended_in_this_minute_cannot_come_back(env: HttpEnv) -> None:
    lease = env.create("now", 10, min=4, max=4)
    env.pass_time(10)
    assert env.status(lease) == "TERMINATED"
    before = env.snapshot()

    for change in ({"end_date": env.date(60)}, {"end_date": "now"}):
        refusal(env.put(f"/leases/{lease['id']}", change), 400)

    assert env.snapshot() == before
    env.create("now", 60, min=4, max=4)


def test_weakness_21_a_failed_deletion_is_tried_again_until_it_succeeds(env: HttpEnv) -> None:
    lease = env.create(min=4, max=4)
    env.work()
    with env.failing("*"):
        assert env.delete(f"/leases/{lease['id']}").status_code == 204
        env.pass_time(10)
        assert env.status(lease) == "DELETING"

    env.pass_time(15)

    refusal(env.get(f"/leases/{lease['id']}"), 404)
    assert env.aggregates() == {"freepool": FREE}


def test_weakness_23_a_lease_in_error_because_of_an_outage_can_be_mended_by_its_owner(env: HttpEnv) -> None:
    with env.failing("compute.create_aggregate", status=403):
        lease = env.create(5, 60)
        env.pass_time(5)
    assert env.status(lease) == "ERROR"

    env.change(lease, end_date=env.date(90))
    env.pass_time(6)

    assert env.status(lease) == "ACTIVE"


@pytest.mark.parametrize("status", [403, 404, 409, 503])
@pytest.mark.parametrize("operation", ["compute.add_host", "compute.remove_host", "compute.list_aggregates"])
def test_weakness_24_a_start_that_fails_half_way_is_taken_back_at_the_end(
    env: HttpEnv, operation: str, status: int
) -> None:
    lease = env.create("now", 10, min=4, max=4)
    with env.failing(operation, every=2, status=status):
        env.pass_time(10)

    env.pass_time(20)

    assert env.status(lease) == "TERMINATED"
    assert env.aggregates() == {"freepool": FREE}


def test_weakness_26_a_before_end_action_that_was_taken_is_not_taken_again(env: HttpEnv) -> None:
    lease = env.create("now", 120)
    env.pass_time(60)
    assert events_of(env.lease(lease["id"]))["before_end_lease"][1] == "DONE"

    for change in ({"name": "x"}, {"end_date": env.date(110)}, {"reservation": {"max": 2}}):
        assert events_of(env.change(lease, **change))["before_end_lease"][1] == "DONE"
    # The event's distance from the end moves it into the future again.
    later = env.change(lease, end_date=env.date(200))

    assert events_of(later)["before_end_lease"] == (env.shown(140), "UNDONE")
    env.pass_time(200)
    assert env.sent.event_types.count("lease.event.before_end_lease") == 2


def test_weakness_31_servers_that_are_there_before_a_lease_survive_it(env: HttpEnv) -> None:
    server = env.cloud.boot_server("pet", "other", service_host="h1")
    lease = env.create(min=4, max=4)

    env.pass_time(5)
    assert env.status(lease) == "STARTING"
    assert [each.id for each in env.cloud.servers.list_servers()] == [server.id]
    assert "STARTING" in refusal(env.put(f"/leases/{lease['id']}", {"end_date": env.date(90)}), 409)

    env.cloud.servers.delete_server(server.id)
    env.pass_time(10)
    assert (env.status(lease), env.members(lease)) == ("ACTIVE", FREE)


def test_weakness_34_a_deletion_does_not_wait_for_servers(env: HttpEnv) -> None:
    lease = env.create(min=2, max=2)
    env.work()
    env.cloud.servers.deletion_time = timedelta(minutes=8)
    env.cloud.boot_server("worker", "project", reservation_id=lease["reservations"][0]["id"])

    assert env.delete(f"/leases/{lease['id']}").status_code == 204
    env.pass_time(7)
    assert env.status(lease) == "DELETING"
    assert len(env.members(lease)) == 1

    env.pass_time(9)
    refusal(env.get(f"/leases/{lease['id']}"), 404)
    assert env.aggregates() == {"freepool": FREE}


def test_weakness_45_leases_that_fell_due_while_no_manager_ran_are_caught_up_in_order(env: HttpEnv) -> None:
    first = env.create(10, 60, min=4, max=4)
    second = env.create(60, 120, min=4, max=4)
    third = env.create(120, 180, min=4, max=4)
    env.clock.advance(timedelta(minutes=70))

    env.work()

    assert [env.status(each) for each in (first, second, third)] == ["TERMINATED", "ACTIVE", "PENDING"]
    assert env.members(second) == FREE


def test_weakness_49_what_cannot_be_had_is_told_from_what_is_wrong_and_from_outages(env: HttpEnv) -> None:
    wishes: list[tuple[Json, int]] = [
        (env.wish(min=9, max=9), 400),
        (env.wish(resource_type="physical:rack"), 400),
        (env.wish(resource_properties='["==", "$no_such_property", "x"]'), 400),
    ]

    assert [env.post("/leases", wish).status_code for wish, _ in wishes] == [code for _, code in wishes]
    newer = {"OpenStack-API-Version": "reservation 1.1"}
    assert env.post("/leases", wishes[0][0], headers=newer).status_code == 409
    with env.failing("compute.find_hypervisor"):
        assert "failed by script" in refusal(env.post("/os-hosts", {"name": "h9"}), 503)


def test_weakness_50_what_was_done_to_a_lease_outlives_it(env: HttpEnv) -> None:
    lease = env.create()
    env.work()
    env.change(lease, end_date="now")
    env.work()
    assert env.delete(f"/leases/{lease['id']}").status_code == 204

    tables, *_ = env.snapshot()
    assert isinstance(tables, dict)
    assert sum(lease["id"] in row for row in tables["journal"]) >= 3
    assert good(env.get("/leases"))["leases"] == []


def test_weakness_62_nothing_is_counted_without_end(env: HttpEnv) -> None:
    for count in (0, -1, "0", "-0"):
        refusal(env.post("/leases", env.wish(min=count, max=count)), 400)

    lease = lease_of(env.post("/leases", env.wish(min=1, max=2**31 - 1)), 201)
    assert len(env.booked(lease)) == 4


def test_weakness_29_tokens_and_trusts_are_kept_nowhere(
    env: HttpEnv, hosts: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    token = {"X-Auth-Token": "gAAAA-token-of-the-lessee"}
    body = {**env.wish("now", 10), "trust_id": "trust-of-the-lessee"}

    lease = lease_of(env.post("/leases", body, headers=token), 201)
    env.work()
    change = {"name": "again", "trust_id": "trust-of-the-lessee"}
    good(env.put(f"/leases/{lease['id']}", change, headers=token))
    env.pass_time(10)

    with env.engine.connect() as connection:
        stored = [
            str(row) for table in metadata.sorted_tables for row in connection.execute(sa.select(table))
        ]
    shown = [str(good(env.get("/leases"))), str(good(env.get(f"/os-hosts/{hosts[0]}"))), caplog.text]
    assert any(lease["id"] in each for each in stored)
    for text in [*stored, *shown, *map(str, env.sent.payloads)]:
        assert "of-the-lessee" not in text
    assert env.sent.payloads
    assert all(each["trust_id"] is None for each in env.sent.payloads)
    refusal(env.post("/leases", env.wish(30, 60, hypervisor_properties='["==", "$trust_id", "x"]')), 400)
