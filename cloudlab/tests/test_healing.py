"""Compute services that stop reporting, fail or are disabled, and the leases that hold their hosts."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator

import pytest

from blazarclient.exception import BlazarClientException
from cloudlab.tests.actors import LARGE_MEMORY_MB, Actor, Json, Operator, in_minutes, only, reservation_of
from cloudlab.tests.end_to_end_lab import RESERVABLE, EndToEndLab
from cloudlab.tests.failures import SECONDS_TO_HEAR, SECONDS_TO_SEE, Computes, wait_for_flags
from cloudlab.tests.notices import Notices, consumer
from cloudlab.tests.slots import fill
from cloudlab.waiting import wait_until

HEALED = {"missing_resources": False, "resources_changed": False, "degraded": False}
FLAGGED = {"missing_resources": True, "resources_changed": False, "degraded": True}
REPLACED = {"missing_resources": False, "resources_changed": True, "degraded": True}

ReserveSlots = Callable[..., Json]


@pytest.fixture
def computes(lab: EndToEndLab) -> Iterator[Computes]:
    """The compute services, which are restored after the test."""
    computes = Computes(lab)
    yield computes
    computes.mend()


@pytest.fixture
def notices(lab: EndToEndLab) -> Iterator[Notices]:
    with consumer(lab.openstack) as notices:
        yield notices


@pytest.fixture(params=["virtual:instance", "flavor:instance"])
def reserve_slots(
    request: pytest.FixtureRequest, operator: Operator, lessee: Actor
) -> Iterator[ReserveSlots]:
    """Reserve instances of both types; two fit on a host."""
    if request.param == "virtual:instance":
        yield lessee.reserve_instances
        return
    name = f"flavor-{uuid.uuid4().hex[:8]}"
    sizes = {"vcpus": 1, "ram": LARGE_MEMORY_MB, "disk": 1}
    operator.compute.post("/flavors", json={"flavor": {"id": name, "name": name, **sizes}})
    yield lambda amount, **keys: lessee.reserve_flavor(name, amount, **keys)
    operator.compute.delete(f"/flavors/{name}")


def flagged(actor: Actor, lease: Json, flags: dict[str, bool]) -> Json:
    """Return a lease when it has these flags."""
    return wait_for_flags(lambda: actor.lease(lease["id"]), **flags)


@pytest.mark.long
def test_leases_of_a_compute_service_that_falls_silent(
    operator: Operator, lessee: Actor, computes: Computes, notices: Notices
) -> None:
    ahead = lessee.reserve(start=in_minutes(30), end=in_minutes(60))
    (host,) = operator.booked(ahead)
    busy = lessee.start(end=in_minutes(20), resource_properties=only(host))
    server = lessee.boot(reservation=reservation_of(busy))
    assert lessee.wait_for_server(server) == "ACTIVE"

    computes.fall_silent(host)

    assert flagged(lessee, busy, FLAGGED)["status"] == "ACTIVE"
    notices.wait_for("lease.degraded", busy["id"])
    assert (operator.hosts_of(busy), operator.host_of_server(server)) == ({host}, host)
    wait_until(lambda: host not in operator.booked(ahead), "the other is moved", seconds=SECONDS_TO_HEAR)
    assert len(operator.booked(ahead)) == 1
    assert flagged(lessee, ahead, HEALED)["status"] == "PENDING"
    assert "lease.degraded" not in notices.of(ahead["id"])

    computes.mend()

    assert flagged(lessee, busy, HEALED)["status"] == "ACTIVE"
    notices.wait_for("lease.healed", busy["id"])
    assert (operator.hosts_of(busy), operator.host_of_server(server)) == ({host}, host)
    assert lessee.wait_for_server(server) == "ACTIVE"


def test_an_idle_host_of_a_running_lease_is_replaced_and_the_other_can_be_used(
    operator: Operator, lessee: Actor, computes: Computes, notices: Notices
) -> None:
    lease = lessee.start()
    (host,) = operator.hosts_of(lease)

    computes.break_down(host)

    assert flagged(lessee, lease, REPLACED)["status"] == "ACTIVE"
    notices.wait_for("lease.degraded", lease["id"])
    wait_until(
        lambda: len(operator.hosts_of(lease)) == 1 and host not in operator.hosts_of(lease),
        "the other host is handed over",
        seconds=SECONDS_TO_SEE,
    )
    server = lessee.boot(reservation=reservation_of(lease))
    assert lessee.wait_for_server(server) == "ACTIVE"
    assert {operator.host_of_server(server)} == operator.hosts_of(lease)
    assert host in operator.freepool()["hosts"]

    computes.mend()

    flagged(lessee, lease, HEALED)
    notices.wait_for("lease.healed", lease["id"])
    assert {operator.host_of_server(server)} == operator.hosts_of(lease)


def test_a_disabled_host_is_left_out_of_new_leases_only_as_soon_as_nova_notifies(
    lab: EndToEndLab, operator: Operator, lessee: Actor, computes: Computes
) -> None:
    ahead = lessee.reserve(start=in_minutes(30))
    (host,) = operator.booked(ahead)
    running = lessee.start(resource_properties=only(host), end=in_minutes(20))

    computes.disable(host, "new disks")
    computes.wait_until_reservable(host, False, seconds=SECONDS_TO_HEAR)

    service = f"its compute service {host} is disabled: new disks"
    assert f"{host} is disabled: {service}\n" in lab.list_hosts()
    with pytest.raises(BlazarClientException, match="Not enough"):
        lessee.reserve(start=in_minutes(90), end=in_minutes(120), resource_properties=only(host))
    others = lessee.reserve(3, start=in_minutes(90), end=in_minutes(120))
    assert operator.booked(others) == set(RESERVABLE) - {host}
    assert (operator.booked(ahead), operator.hosts_of(running)) == ({host}, {host})
    for lease, status in ((ahead, "PENDING"), (running, "ACTIVE")):
        assert flagged(lessee, lease, HEALED)["status"] == status

    computes.enable(host)
    computes.wait_until_reservable(host, True, seconds=SECONDS_TO_HEAR)
    assert f"{host} is sound\n" in lab.list_hosts()


def test_without_a_host_in_its_place_a_lease_says_so_until_there_is_one(
    operator: Operator, lessee: Actor, computes: Computes, notices: Notices
) -> None:
    ahead = lessee.reserve(4, start=in_minutes(30))
    other = lessee.start(3, end=in_minutes(20))
    (host,) = set(RESERVABLE) - operator.hosts_of(other)

    computes.break_down(host)

    assert flagged(lessee, ahead, FLAGGED)["status"] == "PENDING"
    notices.wait_for("lease.degraded", ahead["id"])
    assert flagged(lessee, other, HEALED)["status"] == "ACTIVE"
    assert "lease.degraded" not in notices.of(other["id"])

    computes.mend()

    assert flagged(lessee, ahead, HEALED)["status"] == "PENDING"
    notices.wait_for("lease.healed", ahead["id"])
    assert operator.booked(ahead) == set(RESERVABLE)


def test_weakness_41_idle_slots_are_replaced_and_can_be_used(
    lab: EndToEndLab,
    operator: Operator,
    lessee: Actor,
    computes: Computes,
    notices: Notices,
    reserve_slots: ReserveSlots,
) -> None:
    lease = reserve_slots(2)
    lessee.wait_for_lease(lease, "ACTIVE")
    reservation = reservation_of(lease)
    broken = set(lab.slots.slots(reservation))
    assert len(broken) == 1

    computes.break_down(*broken)

    assert flagged(lessee, lease, REPLACED)["status"] == "ACTIVE"
    notices.wait_for("lease.degraded", lease["id"])
    wait_until(
        lambda: (
            sum(lab.slots.slots(reservation).values()) == 2
            and not broken & lab.slots.slots(reservation).keys()
        ),
        "the other slots are handed over",
        seconds=SECONDS_TO_SEE,
    )
    hosts = fill(lessee, operator, reservation, 2)
    assert len(hosts) == 2
    assert not broken & set(hosts)

    computes.mend()

    flagged(lessee, lease, HEALED)
    notices.wait_for("lease.healed", lease["id"])
    assert not broken & lab.slots.slots(reservation).keys()


def test_weakness_41_slots_in_use_stay_and_say_so_and_those_ahead_are_moved(
    lab: EndToEndLab,
    operator: Operator,
    lessee: Actor,
    computes: Computes,
    notices: Notices,
    reserve_slots: ReserveSlots,
) -> None:
    busy = reserve_slots(1)
    lessee.wait_for_lease(busy, "ACTIVE")
    (host,) = fill(lessee, operator, reservation_of(busy), 1)
    ahead = lessee.reserve_instances(1, start=in_minutes(90), end=in_minutes(120))
    (later,) = operator.booked(ahead)

    computes.break_down(*{host, later})

    assert flagged(lessee, busy, FLAGGED)["status"] == "ACTIVE"
    notices.wait_for("lease.degraded", busy["id"])
    assert lab.slots.slots(reservation_of(busy)) == {host: 1}
    wait_until(
        lambda: not {host, later} & operator.booked(ahead),
        "the other is moved",
        seconds=SECONDS_TO_HEAR,
    )
    assert flagged(lessee, ahead, HEALED)["status"] == "PENDING"

    computes.mend()

    flagged(lessee, busy, HEALED)
    notices.wait_for("lease.healed", busy["id"])
    assert lab.slots.slots(reservation_of(busy)) == {host: 1}
