"""Leases for the capacity of storage pools and for whole pools, on the real Cinder."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import pytest

from blazarclient.exception import BlazarClientException
from cloudlab import cinder
from cloudlab.tests.actors import Actor, Operator, in_minutes
from cloudlab.tests.end_to_end_lab import EndToEndLab
from cloudlab.tests.failures import start_and_end_despite_outage
from cloudlab.tests.storage import POOL, SIZE, Storage, VolumeUser
from cloudlab.waiting import wait_until

DATA = b"what the lessee wrote"


@pytest.fixture
def served(storage: Storage) -> Iterator[Storage]:
    """Return the same, with a service that may act in all projects."""
    storage.serve_all_projects()
    yield storage
    storage.serve_no_project()


@pytest.fixture
def user(lessee: Actor) -> VolumeUser:
    return VolumeUser(lessee, "lessee")


@pytest.fixture
def stranger(other: Actor) -> VolumeUser:
    return VolumeUser(other, "other")


def write(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(DATA)


def read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(len(DATA))


def test_volumes_are_in_the_reserved_pool_and_within_its_size(
    storage: Storage, lessee: Actor, user: VolumeUser, stranger: VolumeUser
) -> None:
    lease = user.reserve(4)
    lessee.wait_for_lease(lease, "ACTIVE")
    name = storage.only_type()

    first, second = user.create(3, name), user.create(1, name)

    assert {storage.pool_of(each) for each in (first, second)} == {cinder.pool_name(*POOL)}
    assert user.request(1, name) == 413
    assert stranger.request(1, name) == 404
    assert stranger.request(1, storage.types()[name]["id"]) == 404
    listed = stranger.cinder.get("/types").json()["volume_types"]
    assert [each["name"] for each in listed] == [cinder.ORDINARY_TYPE]
    lessee.end_now(lease)
    assert storage.volumes() == {}
    assert user.request(1, name) == 404


def test_capacity_grows_and_shrinks_but_not_below_its_use(
    storage: Storage, lessee: Actor, user: VolumeUser
) -> None:
    lease = user.reserve(2)
    lessee.wait_for_lease(lease, "ACTIVE")
    name = storage.only_type()
    user.create(2, name)
    reservation = lease["reservations"][0]["id"]

    def change(gibibytes: int) -> None:
        wanted = [{"id": reservation, "gibibytes": gibibytes}]
        lessee.blazar.lease.update(lease["id"], reservations=wanted)

    change(4)
    wait_until(lambda: isinstance(user.request(2, name), str), "there is room for 2 GiB more", seconds=60)
    with pytest.raises(BlazarClientException, match="4") as refusal:
        change(3)
    assert refusal.value.code == 409
    lessee.end_now(lease)


def test_attached_volumes_end_with_their_snapshots_and_backups_stay(
    storage: Storage, lessee: Actor, user: VolumeUser
) -> None:
    """Meanwhile, the lessee adds volumes for as long as the type can be used."""
    lease = user.reserve(8)
    lessee.wait_for_lease(lease, "ACTIVE")
    name = storage.only_type()
    volume = user.create(1, name)
    user.post("/snapshots", {"snapshot": {"volume_id": volume, "name": "mine"}})
    wait_until(lambda: _is_snapshotted(user), "the snapshot is complete", seconds=60)
    backup = user.post("/backups", {"backup": {"volume_id": volume, "name": "mine"}})["backup"]["id"]
    user.wait_for(volume, "available")
    server = user.attach(volume)

    with ThreadPoolExecutor() as threads:
        adding = [threads.submit(user.add_until_gone, name) for _ in range(2)]
        wait_until(lambda: len(storage.volumes()) > 1, "a volume is added", seconds=60)
        lessee.reservations.put(f"/leases/{lease['id']}", json={"end_date": "now"})
        assert sum(each.result() for each in adding) > 0
    lessee.wait_for_lease(lease, "TERMINATED")

    assert storage.volumes() == {}
    found = user.cinder.get(f"/backups/{backup}").json()["backup"]
    assert (found["status"], found["volume_id"]) == ("available", volume)
    assert lessee.wait_for_server(server) == "ACTIVE"


@pytest.mark.parametrize(("action", "status"), [("suspend", "SUSPENDED"), ("rescue", "RESCUE")])
def test_a_server_in_a_state_without_detachments_does_not_keep_a_volume(
    storage: Storage, lessee: Actor, user: VolumeUser, action: str, status: str
) -> None:
    lease = user.reserve(4)
    lessee.wait_for_lease(lease, "ACTIVE")
    server = user.attach(user.create(1, storage.only_type()))
    lessee.compute.post(f"/servers/{server}/action", json={action: None})
    wait_until(
        lambda: (lessee.server(server) or {}).get("status") == status, f"{action} is complete", seconds=60
    )

    lessee.end_now(lease)

    assert storage.volumes() == {}
    assert lessee.wait_for_server(server) == "ACTIVE"


def _is_snapshotted(user: VolumeUser) -> bool:
    found = user.cinder.get("/snapshots").json()["snapshots"]
    return [each["status"] for each in found] == ["available"]


def test_what_a_lessee_does_to_his_volumes_does_not_keep_the_capacity(
    storage: Storage, lessee: Actor, operator: Operator, user: VolumeUser
) -> None:
    """The lessee renames one, starts a transfer, makes groups with the type, and moves one out of the pool.

    Two are reserved for attachments that are never made. One of the groups has another type, too: even if
    Cinder finds no back end for it, the group keeps the type.
    """
    lease = user.reserve(6)
    lessee.wait_for_lease(lease, "ACTIVE")
    name = storage.only_type()
    renamed, given, grouped, moved, reserved, attaching = (user.create(1, name) for _ in range(6))
    user.cinder.put(f"/volumes/{renamed}", json={"volume": {"name": "reservation:x", "metadata": {"a": "b"}}})
    kind = operator.volumes.post(
        "/group_types", json={"group_type": {"name": "any"}}, microversion="3.13"
    ).json()["group_type"]["id"]
    try:
        body = {"name": "mine", "group_type": kind, "volume_types": [storage.types()[name]["id"]]}
        groups = [user.post("/groups", {"group": body})["group"]["id"] for _ in range(2)]
        ordinary = user.cinder.get("/types").json()["volume_types"]
        shared = {**body, "volume_types": [each["id"] for each in ordinary]}
        mixed = user.post("/groups", {"group": shared})["group"]["id"]
        wait_until(lambda: _are_available(user, groups), "the groups are available", seconds=60)
        change = {"group": {"add_volumes": grouped}}
        user.cinder.put(f"/groups/{groups[0]}", json=change, microversion="3.13")
        assert user.act(moved, os_retype={"new_type": cinder.ORDINARY_TYPE, "migration_policy": "on-demand"})
        user.wait_for(moved, "available")
        user.post("/os-volume-transfer", {"transfer": {"volume_id": given, "name": "last minute"}})
        assert user.act(attaching, os_reserve=None) == 202
        user.post("/attachments", {"attachment": {"volume_uuid": reserved, "instance_uuid": str(uuid4())}})

        lessee.end_now(lease)

        assert storage.volumes().keys() == {moved}
        assert storage.pool_of(moved) != cinder.pool_name(*POOL)
        assert storage.types().keys() == {name}
        delete = {"delete": {"delete-volumes": False}}
        user.cinder.post(f"/groups/{mixed}/action", json=delete, microversion="3.13")
        wait_until(lambda: not storage.types(), "the sweep deletes the type", seconds=240)
    finally:
        operator.volumes.delete(f"/group_types/{kind}", microversion="3.13", raise_exc=False)


def _are_available(user: VolumeUser, groups: list[str]) -> bool:
    found = [user.cinder.get(f"/groups/{each}", microversion="3.13").json()["group"] for each in groups]
    return all(each["status"] == "available" for each in found)


def test_retained_volumes_keep_their_data_under_the_ordinary_type(
    storage: Storage, lessee: Actor, user: VolumeUser
) -> None:
    lease = user.reserve(2, end_action="retain")
    lessee.wait_for_lease(lease, "ACTIVE")
    one, attached = (user.create(1, storage.only_type()) for _ in range(2))
    for each in (one, attached):
        write(storage.file(each))
    user.attach(attached)

    lessee.end_now(lease)

    # Cinder deletes the former copies of moved volumes later.
    wait_until(lambda: storage.volumes().keys() == {one, attached}, "only these volumes exist", seconds=60)
    found = storage.volumes()
    for each in (one, attached):
        assert (found[each]["volume_type"], found[each]["status"]) == (cinder.ORDINARY_TYPE, "available")
        assert storage.pool_of(each) == cinder.pool_name("shared", "all")
        assert read(storage.file(each)) == DATA
    # Cinder still counts them in the pool that they have left, which can be reserved as a whole all the same.
    whole = user.reserve_whole()
    lessee.wait_for_lease(whole, "ACTIVE")
    lessee.end(whole)


def test_frozen_volumes_cannot_be_used_and_keep_their_data(
    storage: Storage, lessee: Actor, user: VolumeUser
) -> None:
    lease = user.reserve(2, end_action="freeze")
    lessee.wait_for_lease(lease, "ACTIVE")
    name = storage.only_type()
    volume = user.create(1, name)
    write(storage.file(volume))
    user.attach(volume)

    lessee.reservations.put(f"/leases/{lease['id']}", json={"end_date": "now"})
    user.wait_for(volume, "available")

    assert lessee.status(lease) == "TERMINATING"
    assert user.request(1, name) == 404
    assert user.act(volume, os_extend={"new_size": 2}) == 404
    assert read(storage.file(volume)) == DATA
    with pytest.raises(BlazarClientException, match="Not enough"):
        user.reserve(SIZE)
    storage.delete_volume(volume)
    lessee.end(lease)


def test_a_whole_pool_is_for_one_lease(
    storage: Storage, lessee: Actor, user: VolumeUser, stranger: VolumeUser
) -> None:
    storage.wait_until_reported_free(*POOL)
    lease = user.reserve_whole()
    lessee.wait_for_lease(lease, "ACTIVE")

    volume = user.create(SIZE, storage.only_type())

    assert storage.pool_of(volume) == cinder.pool_name(*POOL)
    with pytest.raises(BlazarClientException, match="Not enough"):
        stranger.reserve(1)
    with pytest.raises(BlazarClientException, match="Not enough"):
        stranger.reserve_whole()
    lessee.end_now(lease)
    assert storage.volumes() == {}


def test_pools_that_do_not_exist_or_are_used_are_not_registered(
    storage: Storage, operator: Operator, user: VolumeUser
) -> None:
    def status_of(name: str, **keys: object) -> int:
        with pytest.raises(BlazarClientException) as refusal:
            operator.blazar.storage_pool.create(name, **keys)
        return int(refusal.value.code)

    shared = cinder.pool_name("shared", "all")
    volume = user.create(2, cinder.ORDINARY_TYPE)

    assert status_of(cinder.pool_name("fast", "none")) == 400
    assert status_of(cinder.pool_name(*POOL)) == 409
    assert status_of(shared, gibibytes=99) == 409
    assert status_of(shared, gibibytes=101) == 400
    assert status_of(shared, gibibytes=0) == 400
    assert status_of(shared, sole_use=True) == 409
    storage.delete_volume(volume)


def test_volumes_are_created_at_the_start_and_backed_up_before_the_end(
    served: Storage, lessee: Actor, user: VolumeUser
) -> None:
    image = lessee.openstack.details.image_id
    wanted = [{"size": 1, "name": "from-image", "image": image}, {"size": 2, "name": "empty"}]
    lease = user.reserve(3, volumes=wanted, before_end="snapshot")
    lessee.wait_for_lease(lease, "ACTIVE")
    found = {each["name"]: each for each in served.volumes().values()}
    assert {name: each["size"] for name, each in found.items()} == {"from-image": 1, "empty": 2}
    for each in found.values():
        assert each["os-vol-tenant-attr:tenant_id"] == lessee.project_id
        user.wait_for(each["id"], "available")
    write(served.file(found["empty"]["id"]))

    # Cinder makes one backup after the other, on processors that two labs share with other tests.
    lessee.end_now(lease, seconds=180)

    assert served.volumes() == {}
    backups = user.cinder.get("/backups/detail").json()["backups"]
    assert {each["volume_id"] for each in backups} == {each["id"] for each in found.values()}
    assert {each["status"] for each in backups} == {"available"}


@pytest.mark.long
def test_cinder_away_for_half_a_minute_only_delays_start_and_end(
    lab: EndToEndLab, storage: Storage, lessee: Actor, user: VolumeUser
) -> None:
    start_and_end_despite_outage(
        lab.openstack.service("cinder"),
        lessee,
        lambda: user.reserve(2),
        lambda: user.create(1, storage.only_type()),
    )
    assert storage.volumes() == {}


def test_a_warning_before_the_end_names_volumes_that_cannot_be_kept(
    storage: Storage, lab: EndToEndLab, lessee: Actor, user: VolumeUser
) -> None:
    lease = user.reserve(3, end_action="retain", end=in_minutes(120))
    lessee.wait_for_lease(lease, "ACTIVE")
    volume = user.create(1, storage.only_type())
    user.post("/snapshots", {"snapshot": {"volume_id": volume, "name": "mine"}})
    wait_until(lambda: _is_snapshotted(user), "the snapshot is complete", seconds=60)

    lessee.blazar.lease.update(lease["id"], before_end_date=in_minutes(1))
    wait_until(lambda: volume in lab.history(lease["id"]), "the history names the volume", seconds=120)

    lessee.blazar.lease.update(lease["id"], reservations=[{"id": _only(lease), "end_action": "delete"}])
    lessee.end_now(lease)


def _only(lease: dict[str, list[dict[str, str]]]) -> str:
    (reservation,) = lease["reservations"]
    return reservation["id"]
