"""Slots that several requests want at once, and slots that change hands while in use."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from reconcile.parts import Asked, Conditions, lease_body
from reconcile.reconciler_env import LESSEE, ReconcilerEnv
from reconcile.slots import boot, fill, instances, revise, slots_by_host
from samples import spec_of

from blazar.cloud.simulated.faults import FaultKind, FaultRule
from blazar.domain.errors import CannotChange, CloudConflict, CloudUnavailable, ConcurrentUpdate
from blazar.domain.lease import LeaseStatus
from blazar.plugins.hosts.errors import NotEnoughHosts

HOUR = timedelta(hours=1)


def fails(env: ReconcilerEnv, operation: str, status: int) -> None:
    env.cloud.faults.add(FaultRule(kind=FaultKind.STATUS, status=status, operation=operation))


def ask(env: ReconcilerEnv, start: float, end: float, *asked: Asked) -> None:
    """Request a lease once, without the environment's retries."""
    env.manager.service.create_lease(LESSEE, lease_body("asked", env.date(start), env.date(end), *asked))


def test_what_an_earlier_reservation_relied_on_must_still_hold_when_a_later_one_looked_again(
    env: ReconcilerEnv,
) -> None:
    env.reset(Conditions(hosts=1))
    disk = instances(1, vcpus=1, memory_mb=1, disk_gb=501)  # of 1,000 GB
    vcpus = instances(1, vcpus=8, memory_mb=1, disk_gb=0)
    full, other = env.create("full", 5, 6, instances(3)), env.new_manager()
    index: Any = env.manager.context.indexes["host"]
    refresh = index._refresh

    def refresh_and_be_overtaken(reader: object) -> None:
        index._refresh = refresh
        refresh(reader)
        body = lease_body("theirs", env.date(1), env.date(2), disk)
        other.service.create_lease(LESSEE, body)
        other.service.delete_lease(LESSEE, full)

    index._refresh = refresh_and_be_overtaken
    with pytest.raises(NotEnoughHosts):
        ask(env, 1, 6, disk, vcpus)

    assert [each.name for each in env.leases()] == ["theirs"]


class TestGivingUp:
    def test_a_slot_is_gone_before_others_are_promised_it(self, env: ReconcilerEnv) -> None:
        env.reset(Conditions(hosts=1))
        lease = env.create("a", 0, 4, instances(4))
        env.at(1)

        revise(env, lease, amount=1)
        assert len(fill(env, lease)) == 1
        follower = env.create("b", "now", 4, instances(3))
        env.at(1.5)

        assert len(fill(env, follower)) == 3

    def test_nothing_changes_while_placement_does_not_take_it_away(self, env: ReconcilerEnv) -> None:
        env.reset(Conditions(hosts=2))
        lease = env.create("a", 0, 4, instances(8))
        env.at(1)
        before = env.rows().allocations
        body = {"reservations": [{"id": env.lease(lease).reservations[0].id, "amount": 4}]}
        fails(env, "placement.delete_inventory", 503)

        with pytest.raises(CloudUnavailable):
            env.manager.service.update_lease(LESSEE, lease, body)

        assert env.rows().allocations == before
        env.cloud.faults.clear()
        env.at(1.1)
        assert sum(slots_by_host(env, env.lease(lease).reservations[0]).values()) == 8

    def test_a_server_that_comes_in_between_keeps_its_slot(self, env: ReconcilerEnv) -> None:
        env.reset(Conditions(hosts=1))
        lease = env.create("a", 0, 4, instances(4))
        env.at(1)
        env.faults.before("placement.put_inventories", lambda: fill(env, lease))

        with pytest.raises(CannotChange, match="amount"):
            revise(env, lease, amount=1)

        env.at(1.1)
        assert sum(slots_by_host(env, env.lease(lease).reservations[0]).values()) == 4
        assert len(env.servers()) == 4

    def test_it_is_cleaned(self, env: ReconcilerEnv) -> None:
        env.reset(Conditions(hosts=1, cleaning_time=HOUR / 2))
        lease = env.create("a", 0, 4, instances(4))
        env.at(1)
        for each in fill(env, lease):
            env.remove_server(each)

        revise(env, lease, amount=1)
        with pytest.raises(NotEnoughHosts):
            ask(env, 1.4, 4, instances(3))

        ask(env, 1.6, 4, instances(3))


