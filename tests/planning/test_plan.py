"""``blazar-manage plan`` on a simulated cloud: what is where, its loss, and hosts to move."""

from __future__ import annotations

import sqlalchemy as sa
from app.http_env import ADMIN, HttpEnv
from app.maintaining import held, maintain, rack
from app.slots import instances
from planning.running import DAY, general, reservable, run, run_json

from blazar.db.tables import held_periods


class TestAllocationTable:
    def test_hosts_are_counted_by_zone_rack_and_type(self, racks: HttpEnv) -> None:
        racks.create("now", 15 * DAY, max=2, min=2, **rack("r1"))
        racks.create(10 * DAY, 20 * DAY, who=ADMIN, **rack("r2"))
        racks.work()

        found = run_json(racks, "plan --horizon-days 30")

        rows = {each["rack"]: each for each in found["rows"]}
        figures = ("total", "general", "reservable", "reserved_now", "peak", "mean", "headroom")
        assert {key: [row[each] for each in figures] for key, row in rows.items()} == {
            "-": [4, 4, 0, 0, 0, 0.0, 0],
            "r1": [2, 0, 2, 2, 2, 1.0, 0],
            "r2": [2, 0, 2, 0, 1, 0.33, 1],
            "r3": [2, 0, 2, 0, 0, 0.0, 2],
        }
        assert [found["total"][each] for each in figures] == [10, 4, 6, 2, 3, 1.33, 3]
        assert {each["zone"] for each in found["rows"]} == {"az1"}
        ratios = {each["resource_class"]: each for each in rows["r1"]["reservable_amounts"]}
        assert (ratios["VCPU"]["total"], ratios["VCPU"]["capacity"]) == (32, 128)
        assert ratios["VCPU"]["highest_ratio"] == 4.0

    def test_instances_and_maintenance_take_headroom(self, racks: HttpEnv) -> None:
        racks.create("now", 60, asked=instances())
        maintain(racks, "h3a", "h3b")

        found = run_json(racks, "plan")

        rows = {each["rack"]: each for each in found["rows"]}
        assert sum(each["reserved_now"] for each in rows.values()) == 1
        assert (rows["r3"]["peak"], rows["r3"]["headroom"]) == (0, 0)

    def test_failed_hosts_and_hosts_that_are_not_registered_are_unusable(self, racks: HttpEnv) -> None:
        racks.cloud.set_host_state("h1a", is_up=False)
        (pool,) = (each for each in racks.cloud.aggregates.list_aggregates() if each.name == "freepool")
        racks.cloud.aggregates.add_host(pool.id, "g1")

        found = run_json(racks, "plan")

        rows = {each["rack"]: each for each in found["rows"]}
        assert (rows["r1"]["unusable"], rows["r1"]["headroom"]) == (1, 1)
        assert (rows["-"]["reservable"], rows["-"]["unusable"], rows["-"]["general"]) == (1, 1, 3)
        settings = {each["name"]: each for each in found["nova"]["settings"]}
        assert settings["members"]["state"] == "wrong"
        assert "g1 in the freepool, but not registered" in settings["members"]["present"]

    def test_aggregates_can_be_racks(self, env: HttpEnv) -> None:
        reservable(env, "h1", "h2")
        general(env, "g1")
        for name, host in (("rack-1", "h1"), ("rack-2", "g1")):
            aggregate = env.cloud.add_aggregate(name)
            env.cloud.aggregates.add_host(aggregate.id, host)

        found = run_json(env, "plan --rack-aggregates 'rack-*'")

        assert {each["rack"]: each["total"] for each in found["rows"]} == {"rack-1": 1, "rack-2": 1, "-": 1}

    def test_metadata_of_aggregates_can_name_racks_and_a_property_the_host_type(self, env: HttpEnv) -> None:
        reservable(env, "h1", place="r1", model="fat")
        general(env, "g1")
        aggregate = env.cloud.add_aggregate("row")
        env.cloud.aggregates.set_aggregate_metadata(aggregate.id, {"place": "r2"})
        env.cloud.aggregates.add_host(aggregate.id, "g1")

        found = run_json(env, "plan --rack place --host-type model")

        assert {(each["rack"], each["kind"]) for each in found["rows"]} == {
            ("r1", "fat"),
            ("r2", "16 vCPU, 64 GiB, 1000 GB"),
        }


