"""Lessees who try to keep a network segment, and networks of others that must not be touched."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa
from app.http_env import LESSEE, NEWER, STRANGER, HttpEnv, Json, refusal
from app.networks import CIDR, Vlans, asked, vlan

from blazar.cloud.simulated.faults import FaultKind, FaultRule
from blazar.db.tables import reservations
from blazar.plugins.networks.check import check_networks
from blazar.reconcile.sweep import sweep


@pytest.fixture
def env(vlans: Vlans) -> HttpEnv:
    return vlans.env


def sweep_twice(env: HttpEnv) -> None:
    """Sweep, and again when what was found then is due."""
    sweep(env.context, "test")
    env.clock.advance(env.settings.reconciler.sweep_interval)
    sweep(env.context, "test")


class TestLessees:
    """Whatever the lessee does, the lease ends, and the segment is free only when it really is."""

    @pytest.fixture
    def lease(self, vlans: Vlans) -> Json:
        vlans.register(201)
        return vlans.create()

    @pytest.mark.parametrize("tags", [set(), {"mine"}, {"blazar", "reservation:" + "0" * 36}])
    def test_a_renamed_retagged_network_with_another_description_goes(
        self, env: HttpEnv, vlans: Vlans, lease: Json, tags: set[str]
    ) -> None:
        network = vlans.network()
        env.cloud.change_segment_network(network.id, name="mine for ever", description="", tags=tags)

        vlans.end(lease)

    def test_edited_tags_are_restored_and_others_are_kept(
        self, env: HttpEnv, vlans: Vlans, lease: Json
    ) -> None:
        network = vlans.network()
        env.cloud.change_segment_network(network.id, name="x", description="y", tags={"mine"})

        env.change(lease, end_date=env.date(90))
        env.work()

        assert vlans.network().tags == network.tags | {"mine"}
        assert vlans.network().name == "x"

    def test_a_deleted_network_is_no_obstacle_at_the_end(
        self, env: HttpEnv, vlans: Vlans, lease: Json
    ) -> None:
        env.cloud.delete_network_as_user(vlans.network().id)

        vlans.end(lease)

    def test_a_deleted_network_is_created_again_while_the_lease_runs(
        self, env: HttpEnv, vlans: Vlans, lease: Json
    ) -> None:
        network = vlans.network()
        env.cloud.delete_network_as_user(network.id)

        env.change(lease, end_date=env.date(90))
        env.work()

        assert vlans.network().id != network.id
        assert env.status(lease) == "ACTIVE"
        vlans.end(lease, 91)

    def test_a_port_that_cannot_be_deleted_keeps_the_segment(
        self, env: HttpEnv, vlans: Vlans, lease: Json
    ) -> None:
        port = env.cloud.add_port(vlans.network().id, "project")
        following = env.create(60, 90, asked=asked(), who=STRANGER)

        with env.failing("segments.delete_port", status=409):
            env.pass_time(63)
            assert env.status(lease) == "TERMINATING"
            assert env.status(following) == "STARTING"
            wish = env.wish("now", 90, asked=asked())
            refusal(env.post("/leases", wish, who=LESSEE, headers=NEWER), 409)
        env.cloud.segments.delete_port(port.id)
        env.pass_time(70)

        assert env.status(lease) == "TERMINATED"
        assert env.status(following) == "ACTIVE"

    def test_ports_that_appear_during_the_teardown_go_too(
        self, env: HttpEnv, vlans: Vlans, lease: Json
    ) -> None:
        network = vlans.network()
        env.cloud.add_subnet(network.id, CIDR)
        env.cloud.add_router(network.id, "project")
        env.cloud.add_port(network.id, "project")
        env.pass_time(59)
        with env.failing("segments.delete_network", status=409):
            env.pass_time(61)
            assert env.status(lease) == "TERMINATING"
            env.cloud.add_port(network.id, "project")
            env.pass_time(62)
            env.cloud.add_port(network.id, "project")
        env.pass_time(66)

        assert env.status(lease) == "TERMINATED"
        assert vlans.networks() == []

    def test_a_trunk_of_a_running_server_goes(self, env: HttpEnv, vlans: Vlans, lease: Json) -> None:
        network = vlans.network()
        parent = env.cloud.add_port(network.id, "project", device_id="server", device_owner="compute:nova")
        env.cloud.add_trunk(parent.id, frozenset({env.cloud.add_port(network.id, "project").id}))

        vlans.end(lease)

        assert env.cloud.segments.list_trunks() == ()

    def test_an_interface_of_a_router_that_is_gone_is_deleted(
        self, env: HttpEnv, vlans: Vlans, lease: Json
    ) -> None:
        env.cloud.add_port(
            vlans.network().id, "project", device_id="gone", device_owner="network:router_interface"
        )

        vlans.end(lease)

    def test_neutron_may_be_gone_for_a_while(self, env: HttpEnv, vlans: Vlans, lease: Json) -> None:
        env.cloud.add_port(vlans.network().id, "project")

        with env.failing("segments.*"):
            env.pass_time(62)
            assert env.status(lease) == "TERMINATING"

        vlans.end(lease, 70)

    def test_a_lease_with_a_damaged_spec_ends(
        self, env: HttpEnv, vlans: Vlans, lease: Json, failures: list[str]
    ) -> None:
        network = vlans.network()
        env.cloud.change_segment_network(network.id, name="x", description="", tags=set())
        with env.engine.begin() as connection:
            connection.execute(sa.update(reservations).values(spec='{"amount": "damaged"}'))
        env.forget_indexes()

        env.pass_time(61)

        assert vlans.networks() == []
        assert env.delete(f"/leases/{lease['id']}").status_code == 204
        env.work()
        assert "row is damaged" in failures[0]
        failures.clear()

    def test_a_lessee_cannot_choose_who_owns_the_network(self, env: HttpEnv, vlans: Vlans) -> None:
        vlans.register(202)
        body: dict[str, Any] = {"project_id": "elsewhere", "made_networks": {"x": "y"}, "has_records": False}
        lease = vlans.create(**body)

        (reservation,) = lease["reservations"]
        assert reservation.keys().isdisjoint(body)
        assert [each.project_id for each in vlans.networks()] == ["project"]


class TestCreation:
    """A network whose creation was not answered, or whose manager was killed, is the reservation's."""

    def lose_the_answer(self, env: HttpEnv) -> None:
        rule = FaultRule(kind=FaultKind.LOSE_REPLY, operation="segments.create_network", times=1)
        env.cloud.faults.add(rule)

    def test_a_network_whose_answer_was_lost_is_adopted(self, env: HttpEnv, vlans: Vlans) -> None:
        vlans.register(201)
        self.lose_the_answer(env)
        lease = vlans.create()
        env.pass_time(2)

        assert env.status(lease) == "ACTIVE"
        assert vlans.network().name == "lab"
        vlans.end(lease)

    def test_the_lessee_cannot_hide_it_meanwhile(self, env: HttpEnv, vlans: Vlans) -> None:
        vlans.register(201)
        self.lose_the_answer(env)
        lease = vlans.create()
        env.cloud.change_segment_network(vlans.network().id, name="x", description="x", tags=set())
        env.pass_time(2)

        assert env.status(lease) == "ACTIVE"
        vlans.end(lease)

    def test_a_network_that_appears_after_the_end_is_swept(self, env: HttpEnv, vlans: Vlans) -> None:
        vlans.register(201)
        lease = vlans.create()
        late = vlans.network()
        vlans.end(lease)
        made = env.cloud.segments.create_network(
            vlan(201), name=late.name, project_id="project", description=late.description
        )
        env.cloud.add_port(made.id, "project")
        assert [*check_networks(env.context, "test")] == ["vlan:physnet1:201"]

        sweep_twice(env)

        assert vlans.networks() == []
        assert check_networks(env.context, "test") == {}


