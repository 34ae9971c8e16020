"""Imported leases continue in the cloud as the existing service left it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import sqlalchemy as sa
from clocks import ManualClock
from importer.conftest import ContextOn
from importer.old_cloud import FREEPOOL, PROJECT, OldCloud
from installation import OldInstallation, floatingips, hosts, id_of

from blazar.cloud.simulated import SimulatedCloud
from blazar.db.old_service.reader import SqlOldService
from blazar.domain.lease import LeaseStatus, ReservationStatus
from blazar.plugins.hosts.refresh import refresh_hosts
from blazar.ports.manager import Caller
from blazar.reconcile.sweep import find_leftovers

KINDS = ("hosts", "instances", "flavors", "floatingips")
LESSEE = Caller(user_id="user", project_id=PROJECT)


@pytest.fixture
def old(
    cloud: SimulatedCloud,
    clock: ManualClock,
    installation: OldInstallation,
    context_on: ContextOn,
    sqlite: sa.Engine,
    write_old: Callable[[OldInstallation], SqlOldService],
) -> OldCloud:
    return OldCloud(cloud, clock, installation, context_on(sqlite), write_old)


@pytest.mark.parametrize("kind", KINDS)
class TestEachType:
    def test_what_runs_is_recognised_left_as_it_is_and_ended_in_time(self, old: OldCloud, kind: str) -> None:
        asked = old.asked(kind, "a")
        reservation_id = old.lease("a", -2, 3, asked, "ACTIVE")
        old.create(kind, reservation_id, asked)
        old.start(kind, reservation_id)
        if kind != "floatingips":
            old.boot(kind, reservation_id)
        before = old.objects()

        old.import_database()
        old.run_until(2)

        assert old.status("a") is LeaseStatus.ACTIVE
        assert old.objects() == before
        assert find_leftovers(old.context) == ()

        old.run_until(4)

        assert old.status("a") is LeaseStatus.TERMINATED
        old.check_nothing_left()

    def test_what_is_ahead_starts_at_its_time_and_ends(self, old: OldCloud, kind: str) -> None:
        asked = old.asked(kind, "a")
        reservation_id = old.lease("a", 2, 4, asked, "PENDING")
        old.create(kind, reservation_id, asked)
        before = old.objects()

        old.import_database()
        old.run_until(1)

        assert old.status("a") is LeaseStatus.PENDING
        assert old.objects() == before
        assert find_leftovers(old.context) == ()

        old.run_until(3)

        assert old.status("a") is LeaseStatus.ACTIVE
        if kind != "floatingips":
            old.boot(kind, reservation_id)

        old.run_until(5)

        assert old.status("a") is LeaseStatus.TERMINATED
        old.check_nothing_left()

    def test_what_is_ahead_can_be_deleted(self, old: OldCloud, kind: str) -> None:
        asked = old.asked(kind, "a")
        old.create(kind, old.lease("a", 200, 400, asked, "PENDING"), asked)
        old.import_database()

        old.service.delete_lease(LESSEE, id_of("a"))
        old.run_until(1)

        assert old.found("a") is None
        old.check_nothing_left()

    def test_one_that_was_deleted_half_is_deleted(self, old: OldCloud, kind: str) -> None:
        asked = old.asked(kind, "a")
        options = {"events": ("DONE", "IN_PROGRESS"), "reserved": "active"}
        reservation_id = old.lease("a", -2, 3, asked, "DELETING", **options)
        old.create(kind, reservation_id, asked)
        old.start(kind, reservation_id)

        old.import_database()
        old.run_until(1)

        assert old.found("a") is None
        old.check_nothing_left()

    def test_one_that_was_made_half_is_taken_back(self, old: OldCloud, kind: str) -> None:
        asked = old.asked(kind, "a")
        old.create(kind, old.lease("a", 200, 400, asked, "CREATING"), asked)

        old.import_database()
        old.run_until(1)

        assert old.found("a") is None
        old.check_nothing_left()

    @pytest.mark.parametrize("is_handed_over", [False, True])
    def test_one_that_was_started_half_starts(self, old: OldCloud, kind: str, is_handed_over: bool) -> None:
        asked = old.asked(kind, "a")
        reservation_id = old.lease("a", -2, 3, asked, "STARTING")
        old.create(kind, reservation_id, asked)
        if is_handed_over:
            old.start(kind, reservation_id)

        old.import_database()
        old.run_until(1)

        assert old.status("a") is LeaseStatus.ACTIVE
        old.run_until(4)
        old.check_nothing_left()

    @pytest.mark.parametrize("status", ["TERMINATING", "ERROR", "ACTIVE"])
    def test_one_whose_end_has_passed_ends(self, old: OldCloud, kind: str, status: str) -> None:
        asked = old.asked(kind, "a")
        events = {"ERROR": ("DONE", "ERROR"), "TERMINATING": ("DONE", "IN_PROGRESS")}.get(status)
        reservation_id = old.lease("a", -3, -1, asked, status, events=events)
        old.create(kind, reservation_id, asked)
        old.start(kind, reservation_id)

        old.import_database()
        old.run_until(1)

        assert old.status("a") is LeaseStatus.TERMINATED
        old.check_nothing_left()

    def test_one_in_error_though_its_lessee_uses_it_goes_on(self, old: OldCloud, kind: str) -> None:
        """After a failed before-end action or DELETE, the lessee's servers stay until the end."""
        asked = old.asked(kind, "a")
        reservation_id = old.lease("a", -2, 3, asked, "ERROR", events=("DONE", "IN_PROGRESS"))
        old.create(kind, reservation_id, asked)
        old.start(kind, reservation_id)
        if kind != "floatingips":
            old.boot(kind, reservation_id)
        before = old.objects()

        old.import_database()
        old.run_until(1)

        assert old.status("a") is LeaseStatus.ACTIVE
        assert old.objects() == before
        old.run_until(4)
        old.check_nothing_left()


