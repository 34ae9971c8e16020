"""Slots that several requests want at once, and slots that change hands while in use."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from reconcile.lab import LESSEE, Lab
from reconcile.parts import Asked, Conditions, lease_body
from reconcile.slots import boot, fill, instances, revise, slots_by_host
from samples import spec_of

from blazar.cloud.simulated.faults import FaultKind, FaultRule
from blazar.domain.errors import (
    CannotChange,
    CloudConflict,
    CloudUnavailable,
    ConcurrentUpdate,
    NotEnoughHosts,
)
from blazar.domain.lease import LeaseStatus

HOUR = timedelta(hours=1)


def fails(lab: Lab, operation: str, status: int) -> None:
    lab.cloud.faults.add(FaultRule(kind=FaultKind.STATUS, status=status, operation=operation))


def ask(lab: Lab, start: float, end: float, *asked: Asked) -> None:
    """Request a lease once, without the lab's retries."""
    lab.manager.service.create_lease(LESSEE, lease_body("asked", lab.date(start), lab.date(end), *asked))


def test_what_an_earlier_reservation_relied_on_must_still_hold_when_a_later_one_looked_again(
    lab: Lab,
) -> None:
    lab.reset(Conditions(hosts=1))
    disk = instances(1, vcpus=1, memory_mb=1, disk_gb=501)  # of 1,000 GB
    vcpus = instances(1, vcpus=8, memory_mb=1, disk_gb=0)
    full, other = lab.create("full", 5, 6, instances(3)), lab.new_manager()
    index: Any = lab.manager.context.indexes["host"]
    refresh = index._refresh

    def refresh_and_be_overtaken(reader: object) -> None:
        index._refresh = refresh
        refresh(reader)
        body = lease_body("theirs", lab.date(1), lab.date(2), disk)
        other.service.create_lease(LESSEE, body)
        other.service.delete_lease(LESSEE, full)

    index._refresh = refresh_and_be_overtaken
    with pytest.raises(NotEnoughHosts):
        ask(lab, 1, 6, disk, vcpus)

    assert [each.name for each in lab.leases()] == ["theirs"]


class TestGivingUp:
    def test_a_slot_is_gone_before_others_are_promised_it(self, lab: Lab) -> None:
        lab.reset(Conditions(hosts=1))
        lease = lab.create("a", 0, 4, instances(4))
        lab.at(1)

        revise(lab, lease, amount=1)
        assert len(fill(lab, lease)) == 1
        follower = lab.create("b", "now", 4, instances(3))
        lab.at(1.5)

        assert len(fill(lab, follower)) == 3

    def test_nothing_changes_while_placement_does_not_take_it_away(self, lab: Lab) -> None:
        lab.reset(Conditions(hosts=2))
        lease = lab.create("a", 0, 4, instances(8))
        lab.at(1)
        before = lab.world().allocations
        body = {"reservations": [{"id": lab.lease(lease).reservations[0].id, "amount": 4}]}
        fails(lab, "placement.delete_inventory", 503)

        with pytest.raises(CloudUnavailable):
            lab.manager.service.update_lease(LESSEE, lease, body)

        assert lab.world().allocations == before
        lab.cloud.faults.clear()
        lab.at(1.1)
        assert sum(slots_by_host(lab, lab.lease(lease).reservations[0]).values()) == 8

    def test_a_server_that_comes_in_between_keeps_its_slot(self, lab: Lab) -> None:
        lab.reset(Conditions(hosts=1))
        lease = lab.create("a", 0, 4, instances(4))
        lab.at(1)
        lab.faults.before("placement.put_inventories", lambda: fill(lab, lease))

        with pytest.raises(CannotChange, match="amount"):
            revise(lab, lease, amount=1)

        lab.at(1.1)
        assert sum(slots_by_host(lab, lab.lease(lease).reservations[0]).values()) == 4
        assert len(lab.servers()) == 4

    def test_it_is_cleaned(self, lab: Lab) -> None:
        lab.reset(Conditions(hosts=1, cleaning_time=HOUR / 2))
        lease = lab.create("a", 0, 4, instances(4))
        lab.at(1)
        for each in fill(lab, lease):
            lab.remove_server(each)

        revise(lab, lease, amount=1)
        with pytest.raises(NotEnoughHosts):
            ask(lab, 1.4, 4, instances(3))

        ask(lab, 1.6, 4, instances(3))