class TestLoss:
    def test_reservations_that_find_no_other_host_are_named(self, racks: HttpEnv) -> None:
        bound = racks.create("now", DAY, **rack("r1"))
        ahead = racks.create(DAY, 2 * DAY, max=2, min=2, **rack("r1"))
        racks.work()

        found = run_json(racks, "plan")["loss"]

        assert (found["domain"], found["reservable"]) == ("rack r1 in zone az1", 2)
        lost = {each["lease_id"]: each for each in found["not_placed"]}
        assert lost.keys() == {bound["id"], ahead["id"]}
        assert lost[ahead["id"]]["hosts"] == ["h1a", "h1b"]
        assert found["placed"] == []

    def test_a_lease_that_has_begun_gets_another_host(self, racks: HttpEnv) -> None:
        lease = racks.create("now", DAY)
        slots = racks.create("now", DAY, asked=instances(resource_properties='["==", "$rack", "r1"]'))
        racks.work()
        assert held(racks, lease) == ["h1a"]

        found = run_json(racks, "plan")["loss"]

        (placed,), (lost,) = found["placed"], found["not_placed"]
        assert (placed["lease_id"], placed["hosts"], placed["has_begun"]) == (lease["id"], ["h1a"], True)
        assert (lost["lease_id"], lost["hosts"]) == (slots["id"], ["h1b"])

    def test_nothing_is_stored(self, racks: HttpEnv) -> None:
        racks.create("now", DAY, max=2, min=2)
        racks.work()
        before = racks.snapshot()

        run(racks, "plan")

        assert racks.snapshot() == before


class TestRecommendation:
    def test_it_is_based_on_the_most_that_was_or_is_reserved(self, racks: HttpEnv) -> None:
        lease = racks.create("now", 2 * DAY, max=4, min=4)
        racks.pass_time(60)
        racks.delete(f"/leases/{lease['id']}")
        racks.work()
        racks.create(2 * 60, 10 * DAY, max=5, min=5)

        found = run_json(racks, "plan")

        assert found["recommendation"]["demand"]["booked"]["peak"] == 5
        assert found["habits"]["deleted"] == 1
        assert found["recommendation"]["target"] == 5 + 2
        assert found["recommendation"]["headroom"] == 2
        assert [each["name"] for each in found["recommendation"]["move_in"]] == ["g1"]
        assert "openstack reservation host create g1" in run(racks, "plan")

    def test_the_past_counts_hosts_that_leases_held_also_deleted_ones(self, racks: HttpEnv) -> None:
        first = racks.create("now", DAY, asked=instances(memory_mb=16384, amount=6))
        racks.create(DAY // 2, DAY, asked=instances())
        racks.pass_time(DAY)
        racks.delete(f"/leases/{first['id']}")
        racks.pass_time(DAY + 30)

        found = run_json(racks, "plan --history-days 90")

        past = found["recommendation"]["demand"]["past"]
        # A host has room for four of the first ones. Before the first lease, nothing is known.
        assert (past["peak"], past["usual"]) == (2, 2)
        assert 1.9 < past["mean"] < 2
        assert (found["habits"]["leases"], found["habits"]["deleted"]) == (1, 1)

    def test_leases_of_an_earlier_release_count_with_their_share_of_a_host(self, racks: HttpEnv) -> None:
        racks.create("now", DAY, asked=instances(memory_mb=16384, amount=6))
        racks.pass_time(DAY + 1)
        with racks.engine.begin() as connection:
            connection.execute(sa.delete(held_periods))

        past = run_json(racks, "plan")["recommendation"]["demand"]["past"]

        assert (past["peak"], past["usual"]) == (1.5, 1.5)

    def test_hosts_with_servers_are_to_be_emptied_first(self, racks: HttpEnv) -> None:
        for host in ("g1", "g2", "g3", "g4"):
            racks.cloud.boot_server(f"on-{host}", "project", service_host=host)
        racks.create("now", DAY, max=6, min=6)

        found = run_json(racks, "plan")["recommendation"]

        assert (found["move_in"], found["lacking"]) == ([], 2)
        assert [each["name"] for each in found["to_empty"]] == ["g1", "g2"]

    def test_a_new_cloud_keeps_its_hosts_until_a_demand_is_known(self, racks: HttpEnv) -> None:
        found, text = run_json(racks, "plan"), run(racks, "plan --only recommendation")
        expected = run_json(racks, "plan --demand 5")

        assert (found["host_commands"], found["recommendation"]["target"]) == ([], 6)
        assert "No host was reserved, none is booked, and no demand was given" in text
        assert "host delete" not in text
        assert (expected["recommendation"]["target"], expected["recommendation"]["headroom"]) == (7, 2)
        assert [each["name"] for each in expected["recommendation"]["move_in"]] == ["g1"]
        assert "| expected " in run(racks, "plan --only recommendation --demand 5")

    def test_hosts_that_nobody_needs_leave(self, racks: HttpEnv) -> None:
        racks.create("now", DAY)  # h1a
        racks.work()

        found = run_json(racks, "plan")

        names = [each["name"] for each in found["recommendation"]["move_out"]]
        assert found["recommendation"]["target"] == 2
        assert len(names) == 4
        assert "h1a" not in names
        assert [each["line"] for each in found["host_commands"]] == [
            f"openstack reservation host delete {each}" for each in names
        ]


def test_a_cloud_without_hosts_has_a_plan(env: HttpEnv) -> None:
    text = run(env, "plan --goal burst")

    assert "No host is reservable." in text
    assert "no host is to be moved; 0 usable hosts are reservable" in text
