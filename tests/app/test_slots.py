"""Leases of instances, as clients see them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from app.slots import FLAVOR, SECRET, instances, inventories, of_flavor, reservation_of, slots
from app.world import ADMIN, LESSEE, STRANGER, World, good, lease_of, refusal, shortage

from blazar.domain.errors import CloudConflict, CloudRefused
from blazar.plugins.slots.names import group_name

pytestmark = pytest.mark.usefixtures("hosts")


@pytest.fixture(autouse=True)
def _flavors(world: World) -> None:
    world.cloud.compute.create_flavor(FLAVOR)
    world.cloud.compute.create_flavor(SECRET)


def boot(world: World, lease: Any, project_id: str = "project") -> str:
    server = world.cloud.boot_server("web", project_id, flavor_id=reservation_of(lease)["id"])
    return server.service_host


def test_instances_live_from_their_start_to_their_end(world: World) -> None:
    lease = world.create(10, 60, asked=instances(amount=6, affinity=None))
    reservation = reservation_of(lease)

    assert reservation["flavor_id"] == reservation["id"]
    assert (reservation["aggregate_id"], reservation["server_group_id"]) == (None, None)
    assert {key: reservation[key] for key in ("vcpus", "memory_mb", "disk_gb", "amount", "affinity")} == {
        "vcpus": 4,
        "memory_mb": 4096,
        "disk_gb": 10,
        "amount": 6,
        "affinity": None,
    }
    assert sorted(slots(world, lease).values()) == [2, 4]

    world.pass_time(9)
    flavor = world.cloud.compute.find_flavor(reservation["id"])
    assert flavor is not None
    assert world.cloud.compute.list_flavor_access(flavor.id) == frozenset()
    aggregates = {each.name: each.id for each in world.cloud.compute.list_aggregates()}
    assert reservation_of(world.lease(lease["id"]))["aggregate_id"] == aggregates[reservation["id"]]

    world.pass_time(10)
    assert world.status(lease) == "ACTIVE"
    assert sorted(inventories(world, lease).values()) == [2, 4]
    for _ in range(6):
        assert boot(world, lease) in inventories(world, lease)
    with pytest.raises(CloudConflict):
        boot(world, lease)
    with pytest.raises(CloudRefused):
        boot(world, lease, project_id="elsewhere")

    world.pass_time(61)
    assert world.status(lease) == "TERMINATED"
    assert world.cloud.compute.list_servers() == ()
    assert world.cloud.compute.find_flavor(reservation["id"]) is None
    assert inventories(world, lease) == {}
    assert world.aggregates().keys() == {"freepool"}


@pytest.mark.parametrize(
    ("affinity", "policy", "spread"),
    [(True, "affinity", 1), ("yes", "affinity", 1), (False, "anti-affinity", 3), ("off", "anti-affinity", 3)],
)
@pytest.mark.parametrize("asked", [instances, of_flavor])
def test_affinity_says_where_instances_are_and_makes_a_group(
    world: World, asked: Any, affinity: object, policy: str, spread: int
) -> None:
    lease = world.create("now", 60, asked=asked(amount=3, affinity=affinity))
    reservation = reservation_of(lease)

    (group,) = world.cloud.compute.list_server_groups()
    assert (group.id, group.name) == (reservation["server_group_id"], group_name(reservation["id"]))
    assert (group.policy, group.project_id) == (policy, "project")
    assert reservation["affinity"] is (policy == "affinity")
    world.work()
    assert len({boot(world, lease) for _ in range(3)}) == spread
    good_delete(world, lease)
    assert world.cloud.compute.list_server_groups() == ()


def good_delete(world: World, lease: Any) -> None:
    assert world.delete(f"/leases/{lease['id']}", who=LESSEE).status_code == 204
    world.work()
    refusal(world.get(f"/leases/{lease['id']}"), 404)


def test_a_lease_that_never_began_leaves_no_group(world: World) -> None:
    lease = world.create(60, 120, asked=instances(affinity=True))

    good_delete(world, lease)

    assert world.cloud.compute.list_server_groups() == ()


def test_a_flavor_is_reserved_as_it_is(world: World) -> None:
    lease = world.create(
        "now", 60, asked=of_flavor(flavor_id=42, resource_properties='["==", "$rack", "r2"]')
    )
    reservation = reservation_of(lease)

    source = json.loads(reservation["resource_properties"])
    assert (source["id"], source["name"], source["ram"]) == ("42", "m1.small", 2048)
    assert source["OS-FLV-EXT-DATA:ephemeral"] == 5
    assert source["blazar:resource_properties"] == '["==", "$rack", "r2"]'
    assert reservation["flavor_id"] == reservation["id"]
    assert (reservation["vcpus"], reservation["memory_mb"], reservation["disk_gb"]) == (2, 2048, 10)
    world.work()
    flavor = world.cloud.compute.find_flavor(reservation["id"])
    assert flavor is not None
    assert (flavor.vcpus, flavor.ephemeral_gb, flavor.is_public) == (2, 5, False)
    assert inventories(world, lease).keys() <= {"h3", "h4"}


def test_both_kinds_and_whole_hosts_share_what_there_is(world: World) -> None:
    host = '["==", "$hypervisor_hostname", "h1"]'
    first = world.create("now", 60, asked=instances(amount=2, resource_properties=host))
    second = world.create("now", 60, asked=of_flavor(amount=4, resource_properties=host))

    shortage(world.post("/leases", world.wish(asked=of_flavor(amount=1, resource_properties=host))))
    shortage(world.post("/leases", world.wish(hypervisor_properties=host)))
    world.create(60, 120, hypervisor_properties=host)
    world.work()
    for lease, amount in ((first, 2), (second, 4)):
        assert inventories(world, lease) == {"h1": amount}
        assert {boot(world, lease) for _ in range(amount)} == {"h1"}


def test_slots_pack_and_whole_hosts_stay_free(world: World) -> None:
    for _ in range(4):
        world.create("now", 60, asked=instances(amount=1))

    world.create("now", 60, min=3, max=3)


def test_a_change_needs_no_room_for_a_second_copy(world: World) -> None:
    """A change reuses the lease's own resources."""
    lease = world.create(10, 60, asked=instances(amount=16))

    lease = world.change(lease, reservation={"amount": 15})
    lease = world.change(lease, start_date=world.date(30), end_date=world.date(90))
    lease = world.change(lease, reservation={"vcpus": 2, "amount": 32, "affinity": None})

    assert sorted(slots(world, lease).values()) == [8, 8, 8, 8]


