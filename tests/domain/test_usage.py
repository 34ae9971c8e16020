"""Usage of resources over time, compared with counting every minute."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

import pytest
from clocks import EPOCH
from hypothesis import given
from hypothesis import strategies as st

from blazar.domain.capacity import Demand, Share
from blazar.domain.interval import Interval
from blazar.domain.lease import ReservationId, ReservationStatus, ResourceId
from blazar.domain.quotas import QuotaUnit
from blazar.domain.usage.figures import Figure
from blazar.domain.usage.records import (
    Holding,
    ReservationState,
    ResourceFacts,
    UsageRecords,
    UsedUnits,
)
from blazar.domain.usage.sums import Key, Steps, Unit, Usage, sum_usage

MINUTE = timedelta(minutes=1)


def at(minutes: float) -> datetime:
    return EPOCH + minutes * MINUTE


def window(start: float, end: float) -> Interval:
    return Interval(at(start), at(end))


UNITS = {"whole": QuotaUnit(name="thing", is_whole=True), "parts": QuotaUnit(name="part")}
THINGS, PARTS = Unit("things"), Unit("parts")
R1, R2 = ReservationId("r1"), ReservationId("r2")
A, B = ResourceId("a"), ResourceId("b")
ACTIVE = ReservationState(since=at(0), status=ReservationStatus.ACTIVE, is_missing=False)
LAST = 24
"""Random histories are this many minutes long."""


def holding(start: float, end: float, resource: ResourceId = A, share: Share | None = None) -> Holding:
    return Holding(
        project_id="p",
        user_id="u",
        reservation_id=R1,
        resource_type="whole" if share is None else "parts",
        resource_id=resource,
        window=window(start, end),
        share=share,
    )


def by_project(held: Holding, facts: ResourceFacts) -> str | None:
    return held.project_id


def by_rack(held: Holding, facts: ResourceFacts) -> str | None:
    value = facts.values.get("rack")
    return None if value is None else str(value)


def usage(records: UsageRecords, start: float = 0, end: float = 600, key: Key = by_project) -> Usage:
    period = window(start, end)
    return sum_usage(records, Steps(period, period.duration), key, UNITS, at(10_000))


def hours(records: UsageRecords, start: float = 0, end: float = 600) -> dict[str, float]:
    totals = usage(records, start, end)["p"][THINGS].totals()
    return {each.value: amount for each, amount in totals.items() if amount}


class TestFigures:
    def test_a_holding_counts_only_inside_the_period(self) -> None:
        records = UsageRecords(holdings=[holding(0, 180)], states={R1: [ACTIVE]})

        assert hours(records, 60, 120) == {"reserved": 1, "unknown": 1}
        assert usage(records, 180, 240) == {}

    def test_use_is_idle_before_the_first_server(self) -> None:
        used = {(R1, A): [UsedUnits(window=window(60, 120), units=3)]}
        observed = {"whole": [window(0, 600)]}
        records = UsageRecords(
            holdings=[holding(0, 180)],
            states={R1: [ACTIVE]},
            used=used,
            observed=observed,
            arrived=frozenset({R1}),
        )

        assert hours(records) == {"reserved": 3, "in_use": 1, "idle": 2}

    def test_a_reservation_that_was_never_used_is_a_no_show(self) -> None:
        observed = {"whole": [window(60, 120)]}
        records = UsageRecords(holdings=[holding(0, 180)], states={R1: [ACTIVE]}, observed=observed)

        assert hours(records) == {"reserved": 3, "no_show": 1, "unknown": 2}

    def test_time_before_the_handover_and_in_error_is_lost(self) -> None:
        states = [
            ReservationState(since=at(60), status=ReservationStatus.ACTIVE, is_missing=False),
            ReservationState(since=at(120), status=ReservationStatus.ERROR, is_missing=False),
        ]
        records = UsageRecords(holdings=[holding(0, 240)], states={R1: states})

        assert hours(records) == {"reserved": 4, "lost": 3, "unknown": 1}

    def test_a_failed_resource_is_lost_while_the_reservation_misses_it(self) -> None:
        states = [
            ACTIVE,
            ReservationState(since=at(120), status=ReservationStatus.ACTIVE, is_missing=True),
        ]
        records = UsageRecords(
            holdings=[holding(0, 240, A), holding(0, 240, B)],
            states={R1: states},
            failures={A: [window(60, 180)]},
        )

        assert hours(records) == {"reserved": 8, "lost": 1, "unknown": 7}

    def test_the_future_is_only_reserved(self) -> None:
        records = UsageRecords(holdings=[holding(0, 120)], states={R1: [ACTIVE]})

        found = sum_usage(records, Steps(window(0, 120), MINUTE * 60), by_project, UNITS, at(60))

        steps = found["p"][THINGS].by_step()
        assert [each[Figure.RESERVED] for each in steps] == [1, 1]
        assert [each[Figure.UNKNOWN] for each in steps] == [1, 1]

    def test_shares_count_slots_and_resource_classes(self) -> None:
        share = Share(slots=4, demand=Demand.of({"VCPU": 2, "DISK_GB": 10}))
        records = UsageRecords(
            holdings=[holding(0, 60, A, share)],
            states={R1: [ACTIVE]},
            used={(R1, A): [UsedUnits(window=window(0, 60), units=3)]},
            observed={"parts": [window(0, 60)]},
            arrived=frozenset({R1}),
        )

        found = {key: each.totals() for key, each in usage(records)["p"].items()}

        assert found[PARTS][Figure.IN_USE] == 3
        assert found[Unit("parts", "VCPU")][Figure.RESERVED] == 8
        assert found[Unit("parts", "DISK_GB")][Figure.IDLE] == 10

    def test_the_group_follows_the_facts_of_the_time(self) -> None:
        facts = [
            ResourceFacts(until=at(60), name="a", values={"rack": "r1"}, amounts={"VCPU": 4}),
            ResourceFacts(until=at(120), name="a", values={"rack": "r2"}, amounts={"VCPU": 8}),
        ]
        records = UsageRecords(holdings=[holding(0, 180)], states={R1: [ACTIVE]}, facts={A: facts})

        found = usage(records, key=by_rack)

        assert {key: each[THINGS].totals()[Figure.RESERVED] for key, each in found.items()} == {
            "r1": 1,
            "r2": 2,
        }
        assert found["r2"][Unit("things", "VCPU")].totals()[Figure.RESERVED] == 16

    def test_sums_are_exact_for_years_of_many_bytes(self) -> None:
        share = Share(slots=1000, demand=Demand.of({"MEMORY_MB": 10**7}))
        length = 60 * 24 * 365 * 10
        records = UsageRecords(holdings=[holding(0, length, A, share)] * 7, states={R1: [ACTIVE]})

        found = usage(records, 0, length)["p"][Unit("parts", "MEMORY_MB")]

        assert found.totals()[Figure.RESERVED] == 7 * 1000 * 10**7 * 24 * 365 * 10


class CountedReads(list[UsedUnits]):
    """A list that counts how often it is read from its start."""

    reads = 0

    def __iter__(self) -> Iterator[UsedUnits]:
        self.reads += 1
        return super().__iter__()


def test_records_are_read_as_often_for_a_use_that_changes_all_the_time() -> None:
    # A lessee who creates and deletes a server between the observations adds a record with each of them.
    used = CountedReads(UsedUnits(window=window(each, each + 1), units=1 + each % 2) for each in range(500))
    records = UsageRecords(
        holdings=[holding(0, 250), holding(250, 500)],
        states={R1: [ACTIVE]},
        used={(R1, A): used},
        observed={"whole": [window(0, 600)]},
        arrived=frozenset({R1}),
    )

    assert hours(records)["in_use"] == pytest.approx(500 / 60, abs=1e-5)

    assert used.reads <= 2


@pytest.mark.parametrize(("length", "count"), [(60, 3), (61, 2), (180, 1), (179, 2), (7, 18)])
def test_steps_cover_the_period(length: int, count: int) -> None:
    steps = Steps(window(0, 120 if length == 7 else 180 if length != 61 else 122), MINUTE * length)

    windows = list(steps.windows())

    assert len(windows) == steps.count == count
    assert (windows[0].start, windows[-1].end) == (steps.window.start, steps.window.end)


minutes = st.integers(0, LAST)


@st.composite
def windows(draw: st.DrawFn) -> Interval:
    start = draw(st.integers(0, LAST - 1))
    return window(start, draw(st.integers(start + 1, LAST)))


shares = st.none() | st.builds(
    Share,
    slots=st.integers(1, 4),
    demand=st.builds(lambda amount: Demand.of({"VCPU": amount}), st.integers(1, 3)),
)


@st.composite
def holdings(draw: st.DrawFn) -> Holding:
    share = draw(shares)
    return Holding(
        project_id=draw(st.sampled_from(["p", "q", None])),
        user_id="u",
        reservation_id=draw(st.sampled_from([R1, R2])),
        resource_type="whole" if share is None else "parts",
        resource_id=draw(st.sampled_from([A, B])),
        window=draw(windows()),
        share=share,
    )


def in_order(states: Sequence[ReservationState]) -> list[ReservationState]:
    return sorted(states, key=lambda each: each.since)


states = st.lists(
    st.builds(
        ReservationState,
        since=minutes.map(at),
        status=st.sampled_from(ReservationStatus),
        is_missing=st.booleans(),
    ),
    max_size=4,
).map(in_order)
facts = st.lists(
    st.builds(
        ResourceFacts,
        until=minutes.map(at),
        name=st.just("a"),
        values=st.fixed_dictionaries({"rack": st.sampled_from(["r1", "r2"])}),
        amounts=st.fixed_dictionaries({"VCPU": st.integers(0, 3)}),
    ),
    max_size=3,
).map(lambda found: sorted(found, key=lambda each: each.until or EPOCH))
records_of_any_kind = st.builds(
    UsageRecords,
    holdings=st.lists(holdings(), max_size=5),
    states=st.fixed_dictionaries({R1: states, R2: states}),
    failures=st.fixed_dictionaries({A: st.lists(windows(), max_size=2)}),
    used=st.dictionaries(
        st.tuples(st.sampled_from([R1, R2]), st.sampled_from([A, B])),
        st.lists(st.builds(UsedUnits, window=windows(), units=st.integers(0, 5)), max_size=3),
    ),
    arrived=st.sets(st.sampled_from([R1, R2])).map(frozenset),
    observed=st.fixed_dictionaries(
        {"whole": st.lists(windows(), max_size=3), "parts": st.lists(windows(), max_size=1)}
    ),
    facts=st.fixed_dictionaries({A: facts}),
)


@given(records_of_any_kind, windows(), st.integers(1, 30), minutes)
def test_equals_counting_every_minute(records: UsageRecords, period: Interval, length: int, now: int) -> None:
    steps = Steps(period, MINUTE * length)

    found = sum_usage(records, steps, by_rack, UNITS, at(now))

    counted = count_every_minute(records, steps, now)
    shown = {
        (group, unit, number, figure): amount
        for group, units in found.items()
        for unit, sums in units.items()
        for number, each in enumerate(sums.by_step())
        for figure, amount in each.items()
        if amount
    }
    assert shown == {key: round(amount / 60, 6) for key, amount in counted.items() if amount}
    for units in found.values():
        for sums in units.values():
            totals = sums.totals()
            summed = [sum(each[figure] for each in sums.by_step()) for figure in Figure]
            assert [totals[each] for each in Figure] == pytest.approx(summed, abs=1e-4)
            parts = sum(amount for figure, amount in totals.items() if figure is not Figure.RESERVED)
            assert parts == pytest.approx(totals[Figure.RESERVED], abs=1e-4)


def count_every_minute(
    records: UsageRecords, steps: Steps, now: int
) -> dict[tuple[str | None, Unit, int, Figure], int]:
    """Return the minutes of units by group, unit, step and figure."""
    found: dict[tuple[str | None, Unit, int, Figure], int] = defaultdict(int)
    for number, step in enumerate(steps.windows()):
        for minute in range(LAST + 1):
            instant = at(minute)
            for held in records.holdings:
                if not (step.contains(instant) and held.window.contains(instant)):
                    continue
                known = records.facts.get(held.resource_id, ())
                valid = [each for each in known if each.until is None or instant < each.until]
                described = valid[0] if valid else known[-1] if known else None
                group = by_rack(held, described) if described else None
                amounts = {THINGS: 1, Unit("things", "VCPU"): described.amounts["VCPU"] if described else 0}
                if held.share is not None:
                    amounts = {PARTS: 1, Unit("parts", "VCPU"): dict(held.share.demand.amounts)["VCPU"]}
                for figure, count in kinds(records, held, minute, now).items():
                    for unit, amount in amounts.items():
                        found[group, unit, number, figure] += count * amount
    return found


def kinds(records: UsageRecords, held: Holding, minute: int, now: int) -> dict[Figure, int]:
    """Return the units of a holding in one minute by figure."""
    instant, total = at(minute), held.units
    past = [each for each in records.states[held.reservation_id] if each.since <= instant]
    status = past[-1].status if past else ReservationStatus.PENDING
    misses = bool(past) and past[-1].is_missing
    broken = any(each.contains(instant) for each in records.failures.get(held.resource_id, ()))
    seen = any(each.contains(instant) for each in records.observed[held.resource_type])
    if minute >= now or status is ReservationStatus.DELETED:
        return {Figure.RESERVED: total, Figure.UNKNOWN: total}
    if status is not ReservationStatus.ACTIVE or (misses and broken):
        return {Figure.RESERVED: total, Figure.LOST: total}
    if not seen:
        return {Figure.RESERVED: total, Figure.UNKNOWN: total}
    runs = records.used.get((held.reservation_id, held.resource_id), ())
    units = [each.units for each in runs if each.window.contains(instant)]
    used = min(total, max(units, default=0))
    unused = Figure.IDLE if held.reservation_id in records.arrived else Figure.NO_SHOW
    return {Figure.RESERVED: total, Figure.IN_USE: used, unused: total - used}
