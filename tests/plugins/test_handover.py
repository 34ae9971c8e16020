"""Handover of a host that has servers or an availability zone."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from clocks import EPOCH, ManualClock
from plugin_cases import CASES, RESERVATION, assignment_of

from blazar.cloud.simulated import SimulatedCloud
from blazar.cloud.simulated.faults import FaultKind, FaultRule
from blazar.domain.errors import CloudConflict
from blazar.domain.lifecycle import Phase
from blazar.plugins.contract import Assignment, Done, Outcome, Unusable, Waiting
from blazar.plugins.hosts.items import HostItem, Kind
from blazar.plugins.hosts.plugin import Hosts
from blazar.plugins.hosts.preemption import CLOSED_KEY, PREEMPTED_AT
from blazar.plugins.hosts.settings import HostSettings
from blazar.plugins.hosts.spec import HostSpec
from blazar.ports.compute import Aggregate, Flavor, Server

NOTICE = timedelta(minutes=5)
SPOT = Flavor(
    id="spot",
    name="spot",
    vcpus=1,
    memory_mb=1,
    disk_gb=0,
    is_public=True,
    extra_specs={"blazar:preemptible": "Yes"},
)


class HandoverEnv:
    """A reservation of two hosts whose aggregate exists."""

    def __init__(self, notice: timedelta = timedelta(0)) -> None:
        self.clock = ManualClock()
        self.cloud = SimulatedCloud(self.clock, server_deletion_time=timedelta(seconds=5))
        self.cloud.flavors.create_flavor(SPOT)
        case = CASES["physical:host"]
        self.plugin = Hosts(HostSettings(preemption_notice=notice))
        self.assignment: Assignment[HostSpec] = assignment_of(self.plugin, case, case.furnish(self.cloud))
        self.cloud.aggregates.create_aggregate(
            RESERVATION, f"blazar_{RESERVATION}", {"blazar:owner": "project"}
        )
        self.host = str(self.assignment.resources[0].facts["service_name"])

    def boot(self, flavor_id: str = "plain", project_id: str = "stranger") -> Server:
        return self.cloud.boot_server("server", project_id, flavor_id=flavor_id, service_host=self.host)

    def hand_over(self, now: timedelta = timedelta(0)) -> Outcome:
        """Try to add the host to the aggregate, so long after the start."""
        assignment = self.at(now)
        seen = self.plugin.observe(self.cloud, assignment, Phase.RUNNING)
        item = HostItem(Kind.MEMBER, assignment.resources[0].id, self.host)
        return self.plugin.make(self.cloud, assignment, item, seen)

    def prepare(self) -> None:
        """Take the steps that are due shortly before the start."""
        assignment = self.at(-timedelta(minutes=2))
        seen = self.plugin.observe(self.cloud, assignment, Phase.PREPARING)
        for item in seen.items - self.plugin.wanted(assignment, Phase.PREPARING):
            assert self.plugin.remove(self.cloud, assignment, item, seen) == Done()

    def at(self, now: timedelta) -> Assignment[HostSpec]:
        fields = {name: getattr(self.assignment, name) for name in self.assignment.__dataclass_fields__}
        return Assignment(**{**fields, "now": EPOCH + now})

    def aggregate(self, name: str) -> Aggregate:
        (found,) = [each for each in self.cloud.aggregates.list_aggregates() if each.name == name]
        return found

    @property
    def servers(self) -> dict[str, Server]:
        return {each.id: each for each in self.cloud.servers.list_servers()}

    @property
    def mark(self) -> str | None:
        return self.aggregate("freepool").metadata.get(f"{CLOSED_KEY}{self.host}")


def test_a_foreign_server_makes_its_host_unusable_and_stays() -> None:
    env = HandoverEnv()
    server = env.boot()
    preemptible = env.boot("spot")

    outcome = env.hand_over()

    assert isinstance(outcome, Unusable)
    assert not outcome.is_final
    assert f"{server.id} (project stranger)" in outcome.reason
    assert not any(env.servers[each].is_deleting for each in (server.id, preemptible.id))
    assert env.mark is None


def test_a_server_of_the_lessee_is_not_deleted_either() -> None:
    env = HandoverEnv()
    server = env.boot(project_id="project")

    assert isinstance(env.hand_over(), Unusable)
    assert not env.servers[server.id].is_deleting


def test_a_preemptible_server_that_cannot_be_deleted_now_does_not_protect_the_others() -> None:
    env = HandoverEnv()
    servers = [env.boot("spot"), env.boot("spot")]
    env.cloud.faults.add(
        FaultRule(kind=FaultKind.ERROR, operation="compute.delete_server", nth=1, error=CloudConflict)
    )

    assert isinstance(env.hand_over(), Waiting)
    assert sorted(env.servers[each.id].is_deleting for each in servers) == [False, True]


def test_servers_that_are_going_are_waited_for() -> None:
    env = HandoverEnv()
    env.cloud.servers.delete_server(env.boot().id)

    assert isinstance(env.hand_over(), Waiting)
    env.clock.advance(timedelta(seconds=6))
    assert env.hand_over() == Done()


def test_without_notice_preemptible_servers_are_deleted_at_the_start() -> None:
    env = HandoverEnv()
    server = env.boot("spot")

    assert isinstance(env.hand_over(), Waiting)
    assert env.servers[server.id].is_deleting
    assert env.mark == f"{RESERVATION} {EPOCH.isoformat()}"


def test_with_notice_they_are_told_when_the_start_is_prepared_and_stay_until_then() -> None:
    env = HandoverEnv(notice=timedelta(minutes=1))
    server = env.boot("spot")

    env.prepare()

    assert env.servers[server.id].metadata == {PREEMPTED_AT: EPOCH.isoformat()}
    assert not env.servers[server.id].is_deleting
    assert env.mark == f"{RESERVATION} {EPOCH.isoformat()}"
    env.hand_over()
    assert env.servers[server.id].is_deleting


def test_one_that_was_not_told_early_enough_delays_the_start() -> None:
    env = HandoverEnv(notice=NOTICE)
    server = env.boot("spot")

    first = env.hand_over()
    second = env.hand_over(timedelta(minutes=4))

    assert isinstance(first, Waiting)
    assert isinstance(second, Waiting)
    assert (first.retry_after, second.retry_after) == (NOTICE, timedelta(minutes=1))
    assert not env.servers[server.id].is_deleting
    env.hand_over(NOTICE)
    assert env.servers[server.id].is_deleting


def test_its_owner_cannot_prolong_the_stay_of_a_server() -> None:
    env = HandoverEnv()
    server = env.boot("spot")
    env.cloud.servers.set_server_metadata(server.id, {PREEMPTED_AT: "2999-01-01T00:00:00+00:00"})

    env.hand_over()

    assert env.servers[server.id].is_deleting


@pytest.mark.parametrize("mark", ["", "nonsense", f"{RESERVATION} 2026-01-01", f"{RESERVATION} tomorrow"])
def test_a_mark_that_says_nothing_is_made_anew(mark: str) -> None:
    env = HandoverEnv()
    env.boot("spot")
    freepool = env.aggregate("freepool")
    env.cloud.aggregates.set_aggregate_metadata(freepool.id, {f"{CLOSED_KEY}{env.host}": mark})

    env.hand_over()

    assert env.mark == f"{RESERVATION} {EPOCH.isoformat()}"


def test_the_mark_of_another_reservation_is_no_notice() -> None:
    env = HandoverEnv(notice=NOTICE)
    server = env.boot("spot")
    freepool = env.aggregate("freepool")
    old = f"another {(EPOCH - NOTICE).isoformat()}"
    env.cloud.aggregates.set_aggregate_metadata(freepool.id, {f"{CLOSED_KEY}{env.host}": old})

    env.hand_over()

    assert not env.servers[server.id].is_deleting
    assert env.mark == f"{RESERVATION} {(EPOCH + NOTICE).isoformat()}"


def test_without_a_freepool_no_notice_can_be_given_and_nothing_is_deleted() -> None:
    env = HandoverEnv(notice=NOTICE)
    server = env.boot("spot")
    freepool = env.aggregate("freepool")
    for host in freepool.hosts:
        env.cloud.aggregates.remove_host(freepool.id, host)
    env.cloud.aggregates.delete_aggregate(freepool.id)

    outcome = env.hand_over(NOTICE)

    assert isinstance(outcome, Waiting)
    assert "the freepool" in outcome.reason
    assert not env.servers[server.id].is_deleting


def test_a_host_that_no_preemptible_server_uses_is_not_closed() -> None:
    env = HandoverEnv(notice=NOTICE)

    env.prepare()

    assert env.mark is None


def test_a_host_leaves_its_own_zone_and_the_way_back_is_written_down() -> None:
    env = HandoverEnv()
    zone = env.cloud.add_aggregate("rack-1", "az1")
    env.cloud.aggregates.add_host(zone.id, env.host)

    assert env.hand_over() == Done()

    assert env.host in env.aggregate(RESERVATION).hosts
    assert env.host not in env.aggregate("rack-1").hosts
    assert env.aggregate(RESERVATION).metadata[f"blazar:came_from:{env.host}"] == str(zone.id)


def test_a_host_in_the_aggregate_of_another_reservation_is_left_there() -> None:
    env = HandoverEnv()
    other = env.cloud.add_aggregate("other", "blazar_other")
    env.cloud.aggregates.add_host(other.id, env.host)

    assert isinstance(env.hand_over(), Unusable)
    assert env.host in env.aggregate("other").hosts


def test_a_host_that_nova_does_not_know_is_unusable_for_good() -> None:
    env = HandoverEnv()
    env.cloud.remove_hypervisor(env.host)

    outcome = env.hand_over()

    assert isinstance(outcome, Unusable)
    assert outcome.is_final


def test_all_servers_of_a_host_are_deleted_at_once_when_it_is_given_back() -> None:
    env = HandoverEnv()
    cloud = env.cloud
    cloud.aggregates.add_host(env.aggregate(RESERVATION).id, env.host)
    servers = [env.boot(project_id="project") for _ in range(3)]

    seen = env.plugin.observe(env.cloud, env.at(timedelta(hours=9)), Phase.OVER)
    first = next(each for each in sorted(seen.items, key=repr) if each.kind is Kind.SERVER)
    outcome = env.plugin.remove(env.cloud, env.at(timedelta(hours=9)), first, seen)

    assert isinstance(outcome, Waiting)
    assert {each.id for each in env.servers.values() if each.is_deleting} == {each.id for each in servers}


class TestReturnOfSeveralHosts:
    @pytest.fixture
    def env(self) -> HandoverEnv:
        env = HandoverEnv()
        for resource in env.assignment.resources:
            env.cloud.aggregates.add_host(env.aggregate(RESERVATION).id, str(resource.facts["service_name"]))
        return env

    def give_back(self, env: HandoverEnv) -> None:
        """Take all steps of the end."""
        now = env.at(timedelta(hours=9))
        for _ in range(10):
            seen = env.plugin.observe(env.cloud, now, Phase.OVER)
            if not seen.items:
                return
            for item in sorted(seen.items, key=lambda each: -each.rank):
                if isinstance(env.plugin.remove(env.cloud, now, item, seen), Waiting):
                    break
            env.clock.advance(timedelta(seconds=6))
        raise AssertionError("the hosts are not returned")

    def test_all_servers_are_read_by_one_request(self, env: HandoverEnv) -> None:
        server = env.boot(project_id="project")
        before = env.cloud.calls["compute.list_servers"]

        seen = env.plugin.observe(env.cloud, env.at(timedelta(hours=9)), Phase.OVER)

        assert env.cloud.calls["compute.list_servers"] - before == 1
        assert [each.server_id for each in seen.items if each.kind is Kind.SERVER] == [server.id]

    def test_a_server_that_nova_lists_in_another_zone_is_deleted_too(
        self, env: HandoverEnv, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        everywhere = env.cloud.servers.list_servers
        env.boot(project_id="project")
        monkeypatch.setattr(
            env.cloud.servers,
            "list_servers",
            lambda *, zone=None, **which: () if zone else everywhere(**which),
        )

        self.give_back(env)

        assert env.servers == {}
        assert not [each for each in env.cloud.aggregates.list_aggregates() if each.name == RESERVATION]

    def test_a_host_that_left_the_reservation_keeps_its_servers(self, env: HandoverEnv) -> None:
        server = env.boot(project_id="project")
        kept = [each for each in env.assignment.resources if each.facts["service_name"] != env.host]
        now = replace(env.at(timedelta(hours=1)), resources=tuple(kept))

        seen = env.plugin.observe(env.cloud, now, Phase.RUNNING)
        (item,) = [
            each for each in seen.items - env.plugin.wanted(now, Phase.RUNNING) if each.kind is Kind.MEMBER
        ]
        outcome = env.plugin.remove(env.cloud, now, item, seen)

        assert isinstance(outcome, Waiting)
        assert not env.servers[server.id].is_deleting
