"""Changes of leases: dates, hosts and names."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from app.http_env import (
    FREE,
    LESSEE,
    Answer,
    HttpEnv,
    Json,
    events_of,
    lease_of,
    refusal,
    shortage,
)


@pytest.mark.usefixtures("hosts")
def test_a_lease_is_renamed_in_every_stable_status(env: HttpEnv) -> None:
    with env.failing("compute.create_aggregate", status=403):
        failed = env.create("now", 60)
        env.work()
    leases = {"ERROR": failed, "TERMINATED": env.create("now", 5), "ACTIVE": env.create("now", 60)}
    env.pass_time(5)
    leases["PENDING"] = env.create(30, 60)

    for status, lease in leases.items():
        renamed = env.change(lease, name=f"was {status}")
        assert (renamed["name"], renamed["status"]) == (f"was {status}", status)
        assert env.lease(lease["id"])["name"] == f"was {status}"


@pytest.mark.usefixtures("hosts")
def test_a_pending_lease_can_be_moved_anywhere(env: HttpEnv) -> None:
    lease = env.create(60, 120, min=4, max=4)

    moved = env.change(lease, start_date=env.date(300), end_date=env.date(420))

    assert moved["status"] == "PENDING"
    assert events_of(moved) == {
        "start_lease": (env.shown(300), "UNDONE"),
        "before_end_lease": (env.shown(360), "UNDONE"),
        "end_lease": (env.shown(420), "UNDONE"),
    }
    env.create(60, 120, min=4, max=4)
    shortage(env.post("/leases", env.wish(419, 430)))


def test_a_pending_lease_keeps_its_hosts_where_it_can_and_changes_the_others(
    env: HttpEnv, hosts: list[str]
) -> None:
    lease = env.create(60, 120, min=2, max=2)
    kept = env.booked(lease)
    next_one = env.create(120, 180, resource_properties='["==", "$rack", "r1"]')

    env.change(lease, end_date=env.date(150))

    assert len(env.booked(lease)) == 2
    assert env.booked(lease).isdisjoint(env.booked(next_one))
    assert len(env.booked(lease) & kept) == 1
    assert env.booked(lease) < set(hosts)


@pytest.mark.usefixtures("hosts")
def test_an_active_lease_is_extended_and_shortened(env: HttpEnv) -> None:
    lease = env.create("now", 60)
    env.work()
    held = env.members(lease)

    assert env.change(lease, end_date=env.date(120))["end_date"] == env.shown(120)
    env.pass_time(60)
    assert (env.status(lease), env.members(lease)) == ("ACTIVE", held)

    assert env.change(lease, end_date=env.date(90))["end_date"] == env.shown(90)
    env.pass_time(90)
    assert (env.status(lease), env.aggregates()) == ("TERMINATED", {"freepool": FREE})


@pytest.mark.usefixtures("hosts")
def test_an_active_lease_is_not_extended_over_another(env: HttpEnv) -> None:
    lease = env.create("now", 60, min=4, max=4)
    env.work()
    env.create(90, 120)
    env.change(lease, end_date=env.date(90))
    before = env.snapshot()

    message = shortage(env.put(f"/leases/{lease['id']}", {"end_date": env.date(91), "name": "x"}))

    assert "Not enough hosts available" in message
    assert env.snapshot() == before


@pytest.mark.usefixtures("hosts")
def test_an_active_lease_ends_when_it_is_told_to_end_now(env: HttpEnv) -> None:
    lease = env.create("now", 60, min=2, max=2)
    env.pass_time(10)

    ended = env.change(lease, end_date="now")
    env.work()

    assert ended["end_date"] == env.shown(10)
    assert (env.status(lease), env.aggregates()) == ("TERMINATED", {"freepool": FREE})
    refusal(env.put(f"/leases/{lease['id']}", {"end_date": env.date(60)}), 400)


@pytest.mark.usefixtures("hosts")
def test_a_lease_may_end_in_the_minute_in_which_it_began(env: HttpEnv) -> None:
    lease = env.create("now", 60, min=4, max=4)
    env.work()

    ended = env.change(lease, end_date="now")
    env.work()

    assert ended["end_date"] == ended["start_date"] == env.shown(0)
    assert env.status(lease) == "TERMINATED"
    env.create("now", 60, min=4, max=4)


@pytest.mark.usefixtures("hosts")
def test_an_active_lease_grows(env: HttpEnv) -> None:
    lease = env.create("now", 60)
    env.work()
    held = env.members(lease)

    grown = env.change(lease, reservation={"min": 2, "max": "3"})
    assert (grown["reservations"][0]["min"], grown["reservations"][0]["max"]) == (2, 3)
    env.work()

    assert (env.status(lease), len(env.members(lease))) == ("ACTIVE", 3)
    assert held < env.members(lease)


@pytest.mark.usefixtures("hosts")
@pytest.mark.parametrize(
    "change",
    [
        {"min": 5, "max": 5},
        {"resource_properties": '["==", "$rack", "r1"]'},
        {"hypervisor_properties": '["==", "$hypervisor_hostname", "h1"]', "max": 2},
    ],
)
def test_an_active_lease_gives_no_host_up_and_a_refused_change_changes_nothing(
    env: HttpEnv, change: Json
) -> None:
    lease = env.create("now", 60, min=1, max=3)
    env.work()
    before = env.snapshot()
    reservation = {"id": lease["reservations"][0]["id"], **change}

    answer = env.put(f"/leases/{lease['id']}", {"name": "x", "reservations": [reservation]})

    assert shortage(answer).startswith("Not enough hosts available")
    assert env.snapshot() == before


@pytest.mark.usefixtures("hosts")
def test_an_active_lease_shrinks_to_the_hosts_with_servers(env: HttpEnv) -> None:
    lease = env.create("now", 60, min=1, max=3)
    env.work()
    busy = max(env.members(lease))
    env.cloud.boot_server("s", "project", reservation_id=lease["reservations"][0]["id"], service_host=busy)

    env.change(lease, reservation={"max": 1})

    assert env.members(lease) == {busy}
    env.work()
    assert env.status(lease) == "ACTIVE"
    assert env.members(lease) == {busy}
    assert len(env.cloud.servers.list_servers()) == 1
    other = env.create("now", 60, min=3, max=3)
    env.work()
    assert busy not in env.members(other)
    env.pass_time(61)
    assert env.status(lease) == "TERMINATED"


@pytest.mark.usefixtures("hosts")
def test_an_active_lease_does_not_shrink_below_the_hosts_with_servers(env: HttpEnv) -> None:
    lease = env.create("now", 60, min=1, max=3)
    env.work()
    busy = sorted(env.members(lease))[:2]
    for each in busy:
        env.cloud.boot_server(
            "s", "project", reservation_id=lease["reservations"][0]["id"], service_host=each
        )
    before = env.snapshot()
    reservation = {"id": lease["reservations"][0]["id"], "max": 1}

    answer = env.put(f"/leases/{lease['id']}", {"name": "x", "reservations": [reservation]})

    message = refusal(answer, 409)
    assert message.startswith("max: 1 is less than the 2 hosts")
    assert all(each in message for each in busy)
    assert env.snapshot() == before


@pytest.mark.usefixtures("hosts")
def test_a_pending_lease_shrinks_and_moves_to_other_hosts(env: HttpEnv) -> None:
    lease = env.create(60, 120, min=1, max=4)
    assert len(env.booked(lease)) == 4

    changed = env.change(lease, reservation={"max": 2, "resource_properties": '["==", "$rack", "r2"]'})
    env.pass_time(60)

    assert changed["reservations"][0]["resource_properties"] == '["==", "$rack", "r2"]'
    assert env.members(lease) == {"h3", "h4"}


@pytest.mark.usefixtures("hosts")
def test_a_change_of_one_of_two_reservations_that_cannot_be_had_changes_neither(env: HttpEnv) -> None:
    body = env.wish(60, 120)
    body["reservations"] *= 2
    lease = lease_of(env.post("/leases", body), 201)
    before = env.snapshot()
    ids = [each["id"] for each in lease["reservations"]]

    changes = [{"id": ids[0], "max": 2}, {"id": ids[1], "min": 9, "max": 9}]
    shortage(env.put(f"/leases/{lease['id']}", {"reservations": changes}))

    assert env.snapshot() == before


@pytest.mark.usefixtures("hosts")
def test_before_end_keeps_its_distance_to_the_end_or_moves_by_itself(env: HttpEnv) -> None:
    lease = env.create(60, 240)
    assert events_of(lease)["before_end_lease"][0] == env.shown(180)

    assert events_of(env.change(lease, end_date=env.date(270)))["before_end_lease"][0] == env.shown(210)
    # Not before the start.
    assert events_of(env.change(lease, end_date=env.date(90)))["before_end_lease"][0] == env.shown(60)
    moved = env.change(lease, end_date=env.date(240), before_end_date=env.date(230))
    assert events_of(moved)["before_end_lease"] == (env.shown(230), "UNDONE")
    env.pass_time(60)
    assert events_of(env.change(lease, before_end_date=env.date(61)))["before_end_lease"][0] == env.shown(61)
    env.pass_time(61)
    assert events_of(env.lease(lease["id"]))["before_end_lease"][1] == "DONE"


@pytest.mark.usefixtures("hosts")
def test_the_before_end_date_of_a_request_is_seen_as_an_event(env: HttpEnv) -> None:
    body = {**env.wish(60, 240), "before_end_date": env.date(100)}

    lease = lease_of(env.post("/leases", body), 201)

    assert "before_end_date" not in lease
    assert events_of(lease)["before_end_lease"] == (env.shown(100), "UNDONE")


UNDOCUMENTED = {
    "id": "5b0c8f4e-61d7-4f0a-9c55-2d3a7be01f10",
    "project_id": "elsewhere",
    "user_id": "stranger",
    "trust_id": "0" * 32,
    "status": "ERROR",
    "degraded": True,
    "created_at": "2001-01-01 00:00:00",
    "revision": 99,
    "is_deleting": True,
    "no_such_key": {"deep": [1]},
}


@pytest.mark.usefixtures("hosts")
@pytest.mark.parametrize("more", [{}, {"name": "other"}, {"end_date": "2031-01-01 03:00"}])
def test_undocumented_keys_of_a_change_are_ignored_and_so_are_events(env: HttpEnv, more: Json) -> None:
    lease = env.create("now", 60)
    env.work()
    before = env.lease(lease["id"])
    body = {**UNDOCUMENTED, "events": [], **more}

    changed = lease_of(env.put(f"/leases/{lease['id']}", body, who=LESSEE))

    assert {key for key in before if before[key] != changed[key]} <= {*more, "updated_at", "events"}
    assert {each["id"] for each in changed["events"]} == {each["id"] for each in before["events"]}
    assert changed["status"] == "ACTIVE"
    env.pass_time(200)
    assert env.status(lease) == "TERMINATED"


def test_undocumented_keys_of_a_new_lease_are_ignored_and_so_are_events(env: HttpEnv) -> None:
    events = [{"event_type": "end_lease", "event_date": "2031-01-01 00:01", "status": "UNDONE"}]
    body = {"name": "x", "start_date": "now", "end_date": env.date(60), "events": events, **UNDOCUMENTED}

    lease = lease_of(env.post("/leases", body, who=LESSEE), 201)

    assert lease.keys() == env.lease(lease["id"]).keys()
    assert not {key for key, value in UNDOCUMENTED.items() if lease.get(key, "absent") == value}
    assert (lease["project_id"], lease["user_id"]) == (LESSEE.project, LESSEE.user)
    assert len(lease["events"]) == 3


@pytest.mark.usefixtures("hosts")
def test_a_lease_is_not_changed_while_it_starts(env: HttpEnv) -> None:
    lease = env.create("now", 60)
    with env.failing("compute.add_host"):
        env.work()
        assert env.status(lease) == "STARTING"
        before = env.snapshot()

        changes: list[Json] = [{"end_date": env.date(90)}, {"name": "x", "reservations": []}]
        for change in changes:
            assert "STARTING" in refusal(env.put(f"/leases/{lease['id']}", change), 409)
        assert lease_of(env.put(f"/leases/{lease['id']}", {}))["status"] == "STARTING"
        assert env.snapshot() == before

    env.pass_time(2)
    assert env.change(lease, name="x")["status"] == "ACTIVE"


@pytest.mark.usefixtures("hosts")
def test_a_change_of_a_lease_in_error_has_what_failed_tried_again(env: HttpEnv) -> None:
    with env.failing("compute.create_aggregate", status=403):
        lease = env.create("now", 60)
        env.work()
    assert env.status(lease) == "ERROR"

    env.change(lease, end_date=env.date(120))
    env.work()

    assert (env.status(lease), len(env.members(lease))) == ("ACTIVE", 1)


def test_two_changes_of_one_lease_at_once_both_happen(env: HttpEnv) -> None:
    env.register("h1")
    lease = env.create(60, 120)
    path, barrier = f"/leases/{lease['id']}", threading.Barrier(2)

    def change(keys: Json) -> Answer:
        barrier.wait()
        return env.put(path, keys)

    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(change, [{"name": "other"}, {"end_date": env.date(180)}]))

    assert [each.status_code for each in answers] == [200, 200]
    changed = env.lease(lease["id"])
    assert (changed["name"], changed["end_date"]) == ("other", env.shown(180))


@pytest.mark.usefixtures("hosts")
def test_a_start_whose_minute_has_just_turned_is_now(env: HttpEnv) -> None:
    env.pass_time(10.1)

    created = env.create(9, 60)
    ahead = env.create(30, 60)
    moved = env.change(ahead, start_date=env.date(9))
    resent = env.change(env.create(20, 60), start_date=env.date(20), end_date=env.date(70))

    assert created["start_date"] == moved["start_date"] == env.shown(10)
    assert resent["start_date"] == env.shown(20)
    message = refusal(env.post("/leases", env.wish(8, 60)), 400)
    assert f"{env.date(8)} UTC is in the past, it is {env.date(10)} UTC now" in message


@pytest.mark.usefixtures("hosts")
def test_an_end_whose_minute_has_just_turned_is_now(env: HttpEnv) -> None:
    lease = env.create("now", 60)
    env.pass_time(10.1)

    changed = env.change(lease, end_date=env.date(9), start_date=env.date(0))

    assert (changed["start_date"], changed["end_date"]) == (env.shown(0), env.shown(10))
    env.work()
    assert env.status(lease) == "TERMINATED"
