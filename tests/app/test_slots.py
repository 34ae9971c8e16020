"""Leases of instances, as clients see them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from app.http_env import ADMIN, LESSEE, STRANGER, HttpEnv, good, lease_of, refusal, shortage
from app.slots import FLAVOR, SECRET, instances, inventories, of_flavor, reservation_of, slots

from blazar.domain.errors import CloudConflict, CloudRefused
from blazar.plugins.slots.names import group_name

pytestmark = pytest.mark.usefixtures("hosts")


@pytest.fixture(autouse=True)
def _flavors(env: HttpEnv) -> None:
    env.cloud.flavors.create_flavor(FLAVOR)
    env.cloud.flavors.create_flavor(SECRET)


def boot(env: HttpEnv, lease: Any, project_id: str = "project") -> str:
    server = env.cloud.boot_server("web", project_id, flavor_id=reservation_of(lease)["id"])
    return server.service_host


def test_instances_live_from_their_start_to_their_end(env: HttpEnv) -> None:
    lease = env.create(10, 60, asked=instances(amount=6, affinity=None))
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
    assert sorted(slots(env, lease).values()) == [2, 4]

    env.pass_time(9)
    flavor = env.cloud.flavors.find_flavor(reservation["id"])
    assert flavor is not None
    assert env.cloud.flavors.list_flavor_access(flavor.id) == frozenset()
    aggregates = {each.name: each.id for each in env.cloud.aggregates.list_aggregates()}
    assert reservation_of(env.lease(lease["id"]))["aggregate_id"] == aggregates[reservation["id"]]

    env.pass_time(10)
    assert env.status(lease) == "ACTIVE"
    assert sorted(inventories(env, lease).values()) == [2, 4]
    for _ in range(6):
        assert boot(env, lease) in inventories(env, lease)
    with pytest.raises(CloudConflict):
        boot(env, lease)
    with pytest.raises(CloudRefused):
        boot(env, lease, project_id="elsewhere")

    env.pass_time(61)
    assert env.status(lease) == "TERMINATED"
    assert env.cloud.servers.list_servers() == ()
    assert env.cloud.flavors.find_flavor(reservation["id"]) is None
    assert inventories(env, lease) == {}
    assert env.aggregates().keys() == {"freepool"}


@pytest.mark.parametrize(
    ("affinity", "policy", "spread"),
    [(True, "affinity", 1), ("yes", "affinity", 1), (False, "anti-affinity", 3), ("off", "anti-affinity", 3)],
)
@pytest.mark.parametrize("asked", [instances, of_flavor])
def test_affinity_says_where_instances_are_and_makes_a_group(
    env: HttpEnv, asked: Any, affinity: object, policy: str, spread: int
) -> None:
    lease = env.create("now", 60, asked=asked(amount=3, affinity=affinity))
    reservation = reservation_of(lease)

    (group,) = env.cloud.server_groups.list_server_groups()
    assert (group.id, group.name) == (reservation["server_group_id"], group_name(reservation["id"]))
    assert (group.policy, group.project_id) == (policy, "project")
    assert reservation["affinity"] is (policy == "affinity")
    env.work()
    assert len({boot(env, lease) for _ in range(3)}) == spread
    good_delete(env, lease)
    assert env.cloud.server_groups.list_server_groups() == ()


def good_delete(env: HttpEnv, lease: Any) -> None:
    assert env.delete(f"/leases/{lease['id']}", who=LESSEE).status_code == 204
    env.work()
    refusal(env.get(f"/leases/{lease['id']}"), 404)


def test_a_lease_that_never_began_leaves_no_group(env: HttpEnv) -> None:
    lease = env.create(60, 120, asked=instances(affinity=True))

    good_delete(env, lease)

    assert env.cloud.server_groups.list_server_groups() == ()


def test_a_flavor_is_reserved_as_it_is(env: HttpEnv) -> None:
    lease = env.create("now", 60, asked=of_flavor(flavor_id=42, resource_properties='["==", "$rack", "r2"]'))
    reservation = reservation_of(lease)

    source = json.loads(reservation["resource_properties"])
    assert (source["id"], source["name"], source["ram"]) == ("42", "m1.small", 2048)
    assert source["OS-FLV-EXT-DATA:ephemeral"] == 5
    assert source["blazar:resource_properties"] == '["==", "$rack", "r2"]'
    assert reservation["flavor_id"] == reservation["id"]
    assert (reservation["vcpus"], reservation["memory_mb"], reservation["disk_gb"]) == (2, 2048, 10)
    env.work()
    flavor = env.cloud.flavors.find_flavor(reservation["id"])
    assert flavor is not None
    assert (flavor.vcpus, flavor.ephemeral_gb, flavor.is_public) == (2, 5, False)
    assert inventories(env, lease).keys() <= {"h3", "h4"}


def test_both_kinds_and_whole_hosts_share_what_there_is(env: HttpEnv) -> None:
    host = '["==", "$hypervisor_hostname", "h1"]'
    first = env.create("now", 60, asked=instances(amount=2, resource_properties=host))
    second = env.create("now", 60, asked=of_flavor(amount=4, resource_properties=host))

    shortage(env.post("/leases", env.wish(asked=of_flavor(amount=1, resource_properties=host))))
    shortage(env.post("/leases", env.wish(hypervisor_properties=host)))
    env.create(60, 120, hypervisor_properties=host)
    env.work()
    for lease, amount in ((first, 2), (second, 4)):
        assert inventories(env, lease) == {"h1": amount}
        assert {boot(env, lease) for _ in range(amount)} == {"h1"}


def test_slots_pack_and_whole_hosts_stay_free(env: HttpEnv) -> None:
    for _ in range(4):
        env.create("now", 60, asked=instances(amount=1))

    env.create("now", 60, min=3, max=3)


def test_a_change_needs_no_room_for_a_second_copy(env: HttpEnv) -> None:
    """A change reuses the lease's own resources."""
    lease = env.create(10, 60, asked=instances(amount=16))

    lease = env.change(lease, reservation={"amount": 15})
    lease = env.change(lease, start_date=env.date(30), end_date=env.date(90))
    lease = env.change(lease, reservation={"vcpus": 2, "amount": 32, "affinity": None})

    assert sorted(slots(env, lease).values()) == [8, 8, 8, 8]


