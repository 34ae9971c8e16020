"""``blazar-manage plan`` on a simulated cloud: types, policy, commands, Nova, formats, and bad input."""

from __future__ import annotations

import shlex
from datetime import UTC
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from app.http_env import HttpEnv, good
from app.maintaining import rack
from clocks import EPOCH
from planning.running import DAY, run, run_json, section

from blazar.domain.errors import InvalidParameter
from blazar.enforcement.rules_file import read_rules
from blazar.ports.compute import Flavor
from blazarclient import lease_requests
from blazarclient.v1.shell_commands.lease_creation import CreateLease


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
        racks.create("now", 20 * DAY, max=6, min=6)

        first = {each["resource_type"]: each for each in run_json(racks, "plan --horizon-days 19")["costs"]}
        later = {each["resource_type"]: each for each in run_json(racks, "plan --horizon-days 21")["costs"]}

        assert first["virtual:instance"]["problem"] == "not enough of it is free for that time"
        assert "--flavor" in later["flavor:instance"]["problem"]
        assert later["virtual:instance"]["possible_from"] == "2031-01-21T00:00:00Z"
        assert later["virtual:instance"]["hosts"] == 1

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
        assert "a\\|b\\<script>\N{REPLACEMENT CHARACTER}# c" in run(racks, "plan")

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
            ("--demand -1", "--demand"),
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
