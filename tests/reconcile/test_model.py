"""Leases under arbitrary events in any order: nothing is allocated twice, leaked or stuck."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from reconcile.floatingips import address, floatingips
from reconcile.healing import DISABLED, FAILED, diagnose
from reconcile.invariants import DatabaseRows, check_always, check_settled
from reconcile.parts import Conditions
from reconcile.reconciler_env import ReconcilerEnv
from reconcile.slot_invariants import is_of_slots
from reconcile.slots import fill, instances, slots_by_host

from blazar.cloud.simulated.faults import FaultKind, FaultRule
from blazar.domain.errors import BadRequest, CloudConflict, Conflict, NotFound
from blazar.domain.health import HEALTHY, Diagnosis, Health
from blazar.domain.interval import Interval
from blazar.domain.lease import Lease, LeaseStatus
from blazar.plugins.floatingips.errors import NotEnoughFloatingIPs
from blazar.plugins.hosts.errors import NotEnoughHosts
from blazar_plugin_testing.faults import COMMIT_FAULTS
from blazar_plugin_testing.service_env import ManagerProcess

LIVES = int(os.environ.get("BLAZAR_TEST_LIVES", "60"))
"""The number of sequences of events; the same ones in each run."""
HOSTS, ADDRESSES = 3, 3
MINUTE = timedelta(minutes=1)
EXPRESSIONS = st.sampled_from(
    ["", '["==", "$hypervisor_hostname", "host-1"]', '["<=", "$hypervisor_hostname", "host-2"]']
)
COUNTS = st.integers(1, HOSTS).flatmap(lambda low: st.tuples(st.just(low), st.integers(low, HOSTS)))
TROUBLES = st.sampled_from(
    [
        FaultRule(kind=FaultKind.STATUS, every=3, times=9),
        FaultRule(kind=FaultKind.LOSE_REPLY, every=2, times=9),
        FaultRule(kind=FaultKind.CRASH, every=4, times=3),
        FaultRule(kind=FaultKind.STATUS, operation="compute.remove_host"),
        FaultRule(kind=FaultKind.STATUS, operation="compute.list_aggregates"),
    ]
)


class Leases(RuleBasedStateMachine):
    """Actions of lessees, operators and the cloud in any order.

    Times are in minutes from now, so that many actions fall close together.
    """

    env: ReconcilerEnv

    def __init__(self) -> None:
        super().__init__()
        self.names = 0
        self.other: ManagerProcess | None = None

    @initialize(cleaning=st.sampled_from([0, 15]), lead=st.sampled_from([0, 20]))
    def begin(self, cleaning: int, lead: int) -> None:
        self.env.reset(
            Conditions(
                hosts=HOSTS,
                floatingips=ADDRESSES,
                cleaning_time=cleaning * MINUTE,
                before_end_lead=lead * MINUTE,
                server_deletion_time=timedelta(seconds=5),
            )
        )
        self.env.plan_periodic_task()
        self.env.run_due()

    # Lessees.

    @rule(
        start=st.integers(0, 90),
        length=st.integers(1, 90),
        counts=st.lists(COUNTS, min_size=1, max_size=2),
        expression=EXPRESSIONS,
        before_end=st.sampled_from(["", "snapshot"]),
    )
    def create(
        self,
        start: int,
        length: int,
        counts: list[tuple[int, int]],
        expression: str,
        before_end: str,
    ) -> None:
        self.names += 1
        first = "now" if start == 0 else self._hours(start)
        keys = {"hypervisor_properties": expression, "before_end": before_end}
        try:
            self.env.create(f"lease {self.names}", first, self._hours(start + length), *counts, **keys)
        except NotEnoughHosts:
            window = Interval(self._minute(start), self._minute(start + length))
            assert expression or not _is_enough(self._free_hosts(window), counts)

    @rule(
        start=st.integers(0, 90),
        length=st.integers(1, 90),
        amount=st.integers(1, 6),
        affinity=st.sampled_from([True, False, None]),
    )
    def create_slots(self, start: int, length: int, amount: int, affinity: bool | None) -> None:
        self.names += 1
        first = "now" if start == 0 else self._hours(start)
        asked = instances(amount, affinity)
        try:
            self.env.create(f"lease {self.names}", first, self._hours(start + length), asked)
        except NotEnoughHosts:
            free = self._free_slots(Interval(self._minute(start), self._minute(start + length)))
            match affinity:
                case True:
                    assert max(free) < amount
                case False:
                    assert sum(each > 0 for each in free) < amount
                case None:
                    assert sum(free) < amount

    @rule(
        start=st.integers(0, 90),
        length=st.integers(1, 90),
        amount=st.integers(0, ADDRESSES),
        required=st.sets(st.integers(1, ADDRESSES), max_size=1),
    )
    def create_floatingips(self, start: int, length: int, amount: int, required: set[int]) -> None:
        self.names += 1
        first = "now" if start == 0 else self._hours(start)
        asked = floatingips(self.env, max(amount, len(required)), *required)
        try:
            self.env.create(f"lease {self.names}", first, self._hours(start + length), asked)
        except NotEnoughFloatingIPs:
            rows = self.env.rows()
            ids = {row.address: row.id for row in rows.floatingips}
            free = set(ids.values()) - self._busy(Interval(self._minute(start), self._minute(start + length)))
            assert len(free) < amount or not {ids[address(each)] for each in required} <= free

    @rule(pick=st.integers(0, 99), start=st.integers(0, 90), length=st.integers(1, 90))
    def move(self, pick: int, start: int, length: int) -> None:
        self._change(pick, lambda lease: {"start": self._hours(start), "end": self._hours(start + length)})

    @rule(pick=st.integers(0, 99), end=st.integers(1, 120))
    def extend_or_shorten(self, pick: int, end: int) -> None:
        self._change(pick, lambda lease: {"end": self._hours(end)})

    @rule(pick=st.integers(0, 99))
    def end_now(self, pick: int) -> None:
        self._change(pick, lambda lease: {"end": "now"})

    @rule(pick=st.integers(0, 99), counts=COUNTS, expression=st.none() | EXPRESSIONS)
    def resize(self, pick: int, counts: tuple[int, int], expression: str | None) -> None:
        def changes(lease: Lease) -> dict[str, Any]:
            keys: dict[str, Any] = {"id": lease.reservations[0].id, "min": counts[0], "max": counts[1]}
            if expression is not None:
                keys["hypervisor_properties"] = expression
            return {"reservations": [keys]}

        self._change(pick, changes)

    @rule(pick=st.integers(0, 99), amount=st.integers(1, 9))
    def change_amount(self, pick: int, amount: int) -> None:
        self._change(
            pick, lambda lease: {"reservations": [{"id": lease.reservations[0].id, "amount": amount}]}
        )

    @rule(pick=st.integers(0, 99), affinity=st.sampled_from([True, False, None]))
    def change_affinity(self, pick: int, affinity: bool | None) -> None:
        self._change(
            pick, lambda lease: {"reservations": [{"id": lease.reservations[0].id, "affinity": affinity}]}
        )

    @rule(pick=st.integers(0, 99))
    def rename(self, pick: int) -> None:
        self._change(pick, lambda lease: {"name": f"{lease.name}, again"[:80]})

    @rule(pick=st.integers(0, 99))
    def cancel(self, pick: int) -> None:
        lease = self._pick(pick)
        if lease is not None:
            self.env.delete(lease.id)

    @rule(pick=st.integers(0, 99))
    def boot_on_a_reserved_host(self, pick: int) -> None:
        lease = self._pick(pick)
        is_for_hosts = lease and lease.reservations[0].resource_type == "physical:host"
        if lease is None or lease.status is not LeaseStatus.ACTIVE or not is_for_hosts:
            return
        try:
            self.env.boot("reserved", reservation_id=lease.reservations[0].id)
        except CloudConflict:
            assert self.env.clock.now() >= lease.end

    @rule(pick=st.integers(0, 99))
    def boot_in_every_slot(self, pick: int) -> None:
        lease = self._pick(pick)
        if lease is None or lease.status is not LeaseStatus.ACTIVE or not is_of_slots(lease.reservations[0]):
            return
        reservation = lease.reservations[0]
        slots = slots_by_host(self.env, reservation)
        with self.env.faults.exempt():
            before = Counter(
                each.service_host for each in self.env.cloud.servers.list_servers(flavor_id=reservation.id)
            )
        booted = Counter(each.service_host for each in fill(self.env, lease.id))
        if self.env.clock.now() < lease.end:
            assert before + booted == Counter(slots)

    # Operators and the host monitor.

    @rule(number=st.integers(1, HOSTS), diagnosis=st.sampled_from([FAILED, DISABLED, HEALTHY]))
    def something_is_found_out_about_a_host(self, number: int, diagnosis: Diagnosis) -> None:
        diagnose(self.env, f"host-{number}", diagnosis)

    # Time and faults.

    @rule(minutes=st.integers(1, 60))
    def work(self, minutes: int) -> None:
        self.env.run_until(self._hours(minutes))

    @rule()
    def work_a_little(self) -> None:
        self.env.run_due()

    @rule(minutes=st.sampled_from([1, 10, 70, 60 * 24, 60 * 24 * 3]))
    def sleep(self, minutes: int) -> None:
        self.env.jump(self._hours(minutes))

    @rule(trouble=TROUBLES)
    def trouble_begins(self, trouble: FaultRule) -> None:
        self.env.faults.add(trouble)

    @precondition(lambda self: self.env.faults.rules)
    @rule()
    def trouble_ends(self) -> None:
        self.env.faults.clear()

    @rule(fault=st.sampled_from(sorted(COMMIT_FAULTS)), nth=st.integers(1, 6))
    def a_commit_will_go_wrong(self, fault: str, nth: int) -> None:
        self.env.store.arm(COMMIT_FAULTS[fault], nth)

    @rule()
    def kill_the_manager(self) -> None:
        self.env.kill()

    @rule()
    def go_on_with_another_manager(self) -> None:
        other = self.other or self.env.new_manager()
        self.other, self.env.manager = self.env.manager, other

    @invariant()
    def nothing_is_promised_twice(self) -> None:
        check_always(self.env)

    def teardown(self) -> None:
        if not hasattr(self.env, "clock"):
            return
        self.env.faults.clear()
        self.env.store.disarm()
        self.env.run_until(self._hours(5.5))
        check_settled(self.env)

    # Helpers of the rules.

    def _minute(self, minutes: float) -> datetime:
        return self.env.clock.now().replace(second=0, microsecond=0) + minutes * MINUTE

    def _hours(self, minutes: float) -> float:
        beginning = self.env.instant(0)
        return (self._minute(minutes) - beginning) / timedelta(hours=1)

    def _pick(self, number: int) -> Lease | None:
        leases = self.env.leases()
        return leases[number % len(leases)] if leases else None

    def _change(self, pick: int, changes: Callable[[Lease], dict[str, Any]]) -> None:
        lease = self._pick(pick)
        if lease is None:
            return
        before = self.env.rows()
        try:
            self.env.update(lease.id, **changes(lease))
        except (BadRequest, Conflict, NotFound):
            assert _intent(self.env.rows()) == _intent(before), "a refused request changed something"

    def _free_slots(self, window: Interval) -> list[int]:
        """Return the number of free slots on each host; a slot has four of the host's sixteen VCPU."""
        now, rows = self.env.clock.now(), self.env.rows()
        cleaning = self.env.conditions.cleaning_time
        occupied = Interval(window.start, window.end + cleaning)
        free = {row.id: 4 for row in rows.hosts}
        for host_id in free:
            booked = [row for row in rows.allocations if row.resource_id == host_id]
            instants = [window.start, *(row.start_at for row in booked if occupied.contains(row.start_at))]
            for instant in instants:
                present = [
                    row
                    for row in booked
                    if _is_there(row, instant, cleaning) or _is_overdue(row, window, now)
                ]
                used = sum(4 if row.slots is None else row.slots for row in present)
                free[host_id] = min(free[host_id], max(0, 4 - used))
        return [0 if key in _unsound(rows) else each for key, each in free.items()]

    def _free_hosts(self, window: Interval) -> int:
        return HOSTS - len({row.id for row in self.env.rows().hosts} & self._busy(window))

    def _busy(self, window: Interval) -> set[str]:
        """Return the IDs of the resources that are not entirely free for a new reservation."""
        now, rows = self.env.clock.now(), self.env.rows()
        wide = window.widened(self.env.conditions.cleaning_time)
        busy = set(_unsound(rows))
        for row in rows.allocations:
            end = max(row.end_at, row.released_at or row.end_at)
            if _is_overdue(row, window, now) or (row.start_at < wide.end and end > wide.start):
                busy.add(row.resource_id)
        return busy


