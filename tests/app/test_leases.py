"""The life cycle of leases, as seen by lessees and in the cloud."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from app.world import (
    ADMIN,
    FREE,
    LESSEE,
    STRANGER,
    Json,
    Who,
    World,
    events_of,
    good,
    lease_of,
    refusal,
    shortage,
)

PATIENCE = timedelta(seconds=30)


@pytest.mark.usefixtures("hosts")
def test_a_lease_lives_from_its_start_to_its_end(world: World) -> None:
    lease = world.create(10, 130, min=2, max=2)
    assert lease["status"] == "PENDING"
    assert lease["reservations"][0]["status"] == "pending"
    world.pass_time(9.9)
    assert (world.status(lease), world.members(lease)) == ("PENDING", frozenset())

    world.pass_time(10)
    running = world.lease(lease["id"])
    assert (running["status"], running["reservations"][0]["status"]) == ("ACTIVE", "active")
    assert world.members(lease) == FREE - world.aggregates()["freepool"]
    assert len(world.members(lease)) == 2
    assert events_of(running) == {
        "start_lease": (world.shown(10), "DONE"),
        "before_end_lease": (world.shown(70), "UNDONE"),
        "end_lease": (world.shown(130), "UNDONE"),
    }

    world.pass_time(130)
    over = world.lease(lease["id"])
    assert (over["status"], over["reservations"][0]["status"]) == ("TERMINATED", "deleted")
    assert {status for _, status in events_of(over).values()} == {"DONE"}
    assert world.aggregates() == {"freepool": FREE}
    assert world.sent.event_types == [
        "lease.create",
        "lease.event.start_lease",
        "lease.event.before_end_lease",
        "lease.event.end_lease",
    ]


@pytest.mark.usefixtures("hosts")
@pytest.mark.parametrize(("minimum", "maximum", "got"), [(1, 1, 1), (1, 3, 3), (2, 9, 4), ("2", "3", 3)])
def test_a_lease_gets_as_many_hosts_as_it_can_up_to_its_maximum(
    world: World, minimum: object, maximum: object, got: int
) -> None:
    lease = world.create(min=minimum, max=maximum)

    reservation = lease["reservations"][0]
    assert (reservation["min"], reservation["max"]) == (int(str(minimum)), int(str(maximum)))
    assert len(world.booked(lease)) == got


def test_the_maximum_is_reached_also_with_hosts_that_were_booked_before(
    world: World, hosts: list[str]
) -> None:
    world.create(100, 200, min=3, max=3)

    lease = world.create(10, 20, min=1, max=4)

    assert world.booked(lease) == set(hosts)


@pytest.mark.parametrize("key", ["hypervisor_properties", "resource_properties"])
@pytest.mark.parametrize(
    ("text", "got"),
    [
        ('["==", "$rack", "r2"]', {"h3", "h4"}),
        ('["=", "$hypervisor_hostname", "H2"]', {"h2"}),
        ('["and", [">=", "$vcpus", "1"], ["!=", "$rack", "r2"]]', {"h1", "h2"}),
        (
            '["and", [">", "$vcpus", "0"], ["and", ["<=", "$slots", "9"], ["==", "$service_name", "h1"]]]',
            {"h1"},
        ),
        ('["<", "$slots", "10"]', {"h1", "h2"}),
        ("[]", {"h1", "h2", "h3", "h4"}),
    ],
)
@pytest.mark.usefixtures("hosts")
def test_a_lease_gets_only_hosts_that_have_the_properties(
    world: World, key: str, text: str, got: set[str]
) -> None:
    properties: Json = {key: text}
    lease = world.create(max=9, **properties)
    world.work()

    assert world.members(lease) == got
    assert lease["reservations"][0][key] == text


@pytest.mark.usefixtures("hosts")
def test_both_property_texts_must_hold(world: World) -> None:
    lease = world.create(
        max=9,
        hypervisor_properties='["==", "$service_name", "h1"]',
        resource_properties='["==", "$rack", "r1"]',
    )
    world.work()

    assert world.members(lease) == {"h1"}


@pytest.mark.usefixtures("hosts")
def test_a_lease_that_cannot_be_had_is_refused_and_leaves_nothing(world: World) -> None:
    world.create(60, 120, min=3, max=3)
    before = world.snapshot()

    for wish in (
        world.wish(60, 120, min=2, max=2),
        world.wish(0, 61, min=2, max=2),
        world.wish(119, 180, min=2, max=2),
        world.wish(0, 500, min=2, max=2),
        world.wish(200, 300, min=5, max=5),
        world.wish(200, 300, min=1, max=1, resource_properties='["==", "$rack", "r9"]'),
    ):
        assert shortage(world.post("/leases", wish)).startswith("Not enough hosts available")

    assert world.snapshot() == before


@pytest.mark.usefixtures("hosts")
def test_several_reservations_of_one_lease_share_no_host(world: World) -> None:
    body = world.wish(min=3, max=3)
    body["reservations"].append({**body["reservations"][0], "min": 1, "max": 4})
    lease = lease_of(world.post("/leases", body), 201)
    world.work()

    members = [world.aggregates()[each["id"]] for each in lease["reservations"]]
    assert [len(each) for each in members] == [3, 1]
    assert frozenset.union(*members) == FREE

    # One more host is not available, so the request gets none of the three.
    before = world.snapshot()
    body["reservations"].append({**body["reservations"][0], "min": 1, "max": 1})
    shortage(world.post("/leases", {**body, "start_date": world.date(60), "end_date": world.date(90)}))
    assert world.snapshot() == before


@pytest.mark.usefixtures("hosts")
def test_leases_that_touch_follow_each_other_on_the_same_hosts(world: World) -> None:
    first = world.create(0, 60, min=4, max=4)
    second = world.create(60, 120, min=4, max=4)

    world.pass_time(60)

    assert (world.status(first), world.status(second)) == ("TERMINATED", "ACTIVE")
    assert world.members(second) == FREE


def test_lists_show_the_own_projects_leases_and_operators_all(world: World) -> None:
    empty = {"name": "x", "start_date": "now", "end_date": world.date(60)}
    own = lease_of(world.post("/leases", empty, who=LESSEE), 201)
    other = lease_of(world.post("/leases", empty, who=STRANGER), 201)

    def listed(who: Who) -> list[str]:
        return sorted(each["id"] for each in good(world.get("/leases", who=who))["leases"])

    assert listed(LESSEE) == [own["id"]]
    assert listed(STRANGER) == [other["id"]]
    assert listed(ADMIN) == sorted([own["id"], other["id"]])
    assert (own["project_id"], own["user_id"]) == (LESSEE.project, LESSEE.user)


def work_until_cut_off(world: World) -> None:
    """Hand over one of two hosts, then fail the cloud until the reconciler stops calling it."""
    with world.failing("compute.add_host", nth=2), world.failing("compute.list_aggregates", nth=2):
        world.work()


def in_status(world: World, status: str) -> Json:
    """Return a lease of two hosts in this status."""
    lease = world.create(30 if status == "PENDING" else "now", 60, min=2, max=2)
    if status == "STARTING":
        work_until_cut_off(world)
    elif status == "ERROR":
        with world.failing("compute.add_host", nth=2, status=403):
            world.work()
    elif status != "PENDING":
        world.work()
    if status == "TERMINATED":
        world.pass_time(60)
    if status == "TERMINATING":
        with world.failing("compute.remove_host"):
            world.pass_time(60)
    assert world.status(lease) == status
    return lease


@pytest.mark.usefixtures("hosts")
@pytest.mark.parametrize("status", ["PENDING", "STARTING", "ACTIVE", "TERMINATING", "TERMINATED", "ERROR"])
def test_a_lease_is_deleted_in_every_status_once(world: World, status: str) -> None:
    lease = in_status(world, status)
    path = f"/leases/{lease['id']}"

    answer = world.delete(path, who=LESSEE)
    assert (answer.status_code, answer.content) == (204, b"")
    world.work()

    assert refusal(world.get(path), 404) == f"Lease not found: lease_id {lease['id']}"
    refusal(world.delete(path), 404)
    refusal(world.put(path, {"name": "x"}), 404)
    assert good(world.get("/leases"))["leases"] == []
    assert world.aggregates() == {"freepool": FREE}
    world.create("now", 90, min=4, max=4)


@pytest.mark.usefixtures("hosts")
def test_a_lease_is_deleting_until_its_hosts_are_back(world: World) -> None:
    lease = world.create("now", 60, min=4, max=4)
    world.work()
    path = f"/leases/{lease['id']}"
    with world.failing("compute.remove_host"):
        assert world.delete(path).status_code == 204
        world.work()

        assert world.status(lease) == "DELETING"
        assert world.delete(path).status_code == 204
        assert "DELETING" in refusal(world.put(path, {"end_date": world.date(90)}), 409)
        # Other leases do not get the hosts in the meantime.
        shortage(world.post("/leases", world.wish("now", 30)))

    world.pass_time(5)
    refusal(world.get(path), 404)
    world.create("now", 60, min=4, max=4)


@pytest.mark.parametrize(("is_ending", "waited"), [(False, PATIENCE), (True, timedelta(0))])
@pytest.mark.usefixtures("hosts")
def test_a_delete_waits_for_the_teardown_unless_the_manager_ends(
    world: World, is_ending: bool, waited: timedelta
) -> None:
    lease = world.create("now", 60)
    world.work()
    leases = replace(world.settings.leases, delete_wait=PATIENCE)
    world.restart(replace(world.context, settings=replace(world.settings, leases=leases)))
    if is_ending:
        world.context.ending.set()
    before = world.clock.now()

    answer = world.delete(f"/leases/{lease['id']}")

    assert answer.status_code == 204
    assert world.clock.now() - before == waited
    assert world.status(lease) == "DELETING"
    world.work()
    assert world.get(f"/leases/{lease['id']}").status_code == 404


def test_a_delete_during_the_start_is_accepted_and_gives_everything_back(world: World) -> None:
    world.register("h1", "h2")
    lease = world.create(min=2, max=2)
    work_until_cut_off(world)
    assert world.status(lease) == "STARTING"
    assert len(world.members(lease)) == 1

    assert world.delete(f"/leases/{lease['id']}", who=LESSEE).status_code == 204
    world.work()

    assert good(world.get("/leases"))["leases"] == []
    assert world.aggregates() == {"freepool": frozenset({"h1", "h2"})}