class TestCleaning:
    def test_slots_that_are_being_cleaned_count_beside_those_in_use(self, env: ReconcilerEnv) -> None:
        env.reset(Conditions(hosts=1, cleaning_time=HOUR))
        env.create("a", 0, 1, instances(2))
        env.create("b", 1, 2, instances(2))

        with pytest.raises(NotEnoughHosts):
            ask(env, 1, 2, instances(1))

    def test_slots_are_not_given_before_two_that_need_them_clean(self, env: ReconcilerEnv) -> None:
        env.reset(Conditions(hosts=1, cleaning_time=HOUR))
        env.create("a", 1, 2, instances(2))
        env.create("b", 1, 2, instances(2))

        with pytest.raises(NotEnoughHosts):
            ask(env, 0, 1, instances(1))


class TestGroups:
    def test_one_that_is_tried_again_while_it_is_taken_back_has_a_group(self, env: ReconcilerEnv) -> None:
        env.reset(Conditions(hosts=2))
        lease = env.create("a", 1, 4, instances(2, affinity=True))
        fails(env, "placement.create_resource_class", 400)

        def try_again() -> None:
            env.cloud.faults.clear()
            assert env.lease(lease).status is LeaseStatus.ERROR
            revise(env, lease, vcpus=2)

        env.faults.before("compute.delete_server_group", try_again)
        env.at(1.5)

        (group,) = env.cloud.server_groups.list_server_groups()
        assert spec_of(env.lease(lease).reservations[0]).server_group_id == group.id

    def test_the_group_of_an_attempt_that_was_overtaken_is_deleted(self, env: ReconcilerEnv) -> None:
        env.reset(Conditions(hosts=2))
        lease = env.create("a", 10, 14, instances(2, affinity=True))
        body = {"reservations": [{"id": env.lease(lease).reservations[0].id, "affinity": False}]}
        other = env.new_manager()

        env.store.overtake(lambda: other.service.update_lease(LESSEE, lease, body))
        env.manager.service.update_lease(LESSEE, lease, body)

        (group,) = env.cloud.server_groups.list_server_groups()
        assert spec_of(env.lease(lease).reservations[0]).server_group_id == group.id


@pytest.mark.parametrize("sizes", [(1, 3), (3, 1)])
def test_two_reservations_of_a_lease_may_change_places(env: ReconcilerEnv, sizes: tuple[int, int]) -> None:
    env.reset(Conditions(hosts=1))
    lease = env.create("a", 10, 14, *(instances(each) for each in sizes))
    one, two = env.lease(lease).reservations

    changes = [{"id": one.id, "amount": sizes[1]}, {"id": two.id, "amount": sizes[0]}]
    env.update(lease, reservations=changes)

    assert [spec_of(each).amount for each in env.lease(lease).reservations] == [sizes[1], sizes[0]]


class TestOverdue:
    """The end of a lease with a server that cannot be deleted."""

    def stuck(self, env: ReconcilerEnv, hosts: int) -> None:
        env.reset(Conditions(hosts=hosts))
        lease = env.create("a", 0, 1, instances(1))
        env.run_until(0.5)
        boot(env, env.lease(lease).reservations[0])
        fails(env, "compute.delete_server", 409)

    def test_what_fits_beside_it_starts(self, env: ReconcilerEnv) -> None:
        self.stuck(env, hosts=1)
        before = env.create("b", 1, 4, instances(1))
        env.run_until(1.1)
        late = env.create("c", "now", 4, instances(1))
        env.run_until(1.2)

        assert {env.lease(each).status for each in (before, late)} == {LeaseStatus.ACTIVE}

    def test_what_needs_its_room_waits_for_it(self, env: ReconcilerEnv) -> None:
        self.stuck(env, hosts=1)
        lease = env.create("b", 1, 4, instances(4))
        env.run_until(1.1)
        assert env.lease(lease).status is LeaseStatus.STARTING

        env.cloud.faults.clear()
        env.at(1.2)
        assert env.lease(lease).status is LeaseStatus.ACTIVE


