"""Maintenance of hosts on the embedded service: who may plan it, of which hosts, and what it keeps away."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pytest
from app.http_env import LESSEE, NEWER, STRANGER, HttpEnv, Json, Who, good, refusal, shortage
from app.maintaining import ChangedBeforeWriting, maintain, named, rack, refused, run_task

from blazar.domain.requirements import Fact
from blazar.plugins.hosts.plugin import Hosts
from blazar.plugins.hosts.settings import HostSettings
from blazar.ports.cloud import Cloud
from blazar.reconcile.periodic.maintenance import maintain as complete


class ChangedBeforeLeaving(Hosts):
    """The plugin, with a request that changes something before hosts leave the pool."""

    def __init__(self, settings: HostSettings, change: Callable[[], None]) -> None:
        super().__init__(settings)
        self._change = change

    def leave_pool(self, cloud: Cloud, resources: Sequence[Mapping[str, Fact]]) -> None:
        self._change()
        super().leave_pool(cloud, resources)


@pytest.fixture
def ids(env: HttpEnv) -> list[str]:
    """Register four hosts in two racks, and return their ids."""
    return [*env.register("h1", "h2", rack="r1"), *env.register("h3", "h4", rack="r2")]


@pytest.mark.usefixtures("ids")
class TestPlanning:
    def test_no_new_lease_gets_the_hosts_in_the_period(self, env: HttpEnv) -> None:
        made = maintain(env, "h1", "h2", start_date=env.date(60), end_date=env.date(120), reason="new disks")

        assert made["status"] == "PLANNED"
        assert named(made["resources"]) == ["h1", "h2"]
        assert (made["start_date"], made["end_date"]) == (env.shown(60), env.shown(120))
        assert (made["moves"], made["active"], made["unmovable"]) == ([], [], [])
        shortage(env.post("/leases", env.wish(90, 150, **rack("r1"))))
        env.create(0.5, 60, min=2, max=2, **rack("r1"))
        env.create(120, 150, min=2, max=2, **rack("r1"))

    def test_without_dates_it_lasts_from_now_until_it_is_ended(self, env: HttpEnv) -> None:
        made = maintain(env, "h1")

        assert (made["status"], made["end_date"]) == ("ACTIVE", None)
        shortage(env.post("/leases", env.wish("now", 60, min=4, max=4)))
        shortage(env.post("/leases", env.wish(60 * 24 * 1000, 60 * 24 * 1001, min=4, max=4)))

        good(env.delete(f"/maintenance/{made['id']}", headers=NEWER), 204)
        env.create("now", 60, min=4, max=4)
        refusal(env.get(f"/maintenance/{made['id']}", headers=NEWER), 404)

    def test_it_ends_by_itself(self, env: HttpEnv) -> None:
        made = maintain(env, "h1", end_date=env.date(30))
        env.pass_time(31)

        env.create("now", 60, min=4, max=4)
        assert good(env.get(f"/maintenance/{made['id']}", headers=NEWER))["maintenance"]["status"] == "ENDED"

    def test_the_end_can_be_changed(self, env: HttpEnv) -> None:
        made = maintain(env, "h1", end_date=env.date(600))
        path = f"/maintenance/{made['id']}"

        good(env.put(path, {"end_date": "now", "reason": "done"}, headers=NEWER))

        found = good(env.get(path, headers=NEWER))["maintenance"]
        assert (found["status"], found["reason"]) == ("ENDED", "done")
        env.create("now", 60, min=4, max=4)
        assert "has ended" in refusal(env.put(path, {"end_date": env.date(90)}, headers=NEWER), 400)

    def test_hosts_can_be_taken_out_of_it(self, env: HttpEnv) -> None:
        path = f"/maintenance/{maintain(env, 'h1', 'h2')['id']}"

        changed = good(env.put(path, {"remove_resources": ["h2"]}, headers=NEWER))["maintenance"]

        assert named(changed["resources"]) == ["h1"]
        env.create("now", 60, min=3, max=3)
        for names, problem in ((["h1"], "names all"), (["h3"], "not under this"), (["h9"], "not registered")):
            text = refusal(env.put(path, {"remove_resources": names}, headers=NEWER), 400)
            assert text.startswith("remove_resources: ")
            assert problem in text

    @pytest.mark.parametrize(
        ("first", "second", "left", "reason"),
        [
            ({"remove_resources": ["h2"]}, {"remove_resources": ["h3"]}, ["h1"], "new disks"),
            ({"remove_resources": ["h2"]}, {"reason": "fans"}, ["h1", "h3"], "fans"),
            ({"reason": "fans"}, {"remove_resources": ["h2"]}, ["h1", "h3"], "fans"),
        ],
    )
    def test_no_change_undoes_another_one_at_the_same_time(
        self, env: HttpEnv, first: Json, second: Json, left: list[str], reason: str
    ) -> None:
        path = f"/maintenance/{maintain(env, 'h1', 'h2', 'h3', reason='new disks')['id']}"
        store = ChangedBeforeWriting(env.context.store, lambda: good(env.put(path, first, headers=NEWER)))
        env.restart(replace(env.context, store=store))

        good(env.put(path, second, headers=NEWER))

        found = good(env.get(path, headers=NEWER))["maintenance"]
        assert (named(found["resources"]), found["reason"]) == (left, reason)

    def test_it_survives_a_restart(self, env: HttpEnv) -> None:
        made = maintain(env, "h1", "h2")

        env.forget_indexes()

        shortage(env.post("/leases", env.wish("now", 60, **rack("r1"))))
        assert [each["id"] for each in good(env.get("/maintenance", headers=NEWER))["maintenances"]] == [
            made["id"]
        ]

    def test_an_offer_is_not_made_of_them(self, env: HttpEnv) -> None:
        maintain(env, "h1", "h2")
        body = {key: value for key, value in env.wish("now", 60, **rack("r1")).items() if key != "name"}

        refusal(env.post("/offers", body, who=LESSEE, headers=NEWER), 409)


@pytest.mark.usefixtures("ids")
class TestSelection:
    @pytest.mark.parametrize(
        ("keys", "names"),
        [
            ({"resources": ["h3", "h1"]}, ["h1", "h3"]),
            ({"filter": "rack=r2"}, ["h3", "h4"]),
            ({"filter": "rack=r2", "resources": ["h1", "h4"]}, ["h4"]),
            ({"aggregate": "row-7"}, ["h2"]),
            ({"resource_type": "virtual:instance", "filter": "hypervisor_hostname=h1"}, ["h1"]),
        ],
    )
    def test_hosts_by_name_property_and_aggregate(self, env: HttpEnv, keys: Json, names: list[str]) -> None:
        row = env.cloud.aggregates.create_aggregate("row-7", None, {})
        env.cloud.aggregates.add_host(row.id, "h2")

        assert sorted(named(maintain(env, **keys)["resources"])) == names

    def test_hosts_by_id(self, env: HttpEnv, ids: list[str]) -> None:
        assert named(maintain(env, ids[2])["resources"]) == ["h3"]

    @pytest.mark.parametrize(
        ("keys", "problem"),
        [
            ({}, "Missing parameter resources, filter, aggregate"),
            ({"resources": ["h1", "h9"]}, "resources: not registered: h9"),
            ({"resources": []}, "resources: "),
            ({"filter": "rack=r9"}, "filter: selects no resource"),
            ({"filter": "color=red"}, "filter: no resource has a property named color"),
            ({"filter": "rack="}, "filter: "),
            ({"aggregate": "row-8"}, "aggregate: the cloud has no aggregate row-8"),
            ({"resource_type": "virtual:floatingip", "aggregate": "a"}, "aggregate: "),
            ({"resource_type": "physical:car", "resources": ["h1"]}, "resource_type: physical:car"),
            ({"resources": ["h1"], "start_date": "2030-01-01 00:00"}, "start_date: "),
            ({"resources": ["h1"], "end_date": "2030-01-01 00:00"}, "end_date: must be later"),
            ({"resources": ["h1"], "end_date": "7000-01-01 00:00"}, "end_date: is too far"),
            ({"resources": ["h1"], "end_date": "soon"}, "end_date"),
            ({"resources": ["h1"], "reason": "x" * 256}, "reason: "),
            ({"resources": ["h1"], "host": "h1"}, "host"),
            ({"resource_type": "virtual:floatingip", "filter": "", "leave_pool": True}, "leave_pool: "),
        ],
    )
    def test_bad_input_is_refused_with_its_name(self, env: HttpEnv, keys: Json, problem: str) -> None:
        before = env.snapshot()

        assert problem in refused(env, **keys)
        assert env.snapshot() == before

    def test_the_changed_end_is_checked(self, env: HttpEnv) -> None:
        path = f"/maintenance/{maintain(env, 'h1')['id']}"

        assert "end_date: " in refusal(env.put(path, {"end_date": "2030-01-01 00:00"}, headers=NEWER), 400)
        refusal(env.put("/maintenance/ghost", {"reason": "x"}, headers=NEWER), 404)
        refusal(env.delete("/maintenance/ghost", headers=NEWER), 404)

    def test_only_operators_may(self, env: HttpEnv) -> None:
        made = maintain(env, "h1")
        path = f"/maintenance/{made['id']}"

        for who in (LESSEE, Who(roles="reader"), STRANGER):
            refusal(env.post("/maintenance", {"resources": ["h1"]}, who=who, headers=NEWER), 403)
            refusal(env.get("/maintenance", who=who, headers=NEWER), 403)
            refusal(env.get(path, who=who, headers=NEWER), 403)
            refusal(env.put(path, {"reason": "x"}, who=who, headers=NEWER), 403)
            refusal(env.delete(path, who=who, headers=NEWER), 403)

    def test_api_1_0_has_no_maintenance(self, env: HttpEnv) -> None:
        assert env.get("/maintenance").status_code == 404


@pytest.mark.usefixtures("ids")
class TestPool:
    def test_free_hosts_leave_the_freepool_and_return(self, env: HttpEnv) -> None:
        lease = env.create("now", 20, **rack("r1"))
        env.work()
        (busy,) = env.members(lease)
        (idle,) = {"h1", "h2"} - {busy}

        maintain(env, "h1", "h2", end_date=env.date(60), leave_pool=True)
        env.pass_time(2)
        assert env.aggregates()["freepool"] == {"h3", "h4"}

        env.pass_time(25)
        assert env.aggregates()["freepool"] == {"h3", "h4"}

        env.pass_time(63)
        assert env.aggregates()["freepool"] == {"h1", "h2", "h3", "h4"}
        assert idle != busy

    def test_they_stay_unless_asked(self, env: HttpEnv) -> None:
        maintain(env, "h1")
        env.pass_time(3)

        assert "h1" in env.aggregates()["freepool"]

    def test_they_return_when_the_maintenance_is_deleted(self, env: HttpEnv) -> None:
        made = maintain(env, "h1", leave_pool=True)
        env.pass_time(2)
        assert "h1" not in env.aggregates()["freepool"]

        good(env.delete(f"/maintenance/{made['id']}", headers=NEWER), 204)

        assert "h1" in env.aggregates()["freepool"]

    def test_a_host_returns_when_it_is_taken_out_of_the_maintenance(self, env: HttpEnv) -> None:
        path = f"/maintenance/{maintain(env, 'h1', 'h2', leave_pool=True)['id']}"
        env.pass_time(2)

        good(env.put(path, {"remove_resources": ["h1"]}, headers=NEWER))

        assert env.aggregates()["freepool"] == {"h1", "h3", "h4"}

    def test_hosts_return_when_the_maintenance_is_ended(self, env: HttpEnv) -> None:
        path = f"/maintenance/{maintain(env, 'h1', 'h2', leave_pool=True)['id']}"
        env.pass_time(2)

        good(env.put(path, {"end_date": "now"}, headers=NEWER))

        assert env.aggregates()["freepool"] == {"h1", "h2", "h3", "h4"}

    def test_a_host_that_nova_does_not_know_keeps_no_other_outside(self, env: HttpEnv) -> None:
        path = f"/maintenance/{maintain(env, 'h1', 'h2', leave_pool=True)['id']}"
        env.pass_time(2)
        env.cloud.remove_hypervisor("h1")

        good(env.put(path, {"end_date": "now"}, headers=NEWER))

        assert env.aggregates()["freepool"] == {"h2", "h3", "h4"}

    def test_a_change_is_answered_without_a_freepool(self, env: HttpEnv) -> None:
        path = f"/maintenance/{maintain(env, 'h1', 'h2', leave_pool=True)['id']}"
        env.pass_time(2)
        (freepool,) = (each for each in env.cloud.aggregates.list_aggregates() if each.name == "freepool")
        for host in freepool.hosts:
            env.cloud.aggregates.remove_host(freepool.id, host)
        env.cloud.aggregates.delete_aggregate(freepool.id)

        changed = good(env.put(path, {"remove_resources": ["h1"]}, headers=NEWER))

        assert len(changed["maintenance"]["resources"]) == 1

    def test_a_host_stays_outside_for_another_maintenance(self, env: HttpEnv) -> None:
        made = maintain(env, "h1", "h2", end_date=env.date(10), leave_pool=True)
        maintain(env, "h1", leave_pool=True)
        env.pass_time(2)

        good(env.delete(f"/maintenance/{made['id']}", headers=NEWER), 204)

        assert env.aggregates()["freepool"] == {"h2", "h3", "h4"}

    @pytest.mark.parametrize("is_leaving", [False, True], ids=["before", "while leaving"])
    @pytest.mark.parametrize(
        ("body", "outside"),
        [({"remove_resources": ["h1"]}, {"h2"}), ({"end_date": "now"}, set()), (None, set())],
        ids=["shrunk", "ended", "deleted"],
    )
    def test_the_task_takes_no_host_out_for_a_maintenance_that_was_changed_meanwhile(
        self, env: HttpEnv, body: Json | None, outside: set[str], is_leaving: bool
    ) -> None:
        path = f"/maintenance/{maintain(env, 'h1', 'h2', leave_pool=True)['id']}"
        changes = [body]

        def change() -> None:
            while changes:
                asked = changes.pop()
                if asked is None:
                    good(env.delete(path, headers=NEWER), 204)
                else:
                    good(env.put(path, asked, headers=NEWER))

        if is_leaving:
            hosts = ChangedBeforeLeaving(HostSettings(), change)
            context = replace(env.context, plugins={**env.context.plugins, "physical:host": hosts})
            complete(context, "manager", lambda: None)
        else:
            complete(env.context, "manager", change)

        assert not changes
        assert env.aggregates()["freepool"] == {"h1", "h2", "h3", "h4"} - outside

    def test_the_task_goes_on_after_an_error_of_the_cloud(self, env: HttpEnv) -> None:
        maintain(env, "h1", leave_pool=True)
        with env.failing("compute.remove_host"):
            env.pass_time(2)
        assert "h1" in env.aggregates()["freepool"]

        run_task(env)
        assert "h1" not in env.aggregates()["freepool"]


@pytest.mark.usefixtures("ids")
def test_the_calendar_shows_it(env: HttpEnv) -> None:
    maintain(env, "h1", "h2", start_date=env.date(60), end_date=env.date(120))
    query = {"resource_type": "physical:host", "from": env.date(30), "to": env.date(150)}

    (group,) = good(env.get("/timeline", params=query, who=LESSEE, headers=NEWER))["groups"]
    free = good(env.get("/availability", params=query, who=LESSEE, headers=NEWER))["groups"][0]["steps"]

    states = [(each["free"], each["maintenance"], each["taken"]) for each in group["intervals"]]
    assert states == [(4, 0, 0), (2, 2, 0), (4, 0, 0)]
    assert [each["free"] for each in free] == [4, 2, 4]


def test_old_maintenances_are_deleted(env: HttpEnv, ids: list[str]) -> None:
    maintain(env, "h1", end_date=env.date(10))
    env.clock.set(env.clock.now().replace(year=env.clock.now().year + 1))

    run_task(env)

    assert good(env.get("/maintenance", headers=NEWER))["maintenances"] == []
