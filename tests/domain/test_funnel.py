"""The funnel of a need: what each condition leaves, against a count of one resource after another."""

from __future__ import annotations

from datetime import timedelta

from domain.test_start_times import BOOKINGS, NEEDS, Held, make_index, units_at
from hypothesis import given
from hypothesis import strategies as st
from samples import at

from blazar.domain.availability import Availability, Resource
from blazar.domain.funnel import Stage, count_steps
from blazar.domain.interval import Interval
from blazar.domain.lease import ReservationId, ResourceId
from blazar.domain.need import Need
from blazar.domain.requirements import Condition, Operator, Requirement
from blazar.domain.start_times import Starts

MINUTE = timedelta(minutes=1)
A100 = Condition("gpu", Operator.EQ, "a100")
R1 = Condition("rack", Operator.EQ, "r1")


def resource(number: int, *, is_reservable: bool = True, **facts: str) -> Resource:
    return Resource(id=ResourceId(f"h{number}"), generation=1, is_reservable=is_reservable, facts=facts)


def site() -> Availability:
    """Return five hosts: four in service, three of them with the GPU, and two of those in rack r1."""
    index = Availability()
    for each in (
        resource(1, is_reservable=False, gpu="a100", rack="r1"),
        resource(2, gpu="a100", rack="r1"),
        resource(3, gpu="a100", rack="r1"),
        resource(4, gpu="a100", rack="r2"),
        resource(5, rack="r1"),
    ):
        index.put(each, ())
    return index


def lefts(need: Need) -> list[tuple[str, int | None]]:
    found = count_steps(site(), need, Interval(at(0), at(0) + MINUTE), now=at(0), cleaning_time=timedelta(0))
    return [(each.stage.value, each.left) for each in found.steps]


def test_each_condition_is_applied_to_what_the_earlier_ones_leave() -> None:
    need = Need(least=2, most=2, requirement=Requirement((A100, R1)))

    assert lefts(need) == [
        ("registered", 5),
        ("healthy", 4),
        ("requirement", 3),
        ("requirement", 2),
        ("free", 2),
    ]


def test_the_first_step_that_leaves_too_little_is_binding() -> None:
    window = Interval(at(0), at(0) + MINUTE)
    for least, stage in ((6, Stage.REGISTERED), (5, Stage.HEALTHY), (4, Stage.REQUIREMENT), (2, None)):
        need = Need(least=least, most=least, requirement=Requirement((A100, R1)))
        found = count_steps(site(), need, window, now=at(0), cleaning_time=timedelta(0))
        assert (None if found.binding is None else found.steps[found.binding].stage) == stage
        if stage is None:
            assert found.refused_at(Stage.QUOTA).steps[-1].stage is Stage.QUOTA
        else:
            assert found.refused_at(Stage.QUOTA) is found


@given(BOOKINGS, NEEDS, st.integers(0, 27), st.integers(1, 12))
def test_units_are_those_of_the_search_for_times(
    held: list[Held], need: Need, start: int, duration: int
) -> None:
    index = make_index(held)
    window = Interval(at(0) + start * MINUTE, at(0) + (start + duration) * MINUTE)

    found = count_steps(index, need, window, now=at(0), cleaning_time=MINUTE)

    starts = Starts.within(window, duration * MINUTE, now=at(0), cleaning_time=MINUTE)
    units = units_at(index, need, starts, 0)
    assert found.steps[-1].stage is Stage.CLEANED
    assert (found.binding is None) == (units >= need.least)
    assert (found.steps[-2].left or 0) >= (found.steps[-1].left or 0)


@given(BOOKINGS, NEEDS)
def test_bookings_of_ignored_reservations_do_not_count(held: list[Held], need: Need) -> None:
    window, cleaning = Interval(at(0) + 5 * MINUTE, at(0) + 9 * MINUTE), 2 * MINUTE
    ignored = frozenset(ReservationId(str(number)) for number in range(0, len(held), 2))
    others = make_index([each for number, each in enumerate(held) if number % 2])

    found = count_steps(make_index(held), need, window, now=at(0), cleaning_time=cleaning, ignoring=ignored)

    assert found == count_steps(others, need, window, now=at(0), cleaning_time=cleaning)