def test_an_active_reservation_grows_and_shrinks_to_what_is_used(env: HttpEnv) -> None:
    lease = env.create("now", 60, asked=instances(amount=5))
    env.work()
    used = [boot(env, lease) for _ in range(3)]

    lease = env.change(lease, reservation={"amount": 9})
    env.work()
    assert sum(inventories(env, lease).values()) == 9
    lease = env.change(lease, reservation={"amount": 3})
    env.work()
    assert inventories(env, lease) == {host: used.count(host) for host in used}
    assert env.aggregates()[reservation_of(lease)["id"]] == set(used)

    before = env.snapshot()
    change = {"reservations": [{"id": reservation_of(lease)["id"], "amount": 2}]}
    assert "amount" in refusal(env.put(f"/leases/{lease['id']}", change), 409)
    assert env.snapshot() == before


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
def test_the_rest_is_fixed_while_it_is_active(env: HttpEnv, asked: Any, key: str, value: object) -> None:
    lease = env.create("now", 60, asked=asked())
    env.work()
    before = env.snapshot()

    change = {"reservations": [{"id": reservation_of(lease)["id"], key: value}]}
    message = refusal(env.put(f"/leases/{lease['id']}", change, who=LESSEE), 409)

    assert key in message
    assert env.snapshot() == before
    env.change(lease, reservation={each: reservation_of(lease)[each] for each in ("amount", "affinity")})


def test_what_clients_see_can_be_sent_back(env: HttpEnv) -> None:
    for asked in (instances, of_flavor):
        lease = env.create(10, 60, asked=asked(affinity=False))
        shown = reservation_of(lease)

        changed = env.change(lease, reservation={**shown, "amount": 3})

        assert reservation_of(changed)["server_group_id"] == shown["server_group_id"]
        assert reservation_of(changed)["resource_properties"] == shown["resource_properties"]


def test_a_new_affinity_has_a_new_group(env: HttpEnv) -> None:
    lease = env.create(10, 60, asked=instances(amount=2, affinity=True))

    lease = env.change(lease, reservation={"affinity": False})

    (group,) = env.cloud.server_groups.list_server_groups()
    assert (group.policy, group.id) == ("anti-affinity", reservation_of(lease)["server_group_id"])
    lease = env.change(lease, reservation={"affinity": None})
    assert env.cloud.server_groups.list_server_groups() == ()
    assert reservation_of(lease)["server_group_id"] is None


def test_operators_change_leases_of_others_but_make_no_groups_for_them(env: HttpEnv) -> None:
    lease = env.create(10, 60, asked=instances(amount=2))
    env.change(lease, who=ADMIN, reservation={"amount": 1})
    before = env.snapshot()

    change = {"reservations": [{"id": reservation_of(lease)["id"], "affinity": True}]}
    assert "affinity" in refusal(env.put(f"/leases/{lease['id']}", change, who=ADMIN), 409)

    assert env.snapshot() == before


