"""Leases of network segments, and the resulting networks in Neutron."""

from __future__ import annotations

import pytest
from app.http_env import LESSEE, NEWER, STRANGER, HttpEnv, Json, good, refusal
from app.networks import CIDR, Vlans, asked, vlan

from blazar.domain.quotas import amounts
from blazar.ports.segments import Route, Segment


@pytest.fixture
def env(vlans: Vlans) -> HttpEnv:
    return vlans.env


class TestStart:
    def test_the_project_has_a_network_on_the_segment(self, env: HttpEnv, vlans: Vlans) -> None:
        vlans.register(201)
        lease = vlans.create(10, 60, network_description="of a course")
        env.pass_time(9)
        assert vlans.networks() == []

        env.pass_time(10)

        assert env.status(lease) == "ACTIVE"
        reservation_id = lease["reservations"][0]["id"]
        network = vlans.network()
        assert (network.name, network.segment, network.project_id) == ("lab", vlan(201), "project")
        assert network.description == f"of a course (reservation:{reservation_id})"
        assert network.tags == {"blazar", f"reservation:{reservation_id}"}
        vlans.end(lease)

    @pytest.mark.parametrize(
        ("body", "segment"),
        [
            ({"network_type": "vxlan", "segment_id": 5000}, Segment(network_type="vxlan", segment_id=5000)),
            (
                {"network_type": "flat", "physical_network": "physnet1"},
                Segment(network_type="flat", physical_network="physnet1"),
            ),
        ],
    )
    def test_segments_of_every_type_are_handed_over(
        self, env: HttpEnv, vlans: Vlans, body: Json, segment: Segment
    ) -> None:
        good(env.post("/networks", body), 201)
        lease = vlans.create()

        assert vlans.network().segment == segment
        vlans.end(lease)

    def test_several_networks_have_numbered_names(self, env: HttpEnv, vlans: Vlans) -> None:
        vlans.register(201, 202, 203)
        lease = vlans.create(amount=3)

        assert sorted(each.name for each in vlans.networks()) == ["lab-1", "lab-2", "lab-3"]
        vlans.end(lease)

    def test_a_network_without_a_name_is_named_after_the_reservation(self, vlans: Vlans) -> None:
        vlans.register(201)
        lease = vlans.create(network_name="")

        assert vlans.network().name == f"reservation-{lease['reservations'][0]['id']}"

    def test_a_start_takes_two_calls_for_each_segment_and_a_constant(
        self, env: HttpEnv, vlans: Vlans
    ) -> None:
        vlans.register(*range(201, 209))

        def count(amount: int) -> int:
            before = sum(env.cloud.calls.values())
            vlans.create(amount=amount)
            return sum(env.cloud.calls.values()) - before

        one, seven = count(1), count(7)

        assert seven - one == 6 * 2
        assert one <= 3 + 3

    def test_properties_of_both_kinds_select_segments(self, env: HttpEnv, vlans: Vlans) -> None:
        vlans.register(201, fabric="a")
        vlans.register(202, fabric="b")
        vlans.create(
            network_properties='[">", "$segment_id", "200"]', resource_properties='["==", "$fabric", "b"]'
        )

        assert vlans.network().segment == vlan(202)

    def test_segments_of_one_reservation_may_have_the_same_property(self, env: HttpEnv, vlans: Vlans) -> None:
        vlans.register(201, fabric="a")
        vlans.register(202, 203, fabric="b")
        wish = env.wish(asked=asked(amount=2, same="fabric"))
        good(env.post("/leases", wish, who=LESSEE, headers=NEWER), 201)
        env.work()

        assert {each.segment for each in vlans.networks()} == {vlan(202), vlan(203)}

    @pytest.mark.parametrize(
        ("keys", "key"),
        [
            ({"network_name": None}, "network_name"),
            ({"network_name": 7}, "network_name"),
            ({"network_name": "a\nb"}, "network_name"),
            ({"network_name": "x" * 201}, "network_name"),
            ({"network_description": "x" * 201}, "network_description"),
            ({"amount": 0}, "amount"),
            ({"amount": -1}, "amount"),
            ({"amount": "two"}, "amount"),
            ({"amount": True}, "amount"),
            ({"amount": 10**12}, "amount"),
            ({"network_properties": '["==", "$nothing", "1"]'}, "nothing"),
            ({"network_properties": "("}, "network_properties"),
            ({"resource_properties": '["=="]'}, "resource_properties"),
            ({"before_end": "snapshot"}, "before_end"),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, env: HttpEnv, vlans: Vlans, keys: Json, key: str) -> None:
        vlans.register(201)
        before = env.snapshot()

        assert key in refusal(env.post("/leases", env.wish(asked=asked(**keys)), who=LESSEE), 400)

        assert env.snapshot() == before

    @pytest.mark.parametrize("before_end", ["", "default", "email", None])
    def test_the_actions_of_existing_clients_are_accepted(
        self, env: HttpEnv, vlans: Vlans, before_end: str | None
    ) -> None:
        vlans.register(201)
        lease = vlans.create(before_end=before_end)

        vlans.end(lease)
        assert "lease.event.before_end_lease" in env.sent.event_types

    def test_a_shortage_is_refused(self, env: HttpEnv, vlans: Vlans) -> None:
        vlans.register(201, 202)

        wish = env.wish(asked=asked(amount=3))
        assert "Not enough networks available" in refusal(env.post("/leases", wish, who=LESSEE), 400)
        refusal(env.post("/leases", wish, who=LESSEE, headers=NEWER), 409)

    def test_a_segment_is_promised_once(self, env: HttpEnv, vlans: Vlans) -> None:
        vlans.register(201)
        vlans.create(10, 60)

        refusal(env.post("/leases", env.wish(20, 30, asked=asked()), who=LESSEE, headers=NEWER), 409)
        vlans.create(60, 90)

    def test_an_occupied_segment_is_replaced_at_the_start(self, env: HttpEnv, vlans: Vlans) -> None:
        vlans.register(201, 202)
        lease = vlans.create(10, 60, network_properties='[">", "$segment_id", "0"]')
        held = good(env.get(f"/leases/{lease['id']}/allocations", headers=NEWER))["allocations"]
        number = int(held[0]["name"].rpartition(":")[2])
        other = vlans.occupy(number)

        env.pass_time(11)

        assert env.status(lease) == "ACTIVE"
        assert {each.segment for each in vlans.networks()} == {vlan(403 - number)}
        assert env.cloud.segments.find_network(vlan(number)) == other

    def test_the_quota_of_the_project_puts_the_reservation_into_error_and_its_end_still_runs(
        self, env: HttpEnv, vlans: Vlans
    ) -> None:
        vlans.register(201)
        env.cloud.set_network_quota("project", 0)
        lease = vlans.create()

        assert env.status(lease) == "ERROR"
        assert env.lease(lease["id"])["reservations"][0]["status"] == "error"
        env.pass_time(62)
        env.cloud.set_network_quota("project", 10)
        vlans.create(62, 90)

    def test_lessees_learn_the_ids_of_their_networks(self, env: HttpEnv, vlans: Vlans) -> None:
        vlans.register(201)
        lease = vlans.create()

        found = good(env.get(f"/leases/{lease['id']}/resources", who=LESSEE, headers=NEWER))

        (reservation,) = found["resources"]
        assert reservation["use"] == {
            "network_ids": [vlans.network().id],
            "network_tags": [f"reservation:{lease['reservations'][0]['id']}"],
        }

    def test_the_catalogue_and_the_search_know_the_type(self, env: HttpEnv, vlans: Vlans) -> None:
        vlans.register(201, 202)
        vlans.create("now", 60)
        body = {
            "reservations": [asked(amount=2)],
            "earliest_start": env.date(5),
            "latest_end": env.date(300),
            "duration_minutes": 60,
        }

        catalogue = good(env.get("/catalogue", who=STRANGER, headers=NEWER))["catalogue"]
        found = good(env.post("/availability/search", body, who=STRANGER, headers=NEWER))
        message = env.post("/leases", env.wish(10, 50, asked=asked(amount=2)), who=STRANGER, headers=NEWER)

        (listed,) = [each for each in catalogue["resource_types"] if each["resource_type"] == "network"]
        assert listed["unit"] == "network"
        assert "network_type" in [each["property"] for each in catalogue["properties"]]
        assert "segment_id" not in [each["property"] for each in catalogue["properties"]]
        assert found["slots"][0]["start_date"] == env.date(60)
        assert [each["summary"] for each in message.json["alternatives"]] != []

    def test_segments_count_for_quotas(self, env: HttpEnv, vlans: Vlans) -> None:
        vlans.register(201, 202)
        vlans.create(amount=2)

        with env.context.store.read() as transaction:
            reserved = transaction.quotas.reserved("project", env.clock.now())
        used = amounts(reserved, env.context.quota_units, env.clock.now())

        assert used["reserved_networks"] == 2
        assert used["network_hours_ahead"] == 2


class TestChanges:
    def ports(self, env: HttpEnv, network_id: str) -> int:
        return len(env.cloud.segments.list_ports(network_id))

    def test_a_lease_grows_and_shrinks_while_it_is_active(self, env: HttpEnv, vlans: Vlans) -> None:
        vlans.register(201, 202, 203)
        lease = vlans.create()
        first = vlans.network()
        env.cloud.add_port(first.id, "project")

        env.change(lease, reservation={"amount": 3})
        env.work()
        assert sorted(each.name for each in vlans.networks()) == ["lab", "lab-1", "lab-2"]
        env.change(lease, reservation={"amount": 1})

        assert vlans.networks() == [first]
        assert self.ports(env, first.id) == 1
        other = env.create("now", 60, asked=asked(amount=2), who=STRANGER)
        env.work()
        assert env.status(other) == "ACTIVE"
        vlans.end(lease)

    def test_networks_with_ports_are_not_taken_away(self, env: HttpEnv, vlans: Vlans) -> None:
        vlans.register(201, 202)
        lease = vlans.create(amount=2)
        for each in vlans.networks():
            env.cloud.add_port(each.id, "project")
        body = {"reservations": [{"id": lease["reservations"][0]["id"], "amount": 1}]}

        message = refusal(env.put(f"/leases/{lease['id']}", body, who=LESSEE), 409)

        assert "2 networks that have ports" in message
        env.work()
        assert len(vlans.networks()) == 2
        assert env.lease(lease["id"])["reservations"][0]["amount"] == 2

    def test_ports_of_neutron_itself_do_not_count(self, env: HttpEnv, vlans: Vlans) -> None:
        vlans.register(201, 202)
        lease = vlans.create(amount=2)
        used, idle = vlans.networks()
        env.cloud.add_port(used.id, "project")
        env.cloud.add_port(idle.id, "project", device_owner="network:dhcp", device_id="agent")

        env.change(lease, reservation={"amount": 1})

        assert vlans.networks() == [used]

    def test_a_chosen_network_is_released(self, env: HttpEnv, vlans: Vlans) -> None:
        vlans.register(201, 202)
        lease = vlans.create(amount=2)
        held = good(env.get(f"/leases/{lease['id']}/allocations", headers=NEWER))["allocations"]
        chosen = held[1]
        body = {"reservations": [{"id": lease["reservations"][0]["id"], "release": [chosen["resource_id"]]}]}

        good(env.put(f"/leases/{lease['id']}", body, who=LESSEE, headers=NEWER))

        left = vlans.network()
        assert f"{left.segment.segment_id}" == held[0]["name"].rpartition(":")[2]
        assert env.lease(lease["id"])["reservations"][0]["amount"] == 1

    @pytest.mark.parametrize("key", ["network_name", "network_description"])
    def test_names_are_fixed_while_it_is_active(self, env: HttpEnv, vlans: Vlans, key: str) -> None:
        vlans.register(201)
        lease = vlans.create()
        body = {"reservations": [{"id": lease["reservations"][0]["id"], key: "other"}]}

        assert key in refusal(env.put(f"/leases/{lease['id']}", body, who=LESSEE), 409)

    def test_names_change_before_the_start(self, env: HttpEnv, vlans: Vlans) -> None:
        vlans.register(201)
        lease = vlans.create(10, 60)

        env.change(lease, reservation={"network_name": "other"})
        env.pass_time(11)

        assert vlans.network().name == "other"

    def test_a_lease_is_extended_and_ends_early(self, env: HttpEnv, vlans: Vlans) -> None:
        vlans.register(201)
        lease = vlans.create("now", 30)
        network = vlans.network()
        env.change(lease, end_date=env.date(90))
        env.pass_time(60)
        assert vlans.network() == network

        assert env.delete(f"/leases/{lease['id']}", who=LESSEE).status_code == 204
        env.work()

        assert vlans.networks() == []


class TestEnd:
    @pytest.fixture
    def lease(self, vlans: Vlans) -> Json:
        vlans.register(201)
        return vlans.create()

    def test_everything_on_the_network_goes_and_nothing_else(
        self, env: HttpEnv, vlans: Vlans, lease: Json
    ) -> None:
        cloud, network = env.cloud, vlans.network()
        other = cloud.segments.create_network(vlan(105), name="other", project_id="project")
        cloud.add_subnet(network.id, CIDR)
        cloud.add_subnet(other.id, "10.30.0.0/24")
        here = [cloud.add_port(network.id, "project").id for _ in range(3)]
        server = cloud.add_port(network.id, "project", device_id="server", device_owner="compute:nova").id
        there = [cloud.add_port(other.id, "project").id for _ in range(3)]
        own_trunk = cloud.add_trunk(server, frozenset({there[0], here[0]}))
        other_trunk = cloud.add_trunk(there[1], frozenset({here[1], there[2]}))
        through, past = (
            Route(destination="198.51.100.0/24", nexthop="10.20.0.9"),
            Route(destination="192.0.2.0/24", nexthop="10.30.0.9"),
        )
        router = cloud.add_router(network.id, "project", (through, past))
        cloud.add_port(other.id, "project", device_id=router, device_owner="network:router_interface")

        env.pass_time(61)

        assert env.status(lease) == "TERMINATED"
        assert vlans.networks() == [other]
        assert len(cloud.segments.list_ports(other.id)) == 4
        assert [each.id for each in cloud.segments.list_trunks()] == [other_trunk.id]
        assert own_trunk.id not in [each.id for each in cloud.segments.list_trunks()]
        assert cloud.segments.list_trunks()[0].subport_ids == {there[2]}
        assert cloud.segments.list_routes(router) == (past,)

    def test_floating_ips_of_the_lessee_stay_disassociated(
        self, env: HttpEnv, vlans: Vlans, lease: Json
    ) -> None:
        cloud, network = env.cloud, vlans.network()
        public = cloud.add_network("public")
        subnet = cloud.add_subnet(public.id, "203.0.113.0/24")
        cloud.add_subnet(network.id, CIDR)
        cloud.add_router(network.id, "project")
        port = cloud.add_port(network.id, "project")
        address = cloud.networks.create_floating_ip(public.id, subnet.id, "203.0.113.7", "project")
        cloud.attach_floating_ip(address.id, port.id)

        vlans.end(lease)

        (kept,) = cloud.networks.list_floating_ips()
        assert (kept.id, kept.port_id) == (address.id, None)

    def test_ports_of_other_projects_go_too(self, env: HttpEnv, vlans: Vlans, lease: Json) -> None:
        env.cloud.add_port(vlans.network().id, "elsewhere")

        vlans.end(lease)

    def test_more_ports_than_one_step_deletes_take_several_passes(
        self, env: HttpEnv, vlans: Vlans, lease: Json
    ) -> None:
        network = vlans.network()
        env.cloud.add_subnet(network.id, CIDR)
        env.cloud.add_router(network.id, "project")
        for _ in range(250):
            env.cloud.add_port(network.id, "project")

        vlans.end(lease, 62)

    def test_an_empty_network_takes_few_calls(self, env: HttpEnv, vlans: Vlans, lease: Json) -> None:
        env.pass_time(59)
        before = sum(env.cloud.calls.values())

        vlans.end(lease)

        assert sum(env.cloud.calls.values()) - before <= 4

    def test_the_segment_is_free_for_the_next_lease(self, env: HttpEnv, vlans: Vlans, lease: Json) -> None:
        following = env.create(60, 90, asked=asked(), who=STRANGER)
        env.cloud.add_port(vlans.network().id, "project")

        env.pass_time(61)

        assert env.status(following) == "ACTIVE"
        (network,) = vlans.networks("elsewhere")
        assert network.segment == vlan(201)
