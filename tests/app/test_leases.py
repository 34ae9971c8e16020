"""The life cycle of leases, as seen by lessees and in the cloud."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from app.http_env import (
    ADMIN,
    FREE,
    LESSEE,
    STRANGER,
    HttpEnv,
    Json,
    Who,
    events_of,
    good,
    lease_of,
    refusal,
    shortage,
)

PATIENCE = timedelta(seconds=30)


@pytest.mark.usefixtures("hosts")
def test_a_lease_lives_from_its_start_to_its_end(env: HttpEnv) -> None:
    lease = env.create(10, 130, min=2, max=2)
    assert lease["status"] == "PENDING"
    assert lease["reservations"][0]["status"] == "pending"
    env.pass_time(9.9)
    assert (env.status(lease), env.members(lease)) == ("PENDING", frozenset())

    env.pass_time(10)
    running = env.lease(lease["id"])
    assert (running["status"], running["reservations"][0]["status"]) == ("ACTIVE", "active")
    assert env.members(lease) == FREE - env.aggregates()["freepool"]
    assert len(env.members(lease)) == 2
    assert events_of(running) == {
        "start_lease": (env.shown(10), "DONE"),
        "before_end_lease": (env.shown(70), "UNDONE"),
        "end_lease": (env.shown(130), "UNDONE"),
    }

    env.pass_time(130)
    over = env.lease(lease["id"])
    assert (over["status"], over["reservations"][0]["status"]) == ("TERMINATED", "deleted")
    assert {status for _, status in events_of(over).values()} == {"DONE"}
    assert env.aggregates() == {"freepool": FREE}
    assert env.sent.event_types == [
        "lease.create",
        "lease.event.start_lease",
        "lease.event.before_end_lease",
        "lease.event.end_lease",
    ]


@pytest.mark.usefixtures("hosts")
@pytest.mark.parametrize(("minimum", "maximum", "got"), [(1, 1, 1), (1, 3, 3), (2, 9, 4), ("2", "3", 3)])
def test_a_lease_gets_as_many_hosts_as_it_can_up_to_its_maximum(
    env: HttpEnv, minimum: object, maximum: object, got: int
) -> None:
    lease = env.create(min=minimum, max=maximum)

    reservation = lease["reservations"][0]
    assert (reservation["min"], reservation["max"]) == (int(str(minimum)), int(str(maximum)))
    assert len(env.booked(lease)) == got


def test_the_maximum_is_reached_also_with_hosts_that_were_booked_before(
    env: HttpEnv, hosts: list[str]
) -> None:
    env.create(100, 200, min=3, max=3)

    lease = env.create(10, 20, min=1, max=4)

    assert env.booked(lease) == set(hosts)


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
    env: HttpEnv, key: str, text: str, got: set[str]
) -> None:
    properties: Json = {key: text}
    lease = env.create(max=9, **properties)
    env.work()

    assert env.members(lease) == got
    assert lease["reservations"][0][key] == text


@pytest.mark.usefixtures("hosts")
def test_both_property_texts_must_hold(env: HttpEnv) -> None:
    lease = env.create(
        max=9,
        hypervisor_properties='["==", "$service_name", "h1"]',
        resource_properties='["==", "$rack", "r1"]',
    )
    env.work()

    assert env.members(lease) == {"h1"}


@pytest.mark.usefixtures("hosts")
def test_a_lease_that_cannot_be_had_is_refused_and_leaves_nothing(env: HttpEnv) -> None:
    env.create(60, 120, min=3, max=3)
    before = env.snapshot()

    for wish in (
        env.wish(60, 120, min=2, max=2),
        env.wish(0, 61, min=2, max=2),
        env.wish(119, 180, min=2, max=2),
        env.wish(0, 500, min=2, max=2),
        env.wish(200, 300, min=5, max=5),
        env.wish(200, 300, min=1, max=1, resource_properties='["==", "$rack", "r9"]'),
    ):
        assert shortage(env.post("/leases", wish)).startswith("Not enough hosts available")

    assert env.snapshot() == before


@pytest.mark.usefixtures("hosts")
def test_several_reservations_of_one_lease_share_no_host(env: HttpEnv) -> None:
    body = env.wish(min=3, max=3)
    body["reservations"].append({**body["reservations"][0], "min": 1, "max": 4})
    lease = lease_of(env.post("/leases", body), 201)
    env.work()

    members = [env.aggregates()[each["id"]] for each in lease["reservations"]]
    assert [len(each) for each in members] == [3, 1]
    assert frozenset.union(*members) == FREE

    # One more host is not available, so the request gets none of the three.
    before = env.snapshot()
    body["reservations"].append({**body["reservations"][0], "min": 1, "max": 1})
    shortage(env.post("/leases", {**body, "start_date": env.date(60), "end_date": env.date(90)}))
    assert env.snapshot() == before


@pytest.mark.usefixtures("hosts")
def test_leases_that_touch_follow_each_other_on_the_same_hosts(env: HttpEnv) -> None:
    first = env.create(0, 60, min=4, max=4)
    second = env.create(60, 120, min=4, max=4)

    env.pass_time(60)

    assert (env.status(first), env.status(second)) == ("TERMINATED", "ACTIVE")
    assert env.members(second) == FREE


def test_lists_show_the_own_projects_leases_and_operators_all(env: HttpEnv) -> None:
    empty = {"name": "x", "start_date": "now", "end_date": env.date(60)}
    own = lease_of(env.post("/leases", empty, who=LESSEE), 201)
    other = lease_of(env.post("/leases", empty, who=STRANGER), 201)

    def listed(who: Who) -> list[str]:
        return sorted(each["id"] for each in good(env.get("/leases", who=who))["leases"])

    assert listed(LESSEE) == [own["id"]]
    assert listed(STRANGER) == [other["id"]]
    assert listed(ADMIN) == sorted([own["id"], other["id"]])
    assert (own["project_id"], own["user_id"]) == (LESSEE.project, LESSEE.user)


def work_until_cut_off(env: HttpEnv) -> None:
    """Hand over one of two hosts, then fail the cloud until the reconciler stops calling it."""
    with env.failing("compute.add_host", nth=2), env.failing("compute.list_aggregates", nth=2):
        env.work()


def in_status(env: HttpEnv, status: str) -> Json:
    """Return a lease of two hosts in this status."""
    lease = env.create(30 if status == "PENDING" else "now", 60, min=2, max=2)
    if status == "STARTING":
        work_until_cut_off(env)
    elif status == "ERROR":
        with env.failing("compute.add_host", nth=2, status=403):
            env.work()
    elif status != "PENDING":
        env.work()
    if status == "TERMINATED":
        env.pass_time(60)
    if status == "TERMINATING":
        with env.failing("compute.remove_host"):
            env.pass_time(60)
    assert env.status(lease) == status
    return lease


@pytest.mark.usefixtures("hosts")
@pytest.mark.parametrize("status", ["PENDING", "STARTING", "ACTIVE", "TERMINATING", "TERMINATED", "ERROR"])
def test_a_lease_is_deleted_in_every_status_once(env: HttpEnv, status: str) -> None:
    lease = in_status(env, status)
    path = f"/leases/{lease['id']}"

    answer = env.delete(path, who=LESSEE)
    assert (answer.status_code, answer.content) == (204, b"")
    env.work()

    assert refusal(env.get(path), 404) == f"Lease not found: lease_id {lease['id']}"
    refusal(env.delete(path), 404)
    refusal(env.put(path, {"name": "x"}), 404)
    assert good(env.get("/leases"))["leases"] == []
    assert env.aggregates() == {"freepool": FREE}
    env.create("now", 90, min=4, max=4)


@pytest.mark.usefixtures("hosts")
def test_a_lease_is_deleting_until_its_hosts_are_back(env: HttpEnv) -> None:
    lease = env.create("now", 60, min=4, max=4)
    env.work()
    path = f"/leases/{lease['id']}"
    with env.failing("compute.remove_host"):
        assert env.delete(path).status_code == 204
        env.work()

        assert env.status(lease) == "DELETING"
        assert env.delete(path).status_code == 204
        assert "DELETING" in refusal(env.put(path, {"end_date": env.date(90)}), 409)
        # Other leases do not get the hosts in the meantime.
        shortage(env.post("/leases", env.wish("now", 30)))

    env.pass_time(5)
    refusal(env.get(path), 404)
    env.create("now", 60, min=4, max=4)


@pytest.mark.parametrize(("is_ending", "waited"), [(False, PATIENCE), (True, timedelta(0))])
@pytest.mark.usefixtures("hosts")
def test_a_delete_waits_for_the_teardown_unless_the_manager_ends(
    env: HttpEnv, is_ending: bool, waited: timedelta
) -> None:
    lease = env.create("now", 60)
    env.work()
    leases = replace(env.settings.leases, delete_wait=PATIENCE)
    env.restart(replace(env.context, settings=replace(env.settings, leases=leases)))
    if is_ending:
        env.context.ending.set()
    before = env.clock.now()

    answer = env.delete(f"/leases/{lease['id']}")

    assert answer.status_code == 204
    assert env.clock.now() - before == waited
    assert env.status(lease) == "DELETING"
    env.work()
    assert env.get(f"/leases/{lease['id']}").status_code == 404


def test_a_delete_during_the_start_is_accepted_and_gives_everything_back(env: HttpEnv) -> None:
    env.register("h1", "h2")
    lease = env.create(min=2, max=2)
    work_until_cut_off(env)
    assert env.status(lease) == "STARTING"
    assert len(env.members(lease)) == 1

    assert env.delete(f"/leases/{lease['id']}", who=LESSEE).status_code == 204
    env.work()

    assert good(env.get("/leases"))["leases"] == []
    assert env.aggregates() == {"freepool": frozenset({"h1", "h2"})}
