"""Registration of network segments, and their comparison with Neutron."""

from __future__ import annotations

from typing import Any

import pytest
from app.http_env import LESSEE, NEWER, HttpEnv, Json, good, refusal
from app.networks import PHYSICAL, Vlans, asked
from oslo_upgradecheck.upgradecheck import Code

from blazar.cmd.status import check_networks as upgrade_check
from blazar.plugins.networks.check import check_networks
from blazar.ports.segments import LARGEST_VXLAN, Segment


@pytest.fixture
def env(vlans: Vlans) -> HttpEnv:
    return vlans.env


class TestRegistration:
    def test_a_segment_is_registered_with_extra_capabilities(self, env: HttpEnv, vlans: Vlans) -> None:
        (network,) = vlans.register(201, fabric="a", mtu=9000)

        assert network == {
            "id": network["id"],
            "name": "vlan:physnet1:201",
            "network_type": "vlan",
            "physical_network": PHYSICAL,
            "segment_id": 201,
            "fabric": "a",
            "mtu": 9000,
            "amounts": {},
            "reservable": True,
        }
        assert good(env.get("/networks")) == {"networks": [network]}
        assert good(env.get(f"/networks/{network['id']}")) == {"network": network}

    @pytest.mark.parametrize(
        ("body", "shown"),
        [
            ({"network_type": "vlan", "physical_network": PHYSICAL, "segment_id": "4094"}, (PHYSICAL, 4094)),
            ({"network_type": "vxlan", "segment_id": LARGEST_VXLAN}, (None, LARGEST_VXLAN)),
            ({"network_type": "vxlan", "segment_id": 1, "physical_network": None}, (None, 1)),
            ({"network_type": "flat", "physical_network": "physnet2"}, ("physnet2", None)),
            ({"network_type": "flat", "physical_network": PHYSICAL, "segment_id": None}, (PHYSICAL, None)),
        ],
    )
    def test_each_type_has_its_own_keys(self, env: HttpEnv, body: Json, shown: tuple[object, object]) -> None:
        found = good(env.post("/networks", body), 201)["network"]

        assert (found["physical_network"], found["segment_id"]) == shown

    @pytest.mark.parametrize(
        ("body", "key"),
        [
            ({"network_type": ...}, "network_type"),
            ({"network_type": "gre"}, "network_type"),
            ({"network_type": ["vlan"]}, "network_type"),
            ({"physical_network": ...}, "physical_network"),
            ({"physical_network": None}, "physical_network"),
            ({"physical_network": ""}, "physical_network"),
            ({"physical_network": "x" * 65}, "physical_network"),
            ({"physical_network": "phys\x00net"}, "physical_network"),
            ({"physical_network": "no-such-network"}, "physical_network"),
            ({"segment_id": ...}, "segment_id"),
            ({"segment_id": None}, "segment_id"),
            ({"segment_id": 0}, "segment_id"),
            ({"segment_id": -5}, "segment_id"),
            ({"segment_id": 4095}, "segment_id"),
            ({"segment_id": True}, "segment_id"),
            ({"segment_id": 201.5}, "segment_id"),
            ({"segment_id": ""}, "segment_id"),
            ({"segment_id": "many"}, "segment_id"),
            ({"segment_id": "٢٠١"}, "segment_id"),
            ({"segment_id": "9" * 17}, "segment_id"),
            ({"segment_id": "201-"}, "segment_id"),
            ({"segment_id": "-201"}, "segment_id"),
            ({"segment_id": "240-201"}, "segment_id"),
            ({"segment_id": "201-201"}, "segment_id"),
            ({"segment_id": "201-5000"}, "segment_id"),
            ({"segment_id": "201-202-203"}, "segment_id"),
            ({"network_type": "vxlan"}, "physical_network"),
            ({"network_type": "vxlan", "physical_network": ..., "segment_id": 2**24}, "segment_id"),
            ({"network_type": "vxlan", "physical_network": ..., "segment_id": "1-4095"}, "segment_id"),
            ({"network_type": "flat"}, "segment_id"),
            ({"name": "mine"}, "name"),
            ({"reservable": True}, "reservable"),
            ({"a\nb": "x"}, "printable"),
            ({"fabric": ["a"]}, "fabric"),
            ({"fabric": None}, "fabric"),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, env: HttpEnv, vlans: Vlans, body: Json, key: str) -> None:
        assert key in refusal(vlans.post(**{"segment_id": 201, **body}), 400)

        assert good(env.get("/networks")) == {"networks": []}

    def test_a_range_is_registered_as_a_whole(self, env: HttpEnv, vlans: Vlans) -> None:
        found = good(vlans.post(segment_id="201-240", fabric="a"), 201)["networks"]

        assert [each["segment_id"] for each in found] == list(range(201, 241))
        assert {each["fabric"] for each in found} == {"a"}
        assert len(good(env.get("/networks"))["networks"]) == 40

    def test_the_largest_range_is_registered(self, env: HttpEnv, vlans: Vlans) -> None:
        body = {"network_type": "vxlan", "segment_id": "5001-9094"}

        assert len(good(env.post("/networks", body), 201)["networks"]) == 4094

    @pytest.mark.parametrize("segment_id", [105, "90-100", "110-120"])
    def test_segments_that_neutron_gives_to_projects_are_refused(
        self, env: HttpEnv, vlans: Vlans, segment_id: object
    ) -> None:
        assert "100-110" in refusal(vlans.post(segment_id=segment_id), 409)

        assert good(env.get("/networks")) == {"networks": []}

    def test_a_range_of_another_physical_network_or_of_one_project_does_not_matter(
        self, env: HttpEnv, vlans: Vlans
    ) -> None:
        env.cloud.add_segment_range("vlan", "physnet2", 200, 300)
        env.cloud.add_segment_range("vlan", PHYSICAL, 201, 202, project_id="parking")
        env.cloud.add_segment_range("vxlan", None, 201, 202)

        vlans.register(201, 202)

    def test_nothing_is_known_of_ranges_that_neutron_does_not_report(
        self, env: HttpEnv, vlans: Vlans
    ) -> None:
        env.cloud.segments.reports_ranges = False

        vlans.register(105, 201)
        vlans.register(201, physical_network="unknown")

    @pytest.mark.parametrize("segment_id", [205, "201-240"])
    def test_a_segment_on_which_a_network_exists_is_refused_with_the_whole_range(
        self, env: HttpEnv, vlans: Vlans, segment_id: object
    ) -> None:
        other = vlans.occupy(205)

        message = refusal(vlans.post(segment_id=segment_id), 409)

        assert other.id in message
        assert good(env.get("/networks")) == {"networks": []}

    def test_a_segment_is_registered_once(self, env: HttpEnv, vlans: Vlans) -> None:
        vlans.register(210)

        assert "already registered" in refusal(vlans.post(segment_id=210), 409)
        assert "vlan:physnet1:210" in refusal(vlans.post(segment_id="201-240"), 409)
        assert len(good(env.get("/networks"))["networks"]) == 1

    def test_extra_capabilities_are_changed_and_a_segment_is_removed_unless_it_is_reserved(
        self, env: HttpEnv, vlans: Vlans
    ) -> None:
        (network,) = vlans.register(201, fabric="a")
        path = f"/networks/{network['id']}"

        changed = good(env.put(path, {"fabric": None, "row": 2, "segment_id": 201}))["network"]
        assert "fabric" not in changed
        assert changed["row"] == 2
        for key in ("network_type", "physical_network", "segment_id"):
            assert key in refusal(env.put(path, {key: "other"}), 400)
            assert key in refusal(env.put(path, {key: None}), 400)
        assert "name" in refusal(env.put(path, {"name": "other"}), 400)
        lease = vlans.create()
        refusal(env.put(path, {"row": 3}), 409)
        refusal(env.delete(path), 409)
        vlans.end(lease)
        assert env.delete(path).status_code == 204
        assert env.get(path).status_code == 404

    def test_operators_see_which_lease_holds_a_segment(self, env: HttpEnv, vlans: Vlans) -> None:
        network, idle = vlans.register(201, 202)
        lease = vlans.create(resource_properties='["==", "$segment_id", "201"]')

        found = good(env.get("/networks/allocations"))["allocations"]
        one = good(env.get(f"/networks/{network['id']}/allocation"))["allocation"]

        assert one == found[0]
        assert [each["lease_id"] for each in one["reservations"]] == [lease["id"]]
        assert found[1] == {"resource_id": idle["id"], "reservations": []}

    def test_extra_capabilities_are_properties_that_lessees_find_in_the_catalogue(
        self, env: HttpEnv, vlans: Vlans
    ) -> None:
        vlans.register(201, fabric="a", owner="secret")
        vlans.register(202, fabric="b")
        good(env.patch("/networks/properties/owner", {"private": True}))

        found = good(env.get("/networks/properties?detail=true"))["resource_properties"]
        catalogue = good(env.get("/catalogue", who=LESSEE, headers=NEWER))["catalogue"]

        assert found == [{"property": "fabric", "private": False, "values": ["a", "b"]}]
        listed = {each["property"]: each["values"] for each in catalogue["properties"]}
        assert listed["fabric"] == [{"value": "a", "reservable": 1}, {"value": "b", "reservable": 1}]
        assert "owner" not in listed
        wish = env.wish(asked=asked(resource_properties='["==", "$owner", "secret"]'))
        assert "owner" in refusal(env.post("/leases", wish, who=LESSEE), 400)

    @pytest.mark.parametrize("path", ["/networks", "/networks/allocations", "/networks/properties"])
    def test_only_operators_see_segments(self, env: HttpEnv, vlans: Vlans, path: str) -> None:
        refusal(env.get(path, who=LESSEE), 403)

    def test_only_operators_register(self, env: HttpEnv) -> None:
        body = {"network_type": "vlan", "physical_network": PHYSICAL, "segment_id": 201}

        refusal(env.post("/networks", body, who=LESSEE), 403)

    def test_neutron_may_not_respond(self, env: HttpEnv, vlans: Vlans) -> None:
        with env.failing("segments.*"):
            assert vlans.post(segment_id=201).status_code in (500, 502, 503)

        vlans.register(201)


class TestCheck:
    def check(self, env: HttpEnv) -> Any:
        return check_networks(env.context, "test")

    def test_a_network_of_others_makes_a_segment_fail_until_it_is_gone(
        self, env: HttpEnv, vlans: Vlans
    ) -> None:
        vlans.register(201, 202)
        other = vlans.occupy(201)

        assert other.id in self.check(env)["vlan:physnet1:201"]
        assert vlans.reservable() == {201: False, 202: True}
        env.cloud.segments.delete_network(other.id)

        assert self.check(env) == {}
        assert vlans.reservable() == {201: True, 202: True}

    def test_networks_of_reservations_are_no_problem(self, env: HttpEnv, vlans: Vlans) -> None:
        vlans.register(201)
        lease = vlans.create()

        assert self.check(env) == {}
        vlans.end(lease)
        assert self.check(env) == {}

    def test_a_network_of_the_lessee_before_the_start_is_a_problem(self, env: HttpEnv, vlans: Vlans) -> None:
        vlans.register(201)
        vlans.create(10, 60)
        vlans.occupy(201, "project")

        assert [*self.check(env)] == ["vlan:physnet1:201"]

    def test_a_lease_ahead_moves_to_another_segment_and_is_degraded_without_one(
        self, env: HttpEnv, vlans: Vlans
    ) -> None:
        vlans.register(201, 202)
        lease = vlans.create(10, 60)
        both = [vlans.occupy(201), vlans.occupy(202)]
        self.check(env)
        env.pass_time(2)
        assert env.lease(lease["id"])["degraded"]
        env.cloud.segments.delete_network(both[1].id)
        self.check(env)
        env.work()
        assert not env.lease(lease["id"])["degraded"]

        env.pass_time(11)

        assert env.status(lease) == "ACTIVE"
        assert vlans.network().segment.segment_id == 202

    def test_a_range_that_neutron_got_later_makes_its_segments_fail(self, env: HttpEnv, vlans: Vlans) -> None:
        vlans.register(201)
        lease = vlans.create()
        env.cloud.add_segment_range("vlan", PHYSICAL, 150, 250)

        assert "150-250" in self.check(env)["vlan:physnet1:201"]
        env.work()

        assert env.status(lease) == "ACTIVE"
        assert len(vlans.networks()) == 1

    def test_other_types_are_compared_too(self, env: HttpEnv, vlans: Vlans) -> None:
        good(env.post("/networks", {"network_type": "vxlan", "segment_id": 9}), 201)
        good(env.post("/networks", {"network_type": "flat", "physical_network": PHYSICAL}), 201)
        for segment in (
            Segment(network_type="vxlan", segment_id=9),
            Segment(network_type="flat", physical_network=PHYSICAL),
        ):
            env.cloud.segments.create_network(segment, name="theirs", project_id="elsewhere")

        assert sorted(self.check(env)) == ["flat:physnet1", "vxlan:9"]


class TestUpgradeCheck:
    def test_segments_that_others_may_get_are_named(self, env: HttpEnv, vlans: Vlans) -> None:
        assert upgrade_check(env.context).code is Code.SUCCESS
        vlans.register(201, 202)
        vlans.create()
        assert upgrade_check(env.context).code is Code.SUCCESS
        env.cloud.add_segment_range("vlan", PHYSICAL, 202, 300)

        found = upgrade_check(env.context)

        assert found.code is Code.WARNING
        assert "vlan:physnet1:202" in str(found.details)
        assert "vlan:physnet1:201" not in str(found.details)
        assert vlans.reservable() == {201: True, 202: True}

    def test_ranges_that_neutron_does_not_report_are_named(self, env: HttpEnv, vlans: Vlans) -> None:
        vlans.register(201)
        env.cloud.segments.reports_ranges = False

        found = upgrade_check(env.context)

        assert found.code is Code.WARNING
        assert "network_vlan_ranges" in str(found.details)
