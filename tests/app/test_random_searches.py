"""Searches for times, compared with the granting of the same request at every minute, one by one.

Each case has bookings of its own in a part of the future of its own. With ``BLAZAR_TEST_SEARCHES=10000``, so
many cases are run.
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass

import pytest
from app.floatingips import Pool
from app.http_env import LESSEE, NEWER, STRANGER, HttpEnv, Json, good, host_reservation
from app.slots import instances
from samples import at

from blazar.app.request_work import RequestWork, request_work
from blazar.app.search_variants import Variant, parse_variants
from blazar.booking.search import find_in_window
from blazar.booking.shares import count_units
from blazar.domain.interval import Interval
from blazar.ports.manager import Caller

CASES = int(os.environ.get("BLAZAR_TEST_SEARCHES", "40"))
CALLER = Caller(user_id=LESSEE.user, project_id=LESSEE.project, api_version=(1, 1))
SPAN = 24
"""Minutes of a case."""


@dataclass(frozen=True, slots=True)
class Case:
    """A request in a part of the future in which others have booked at random."""

    env: HttpEnv
    pool: Pool
    start: int
    chance: random.Random

    @property
    def end(self) -> int:
        return self.start + SPAN

    def fill(self) -> None:
        for _ in range(self.chance.randint(3, 10)):
            first = self.start + self.chance.randrange(-4, SPAN - 1)
            body = self.env.wish(first, first + self.chance.randint(1, 10))
            self.env.post("/leases", {**body, "reservations": [self.reservation()]}, who=STRANGER)

    def reservation(self) -> Json:
        number = self.chance.randint(1, 3)
        match self.chance.choice(["host", "host", "instance", "address"]):
            case "host":
                terms = self.chance.choice(["", "", "rack=r1", "vcpus>=16"])
                return host_reservation(min=number, max=number, resource_properties=_listed(terms))
            case "instance":
                return instances(amount=number, affinity=self.chance.choice([None, False, True]))
            case _:
                return self.pool.asked(self.chance.randint(1, 2))

    def asked(self) -> list[Json]:
        """Return reservations of the request; some have a range, or units that are grouped."""
        found = [self.reservation() for _ in range(self.chance.randint(1, 3))]
        for each in found:
            if each["resource_type"] == "physical:host" and self.chance.random() < 0.5:
                each["max"] = each["min"] + self.chance.randint(0, 2)
            if each["resource_type"] != "virtual:floatingip" and self.chance.random() < 0.4:
                key = self.chance.choice(["same", "spread"])
                if key == "same" or not each.get("affinity"):
                    each[key] = "rack"
        return found

    def granted(self, variant: Variant, work: RequestWork, first: int, duration: int) -> int | None:
        """Return the units that a lease at one time would get; None if it would be refused."""
        window = Interval(at(first / 60), at((first + duration) / 60))
        found = find_in_window(self.env.context, variant.searches(work, window), window)
        return None if found is None else sum(count_units(each) for each in found.chosen)

    def units(self, reservations: list[Json], duration: int) -> dict[int, int]:
        """Return the units at each start at which the request is granted."""
        work = request_work(self.env.context, CALLER, CALLER.project_id).proposing()
        (variant,) = parse_variants(work, {"reservations": reservations})
        starts = range(self.start, self.end - duration + 1)
        found = {each: self.granted(variant, work, each, duration) for each in starts}
        return {start: units for start, units in found.items() if units is not None}

    def search(self, reservations: list[Json], order: str, **keys: int) -> tuple[int, int, int] | None:
        """Return start, end and units of what a search finds first; None if it finds nothing."""
        window = {"earliest_start": self.env.date(self.start), "latest_end": self.env.date(self.end)}
        body = {**window, "order": order, "limit": 1, "reservations": reservations, **keys}
        answer = good(self.env.post("/availability/search", body, who=LESSEE, headers=NEWER))
        assert answer["complete"]
        minutes = {self.env.date(each): each for each in range(self.start, self.end + 1)}
        if not answer["slots"]:
            return None
        (slot,) = answer["slots"]
        units = sum(each["amount"] for each in slot["reservations"])
        return minutes[slot["start_date"]], minutes[slot["end_date"]], units


def _listed(terms: str) -> str:
    """Return a requirement in the form that API 1.0 has, in which others book."""
    return {"": "", "rack=r1": '["==", "$rack", "r1"]', "vcpus>=16": '[">=", "$vcpus", "16"]'}[terms]


@pytest.fixture
def site(env: HttpEnv) -> HttpEnv:
    env.register("h1", "h2", rack="r1")
    env.register("h3", "h4", rack="r2")
    env.register("h5", rack="r3")
    return env


# A case takes a tenth of a second, and far longer on a busy machine.
@pytest.mark.timeout(max(900, CASES))
@pytest.mark.parametrize("part", range(4))
def test_a_search_finds_what_would_be_granted(site: HttpEnv, pool: Pool, part: int) -> None:
    pool.register(1, 2, 3)
    possible = 0

    for number in range(part, CASES, 4):
        case = Case(site, pool, 100 + 60 * number, random.Random(number))
        case.fill()
        possible += check(case, case.asked(), case.chance.randint(1, 8), f"case {number}")

    assert possible > CASES / 4 / 4


def check(case: Case, asked: list[Json], duration: int, name: str) -> bool:
    """Compare all orders of a search with what would be granted; return whether anything would be."""
    earliest = case.search(asked, "earliest", duration_minutes=duration)
    units = case.units(asked, duration)
    first, last = min(units, default=None), max(units, default=None)
    most = max(units.values(), default=None)

    latest = case.search(asked, "latest", duration_minutes=duration)
    largest = case.search(asked, "most", duration_minutes=duration)

    assert (earliest and earliest[0]) == first, (name, "earliest", asked)
    assert (latest and latest[0]) == last, (name, "latest", asked)
    assert (largest and largest[2]) == most, (name, "most", asked)
    for found in (earliest, latest, largest):
        assert found is None or (found[1] - found[0] == duration and found[2] == units[found[0]]), (
            name,
            asked,
        )
    check_longest(case, asked, duration, name)
    return bool(units)


def check_longest(case: Case, asked: list[Json], shortest: int, name: str) -> None:
    found = case.search(asked, "longest", min_duration_minutes=shortest, max_duration_minutes=SPAN)

    # A shorter reservation fits wherever a longer one does.
    longest = shortest - 1 if found is None else found[1] - found[0]
    assert longest == SPAN or case.units(asked, longest + 1) == {}, (name, "longest", asked)
    assert found is None or found[0] == min(case.units(asked, longest)), (name, "longest", asked)