def test_what_is_over_is_history(old: OldCloud) -> None:
    old.lease("a", -4, -2, floatingips(id_of("floating IP 0")), "TERMINATED")

    old.import_database()
    old.run_until(1)

    assert old.status("a") is LeaseStatus.TERMINATED
    old.check_nothing_left()


class TestPromisedTwice:
    def test_the_other_lease_gets_another_host_and_starts_in_time(self, old: OldCloud) -> None:
        first = old.host_id("node-1")
        for name, status in (("runs", "ACTIVE"), ("ahead", "PENDING")):
            asked = hosts(first)
            start, end = (-1.0, 6.0) if name == "runs" else (1.0, 3.0)
            old.create("hosts", old.lease(name, start, end, asked, status), asked)
        old.start("hosts", id_of("reservation 0 of runs"))

        old.import_database()
        assert old.found("ahead").reservations[0].missing_resources  # type: ignore[union-attr]
        old.run_until(2)

        assert (old.status("runs"), old.status("ahead")) == (LeaseStatus.ACTIVE, LeaseStatus.ACTIVE)
        assert not old.found("ahead").is_degraded  # type: ignore[union-attr]
        members = {each.name: each.hosts for each in old.cloud.aggregates.list_aggregates()}
        assert members[id_of("reservation 0 of runs")] == {"node-1"}
        assert members[id_of("reservation 0 of ahead")] < {"node-2", "node-3", "node-4"}
        old.run_until(7)
        old.check_nothing_left()

    def test_weakness_01_two_that_run_on_one_host_there_are_on_two_hosts_here(self, old: OldCloud) -> None:
        asked = hosts(old.host_id("node-1"))
        for name in ("a", "b"):
            old.create("hosts", old.lease(name, -1, 3, asked, "ACTIVE"), asked)
        old.start("hosts", id_of("reservation 0 of a"))

        old.import_database()
        old.run_until(1)

        assert {old.status(name) for name in ("a", "b")} == {LeaseStatus.ACTIVE}
        members = [each.hosts for each in old.cloud.aggregates.list_aggregates() if each.name != FREEPOOL]
        assert sorted(len(each) for each in members) == [1, 1]
        assert members[0] != members[1]

    def test_a_floating_ip_too(self, old: OldCloud) -> None:
        asked = floatingips(id_of("floating IP 0"), network_id=old.network_id)
        for name in ("a", "b"):
            old.lease(name, 1, 3, asked, "PENDING")

        old.import_database()
        old.run_until(2)

        assert {old.status(name) for name in ("a", "b")} == {LeaseStatus.ACTIVE}
        assert len(old.objects().floatingips) == 2
        old.run_until(4)
        old.check_nothing_left()


def test_weakness_32_an_address_of_another_project_is_not_deleted(old: OldCloud) -> None:
    old.lease("a", -3, -1, floatingips(id_of("floating IP 0"), network_id=old.network_id), "ACTIVE")
    subnet = old.cloud.networks.list_subnets(old.network_id)[0]
    stranger = old.cloud.networks.create_floating_ip(old.network_id, subnet.id, "203.0.113.201", "stranger")

    old.import_database()
    old.run_until(1)

    assert old.status("a") is LeaseStatus.TERMINATED
    assert [each.id for each in old.cloud.networks.list_floating_ips()] == [stranger.id]


def test_servers_of_a_reservation_that_cannot_be_read_are_not_deleted(old: OldCloud) -> None:
    asked = old.asked("instances", "a")
    reservation_id = old.lease("a", -2, 3, asked, "ACTIVE")
    old.create("instances", reservation_id, asked)
    old.start("instances", reservation_id)
    server_id = old.boot("instances", reservation_id)
    details = next(rows for table, rows in old.there.rows.items() if table.name == "instance_reservations")
    details.clear()

    old.import_database()
    old.run_until(4)

    assert server_id in old.objects().servers
    assert old.status("a") is LeaseStatus.TERMINATED


def test_hosts_that_were_taken_over_can_be_reserved_and_refreshed(old: OldCloud) -> None:
    old.lease("a", 1, 3, hosts(*(old.host_id(each) for each in old.host_names[:3])), "PENDING")
    old.import_database()
    body = {
        "name": "new",
        "start_date": "2031-01-01 01:00",
        "end_date": "2031-01-01 02:00",
        "reservations": [
            {
                "resource_type": "physical:host",
                "min": 1,
                "max": 4,
                "hypervisor_properties": "",
                "resource_properties": "",
            }
        ],
    }

    assert refresh_hosts(old.context, "operator").failed == {}
    lease_id = old.service.create_lease(LESSEE, body)["id"]

    with old.context.store.read() as transaction:
        held = transaction.allocations.list_booked(now=old.clock.now(), lease_id=str(lease_id))
    assert [each.resource_id for each in held] == [old.host_id("node-4")]


def test_a_reservation_of_an_unknown_type_is_in_error_until_its_lease_ends(old: OldCloud) -> None:
    asked = hosts(old.host_id("node-1"))
    old.lease("a", 1, 3, asked, "PENDING")
    for table, rows in old.there.rows.items():
        if table.name == "reservations":
            rows[0]["resource_type"] = "network"

    old.import_database()
    old.run_until(2)
    assert old.status("a") is LeaseStatus.ERROR
    assert [each["id"] for each in old.service.list_leases(LESSEE, None)] == [id_of("a")]

    old.run_until(4)
    assert old.status("a") is LeaseStatus.TERMINATED
    assert old.found("a").reservations[0].status is ReservationStatus.DELETED  # type: ignore[union-attr]
