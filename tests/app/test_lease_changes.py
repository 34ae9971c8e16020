"""Changes of leases: dates, hosts and names."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from app.world import (
    FREE,
    LESSEE,
    Answer,
    Json,
    World,
    events_of,
    lease_of,
    refusal,
    shortage,
)


@pytest.mark.usefixtures("hosts")
def test_a_lease_is_renamed_in_every_stable_status(world: World) -> None:
    with world.failing("compute.create_aggregate", status=403):
        failed = world.create("now", 60)
        world.work()
    leases = {"ERROR": failed, "TERMINATED": world.create("now", 5), "ACTIVE": world.create("now", 60)}
    world.pass_time(5)
    leases["PENDING"] = world.create(30, 60)

    for status, lease in leases.items():
        renamed = world.change(lease, name=f"was {status}")
        assert (renamed["name"], renamed["status"]) == (f"was {status}", status)
        assert world.lease(lease["id"])["name"] == f"was {status}"


@pytest.mark.usefixtures("hosts")
def test_a_pending_lease_can_be_moved_anywhere(world: World) -> None:
    lease = world.create(60, 120, min=4, max=4)

    moved = world.change(lease, start_date=world.date(300), end_date=world.date(420))

    assert moved["status"] == "PENDING"
    assert events_of(moved) == {
        "start_lease": (world.shown(300), "UNDONE"),
        "before_end_lease": (world.shown(360), "UNDONE"),
        "end_lease": (world.shown(420), "UNDONE"),
    }
    world.create(60, 120, min=4, max=4)
    shortage(world.post("/leases", world.wish(419, 430)))


def test_a_pending_lease_keeps_its_hosts_where_it_can_and_changes_the_others(
    world: World, hosts: list[str]
) -> None:
    lease = world.create(60, 120, min=2, max=2)
    kept = world.booked(lease)
    next_one = world.create(120, 180, resource_properties='["==", "$rack", "r1"]')

    world.change(lease, end_date=world.date(150))

    assert len(world.booked(lease)) == 2
    assert world.booked(lease).isdisjoint(world.booked(next_one))
    assert len(world.booked(lease) & kept) == 1
    assert world.booked(lease) < set(hosts)


@pytest.mark.usefixtures("hosts")
def test_an_active_lease_is_extended_and_shortened(world: World) -> None:
    lease = world.create("now", 60)
    world.work()
    held = world.members(lease)

    assert world.change(lease, end_date=world.date(120))["end_date"] == world.shown(120)
    world.pass_time(60)
    assert (world.status(lease), world.members(lease)) == ("ACTIVE", held)

    assert world.change(lease, end_date=world.date(90))["end_date"] == world.shown(90)
    world.pass_time(90)
    assert (world.status(lease), world.aggregates()) == ("TERMINATED", {"freepool": FREE})


@pytest.mark.usefixtures("hosts")
def test_an_active_lease_is_not_extended_over_another(world: World) -> None:
    lease = world.create("now", 60, min=4, max=4)
    world.work()
    world.create(90, 120)
    world.change(lease, end_date=world.date(90))
    before = world.snapshot()

    message = shortage(world.put(f"/leases/{lease['id']}", {"end_date": world.date(91), "name": "x"}))

    assert "Not enough hosts available" in message
    assert world.snapshot() == before


@pytest.mark.usefixtures("hosts")
def test_an_active_lease_ends_when_it_is_told_to_end_now(world: World) -> None:
    lease = world.create("now", 60, min=2, max=2)
    world.pass_time(10)

    ended = world.change(lease, end_date="now")
    world.work()

    assert ended["end_date"] == world.shown(10)
    assert (world.status(lease), world.aggregates()) == ("TERMINATED", {"freepool": FREE})
    refusal(world.put(f"/leases/{lease['id']}", {"end_date": world.date(60)}), 400)


@pytest.mark.usefixtures("hosts")
def test_a_lease_may_end_in_the_minute_in_which_it_began(world: World) -> None:
    lease = world.create("now", 60, min=4, max=4)
    world.work()

    ended = world.change(lease, end_date="now")
    world.work()

    assert ended["end_date"] == ended["start_date"] == world.shown(0)
    assert world.status(lease) == "TERMINATED"
    world.create("now", 60, min=4, max=4)


@pytest.mark.usefixtures("hosts")
def test_an_active_lease_grows(world: World) -> None:
    lease = world.create("now", 60)
    world.work()
    held = world.members(lease)

    grown = world.change(lease, reservation={"min": 2, "max": "3"})
    assert (grown["reservations"][0]["min"], grown["reservations"][0]["max"]) == (2, 3)
    world.work()

    assert (world.status(lease), len(world.members(lease))) == ("ACTIVE", 3)
    assert held < world.members(lease)


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
    world: World, change: Json
) -> None:
    lease = world.create("now", 60, min=1, max=3)
    world.work()
    before = world.snapshot()
    reservation = {"id": lease["reservations"][0]["id"], **change}

    answer = world.put(f"/leases/{lease['id']}", {"name": "x", "reservations": [reservation]})

    assert shortage(answer).startswith("Not enough hosts available")
    assert world.snapshot() == before


@pytest.mark.usefixtures("hosts")
def test_an_active_lease_shrinks_to_the_hosts_with_servers(world: World) -> None:
    lease = world.create("now", 60, min=1, max=3)
    world.work()
    busy = max(world.members(lease))
    world.cloud.boot_server("s", "project", reservation_id=lease["reservations"][0]["id"], service_host=busy)

    world.change(lease, reservation={"max": 1})

    assert world.members(lease) == {busy}
    world.work()
    assert world.status(lease) == "ACTIVE"
    assert world.members(lease) == {busy}
    assert len(world.cloud.compute.list_servers()) == 1
    other = world.create("now", 60, min=3, max=3)
    world.work()
    assert busy not in world.members(other)
    world.pass_time(61)
    assert world.status(lease) == "TERMINATED"


@pytest.mark.usefixtures("hosts")
def test_an_active_lease_does_not_shrink_below_the_hosts_with_servers(world: World) -> None:
    lease = world.create("now", 60, min=1, max=3)
    world.work()
    busy = sorted(world.members(lease))[:2]
    for each in busy:
        world.cloud.boot_server(
            "s", "project", reservation_id=lease["reservations"][0]["id"], service_host=each
        )
    before = world.snapshot()
    reservation = {"id": lease["reservations"][0]["id"], "max": 1}

    answer = world.put(f"/leases/{lease['id']}", {"name": "x", "reservations": [reservation]})

    message = refusal(answer, 409)
    assert message.startswith("max: 1 is less than the 2 hosts")
    assert all(each in message for each in busy)
    assert world.snapshot() == before


@pytest.mark.usefixtures("hosts")
def test_a_pending_lease_shrinks_and_moves_to_other_hosts(world: World) -> None:
    lease = world.create(60, 120, min=1, max=4)
    assert len(world.booked(lease)) == 4

    changed = world.change(lease, reservation={"max": 2, "resource_properties": '["==", "$rack", "r2"]'})
    world.pass_time(60)

    assert changed["reservations"][0]["resource_properties"] == '["==", "$rack", "r2"]'
    assert world.members(lease) == {"h3", "h4"}


@pytest.mark.usefixtures("hosts")
def test_a_change_of_one_of_two_reservations_that_cannot_be_had_changes_neither(world: World) -> None:
    body = world.wish(60, 120)
    body["reservations"] *= 2
    lease = lease_of(world.post("/leases", body), 201)
    before = world.snapshot()
    ids = [each["id"] for each in lease["reservations"]]

    changes = [{"id": ids[0], "max": 2}, {"id": ids[1], "min": 9, "max": 9}]
    shortage(world.put(f"/leases/{lease['id']}", {"reservations": changes}))

    assert world.snapshot() == before


@pytest.mark.usefixtures("hosts")
def test_before_end_keeps_its_distance_to_the_end_or_moves_by_itself(world: World) -> None:
    lease = world.create(60, 240)
    assert events_of(lease)["before_end_lease"][0] == world.shown(180)

    assert events_of(world.change(lease, end_date=world.date(270)))["before_end_lease"][0] == world.shown(210)
    # Not before the start.
    assert events_of(world.change(lease, end_date=world.date(90)))["before_end_lease"][0] == world.shown(60)
    moved = world.change(lease, end_date=world.date(240), before_end_date=world.date(230))
    assert events_of(moved)["before_end_lease"] == (world.shown(230), "UNDONE")
    world.pass_time(60)
    assert events_of(world.change(lease, before_end_date=world.date(61)))["before_end_lease"][
        0
    ] == world.shown(61)
    world.pass_time(61)
    assert events_of(world.lease(lease["id"]))["before_end_lease"][1] == "DONE"


@pytest.mark.usefixtures("hosts")
def test_the_before_end_date_of_a_request_is_seen_as_an_event(world: World) -> None:
    body = {**world.wish(60, 240), "before_end_date": world.date(100)}

    lease = lease_of(world.post("/leases", body), 201)

    assert "before_end_date" not in lease
    assert events_of(lease)["before_end_lease"] == (world.shown(100), "UNDONE")


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
def test_undocumented_keys_of_a_change_are_ignored_and_so_are_events(world: World, more: Json) -> None:
    lease = world.create("now", 60)
    world.work()
    before = world.lease(lease["id"])
    body = {**UNDOCUMENTED, "events": [], **more}

    changed = lease_of(world.put(f"/leases/{lease['id']}", body, who=LESSEE))

    assert {key for key in before if before[key] != changed[key]} <= {*more, "updated_at", "events"}
    assert {each["id"] for each in changed["events"]} == {each["id"] for each in before["events"]}
    assert changed["status"] == "ACTIVE"
    world.pass_time(200)
    assert world.status(lease) == "TERMINATED"


def test_undocumented_keys_of_a_new_lease_are_ignored_and_so_are_events(world: World) -> None:
    events = [{"event_type": "end_lease", "event_date": "2031-01-01 00:01", "status": "UNDONE"}]
    body = {"name": "x", "start_date": "now", "end_date": world.date(60), "events": events, **UNDOCUMENTED}

    lease = lease_of(world.post("/leases", body, who=LESSEE), 201)

    assert lease.keys() == world.lease(lease["id"]).keys()
    assert not {key for key, value in UNDOCUMENTED.items() if lease.get(key, "absent") == value}
    assert (lease["project_id"], lease["user_id"]) == (LESSEE.project, LESSEE.user)
    assert len(lease["events"]) == 3


@pytest.mark.usefixtures("hosts")
def test_a_lease_is_not_changed_while_it_starts(world: World) -> None:
    lease = world.create("now", 60)
    with world.failing("compute.add_host"):
        world.work()
        assert world.status(lease) == "STARTING"
        before = world.snapshot()

        changes: list[Json] = [{"end_date": world.date(90)}, {"name": "x", "reservations": []}]
        for change in changes:
            assert "STARTING" in refusal(world.put(f"/leases/{lease['id']}", change), 409)
        assert lease_of(world.put(f"/leases/{lease['id']}", {}))["status"] == "STARTING"
        assert world.snapshot() == before

    world.pass_time(2)
    assert world.change(lease, name="x")["status"] == "ACTIVE"


@pytest.mark.usefixtures("hosts")
def test_a_change_of_a_lease_in_error_has_what_failed_tried_again(world: World) -> None:
    with world.failing("compute.create_aggregate", status=403):
        lease = world.create("now", 60)
        world.work()
    assert world.status(lease) == "ERROR"

    world.change(lease, end_date=world.date(120))
    world.work()

    assert (world.status(lease), len(world.members(lease))) == ("ACTIVE", 1)


def test_two_changes_of_one_lease_at_once_both_happen(world: World) -> None:
    world.register("h1")
    lease = world.create(60, 120)
    path, barrier = f"/leases/{lease['id']}", threading.Barrier(2)

    def change(keys: Json) -> Answer:
        barrier.wait()
        return world.put(path, keys)

    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(change, [{"name": "other"}, {"end_date": world.date(180)}]))

    assert [each.status_code for each in answers] == [200, 200]
    changed = world.lease(lease["id"])
    assert (changed["name"], changed["end_date"]) == ("other", world.shown(180))


@pytest.mark.usefixtures("hosts")
def test_a_start_whose_minute_has_just_turned_is_now(world: World) -> None:
    world.pass_time(10.1)

    created = world.create(9, 60)
    ahead = world.create(30, 60)
    moved = world.change(ahead, start_date=world.date(9))
    resent = world.change(world.create(20, 60), start_date=world.date(20), end_date=world.date(70))

    assert created["start_date"] == moved["start_date"] == world.shown(10)
    assert resent["start_date"] == world.shown(20)
    message = refusal(world.post("/leases", world.wish(8, 60)), 400)
    assert f"{world.date(8)} UTC is in the past, it is {world.date(10)} UTC now" in message


@pytest.mark.usefixtures("hosts")
def test_an_end_whose_minute_has_just_turned_is_now(world: World) -> None:
    lease = world.create("now", 60)
    world.pass_time(10.1)

    changed = world.change(lease, end_date=world.date(9), start_date=world.date(0))

    assert (changed["start_date"], changed["end_date"]) == (world.shown(0), world.shown(10))
    world.work()
    assert world.status(lease) == "TERMINATED"
