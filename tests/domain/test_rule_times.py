"""Usage rules about times, compared with brute force over all starts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blazar.domain.availability import Availability, Resource
from blazar.domain.interval import Interval
from blazar.domain.lease import ResourceId
from blazar.domain.requirements import Condition, Operator, Requirement
from blazar.domain.rules.parts import parts_of
from blazar.domain.rules.permit import Permit
from blazar.domain.rules.rule import (
    Extension,
    Horizon,
    Kind,
    LeadTime,
    Limit,
    Longest,
    Rule,
    Scope,
    Shortest,
)
from blazar.domain.rules.times import GRACE, Deciding, Request, refusals_of, start_range
from blazar.domain.start_times import Starts

T0 = datetime(2031, 1, 1, tzinfo=UTC)
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
KINDS: dict[type[Limit], Kind] = {
    Horizon: Kind.HORIZON,
    LeadTime: Kind.LEAD_TIME,
    Longest: Kind.LONGEST,
    Shortest: Kind.SHORTEST,
    Extension: Kind.EXTENSION,
}

minutes = st.integers(1, 40).map(lambda each: each * MINUTE)
limits = st.one_of(
    st.builds(Horizon, start=minutes, end=minutes | st.none()),
    st.builds(LeadTime, lead=minutes),
    st.builds(Longest, longest=minutes),
    st.builds(Shortest, shortest=minutes),
)
windows = st.builds(
    lambda start, length: Interval(T0 + start * MINUTE, T0 + start * MINUTE + length),
    st.integers(0, 40),
    minutes,
)
requests = st.builds(
    Request,
    now=st.integers(-30, 30).map(lambda each: T0 + each * MINUTE + timedelta(seconds=20)),
    delay=st.sampled_from([None, timedelta(0), 10 * MINUTE]),
    before=windows | st.none(),
)


def rule(limit: Limit | None, kind: Kind = Kind.LONGEST, name: str = "r", resources: str = "") -> Rule:
    conditions = (Condition("rack", Operator.EQ, resources),) if resources else ()
    return Rule(
        name=name,
        kind=kind if limit is None else KINDS[type(limit)],
        scope=Scope(resources=Requirement(conditions)),
        limit=limit,
    )


def deciding(*found: Limit) -> Deciding:
    return {KINDS[type(each)]: rule(each) for each in found}


@given(st.lists(limits, max_size=4), requests, minutes, st.booleans())
def test_a_range_of_starts_has_those_that_are_not_refused(
    found: list[Limit], request: Request, duration: timedelta, is_held: bool
) -> None:
    rules = deciding(*found)

    allowed = start_range(rules, request, duration, is_held=is_held)

    for minute in range(-60, 120):
        window = Interval(T0 + minute * MINUTE, T0 + minute * MINUTE + duration)
        is_allowed = not refusals_of(rules, request, window, is_held=is_held)
        assert is_allowed == (allowed is not None and allowed[0] <= window.start <= allowed[1])


@given(st.lists(limits, min_size=1, max_size=4), requests, windows)
def test_a_refused_request_is_allowed_from_the_stated_moment_on(
    found: list[Limit], request: Request, window: Interval
) -> None:
    for limit in found:
        for refusal in refusals_of(deciding(limit), request, window, is_held=False):
            if refusal.possible_from is None:
                continue
            assert refusal.possible_from > request.now
            then = Request(now=refusal.possible_from, delay=timedelta(0))
            assert refusal.key not in {
                each.key for each in refusals_of(deciding(limit), then, window, is_held=False)
            }
            earlier = Request(now=refusal.possible_from - MINUTE, delay=timedelta(0))
            assert refusals_of(deciding(limit), earlier, window, is_held=False)


@given(st.lists(limits, min_size=1, max_size=4), requests, windows)
def test_the_bound_of_a_refusal_is_allowed_by_its_rule(
    found: list[Limit], request: Request, window: Interval
) -> None:
    for limit in found:
        for refusal in refusals_of(deciding(limit), request, window, is_held=False):
            assert refusal.bound is not None
            if refusal.key == "start_date":
                moved = Interval(refusal.bound, max(window.end, refusal.bound + MINUTE))
            elif refusal.bound > window.start:
                moved = Interval(window.start, refusal.bound)
            else:
                continue  # a horizon that is before the start
            again = refusals_of(deciding(limit), request, moved, is_held=False)
            assert refusal.key not in {each.key for each in again}


@given(st.lists(limits, max_size=4), requests)
def test_the_present_times_of_a_lease_are_never_refused_for_what_it_holds(
    found: list[Limit], request: Request
) -> None:
    if request.before is not None:
        assert not refusals_of(deciding(*found), request, request.before, is_held=True)


@given(st.lists(limits, max_size=4), requests, windows)
def test_what_is_proposed_is_granted_if_it_is_requested_within_the_margin(
    found: list[Limit], request: Request, window: Interval
) -> None:
    if request.delay is None or refusals_of(deciding(*found), request, window, is_held=False):
        return

    for later in (timedelta(0), request.delay, request.delay + GRACE):
        asked = Request(now=request.now + later, before=request.before)
        assert not refusals_of(deciding(*found), asked, window, is_held=False)


class TestExtensions:
    """A lease from 0 to 10 hours that has started."""

    LIMIT = Extension(last=2 * HOUR, most=3 * HOUR)

    @staticmethod
    def refusals(limit: Extension, now: float, end: float, **keys: object) -> list[str]:
        request = Request(
            now=T0 + now * HOUR,
            delay=timedelta(0),
            before=Interval(T0, T0 + 10 * HOUR),
            has_begun=bool(keys.get("has_begun", True)),
        )
        rules = {**deciding(limit), **deciding(Longest(longest=11 * HOUR))}
        window = Interval(T0, T0 + end * HOUR)
        found = refusals_of(rules, request, window, is_held=True)
        return [f"{each.rule.kind} {each.possible_from or each.bound:%H}" for each in found]

    @pytest.mark.parametrize(
        ("now", "end", "found"),
        [
            (8, 11, []),
            (9, 10, []),
            (1, 9, []),
            (7, 11, ["extension 08"]),
            (9, 13, ["longest 11"]),
            (9, 14, ["longest 11", "extension 13"]),
            (1, 14, ["longest 11", "extension 08", "extension 13"]),
        ],
    )
    def test_when_and_by_how_much(self, now: float, end: float, found: list[str]) -> None:
        assert self.refusals(self.LIMIT, now, end) == found

    def test_beyond_the_longest_lease(self) -> None:
        limit = Extension(most=3 * HOUR, beyond_longest=True)

        assert self.refusals(limit, 1, 13) == []
        assert self.refusals(limit, 1, 14) == ["extension 13"]
        assert self.refusals(limit, -1, 13, has_begun=False) == ["longest 11"]


def availability(*racks: str) -> Availability:
    found = Availability()
    for number, rack in enumerate(racks):
        found.put(
            Resource(id=ResourceId(str(number)), generation=1, is_reservable=True, facts={"rack": rack}),
            (),
        )
    return found


@given(
    st.lists(st.sampled_from("abc"), max_size=6),
    st.lists(st.tuples(st.sampled_from([*"abc", ""]), st.none() | limits), max_size=6),
)
def test_of_each_kind_the_first_rule_that_a_resource_matches_decides(
    racks: list[str], given_rules: list[tuple[str, Limit | None]]
) -> None:
    rules = [rule(limit, name=str(at), resources=rack) for at, (rack, limit) in enumerate(given_rules)]

    parts = parts_of(rules, availability(*racks))

    for position, rack in enumerate(racks):
        (own,) = [each.deciding for each in parts if each.which[position]]
        for kind in Kind:
            of_kind = [each for each in rules if each.kind is kind]
            first = next((each for each in of_kind if each.scope.resources.matches({"rack": rack})), None)
            assert own.get(kind) == first
    assert all(each.which.any() for each in parts) or not racks


@given(
    st.lists(st.sampled_from("ab"), min_size=1, max_size=4),
    st.lists(st.tuples(st.sampled_from("ab"), limits), max_size=4),
    requests,
    minutes,
    st.data(),
)
def test_ranges_of_starts_are_those_of_single_windows(
    racks: list[str],
    given_rules: list[tuple[str, Limit]],
    request: Request,
    duration: timedelta,
    data: st.DataObject,
) -> None:
    view = availability(*racks)
    held = data.draw(st.sets(st.sampled_from([ResourceId(str(each)) for each in range(len(racks))])))
    rules = tuple(rule(limit, name=str(at), resources=rack) for at, (rack, limit) in enumerate(given_rules))
    permit = Permit(rules=rules, request=request)
    span = Interval(T0, T0 + 90 * MINUTE)
    starts = Starts.within(span, duration, now=request.now, cleaning_time=timedelta(0))

    ranges = permit.start_ranges(view, starts, held)

    for number in range(starts.count):
        permitted = permit.permitted(view, starts.window(number), held)
        inside = [each.which for each in ranges if any(low <= number < high for low, high in each.ranges)]
        assert permitted.tolist() == [any(each[at] for each in inside) for at in range(len(racks))]
        for position in range(len(racks)):
            chosen = [ResourceId(str(position))]
            is_refused = bool(permit.refusals(view, starts.window(number), chosen, held))
            assert is_refused is not bool(permitted[position])