def _unsound(rows: DatabaseRows) -> frozenset[str]:
    return frozenset(row.id for row in rows.resources if row.health != Health.HEALTHY.value)


def _is_there(row: Any, instant: datetime, cleaning: timedelta) -> bool:
    """Return whether an allocation is in use, or its resource is being cleaned, at a time."""
    return bool(row.start_at <= instant < max(row.end_at, row.released_at or row.end_at) + cleaning)


def _is_overdue(row: Any, window: Interval, now: datetime) -> bool:
    """Return whether an overdue allocation blocks a reservation that starts now."""
    return bool(window.start <= now and row.released_at is None and row.end_at <= now)


def _is_enough(free: int, counts: list[tuple[int, int]]) -> bool:
    """Return whether so many hosts suffice if each reservation in turn takes as many as it can get."""
    for low, high in counts:
        if free < low:
            return False
        free -= min(free, high)
    return True


def _intent(rows: DatabaseRows) -> tuple[object, ...]:
    return rows.leases, rows.allocations, rows.journal


def test_leases_under_anything_that_may_happen(env: ReconcilerEnv) -> None:
    Leases.env = env

    run_state_machine_as_test(
        Leases,
        settings=settings(
            max_examples=LIVES, stateful_step_count=25, deadline=None, derandomize=True, print_blob=True
        ),
    )
