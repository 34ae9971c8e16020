"""Usage over HTTP: what is counted over whole lives of leases, who may read it, and bad queries."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from app.http_env import ADMIN, LESSEE, NEWER, STRANGER, HttpEnv, Json, Who, good, refusal
from clocks import EPOCH

from blazar.domain.health import Diagnosis, Health
from blazar.domain.lease import ResourceId
from blazar.reconcile.periodic.tasks import OBSERVE_USE

OTHER = STRANGER


@pytest.fixture(autouse=True)
def observed(env: HttpEnv) -> None:
    """Start the observations, every five minutes."""
    with env.context.store.begin() as transaction:
        transaction.work.schedule([OBSERVE_USE], env.clock.now())
        transaction.commit()


def usage(env: HttpEnv, by: str = "project", *, who: Who = ADMIN, **query: str) -> Json:
    """Return the usage of the first ten hours."""
    asked = {"by": by, "from": env.date(0), "to": env.date(600), **query}
    found: Json = good(env.get("/usage", who=who, headers=NEWER, params=asked))["usage"]
    return found


def hours(found: Json, unit: str = "hosts", resource_class: str | None = None) -> dict[Any, Json]:
    """Return the hours of a unit that are not 0, by group."""
    return {
        group["value"]: {key: value for key, value in each["hours"].items() if value}
        for group in found["groups"]
        for each in group["amounts"]
        if (each["unit"], each["resource_class"]) == (unit, resource_class)
    }


def of_project(env: HttpEnv) -> Json:
    """Return the hours of the lessee's hosts."""
    return hours(usage(env)).get("project", {})


def boot(env: HttpEnv, lease: Json, host: str, project: str = "project") -> str:
    reservation_id = lease["reservations"][0]["id"]
    server = env.cloud.boot_server("s", project, reservation_id=reservation_id, service_host=host)
    return server.id