class TestCleaning:
    def test_slots_that_are_being_cleaned_count_beside_those_in_use(self, lab: Lab) -> None:
        lab.reset(Conditions(hosts=1, cleaning_time=HOUR))
        lab.create("a", 0, 1, instances(2))
        lab.create("b", 1, 2, instances(2))

        with pytest.raises(NotEnoughHosts):
            ask(lab, 1, 2, instances(1))

    def test_slots_are_not_given_before_two_that_need_them_clean(self, lab: Lab) -> None:
        lab.reset(Conditions(hosts=1, cleaning_time=HOUR))
        lab.create("a", 1, 2, instances(2))
        lab.create("b", 1, 2, instances(2))

        with pytest.raises(NotEnoughHosts):
            ask(lab, 0, 1, instances(1))


class TestGroups:
    def test_one_that_is_tried_again_while_it_is_taken_back_has_a_group(self, lab: Lab) -> None:
        lab.reset(Conditions(hosts=2))
        lease = lab.create("a", 1, 4, instances(2, affinity=True))
        fails(lab, "placement.create_resource_class", 400)

        def try_again() -> None:
            lab.cloud.faults.clear()
            assert lab.lease(lease).status is LeaseStatus.ERROR
            revise(lab, lease, vcpus=2)

        lab.faults.before("compute.delete_server_group", try_again)
        lab.at(1.5)

        (group,) = lab.cloud.compute.list_server_groups()
        assert spec_of(lab.lease(lease).reservations[0]).server_group_id == group.id

    def test_the_group_of_an_attempt_that_was_overtaken_is_deleted(self, lab: Lab) -> None:
        lab.reset(Conditions(hosts=2))
        lease = lab.create("a", 10, 14, instances(2, affinity=True))
        body = {"reservations": [{"id": lab.lease(lease).reservations[0].id, "affinity": False}]}
        other = lab.new_manager()

        lab.store.overtake(lambda: other.service.update_lease(LESSEE, lease, body))
        lab.manager.service.update_lease(LESSEE, lease, body)

        (group,) = lab.cloud.compute.list_server_groups()
        assert spec_of(lab.lease(lease).reservations[0]).server_group_id == group.id


@pytest.mark.parametrize("sizes", [(1, 3), (3, 1)])
def test_two_reservations_of_a_lease_may_change_places(lab: Lab, sizes: tuple[int, int]) -> None:
    lab.reset(Conditions(hosts=1))
    lease = lab.create("a", 10, 14, *(instances(each) for each in sizes))
    one, two = lab.lease(lease).reservations

    changes = [{"id": one.id, "amount": sizes[1]}, {"id": two.id, "amount": sizes[0]}]
    lab.update(lease, reservations=changes)

    assert [spec_of(each).amount for each in lab.lease(lease).reservations] == [sizes[1], sizes[0]]


class TestOverdue:
    """The end of a lease with a server that cannot be deleted."""

    def stuck(self, lab: Lab, hosts: int) -> None:
        lab.reset(Conditions(hosts=hosts))
        lease = lab.create("a", 0, 1, instances(1))
        lab.run_until(0.5)
        boot(lab, lab.lease(lease).reservations[0])
        fails(lab, "compute.delete_server", 409)

    def test_what_fits_beside_it_starts(self, lab: Lab) -> None:
        self.stuck(lab, hosts=1)
        before = lab.create("b", 1, 4, instances(1))
        lab.run_until(1.1)
        late = lab.create("c", "now", 4, instances(1))
        lab.run_until(1.2)

        assert {lab.lease(each).status for each in (before, late)} == {LeaseStatus.ACTIVE}

    def test_what_needs_its_room_waits_for_it(self, lab: Lab) -> None:
        self.stuck(lab, hosts=1)
        lease = lab.create("b", 1, 4, instances(4))
        lab.run_until(1.1)
        assert lab.lease(lease).status is LeaseStatus.STARTING

        lab.cloud.faults.clear()
        lab.at(1.2)
        assert lab.lease(lease).status is LeaseStatus.ACTIVE