class TestNetworksOfOthers:
    """A network that an operator puts on a registered segment is never changed."""

    @pytest.mark.parametrize("project", ["project", "elsewhere"])
    def test_one_that_took_the_segment_after_the_lessee_deleted_its_own_stays(
        self, env: HttpEnv, vlans: Vlans, project: str
    ) -> None:
        vlans.register(201)
        lease = vlans.create()
        env.cloud.delete_network_as_user(vlans.network().id)
        other = vlans.occupy(201, project)
        env.cloud.add_port(other.id, project)

        env.pass_time(61)

        assert env.status(lease) == "TERMINATED"
        assert vlans.networks(None) == [other]
        assert len(env.cloud.segments.list_ports(other.id)) == 1
        assert [*check_networks(env.context, "test")] == ["vlan:physnet1:201"]

    @pytest.mark.parametrize("project", ["project", "elsewhere"])
    def test_one_that_was_there_before_the_start_stays(
        self, env: HttpEnv, vlans: Vlans, project: str
    ) -> None:
        vlans.register(201)
        lease = vlans.create(10, 60)
        other = vlans.occupy(201, project)

        env.pass_time(12)
        assert env.status(lease) != "ACTIVE"
        assert "in use outside of all reservations" in str(
            env.get(f"/leases/{lease['id']}", headers=NEWER).json
        )
        env.pass_time(62)

        assert env.status(lease) in ("TERMINATED", "ERROR")
        assert env.cloud.segments.find_network(vlan(201)) == other

    def test_a_segment_that_neutron_refuses_for_an_invisible_reason_is_replaced(
        self, env: HttpEnv, vlans: Vlans
    ) -> None:
        vlans.register(201, 202)
        lease = vlans.create(10, 60)

        with env.failing("segments.create_network", status=409, times=1):
            env.pass_time(11)

        assert env.status(lease) == "ACTIVE"
        assert len(vlans.networks()) == 1

    def test_the_start_waits_until_it_is_gone(self, env: HttpEnv, vlans: Vlans) -> None:
        vlans.register(201)
        lease = vlans.create(10, 60)
        other = vlans.occupy(201)
        env.pass_time(12)

        env.cloud.segments.delete_network(other.id)
        env.pass_time(30)

        assert env.status(lease) == "ACTIVE"
        vlans.end(lease)

    def test_marks_on_other_segments_and_in_other_projects_mean_nothing(
        self, env: HttpEnv, vlans: Vlans
    ) -> None:
        vlans.register(201)
        lease = vlans.create()
        tags = set(vlans.network().tags)
        own_other, foreign = vlans.occupy(105, "project"), vlans.occupy(106)
        for each in (own_other, foreign):
            env.cloud.change_segment_network(each.id, name="lab", description="", tags=tags)

        env.pass_time(61)
        sweep_twice(env)

        assert env.status(lease) == "TERMINATED"
        assert {each.id for each in vlans.networks(None)} == {own_other.id, foreign.id}