def test_an_active_reservation_grows_and_shrinks_to_what_is_used(world: World) -> None:
    lease = world.create("now", 60, asked=instances(amount=5))
    world.work()
    used = [boot(world, lease) for _ in range(3)]

    lease = world.change(lease, reservation={"amount": 9})
    world.work()
    assert sum(inventories(world, lease).values()) == 9
    lease = world.change(lease, reservation={"amount": 3})
    world.work()
    assert inventories(world, lease) == {host: used.count(host) for host in used}
    assert world.aggregates()[reservation_of(lease)["id"]] == set(used)

    before = world.snapshot()
    change = {"reservations": [{"id": reservation_of(lease)["id"], "amount": 2}]}
    assert "amount" in refusal(world.put(f"/leases/{lease['id']}", change), 409)
    assert world.snapshot() == before


@pytest.mark.parametrize(
    ("asked", "key", "value"),
    [
        (instances, "vcpus", 2),
        (instances, "memory_mb", 1),
        (instances, "disk_gb", 1),
        (instances, "affinity", True),
        (instances, "resource_properties", '["==", "$rack", "r1"]'),
        (of_flavor, "flavor_id", "other"),
        (of_flavor, "affinity", False),
        (of_flavor, "resource_properties", '["==", "$rack", "r1"]'),
    ],
)
def test_the_rest_is_fixed_while_it_is_active(world: World, asked: Any, key: str, value: object) -> None:
    lease = world.create("now", 60, asked=asked())
    world.work()
    before = world.snapshot()

    change = {"reservations": [{"id": reservation_of(lease)["id"], key: value}]}
    message = refusal(world.put(f"/leases/{lease['id']}", change, who=LESSEE), 409)

    assert key in message
    assert world.snapshot() == before
    world.change(lease, reservation={each: reservation_of(lease)[each] for each in ("amount", "affinity")})


def test_what_clients_see_can_be_sent_back(world: World) -> None:
    for asked in (instances, of_flavor):
        lease = world.create(10, 60, asked=asked(affinity=False))
        shown = reservation_of(lease)

        changed = world.change(lease, reservation={**shown, "amount": 3})

        assert reservation_of(changed)["server_group_id"] == shown["server_group_id"]
        assert reservation_of(changed)["resource_properties"] == shown["resource_properties"]


def test_a_new_affinity_has_a_new_group(world: World) -> None:
    lease = world.create(10, 60, asked=instances(amount=2, affinity=True))

    lease = world.change(lease, reservation={"affinity": False})

    (group,) = world.cloud.compute.list_server_groups()
    assert (group.policy, group.id) == ("anti-affinity", reservation_of(lease)["server_group_id"])
    lease = world.change(lease, reservation={"affinity": None})
    assert world.cloud.compute.list_server_groups() == ()
    assert reservation_of(lease)["server_group_id"] is None


def test_operators_change_leases_of_others_but_make_no_groups_for_them(world: World) -> None:
    lease = world.create(10, 60, asked=instances(amount=2))
    world.change(lease, who=ADMIN, reservation={"amount": 1})
    before = world.snapshot()

    change = {"reservations": [{"id": reservation_of(lease)["id"], "affinity": True}]}
    assert "affinity" in refusal(world.put(f"/leases/{lease['id']}", change, who=ADMIN), 409)

    assert world.snapshot() == before