class TestRefusals:
    def test_too_many_are_refused_and_leave_no_group(self, env: HttpEnv) -> None:
        before = env.snapshot()

        message = shortage(env.post("/leases", env.wish(asked=instances(amount=5, affinity=True))))

        assert message.startswith("Not enough hosts available")
        assert env.snapshot() == before

    def test_a_later_reservation_that_cannot_be_had_leaves_no_group_of_the_first(self, env: HttpEnv) -> None:
        body = env.wish(asked=instances(affinity=True))
        body["reservations"].append(instances(amount=99))

        shortage(env.post("/leases", body))

        assert env.cloud.server_groups.list_server_groups() == ()

    def test_a_group_that_nova_refuses_is_told_and_nothing_is_stored(self, env: HttpEnv) -> None:
        with env.failing("lessee.create_server_group", status=403):
            refusal(env.post("/leases", env.wish(asked=instances(affinity=True)), who=LESSEE), 400)

        assert good(env.get("/leases"))["leases"] == []

    @pytest.mark.parametrize("flavor_id", ["no-such", SECRET.id, None, ""])
    def test_a_flavor_that_the_lessee_cannot_see_is_not_found(self, env: HttpEnv, flavor_id: object) -> None:
        before = env.snapshot()

        message = refusal(
            env.post("/leases", env.wish(asked=of_flavor(flavor_id=flavor_id)), who=LESSEE), 404
        )

        assert "flavor" in message.lower()
        assert env.snapshot() == before

    def test_a_flavor_that_only_the_service_may_make_is_refused_with_the_reasons(self, env: HttpEnv) -> None:
        specs = {"blazar:preemptible": "true", "hw:numa_nodes": "2", "quota:cpu_shares": "10"}
        env.cloud.flavors.set_flavor_extra_specs(FLAVOR.id, specs)

        message = refusal(env.post("/leases", env.wish(asked=of_flavor())), 409)

        assert message.endswith(": blazar:preemptible")

    def test_what_a_reservation_does_not_guarantee_is_shown_and_copied(self, env: HttpEnv) -> None:
        specs = {"hw:mem_page_size": "large", "hw:numa_nodes": "2", "quota:cpu_shares": "10"}
        env.cloud.flavors.set_flavor_extra_specs(FLAVOR.id, specs)

        lease = env.create("now", 60, asked=of_flavor())
        env.work()

        shown = json.loads(reservation_of(lease)["resource_properties"])
        assert shown["blazar:not_guaranteed"] == ["hw:mem_page_size", "hw:numa_nodes"]
        flavor = env.cloud.flavors.find_flavor(reservation_of(lease)["id"])
        assert flavor is not None
        assert specs.items() <= flavor.extra_specs.items()

    def test_the_flavor_of_an_update_is_looked_up_with_the_rights_of_who_asks(self, env: HttpEnv) -> None:
        lease = env.create(10, 60, asked=of_flavor())
        change = {"reservations": [{"id": reservation_of(lease)["id"], "flavor_id": SECRET.id}]}

        refusal(env.put(f"/leases/{lease['id']}", change, who=LESSEE), 404)
        env.cloud.flavors.add_flavor_access(SECRET.id, "project")
        lease = lease_of(env.put(f"/leases/{lease['id']}", change, who=LESSEE))

        assert json.loads(reservation_of(lease)["resource_properties"])["id"] == SECRET.id

    @pytest.mark.parametrize("resource_type", ["virtual:instances", "flavour:instance", "instance"])
    def test_a_misspelt_type_is_refused_with_the_known_ones(self, env: HttpEnv, resource_type: str) -> None:
        message = refusal(env.post("/leases", env.wish(asked=instances(resource_type=resource_type))), 400)

        assert "resource_type" in message
        assert "virtual:instance" in message


def test_a_stranger_sees_nothing_of_it(env: HttpEnv) -> None:
    lease = env.create("now", 60, asked=instances())

    assert env.get(f"/leases/{lease['id']}", who=STRANGER).status_code in (403, 404)
    assert good(env.get("/leases", who=STRANGER))["leases"] == []


def test_what_failed_is_tried_again_with_a_new_group(env: HttpEnv) -> None:
    lease = env.create("now", 60, asked=instances(affinity=True))
    with env.failing("placement.create_resource_class", status=400):
        env.work()
    env.pass_time(2)
    assert env.status(lease) == "ERROR"
    assert env.cloud.server_groups.list_server_groups() == ()

    env.change(lease, reservation={"vcpus": 2, "amount": 3})
    env.work()

    assert env.status(lease) == "ACTIVE"
    (group,) = env.cloud.server_groups.list_server_groups()
    assert group.id == reservation_of(env.lease(lease["id"]))["server_group_id"]
    assert len({boot(env, lease) for _ in range(3)}) == 1
