"""Leases for instances of a given size, with servers placed by the real nova-scheduler."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest

from blazarclient.exception import BlazarClientException
from cloudlab.tests.actors import Actor, Operator, reservation_of, soon
from cloudlab.tests.end_to_end_lab import RESERVABLE, EndToEndLab
from cloudlab.tests.slots import class_of, fill, finds_no_host, is_kept_from
from cloudlab.waiting import wait_until

ORDINARY = ("node-4", "node-5")
MANY = 20
SECONDS_AHEAD = 15
SECONDS_TO_CHANGE = 60
SECONDS_TO_START_MANY = 90
SMALL_MEMORY_MB = 1024
WRONG: tuple[tuple[Mapping[str, Any], str], ...] = (
    ({"amount": 0}, "amount"),
    ({"amount": None}, "amount"),
    ({"amount": "several"}, "amount"),
    ({"amount": 2**31 - 1}, "amount"),
    ({"vcpus": 0, "memory_mb": 0, "disk_gb": 0}, "vcpus"),
    ({"memory_mb": -1}, "memory_mb"),
    ({"disk_gb": 2**31}, "disk_gb"),
    ({"affinity": "perhaps"}, "affinity"),
    ({"resource_properties": '["~", "$vcpus", "1"]'}, "resource_properties"),
    ({"resource_properties": '["==", "$colour", "red"]'}, "colour"),
    ({"resource_type": "virtual:instances"}, "virtual:instances"),
)
"""Keys of a reservation that are refused with 400, each with a word of the message."""


@pytest.fixture
def _ordinary_hosts_disabled(operator: Operator) -> Iterator[None]:
    """Only hosts of the freepool remain for ordinary servers."""
    found = operator.compute.get(
        "/os-services", params={"binary": "nova-compute"}, microversion="2.53"
    ).json()
    paths = [f"/os-services/{each['id']}" for each in found["services"] if each["host"] in ORDINARY]
    for path in paths:
        operator.compute.put(path, json={"status": "disabled"}, microversion="2.53")
    yield
    for path in paths:
        operator.compute.put(path, json={"status": "enabled"}, microversion="2.53")


@pytest.mark.usefixtures("_ordinary_hosts_disabled")
def test_slots_are_for_their_lessee_and_for_nobody_else_until_they_are_given_up(
    lab: EndToEndLab, operator: Operator, lessee: Actor, other: Actor
) -> None:
    lease = lessee.reserve_instances(3)
    (answer,) = lease["reservations"]
    reservation = reservation_of(lease)
    assert (answer["flavor_id"], answer["server_group_id"]) == (reservation, None)
    lessee.wait_for_lease(lease, "ACTIVE")

    assert is_kept_from(other, reservation)
    assert reservation in lessee.flavors()
    hosts = fill(lessee, operator, reservation, 3)
    assert len(hosts) == 3
    assert lab.slots.slots(reservation) == {host: hosts.count(host) for host in hosts}
    assert sorted(lab.slots.slots(reservation).values()) == [1, 2]
    assert operator.hosts_of(lease) == set(hosts)
    assert finds_no_host(lessee, reservation)
    assert finds_no_host(other)
    assert set(operator.freepool()["hosts"]) == set(RESERVABLE)

    lessee.end_now(lease)
    mine = [each for each in operator.servers() if each["tenant_id"] == lessee.project_id]
    assert [each["status"] for each in mine] == []
    assert lab.slots.leftovers() == []
    assert reservation not in operator.aggregates()


@pytest.mark.parametrize(
    ("affinity", "policy", "amount", "number_of_hosts"),
    [(True, "affinity", 2, 1), (False, "anti-affinity", 3, 3)],
)
def test_slots_stand_as_the_affinity_says_and_go_with_the_lease(
    lab: EndToEndLab,
    operator: Operator,
    lessee: Actor,
    affinity: bool,
    policy: str,
    amount: int,
    number_of_hosts: int,
) -> None:
    lease = lessee.reserve_instances(amount, affinity=affinity)
    (answer,) = lease["reservations"]
    reservation, group_id = reservation_of(lease), answer["server_group_id"]
    group = lessee.compute.get(f"/os-server-groups/{group_id}", microversion="2.64").json()["server_group"]
    assert (group["name"], group["policy"]) == (f"reservation:{reservation}", policy)
    assert (group["project_id"], answer["flavor_id"]) == (lessee.project_id, reservation)
    lessee.wait_for_lease(lease, "ACTIVE")

    hinted = {"group_id": group_id} if affinity else {}
    hosts = fill(lessee, operator, reservation, amount, **hinted)
    assert (len(hosts), len(set(hosts))) == (amount, number_of_hosts)
    assert set(hosts) == operator.hosts_of(lease)
    assert finds_no_host(lessee, reservation)

    lessee.end(lease)
    assert lab.leftovers() == []


def test_the_amount_grows_and_shrinks_as_far_as_slots_are_not_in_use(
    lab: EndToEndLab, operator: Operator, lessee: Actor
) -> None:
    lease = lessee.reserve_instances(1)
    lessee.wait_for_lease(lease, "ACTIVE")
    reservation = reservation_of(lease)
    home = lab.slots.slots(reservation)

    change_amount(lessee, lease, 4)
    wait_for_slots(lab, reservation, 4)
    assert home.keys() <= lab.slots.slots(reservation).keys()
    assert len(fill(lessee, operator, reservation, 3)) == 3
    before = lessee.blazar.lease.get(lease["id"]), lab.slots.slots(reservation)

    with pytest.raises(BlazarClientException) as refusal:
        change_amount(lessee, lease, 2)
    assert refusal.value.code == 409
    assert "amount" in str(refusal.value)
    assert (lessee.blazar.lease.get(lease["id"]), lab.slots.slots(reservation)) == before

    change_amount(lessee, lease, 3)
    wait_for_slots(lab, reservation, 3)
    assert lessee.status(lease) == "ACTIVE"
    assert finds_no_host(lessee, reservation)


@pytest.mark.long
def test_before_the_start_there_is_a_flavor_that_nobody_may_use(
    lab: EndToEndLab, operator: Operator, lessee: Actor
) -> None:
    start = soon(SECONDS_AHEAD)
    lease = lessee.reserve_instances(2, start=start)
    reservation = reservation_of(lease)
    wait_until(lambda: reservation in lab.slots.flavors(), "the flavor is made", seconds=SECONDS_AHEAD)
    assert lab.slots.projects_with(reservation) == set()
    assert reservation not in lessee.flavors()
    assert lab.slots.inventories() == {}

    wait_until(
        lambda: reservation in lessee.flavors(),
        "the flavor can be used",
        seconds=(start - now()).total_seconds() + SECONDS_TO_CHANGE,
        every_seconds=0.05,
    )
    usable_at, slots = now(), lab.slots.slots(reservation)
    hosts = fill(lessee, operator, reservation, 2)

    print(f"the flavor could be used {(usable_at - start).total_seconds():.1f} s after the start")
    assert usable_at >= start
    assert sum(slots.values()) == 2
    assert slots == {host: hosts.count(host) for host in hosts}


def test_many_reservations_that_start_at_once_all_have_their_slots_when_they_can_be_used(
    lab: EndToEndLab, lessee: Actor
) -> None:
    slots_when_usable: dict[str, int] = {}

    def all_are_usable() -> bool:
        for each in lessee.flavors() & lab.slots.flavors().keys() - slots_when_usable.keys():
            slots_when_usable[each] = sum(lab.slots.slots(each).values())
        return len(slots_when_usable) == MANY

    requests_before, began = len(lab.openstack.requests("placement")), now()
    with ThreadPoolExecutor(8) as hands:
        sent = [
            hands.submit(lessee.reserve_instances, 2, affinity=False, memory_mb=SMALL_MEMORY_MB)
            for _ in range(MANY)
        ]
        wait_until(
            all_are_usable,
            "all can be used",
            seconds=SECONDS_TO_START_MANY,
            every_seconds=0.05,
            explain=lambda: str(Counter(each["status"] for each in lessee.blazar.lease.list())),
        )
        leases = [each.result() for each in sent]
        for each in leases:
            lessee.wait_for_lease(each, "ACTIVE")
        started = now()
        assert slots_when_usable == {reservation_of(each): 2 for each in leases}
        assert lab.slots.classes() == {class_of(reservation_of(each)) for each in leases}
        list(hands.map(lessee.end, leases))
    assert lab.leftovers() == []

    conflicts = sum(
        (each.method, each.status) == ("PUT", 409) and each.path.endswith("/inventories")
        for each in lab.openstack.requests("placement")[requests_before:]
    )
    print(
        f"{MANY} leases were active after {(started - began).total_seconds():.1f} s, and gone after ", end=""
    )
    print(f"{(now() - started).total_seconds():.1f} s more; {conflicts} conflicts of generations")


def test_what_cannot_be_is_refused_by_name(lab: EndToEndLab, lessee: Actor) -> None:
    for keys, said in WRONG:
        with pytest.raises(BlazarClientException) as refusal:
            lessee.reserve_instances(**{"amount": 1, "affinity": True, **keys})

        assert refusal.value.code == 400, keys
        assert said in str(refusal.value), keys
    assert lab.leftovers() == []


def change_amount(lessee: Actor, lease: Mapping[str, Any], amount: int) -> None:
    change = {"id": reservation_of(lease), "amount": amount}
    lessee.blazar.lease.update(lease["id"], reservations=[change])


def wait_for_slots(lab: EndToEndLab, reservation_id: str, amount: int) -> None:
    wait_until(
        lambda: sum(lab.slots.slots(reservation_id).values()) == amount,
        f"reservation {reservation_id} has {amount} slots",
        seconds=SECONDS_TO_CHANGE,
        explain=lambda: f"it has {lab.slots.slots(reservation_id)}",
    )


def now() -> datetime:
    return datetime.now(UTC)  # noqa: TID251