class TestRefusals:
    def test_too_many_are_refused_and_leave_no_group(self, world: World) -> None:
        before = world.snapshot()

        message = shortage(world.post("/leases", world.wish(asked=instances(amount=5, affinity=True))))

        assert message.startswith("Not enough hosts available")
        assert world.snapshot() == before

    def test_a_later_reservation_that_cannot_be_had_leaves_no_group_of_the_first(self, world: World) -> None:
        body = world.wish(asked=instances(affinity=True))
        body["reservations"].append(instances(amount=99))

        shortage(world.post("/leases", body))

        assert world.cloud.compute.list_server_groups() == ()

    def test_a_group_that_nova_refuses_is_told_and_nothing_is_stored(self, world: World) -> None:
        with world.failing("lessee.create_server_group", status=403):
            refusal(world.post("/leases", world.wish(asked=instances(affinity=True)), who=LESSEE), 409)

        assert good(world.get("/leases"))["leases"] == []

    @pytest.mark.parametrize("flavor_id", ["no-such", SECRET.id, None, ""])
    def test_a_flavor_that_the_lessee_cannot_see_is_not_found(self, world: World, flavor_id: object) -> None:
        before = world.snapshot()

        message = refusal(
            world.post("/leases", world.wish(asked=of_flavor(flavor_id=flavor_id)), who=LESSEE), 404
        )

        assert "flavor" in message.lower()
        assert world.snapshot() == before

    def test_a_flavor_that_only_the_service_may_make_is_refused_with_the_reasons(self, world: World) -> None:
        specs = {"blazar:preemptible": "true", "hw:numa_nodes": "2", "quota:cpu_shares": "10"}
        world.cloud.compute.set_flavor_extra_specs(FLAVOR.id, specs)

        message = refusal(world.post("/leases", world.wish(asked=of_flavor())), 409)

        assert message.endswith(": blazar:preemptible")

    def test_what_a_reservation_does_not_guarantee_is_shown_and_copied(self, world: World) -> None:
        specs = {"hw:mem_page_size": "large", "hw:numa_nodes": "2", "quota:cpu_shares": "10"}
        world.cloud.compute.set_flavor_extra_specs(FLAVOR.id, specs)

        lease = world.create("now", 60, asked=of_flavor())
        world.work()

        shown = json.loads(reservation_of(lease)["resource_properties"])
        assert shown["blazar:not_guaranteed"] == ["hw:mem_page_size", "hw:numa_nodes"]
        flavor = world.cloud.compute.find_flavor(reservation_of(lease)["id"])
        assert flavor is not None
        assert specs.items() <= flavor.extra_specs.items()

    def test_the_flavor_of_an_update_is_looked_up_with_the_rights_of_who_asks(self, world: World) -> None:
        lease = world.create(10, 60, asked=of_flavor())
        change = {"reservations": [{"id": reservation_of(lease)["id"], "flavor_id": SECRET.id}]}

        refusal(world.put(f"/leases/{lease['id']}", change, who=LESSEE), 404)
        world.cloud.compute.add_flavor_access(SECRET.id, "project")
        lease = lease_of(world.put(f"/leases/{lease['id']}", change, who=LESSEE))

        assert json.loads(reservation_of(lease)["resource_properties"])["id"] == SECRET.id

    @pytest.mark.parametrize("resource_type", ["virtual:instances", "flavour:instance", "instance"])
    def test_a_misspelt_type_is_refused_with_the_known_ones(self, world: World, resource_type: str) -> None:
        message = refusal(
            world.post("/leases", world.wish(asked=instances(resource_type=resource_type))), 400
        )

        assert "resource_type" in message
        assert "virtual:instance" in message


def test_a_stranger_sees_nothing_of_it(world: World) -> None:
    lease = world.create("now", 60, asked=instances())

    assert world.get(f"/leases/{lease['id']}", who=STRANGER).status_code in (403, 404)
    assert good(world.get("/leases", who=STRANGER))["leases"] == []


def test_what_failed_is_tried_again_with_a_new_group(world: World) -> None:
    lease = world.create("now", 60, asked=instances(affinity=True))
    with world.failing("placement.create_resource_class", status=400):
        world.work()
    world.pass_time(2)
    assert world.status(lease) == "ERROR"
    assert world.cloud.compute.list_server_groups() == ()

    world.change(lease, reservation={"vcpus": 2, "amount": 3})
    world.work()

    assert world.status(lease) == "ACTIVE"
    (group,) = world.cloud.compute.list_server_groups()
    assert group.id == reservation_of(world.lease(lease["id"]))["server_group_id"]
    assert len({boot(world, lease) for _ in range(3)}) == 1
