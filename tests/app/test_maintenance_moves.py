"""Leases that hold hosts under maintenance: they move, or keep their hosts."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest
from app.http_env import LESSEE, NEWER, HttpEnv, good, shortage
from app.maintaining import held, maintain, named, rack, run_task
from app.slots import instances

from blazar.app.maintenance.requests import parse_maintenance, select_resources
from blazar.app.maintenance.use_cases import store_maintenance
from blazar.booking.clearing import Clearing, plan_clearing
from blazar.domain.errors import ConcurrentUpdate
from blazar.domain.interval import Interval
from blazar.domain.lease import ResourceId
from blazar.ports.manager import Caller
from blazar.ports.store import Store, Transaction


class ChangedMeanwhile:
    """A store in which another request changes something before the second read."""

    def __init__(self, store: Store, change: Callable[[], object]) -> None:
        self._store, self._changes, self.begin = store, [change], store.begin
        self._reads = 0

    def read(self, *, of_one_instant: bool = True) -> AbstractContextManager[Transaction]:
        self._reads += 1
        if self._reads > 1 and self._changes:
            self._changes.pop()()
        return self._store.read(of_one_instant=of_one_instant)


@pytest.fixture
def ids(env: HttpEnv) -> list[str]:
    """Register four hosts in two racks, and return their ids."""
    return [*env.register("h1", "h2", rack="r1"), *env.register("h3", "h4", rack="r2")]


@pytest.mark.usefixtures("ids")
class TestLeasesAhead:
    def test_they_move_to_free_hosts_that_satisfy_their_conditions(self, env: HttpEnv) -> None:
        lease = env.create(60, 120, **rack("r1"))
        (old,) = held(env, lease)

        made = maintain(env, old, reason="new disks")

        (new,) = {"h1", "h2"} - {old}
        (move,) = made["moves"]
        assert (move["lease_id"], move["project_id"]) == (lease["id"], LESSEE.project)
        assert (named(move["from"]), named(move["to"])) == ([old], [new])
        assert held(env, lease) == [new]
        found = good(env.get(f"/leases/{lease['id']}/history", who=LESSEE, headers=NEWER))["history"]
        assert found[-1]["text"] == "Resources of the reservation were replaced, because of maintenance."
        env.pass_time(61)
        assert env.members(lease) == {new}

    def test_they_do_not_move_to_a_host_that_was_reported(self, env: HttpEnv) -> None:
        lease = env.create(60, 120, **rack("r1"))
        (reported,) = held(env, lease)
        ids = {each["hypervisor_hostname"]: each["id"] for each in good(env.get("/os-hosts"))["hosts"]}
        report = {"reservation_id": lease["reservations"][0]["id"], "resources": [ids[reported]]}
        good(env.post(f"/leases/{lease['id']}/replacements", report, who=LESSEE, headers=NEWER))
        (present,) = held(env, lease)

        made = maintain(env, present)

        assert (made["moves"], [each["lease_id"] for each in made["unmovable"]]) == ([], [lease["id"]])
        assert held(env, lease) == [present] != [reported]

    def test_a_dry_run_shows_exactly_what_is_done(self, env: HttpEnv) -> None:
        for start in (60, 100, 200):
            env.create(start, start + 30, min=1, max=1)
        env.create(60, 300, **rack("r2"))
        before = env.snapshot()

        preview = maintain(env, "h1", "h3", status=200, params={"dry_run": "true"})
        assert env.snapshot() == before
        done = maintain(env, "h1", "h3")

        same = ("moves", "active", "unmovable", "resources", "start_date")
        assert {key: preview[key] for key in same} == {key: done[key] for key in same}
        assert done["moves"]

    def test_all_managers_plan_the_same_moves(self, env: HttpEnv) -> None:
        env.create(60, 120)
        # A manager that was running has read the newest host last, and another one has read all in one order.
        env.register("h5")
        env.create(1000, 1060)

        preview = maintain(env, "h1", "h4", status=200, params={"dry_run": "true"})
        env.forget_indexes()
        done = maintain(env, "h1", "h4")

        assert preview["moves"] == done["moves"]
        assert done["moves"]

    def test_others_make_room(self, env: HttpEnv) -> None:
        bound = env.create(60, 120, min=2, max=2, **rack("r1"))
        env.change(bound, reservation={"min": 1, "max": 1})
        (old,) = held(env, bound)
        (other,) = {"h1", "h2"} - {old}
        free = env.create(60, 120, resource_properties=f'["==", "$hypervisor_hostname", "{other}"]')
        env.change(free, reservation={"resource_properties": ""})
        assert held(env, free) == [other]

        made = maintain(env, old)

        assert made["unmovable"] == []
        assert {each["lease_id"] for each in made["moves"]} == {bound["id"], free["id"]}
        assert held(env, bound) == [other]
        assert held(env, free)[0] in {"h3", "h4"}

    def test_those_without_another_host_are_named_and_told_and_moved_later(self, env: HttpEnv) -> None:
        bound = env.create(60, 120, min=2, max=2, **rack("r1"))
        env.pass_time(1)

        made = maintain(env, "h1", reason="new disks", end_date=env.date(600))

        assert made["moves"] == []
        ((kept,)) = made["unmovable"]
        assert (kept["lease_id"], kept["resource"]["name"]) == (bound["id"], "h1")
        assert held(env, bound) == ["h1", "h2"]
        env.pass_time(2)
        assert env.sent.event_types[-1] == "lease.maintenance"
        assert env.sent.payloads[-1]["maintenance"] == {
            "id": made["id"],
            "reason": "new disks",
            "start_date": made["start_date"],
            "end_date": env.shown(600),
            "resources": ["h1"],
        }

        env.register("h5", rack="r1")
        run_task(env)
        assert held(env, bound) == ["h2", "h5"]
        found = good(env.get(f"/maintenance/{made['id']}", headers=NEWER))["maintenance"]
        assert (found["moves"], found["unmovable"]) == ([], [])

    def test_a_lease_that_cannot_move_starts_on_the_host(self, env: HttpEnv) -> None:
        lease = env.create(10, 120, min=4, max=4)
        maintain(env, "h1")

        env.pass_time(11)

        assert env.members(lease) == {"h1", "h2", "h3", "h4"}

    def test_a_plan_is_refused_if_a_lease_is_deleted_meanwhile(self, env: HttpEnv, ids: list[str]) -> None:
        lease = env.create(60, 120, asked=instances(amount=2))
        delete = partial(env.delete, f"/leases/{lease['id']}")
        context = replace(env.context, store=ChangedMeanwhile(env.context.store, delete))
        window = Interval(env.clock.now(), env.clock.now() + timedelta(days=1))

        with pytest.raises(ConcurrentUpdate):
            plan_clearing(context, "host", [ResourceId(each) for each in ids], window)

    def test_instances_move(self, env: HttpEnv) -> None:
        lease = env.create(60, 120, asked=instances(amount=2))
        old = held(env, lease)

        made = maintain(env, *old)

        assert made["unmovable"] == []
        assert not set(held(env, lease)) & set(old)
        env.pass_time(61)
        assert env.status(lease) == "ACTIVE"

    def test_reservations_with_the_same_rack_move_together(self, env: HttpEnv) -> None:
        asked = {**env.wish(60, 120, min=2, max=2)["reservations"][0], "same": "rack"}
        answer = env.post("/leases", env.wish(60, 120, asked=asked), who=LESSEE, headers=NEWER)
        lease = good(answer, 201)["lease"]
        old = held(env, lease)

        made = maintain(env, old[0])

        assert made["unmovable"] == []
        assert held(env, lease) == sorted({"h1", "h2", "h3", "h4"} - set(old))

    def test_a_manager_that_stops_before_the_moves_leaves_them_to_the_next(self, env: HttpEnv) -> None:
        lease = env.create(60, 120, **rack("r1"))
        (old,) = held(env, lease)
        body, caller = {"resources": [old]}, Caller(user_id="operator", project_id=None)
        asked = parse_maintenance(env.context, caller, body)
        chosen = select_resources(env.context, env.context.plugin_for("physical:host"), body)

        store_maintenance(env.context, replace(asked, resource_ids=chosen), Clearing())
        assert held(env, lease) == [old]
        env.work()

        assert held(env, lease) == sorted({"h1", "h2"} - {old})


@pytest.mark.usefixtures("ids")
class TestActiveLeases:
    def test_they_keep_their_hosts_are_listed_and_told(self, env: HttpEnv) -> None:
        lease = env.create("now", 60, min=2, max=2, **rack("r1"))
        env.work()
        env.pass_time(1)

        made = maintain(env, "h1", reason="new disks")

        (kept,) = made["active"]
        assert (kept["lease_id"], kept["user_id"], kept["resource"]["name"]) == (lease["id"], "user", "h1")
        env.pass_time(2)
        assert env.sent.event_types[-1] == "lease.maintenance"
        assert env.members(lease) == {"h1", "h2"}
        assert env.lease(lease["id"])["degraded"] is False

    def test_they_can_be_shortened_and_reduced_but_not_extended(self, env: HttpEnv) -> None:
        lease = env.create("now", 60, min=2, max=2, **rack("r1"))
        env.work()
        maintain(env, "h1")

        shortage(env.put(f"/leases/{lease['id']}", {"end_date": env.date(90)}, who=LESSEE))
        env.change(lease, end_date=env.date(50))
        env.change(lease, reservation={"min": 1, "max": 2})
        env.change(lease, name="renamed")
        env.pass_time(51)
        assert env.status(lease) == "TERMINATED"

    def test_they_can_be_extended_past_a_maintenance_that_ends_before(self, env: HttpEnv) -> None:
        lease = env.create("now", 60, min=2, max=2, **rack("r1"))
        env.work()
        maintain(env, "h1", end_date=env.date(30))

        env.change(lease, end_date=env.date(90))

        assert held(env, lease) == ["h1", "h2"]
