"""Leases for hosts, from start to end, with servers placed by the real nova-scheduler."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from blazarclient.exception import BlazarClientException
from cloudlab.tests.actors import Actor, Json, Operator, in_minutes, only, reservation_of
from cloudlab.tests.end_to_end_lab import RESERVABLE, EndToEndLab
from cloudlab.waiting import wait_until

SECONDS_TO_HAND_OVER = 60


def test_a_reserved_host_is_for_its_lessee_and_for_nobody_else(
    operator: Operator, lessee: Actor, other: Actor
) -> None:
    lease = lessee.start(resource_properties=only("node-2"))
    reservation = reservation_of(lease)
    assert operator.hosts_of(lease) == {"node-2"}
    assert set(operator.freepool()["hosts"]) == set(RESERVABLE) - {"node-2"}

    mine = lessee.boot(reservation=reservation)
    theirs = other.boot(reservation=reservation)
    ordinary = lessee.boot()

    assert lessee.wait_for_server(mine) == "ACTIVE"
    assert operator.host_of_server(mine) == "node-2"
    assert other.wait_for_server(theirs) == "ERROR"
    assert lessee.wait_for_server(ordinary) == "ACTIVE"
    assert operator.host_of_server(ordinary) in {"node-4", "node-5"}

    lessee.end(lease)
    assert lessee.is_gone(mine)
    assert not lessee.is_gone(ordinary)
    assert reservation not in operator.aggregates()
    assert "node-2" in operator.freepool()["hosts"]


def test_an_active_lease_shrinks_to_the_hosts_with_servers(
    operator: Operator, lessee: Actor, other: Actor
) -> None:
    lease = lessee.start(hosts=2)
    reservation = reservation_of(lease)
    server = lessee.boot(reservation=reservation)
    assert lessee.wait_for_server(server) == "ACTIVE"
    busy = operator.host_of_server(server)
    (released,) = operator.hosts_of(lease) - {busy}

    changes = [{"id": reservation, "min": 1, "max": 1}]
    lessee.reservations.put(f"/leases/{lease['id']}", json={"reservations": changes})

    assert operator.hosts_of(lease) == {busy}
    assert released in operator.freepool()["hosts"]
    another = other.start(resource_properties=only(released))
    assert operator.hosts_of(another) == {released}
    for actor, each in ((lessee, lease), (other, another)):
        actor.end(each)
    assert lessee.is_gone(server)


@pytest.mark.long
def test_hosts_are_handed_over_from_lease_to_lease_by_themselves(
    operator: Operator, lessee: Actor, other: Actor
) -> None:
    """Four leases at once, to save time: the test waits for their dates, three minutes in total."""
    before_end, end = in_minutes(2), in_minutes(3)
    first = lessee.reserve(
        end=end, before_end_date=before_end, resource_properties=only("node-3"), before_end="snapshot"
    )
    second = other.reserve(start=end, end=end + timedelta(hours=1), resource_properties=only("node-3"))
    extended = lessee.reserve(end=end, resource_properties=only("node-10"))
    shortened = lessee.reserve(resource_properties=only("node-1"))
    for lease in (first, extended, shortened):
        lessee.wait_for_lease(lease, "ACTIVE")
    in_first = lessee.boot(reservation=reservation_of(first))
    in_extended = lessee.boot(reservation=reservation_of(extended))
    assert {lessee.wait_for_server(each) for each in (in_first, in_extended)} == {"ACTIVE"}
    snapshot = f"reserved_{(lessee.server(in_first) or {})['name']}"

    lessee.blazar.lease.update(extended["id"], end_date=end + timedelta(hours=1))
    # In any case, more than a minute is left.
    soon = in_minutes(2)
    surplus = datetime.fromisoformat(shortened["end_date"]).replace(tzinfo=UTC) - soon
    lessee.blazar.lease.update(shortened["id"], reduce_by=f"{surplus // timedelta(minutes=1)}m")
    assert lessee.status(extended) == lessee.status(shortened) == "ACTIVE"

    lessee.wait_for_lease(shortened, "TERMINATED", seconds=seconds_until(soon) + SECONDS_TO_HAND_OVER)
    assert snapshots(lessee, snapshot) == [] or now() >= before_end
    wait_until(
        lambda: len(snapshots(lessee, snapshot)) == 1, "a snapshot is there", seconds=seconds_until(end)
    )
    assert snapshots(other, snapshot) == []

    lessee.wait_for_lease(first, "TERMINATING", seconds=seconds_until(end) + SECONDS_TO_HAND_OVER)
    assert not lessee.is_gone(in_first), "the server was deleted before its image had any data"
    upload(lessee, *snapshots(lessee, snapshot))
    lessee.wait_for_lease(first, "TERMINATED", seconds=SECONDS_TO_HAND_OVER)
    other.wait_for_lease(second, "ACTIVE")
    assert lessee.is_gone(in_first)
    assert operator.hosts_of(second) == {"node-3"}
    assert len(snapshots(lessee, snapshot)) == 1
    in_second = other.boot(reservation=reservation_of(second))
    assert other.wait_for_server(in_second) == "ACTIVE"
    assert operator.host_of_server(in_second) == "node-3"

    assert lessee.status(extended) == "ACTIVE"
    assert not lessee.is_gone(in_extended)
    assert operator.hosts_of(extended) == {"node-10"}
    lessee.images.delete(f"/v2/images/{snapshots(lessee, snapshot)[0]}")


def test_a_lease_that_grows_keeps_its_server_and_gets_another_host_for_a_reported_one(
    lab: EndToEndLab, operator: Operator, lessee: Actor, other: Actor
) -> None:
    lease = lessee.start()
    reservation = reservation_of(lease)
    server = lessee.boot(reservation=reservation)
    assert lessee.wait_for_server(server) == "ACTIVE"
    home = str(operator.host_of_server(server))

    lessee.blazar.lease.update(lease["id"], reservations=[{"id": reservation, "min": 3, "max": 3}])
    wait_until(
        lambda: len(operator.hosts_of(lease)) == 3, "two more hosts come", seconds=SECONDS_TO_HAND_OVER
    )
    grown = operator.hosts_of(lease)
    broken, _ = sorted(grown - {home})
    (spare,) = {*RESERVABLE} - grown

    assert status_of_report(other, lease, broken) == 403
    assert status_of_report(lessee, lease, home) == 409
    lessee.blazar.lease.replace(lease["id"], [broken], "no network")
    changed = grown - {broken} | {spare}
    wait_until(lambda: operator.hosts_of(lease) == changed, "it is replaced", seconds=SECONDS_TO_HAND_OVER)
    assert broken in operator.freepool()["hosts"]
    # The lease never gets a reported host again, and no other one is free.
    assert status_of_report(lessee, lease, spare) == 409

    assert operator.hosts_of(lease) == changed
    assert f"{broken}: no network" in lab.history(lease["id"])
    assert lessee.status(lease) == "ACTIVE"
    assert not lessee.is_gone(server)


def status_of_report(actor: Actor, lease: Json, host: str) -> int:
    """Return the status with which the report of a broken host is refused."""
    with pytest.raises(BlazarClientException) as refusal:
        actor.blazar.lease.replace(lease["id"], [host], "no network")
    return int(refusal.value.code)


def snapshots(actor: Actor, name: str) -> list[str]:
    """Return the ids of an actor's own images of this name."""
    query = {"name": name, "owner": actor.project_id}
    return [each["id"] for each in actor.images.get("/v2/images", params=query).json()["images"]]


def upload(actor: Actor, image_id: str) -> None:
    """Complete a snapshot as a hypervisor would. Nova's fake driver uploads nothing, so it stays queued."""
    image = f"/v2/images/{image_id}"
    formats = {"disk_format": "raw", "container_format": "bare"}
    actor.images.patch(
        image,
        json=[{"op": "replace", "path": f"/{key}", "value": value} for key, value in formats.items()],
        headers={"Content-Type": "application/openstack-images-v2.1-json-patch"},
    )
    actor.images.put(f"{image}/file", data=b"snapshot", headers={"Content-Type": "application/octet-stream"})


def now() -> datetime:
    return datetime.now(UTC)  # noqa: TID251


def seconds_until(instant: datetime) -> float:
    return max(0.0, (instant - now()).total_seconds())