@pytest.mark.usefixtures("hosts")
class TestHours:
    def test_of_a_lease_that_was_used_and_is_gone(self, env: HttpEnv) -> None:
        lease = env.create(60, 240, min=2, max=2)
        env.pass_time(120)
        boot(env, lease, next(iter(sorted(env.members(lease)))))
        env.pass_time(300)
        good(env.delete(f"/leases/{lease['id']}"), 204)
        env.work()

        found = of_project(env)

        assert found["reserved"] == 6
        # Observations are five minutes apart.
        assert found["in_use"] == pytest.approx(2, abs=0.1)
        assert found["idle"] == pytest.approx(4, abs=0.2)
        assert sum(found.values()) == pytest.approx(12)
        assert hours(usage(env), "hosts", "VCPU")["project"]["reserved"] == 6 * 16

    def test_a_reservation_without_any_server_is_a_no_show(self, env: HttpEnv) -> None:
        env.create(60, 240)
        env.pass_time(300)

        found = of_project(env)

        assert found["reserved"] == 3
        assert found["no_show"] == pytest.approx(3, abs=0.1)

    def test_a_lease_that_is_deleted_before_its_start_does_not_count(self, env: HttpEnv) -> None:
        lease = env.create(60, 240)
        assert of_project(env) == {"reserved": 3, "unknown": 3}

        good(env.delete(f"/leases/{lease['id']}"), 204)
        env.pass_time(300)

        assert of_project(env) == {}

    def test_an_active_lease_that_is_deleted_counts_until_then(self, env: HttpEnv) -> None:
        lease = env.create(60, 240)
        env.pass_time(120)
        good(env.delete(f"/leases/{lease['id']}"), 204)
        env.pass_time(200)

        assert of_project(env)["reserved"] == 1

    def test_extensions_and_shortenings(self, env: HttpEnv) -> None:
        longer, shorter, moved = (env.create(60, 240) for _ in range(3))
        env.change(moved, start_date=env.date(300), end_date=env.date(330))
        env.pass_time(120)
        env.change(longer, end_date=env.date(300))
        env.change(shorter, end_date=env.date(150))
        env.pass_time(400)

        assert of_project(env)["reserved"] == 4 + 1.5 + 0.5

    def test_released_and_added_hosts(self, env: HttpEnv) -> None:
        lease = env.create(60, 240, min=2, max=2)
        env.pass_time(120)
        env.change(lease, reservation={"min": 1, "max": 1})
        env.pass_time(180)
        env.change(lease, reservation={"min": 3, "max": 3})
        env.pass_time(300)

        assert of_project(env)["reserved"] == 2 * 1 + 1 * 1 + 3 * 1

    def test_a_broken_host_is_lost_until_it_is_replaced(self, env: HttpEnv, hosts: list[str]) -> None:
        lease = env.create(60, 240, min=4, max=4)
        env.pass_time(120)
        (broken,) = [each for each in hosts if env.booked(lease) >= {each}][:1]
        env.pass_time(150)
        diagnose(env, lease, broken, Diagnosis(health=Health.FAILED, problem="no power"))
        env.pass_time(180)
        (fifth,) = env.register("h5")
        env.pass_time(200)
        assert fifth in env.booked(lease)
        env.pass_time(300)

        by_host = hours(usage(env, "host"))
        broken_name = next(name for name, found in by_host.items() if "lost" in found and found["lost"] > 0.1)
        assert by_host[broken_name]["lost"] == pytest.approx(0.5, abs=0.05)
        assert by_host[broken_name]["reserved"] == pytest.approx(2, abs=0.05)
        assert by_host["h5"]["reserved"] == pytest.approx(1, abs=0.05)
        assert of_project(env)["reserved"] == pytest.approx(12)

    def test_hosts_moved_for_maintenance_count_once(self, env: HttpEnv) -> None:
        env.create(60, 120)
        held = next(iter(hours(usage(env, "host"))))
        body = {"resources": [held], "start_date": env.date(0.5), "end_date": env.date(300)}
        good(env.post("/maintenance", body, headers=NEWER), 201)
        env.pass_time(200)

        assert list(hours(usage(env, "host"))) != [held]
        assert of_project(env)["reserved"] == 1

    def test_waiting_for_a_start_that_fails_is_lost(self, env: HttpEnv) -> None:
        with env.failing("compute.add_host"):
            env.create(60, 120)
            env.pass_time(130)

        found = of_project(env)

        assert (found["reserved"], found["lost"]) == (1, 1)

    def test_steps_add_up(self, env: HttpEnv) -> None:
        env.create(60, 240)
        env.pass_time(150)

        found = usage(env, step="60")

        assert len(found["steps"]) == 10
        assert found["steps"][1] == {"start_date": env.date(60), "end_date": env.date(120)}
        amounts = next(each for each in found["groups"][0]["amounts"] if each["resource_class"] is None)
        assert [each["reserved"] for each in amounts["steps"]] == [0, 1, 1, 1, 0, 0, 0, 0, 0, 0]
        assert amounts["steps"][3]["unknown"] == 1
        assert sum(each["no_show"] for each in amounts["steps"]) == pytest.approx(amounts["hours"]["no_show"])

    def test_while_the_cloud_does_not_answer_use_is_unknown(self, env: HttpEnv) -> None:
        env.create(60, 240)
        env.pass_time(120)
        with env.failing("compute.list_servers"):
            env.pass_time(180)
        env.pass_time(300)

        found = of_project(env)

        assert found["unknown"] == pytest.approx(1, abs=0.15)
        assert found["no_show"] == pytest.approx(2, abs=0.15)


def test_the_requests_of_an_observation_do_not_grow_with_the_leases(env: HttpEnv, hosts: list[str]) -> None:
    asked = {"resource_type": "virtual:instance", "amount": 1, "affinity": None, "resource_properties": ""}
    for _ in range(3):
        env.create("now", 600)
        env.create("now", 600, asked={**asked, "vcpus": 1, "memory_mb": 512, "disk_gb": 1})
    env.pass_time(2)
    before = env.cloud.calls["compute.list_servers"]

    env.pass_time(7)

    # One for hosts, and one for instances.
    assert env.cloud.calls["compute.list_servers"] == before + 2