def test_one_server_that_cannot_go_does_not_keep_the_others(env: ReconcilerEnv) -> None:
    env.reset(Conditions(hosts=1))
    lease = env.create("a", 0, 1, instances(3))
    env.run_until(0.5)
    fill(env, lease)
    rule = FaultRule(
        kind=FaultKind.ERROR, operation="compute.delete_server", error=CloudConflict, every=3, times=1
    )
    env.cloud.faults.add(rule)

    env.run_until(1.0001)

    assert len(env.servers()) <= 1
    env.at(1.1)


def test_a_lease_that_is_due_but_was_not_begun_can_be_changed_like_one_ahead(env: ReconcilerEnv) -> None:
    env.reset(Conditions(hosts=2))
    lease = env.create("a", "now", 4, instances(3, affinity=True))

    revise(env, lease, amount=2, vcpus=8)
    env.at(0.1)

    assert len(fill(env, lease)) == 2


def test_the_group_of_a_faster_rival_is_deleted_with_its_reservation(env: ReconcilerEnv) -> None:
    env.reset(Conditions(hosts=2))
    lease = env.create("a", 10, 14, instances(2))
    reservation_id = env.lease(lease).reservations[0].id
    other = env.new_manager()

    def body(affinity: bool) -> dict[str, Any]:
        return {"reservations": [{"id": reservation_id, "affinity": affinity}]}

    env.store.overtake(lambda: other.service.update_lease(LESSEE, lease, body(affinity=False)))
    env.manager.service.update_lease(LESSEE, lease, body(affinity=True))

    (group,) = env.cloud.server_groups.list_server_groups()
    assert spec_of(env.lease(lease).reservations[0]).server_group_id == group.id


def test_a_pass_under_way_does_not_put_back_what_a_request_gives_up(env: ReconcilerEnv) -> None:
    env.reset(Conditions(hosts=1))
    lease = env.create("a", 0, 4, instances(2))
    env.at(1)
    reservation_id = env.lease(lease).reservations[0].id
    other, refused = env.new_manager(), []

    def shrink() -> None:
        body = {"reservations": [{"id": reservation_id, "amount": 1}]}
        try:
            other.service.update_lease(LESSEE, lease, body)
        except ConcurrentUpdate as error:
            refused.append(error)

    env.update(lease, reservations=[{"id": reservation_id, "amount": 4}])
    env.faults.before("placement.put_inventories", shrink)
    env.at(1.1)

    assert refused
    assert sum(slots_by_host(env, env.lease(lease).reservations[0]).values()) == 4


def test_a_request_that_takes_too_long_to_give_something_up_begins_again(env: ReconcilerEnv) -> None:
    env.reset(Conditions(hosts=1))
    lease = env.create("a", 0, 4, instances(4))
    env.at(1)
    other = env.new_manager()

    def fall_asleep() -> None:
        # Another manager restores the slots that were released so far, and the lessee uses them.
        env.jump(1.1)
        other.reconciler.run_due(9)
        fill(env, lease)

    # The first count finds no slot in use; the second one is made after the inventory has shrunk.
    env.faults.before("placement.put_inventories", fall_asleep)
    with pytest.raises(CannotChange):
        revise(env, lease, amount=1)

    env.at(1.2)
    assert sum(slots_by_host(env, env.lease(lease).reservations[0]).values()) == 4
    assert len(env.servers()) == 4


def test_a_host_that_is_gone_for_good_puts_its_reservation_into_error(env: ReconcilerEnv) -> None:
    env.reset(Conditions(hosts=1))
    lease = env.create("a", 1, 9, instances(2))
    env.run_until(0.5)
    env.cloud.remove_hypervisor("host-1")

    env.run_until(2)

    assert env.lease(lease).status is LeaseStatus.ERROR
    assert env.lease(lease).reservations[0].problem


def test_growth_is_not_refused_for_what_ended_long_ago(env: ReconcilerEnv) -> None:
    env.reset(Conditions(hosts=1, cleaning_time=timedelta(minutes=5)))
    env.create("old", 1, 2, instances(2))
    lease = env.create("a", 0, 10, instances(2))
    env.run_until(2.9)

    revise(env, lease, amount=4)

    assert spec_of(env.lease(lease).reservations[0]).amount == 4