def test_one_server_that_cannot_go_does_not_keep_the_others(lab: Lab) -> None:
    lab.reset(Conditions(hosts=1))
    lease = lab.create("a", 0, 1, instances(3))
    lab.run_until(0.5)
    fill(lab, lease)
    rule = FaultRule(
        kind=FaultKind.ERROR, operation="compute.delete_server", error=CloudConflict, every=3, times=1
    )
    lab.cloud.faults.add(rule)

    lab.run_until(1.0001)

    assert len(lab.servers()) <= 1
    lab.at(1.1)


def test_a_lease_that_is_due_but_was_not_begun_can_be_changed_like_one_ahead(lab: Lab) -> None:
    lab.reset(Conditions(hosts=2))
    lease = lab.create("a", "now", 4, instances(3, affinity=True))

    revise(lab, lease, amount=2, vcpus=8)
    lab.at(0.1)

    assert len(fill(lab, lease)) == 2


def test_the_group_of_a_faster_rival_is_deleted_with_its_reservation(lab: Lab) -> None:
    lab.reset(Conditions(hosts=2))
    lease = lab.create("a", 10, 14, instances(2))
    reservation_id = lab.lease(lease).reservations[0].id
    other = lab.new_manager()

    def body(affinity: bool) -> dict[str, Any]:
        return {"reservations": [{"id": reservation_id, "affinity": affinity}]}

    lab.store.overtake(lambda: other.service.update_lease(LESSEE, lease, body(affinity=False)))
    lab.manager.service.update_lease(LESSEE, lease, body(affinity=True))

    (group,) = lab.cloud.compute.list_server_groups()
    assert spec_of(lab.lease(lease).reservations[0]).server_group_id == group.id


def test_a_pass_under_way_does_not_put_back_what_a_request_gives_up(lab: Lab) -> None:
    lab.reset(Conditions(hosts=1))
    lease = lab.create("a", 0, 4, instances(2))
    lab.at(1)
    reservation_id = lab.lease(lease).reservations[0].id
    other, refused = lab.new_manager(), []

    def shrink() -> None:
        body = {"reservations": [{"id": reservation_id, "amount": 1}]}
        try:
            other.service.update_lease(LESSEE, lease, body)
        except ConcurrentUpdate as error:
            refused.append(error)

    lab.update(lease, reservations=[{"id": reservation_id, "amount": 4}])
    lab.faults.before("placement.put_inventories", shrink)
    lab.at(1.1)

    assert refused
    assert sum(slots_by_host(lab, lab.lease(lease).reservations[0]).values()) == 4


def test_a_request_that_takes_too_long_to_give_something_up_begins_again(lab: Lab) -> None:
    lab.reset(Conditions(hosts=1))
    lease = lab.create("a", 0, 4, instances(4))
    lab.at(1)
    other = lab.new_manager()

    def fall_asleep() -> None:
        # Another manager restores the slots that were released so far, and the lessee uses them.
        lab.jump(1.1)
        other.reconciler.run_due(9)
        fill(lab, lease)

    # The first count finds no slot in use; the second one is made after the inventory has shrunk.
    lab.faults.before("placement.put_inventories", fall_asleep)
    with pytest.raises(CannotChange):
        revise(lab, lease, amount=1)

    lab.at(1.2)
    assert sum(slots_by_host(lab, lab.lease(lease).reservations[0]).values()) == 4
    assert len(lab.servers()) == 4


def test_a_host_that_is_gone_for_good_puts_its_reservation_into_error(lab: Lab) -> None:
    lab.reset(Conditions(hosts=1))
    lease = lab.create("a", 1, 9, instances(2))
    lab.run_until(0.5)
    lab.cloud.remove_hypervisor("host-1")

    lab.run_until(2)

    assert lab.lease(lease).status is LeaseStatus.ERROR
    assert lab.lease(lease).reservations[0].problem


def test_growth_is_not_refused_for_what_ended_long_ago(lab: Lab) -> None:
    lab.reset(Conditions(hosts=1, cleaning_time=timedelta(minutes=5)))
    lab.create("old", 1, 2, instances(2))
    lease = lab.create("a", 0, 10, instances(2))
    lab.run_until(2.9)

    revise(lab, lease, amount=4)

    assert spec_of(lab.lease(lease).reservations[0]).amount == 4
