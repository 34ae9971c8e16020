"""``blazar-manage plan`` on a simulated cloud."""

from __future__ import annotations

import shlex
from datetime import UTC
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from app.http_env import ADMIN, HttpEnv, good
from app.maintaining import held, maintain, rack
from app.slots import instances
from clocks import EPOCH
from planning.running import general, reservable, run, run_json, section

from blazar.domain.errors import InvalidParameter
from blazar.enforcement.rules_file import read_rules
from blazar.ports.compute import Flavor
from blazarclient import lease_requests
from blazarclient.v1.shell_commands.lease_creation import CreateLease

DAY = 24 * 60


@pytest.fixture
def racks(env: HttpEnv) -> HttpEnv:
    """Return a service with three racks of two hosts, and four hosts of the general pool."""
    for number in (1, 2, 3):
        names = [f"h{number}{letter}" for letter in "ab"]
        reservable(env, *names, zone="az1", rack=f"r{number}")
    general(env, "g1", "g2", "g3", "g4", zone="az1")
    return env


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

    def test_past_leases_count_with_their_share_of_a_host(self, racks: HttpEnv) -> None:
        racks.create("now", DAY, asked=instances(memory_mb=16384, amount=6))
        racks.pass_time(DAY + 1)

        found = run_json(racks, "plan --history-days 2")["recommendation"]["demand"]["past"]

        assert found["peak"] == 1.5  # a host has room for four
        assert 0.7 < found["mean"] < 0.8

    def test_hosts_with_servers_are_to_be_emptied_first(self, racks: HttpEnv) -> None:
        for host in ("g1", "g2", "g3", "g4"):
            racks.cloud.boot_server(f"on-{host}", "project", service_host=host)
        racks.create("now", DAY, max=6, min=6)

        found = run_json(racks, "plan")["recommendation"]

        assert (found["move_in"], found["lacking"]) == ([], 2)
        assert [each["name"] for each in found["to_empty"]] == ["g1", "g2"]

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


class TestResourceTypes:
    def test_the_cost_of_each_type_is_that_of_a_real_search(self, racks: HttpEnv) -> None:
        racks.cloud.flavors.create_flavor(
            Flavor(id="7", name="m1", vcpus=4, memory_mb=16384, disk_gb=10, is_public=True)
        )

        found = run_json(racks, "plan --goal dedicated --flavor m1 --servers 6 --days 2")

        costs = {each["resource_type"]: each for each in found["costs"]}
        assert found["goal_type"] == "physical:host"
        # Four of them fit on a host, by its memory.
        assert costs["physical:host"]["hosts"] == 2
        assert costs["physical:host"]["blocked"] == {"VCPU": 128, "MEMORY_MB": 131072, "DISK_GB": 2000}
        for key in ("virtual:instance", "flavor:instance"):
            assert costs[key]["blocked"] == {"VCPU": 24, "MEMORY_MB": 98304, "DISK_GB": 60}
            assert costs[key]["most"] == 6 * 4
        assert "For the goal dedicated, reserve with physical:host." in run(
            racks, "plan --goal dedicated --flavor 7"
        )

    def test_what_is_not_possible_is_said(self, racks: HttpEnv) -> None:
        racks.create("now", 30 * DAY, max=6, min=6)

        costs = {each["resource_type"]: each for each in run_json(racks, "plan --goal flavors")["costs"]}

        assert costs["virtual:instance"]["problem"] == "not enough of it is free for that time"
        assert "--flavor" in costs["flavor:instance"]["problem"]

    def test_the_commands_are_those_of_the_client(self, racks: HttpEnv) -> None:
        racks.cloud.flavors.create_flavor(
            Flavor(id="7", name="m1", vcpus=4, memory_mb=16384, disk_gb=10, is_public=True)
        )
        found = run_json(racks, "plan --flavor m1 --servers 3")
        nowhere: Any = None
        parser = CreateLease(nowhere, None).get_parser("openstack reservation lease create")
        reader = lease_requests.DateReader(now=EPOCH, zone=UTC, echo=print)

        types = []
        for each in found["lease_commands"]:
            words = shlex.split(each["line"])
            assert words[:4] == ["openstack", "reservation", "lease", "create"]
            arguments = parser.parse_args(words[4:])
            lease = lease_requests.to_create(arguments, reader)
            body = {"name": lease["name"], "start_date": lease["start"], "end_date": lease["end"]}
            good(racks.post("/leases", {**body, "reservations": lease["reservations"]}), 201)
            types += [each["resource_type"] for each in lease["reservations"]]
        assert types == ["physical:host", "virtual:instance", "flavor:instance"]


class TestPolicy:
    def test_the_rules_are_those_of_a_file(self, racks: HttpEnv, tmp_path: Path) -> None:
        for number in range(10):
            racks.create(60 + number * 3 * DAY, 60 + (number * 3 + 2) * DAY)
        found = run_json(racks, "plan --horizon-days 60")["policy"]
        path = tmp_path / "rules.yaml"
        path.write_text(found["rules"])

        rules = read_rules(path, racks.context.plugins.keys())

        assert found["is_from_history"]
        assert (found["longest_days"], found["start_days_ahead"]) == (2, 28)
        assert [each.name for each in rules.all] == ["longest-lease", "horizon", "extend-at-the-end"]

    def test_the_end_of_a_lease_is_told_in_words(self, racks: HttpEnv) -> None:
        text = section(run(racks, "plan"), "Lease policy")

        assert (
            "physical:host: At the end, the service deletes all servers of the project on the hosts" in text
        )
        assert "This cannot be undone" in text