def diagnose(env: HttpEnv, lease: Json, host_id: str, diagnosis: Diagnosis) -> None:
    with env.context.store.begin() as transaction:
        transaction.resources.set_diagnosis(ResourceId(host_id), diagnosis, env.clock.now())
        transaction.work.schedule([lease["id"]], env.clock.now())
        transaction.commit()


def test_instances_count_slots_and_their_sizes(env: HttpEnv, hosts: list[str]) -> None:
    asked = {"resource_type": "virtual:instance", "amount": 3, "affinity": None}
    lease = env.create(
        60, 120, asked={**asked, "resource_properties": "", "vcpus": 2, "memory_mb": 1024, "disk_gb": 10}
    )
    env.pass_time(65)
    env.cloud.boot_server("web", "project", flavor_id=lease["reservations"][0]["id"])
    env.pass_time(200)

    found = usage(env)

    slots = hours(found, "instances")["project"]
    assert slots["reserved"] == 3
    assert slots["in_use"] == pytest.approx(1, abs=0.2)
    assert hours(found, "instances", "MEMORY_MB")["project"]["reserved"] == 3 * 1024
    assert hours(found) == {}
    other = usage(env, resource_type="physical:host")
    assert other["groups"] == []


class TestGroups:
    @pytest.fixture(autouse=True)
    def leases(self, env: HttpEnv, hosts: list[str]) -> None:
        env.create(60, 120, resource_properties='["==", "$rack", "r1"]')
        env.create(60, 180, who=OTHER, resource_properties='["==", "$rack", "r2"]')

    def test_by_project_and_user(self, env: HttpEnv) -> None:
        assert list(hours(usage(env))) == ["elsewhere", "project"]
        assert list(hours(usage(env, "user"))) == ["stranger", "user"]
        assert list(hours(usage(env, project_id="elsewhere"))) == ["elsewhere"]

    def test_by_zone_and_host(self, env: HttpEnv) -> None:
        assert hours(usage(env, "zone"))["nova"]["reserved"] == 3
        assert len(hours(usage(env, "host"))) == 2

    def test_by_property_also_after_the_host_is_gone(self, env: HttpEnv, hosts: list[str]) -> None:
        env.pass_time(300)
        env.register("h9", rack="r9")
        for each in hosts:
            good(env.put(f"/os-hosts/{each}", {"rack": "r7"}))
            good(env.delete(f"/os-hosts/{each}"), 204)

        found = hours(usage(env, "property", property="rack"))

        assert {key: each["reserved"] for key, each in found.items()} == {"r1": 1, "r2": 2}

    def test_members_read_their_own_project_only(self, env: HttpEnv) -> None:
        for by in ("project", "user", "zone", "host"):
            found = usage(env, by, who=LESSEE)
            assert sum(each["reserved"] for each in hours(found).values()) == 1
        assert list(hours(usage(env, who=OTHER, project_id="elsewhere"))) == ["elsewhere"]

        params = {"by": "project", "project_id": "elsewhere"}
        assert "project_id" in refusal(env.get("/usage", who=LESSEE, headers=NEWER, params=params), 403)

    def test_members_see_public_properties_only(self, env: HttpEnv) -> None:
        found = hours(usage(env, "property", property="rack", who=LESSEE))
        assert {key: each["reserved"] for key, each in found.items()} == {"r1": 1}
        good(env.patch("/os-hosts/properties/slots", {"private": True}))

        for name in ("slots", "hypervisor_hostname", "nothing"):
            params = {"by": "property", "property": name}
            text = refusal(env.get("/usage", who=LESSEE, headers=NEWER, params=params), 400)
            assert text == f"property: {name} is not a property of the catalogue"
        assert list(hours(usage(env, "property", property="slots"))) == ["8", "10"]

    def test_policy_can_refuse_it_and_the_names_of_hosts(self, env: HttpEnv) -> None:
        env.set_policy({"blazar:leases:get_allocations": "rule:admin"})
        params = {"by": "host"}
        assert "get_allocations" in refusal(env.get("/usage", who=LESSEE, headers=NEWER, params=params), 403)
        usage(env, "project", who=LESSEE)

        env.set_policy({"blazar:usage:get": "rule:admin"})
        params = {"by": "project"}
        refusal(env.get("/usage", who=LESSEE, headers=NEWER, params=params), 403)
        usage(env)

    def test_a_token_without_a_project_is_refused(self, env: HttpEnv) -> None:
        without_project = Who(project=None)
        refusal(env.get("/usage", who=without_project, headers=NEWER, params={"by": "project"}), 403)


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ({}, "Missing parameter by"),
        ({"by": "rack"}, "by: must be one of host, project, property, user, zone"),
        ({"by": "property"}, "Missing parameter property"),
        ({"by": "zone", "property": "rack"}, "property: is only possible with by=property"),
        (
            {"by": "project", "from": "yesterday"},
            "yesterday is an invalid date. Required format: %Y-%m-%d %H:%M (from)",
        ),
        ({"by": "project", "to": "2031-13-01 00:00"}, "2031-13-01 00:00 is an invalid date"),
        (
            {"by": "project", "from": "2031-01-02 00:00", "to": "2031-01-01 00:00"},
            "to: must be later than from",
        ),
        ({"by": "project", "from": "2031-01-01 00:00", "to": "2037-01-01 00:00"}, "to: must be at most 1830"),
        ({"by": "project", "step": "0"}, "step: must be a whole number of minutes"),
        ({"by": "project", "step": "1h"}, "step: must be a whole number of minutes"),
        ({"by": "project", "step": "9" * 5000}, "step: must be a whole number of minutes"),
        ({"by": "project", "step": "1"}, "step: gives 43200 steps, at most 1000 are possible"),
        ({"by": "project", "resource_type": "physical:tape"}, "resource_type: physical:tape"),
        ({"by": "project", "colour": "red"}, "Unknown query parameter: colour"),
    ],
)
def test_a_bad_query_is_refused_by_the_name_of_the_parameter(env: HttpEnv, query: Json, problem: str) -> None:
    assert refusal(env.get("/usage", headers=NEWER, params=query), 400).startswith(problem)