class TestNova:
    CONF = """
[DEFAULT]
default_schedule_zone = az1
[filter_scheduler]
available_filters = nova.scheduler.filters.all_filters
available_filters = blazarnova.scheduler.filters.blazar_filter.BlazarFilter
enabled_filters = ComputeFilter,BlazarFilter
[blazar:physical:host]
aggregate_freepool_name = pool
"""

    def test_a_configuration_is_compared(self, racks: HttpEnv, tmp_path: Path) -> None:
        path = tmp_path / "nova.conf"
        path.write_text(self.CONF)

        settings = run_json(racks, f"plan --nova-conf {path}")["nova"]["settings"]

        states = {each["name"]: each["state"] for each in settings}
        assert [key for key, each in states.items() if each == "wrong"] == [
            "[blazar:physical:host] aggregate_freepool_name",
            "[DEFAULT] default_schedule_zone",
        ]
        assert "unknown" not in states.values()

    def test_a_server_on_a_reservable_host_shows_that_the_filter_has_no_effect(self, racks: HttpEnv) -> None:
        racks.cloud.boot_server("stray", "project", service_host="h1a")

        settings = run_json(racks, "plan")["nova"]["settings"]

        state = {each["name"]: each["state"] for each in settings}
        assert state["effect of BlazarFilter"] == "wrong"
        assert state["[filter_scheduler] enabled_filters"] == "unknown"

    def test_extra_specs_of_aggregates_are_needed_by_flavors_only(self, racks: HttpEnv) -> None:
        assert not run_json(racks, "plan")["nova"]["extra_specs"]["is_needed"]
        zone = next(each for each in racks.cloud.aggregates.list_aggregates() if each.name == "az1")
        racks.cloud.aggregates.set_aggregate_metadata(zone.id, {"ssd": "true"})
        racks.cloud.flavors.create_flavor(
            Flavor(
                id="8",
                name="fast",
                vcpus=1,
                memory_mb=512,
                disk_gb=1,
                is_public=True,
                extra_specs={"aggregate_instance_extra_specs:ssd": "true"},
            )
        )

        found = run_json(racks, "plan")["nova"]["extra_specs"]

        assert found["is_needed"]
        assert found["flavors"] == found["hampered"] == ["fast"]


class TestFormats:
    def test_html_is_complete_and_needs_no_other_file(self, racks: HttpEnv) -> None:
        racks.create("now", DAY, **rack("r1"))
        text = run(racks, "plan -f html")
        open_tags: list[str] = []

        class Checker(HTMLParser):
            def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
                assert not {key for key, _ in attrs} & {"src", "href"}
                if tag != "meta":
                    open_tags.append(tag)

            def handle_endtag(self, tag: str) -> None:
                assert open_tags.pop() == tag

        Checker().feed(text)

        assert open_tags == []
        assert "<h2>Capacity allocation</h2>" in text

    def test_names_of_leases_cannot_break_the_document(self, racks: HttpEnv) -> None:
        lease = racks.create("now", DAY, max=2, min=2, **rack("r1"))
        racks.change(lease, name="a|b<script>\n# c")
        racks.work()

        assert "<script>" not in run(racks, "plan -f html")
        assert "a\\|b<script>\N{REPLACEMENT CHARACTER}# c" in run(racks, "plan")

    def test_single_sections_can_be_printed(self, racks: HttpEnv) -> None:
        text = run(racks, "plan --only policy --only capacity")

        assert [each for each in text.splitlines() if each.startswith("## ")] == [
            "## Capacity allocation",
            "## Lease policy",
        ]


class TestBadInput:
    @pytest.mark.parametrize(
        ("line", "field"),
        [
            ("--rack shelf", "--rack"),
            ("--rack-aggregates 'row-*'", "--rack-aggregates"),
            ("--host-type model", "--host-type"),
            ("--flavor m9", "--flavor"),
            ("--servers 0", "--servers"),
            ("--vcpus -1", "--vcpus"),
            ("--days 0", "--days"),
            ("--horizon-days 99999", "--horizon-days"),
            ("--history-days 0", "--history-days"),
            ("--growth -5", "--growth"),
            ("--general-limit -1", "--general-limit"),
            ("--nova-conf /nowhere/nova.conf", "--nova-conf"),
            ("--only loss -f json", "--only"),
        ],
    )
    def test_an_error_names_the_argument(self, racks: HttpEnv, line: str, field: str) -> None:
        with pytest.raises(InvalidParameter, match=f"^{field}: "):
            run(racks, f"plan {line}")

    def test_sizes_and_a_flavor_exclude_each_other(self, racks: HttpEnv) -> None:
        racks.cloud.flavors.create_flavor(
            Flavor(id="7", name="m1", vcpus=4, memory_mb=16384, disk_gb=10, is_public=True)
        )

        with pytest.raises(InvalidParameter, match=r"^--vcpus: "):
            run(racks, "plan --flavor m1 --vcpus 2")


def test_a_cloud_without_hosts_has_a_plan(env: HttpEnv) -> None:
    text = run(env, "plan --goal burst")

    assert "No host is reservable." in text
    assert "Keep 0 usable hosts reservable; there are 0." in text