def test_the_shortest_step_of_a_refusal_is_possible(env: HttpEnv) -> None:
    query = {"by": "project", "step": "1"}
    text = refusal(env.get("/usage", headers=NEWER, params=query), 400)
    shortest = text.rpartition(" is ")[2].split()[0]

    good(env.get("/usage", headers=NEWER, params={**query, "step": shortest}))


def test_the_default_period_is_the_last_month(env: HttpEnv) -> None:
    found = good(env.get("/usage", headers=NEWER, params={"by": "project"}))["usage"]

    assert found["to"] == env.date(0)
    assert found["from"] == f"{EPOCH - timedelta(days=30):%Y-%m-%d %H:%M}"
    assert (found["groups"], found["steps"], found["complete_since"]) == ([], [], None)


@pytest.mark.parametrize("end", ["0001-01-01 00:01", "0001-01-30 00:00"])
def test_the_default_period_starts_with_the_first_year_at_the_earliest(env: HttpEnv, end: str) -> None:
    found = good(env.get("/usage", headers=NEWER, params={"by": "project", "to": end}))["usage"]

    assert (found["from"], found["to"]) == ("0001-01-01 00:00", end)


def test_a_period_that_ends_with_the_first_instant_is_refused(env: HttpEnv) -> None:
    params = {"by": "project", "to": "0001-01-01 00:00"}

    assert refusal(env.get("/usage", headers=NEWER, params=params), 400) == "to: must be later than from"


def test_it_does_not_exist_at_1_0(env: HttpEnv) -> None:
    assert env.get("/usage", params={"by": "project"}).status_code == 404
