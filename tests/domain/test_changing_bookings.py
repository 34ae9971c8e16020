"""An index remembers what it has computed: its answers after changes are those of a new index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from domain.test_availability import as_columns
from domain.test_start_times import BOOKINGS, HOSTS, MINUTE, NEEDS, SLOT, STARTS, TREES, Held
from hypothesis import given
from hypothesis import strategies as st
from samples import at

from blazar.domain.availability import Availability, Resource
from blazar.domain.bookings import Booking
from blazar.domain.interval import Interval
from blazar.domain.lease import ResourceId
from blazar.domain.need import Need
from blazar.domain.start_times import Starts

OTHERS = 12
"""Hosts that are only booked long after the times of all questions."""
EACH_BOOKED = 6


@dataclass(frozen=True)
class Question:
    need: Need
    starts: Starts

    def answers(self, index: Availability) -> list[Any]:
        """Return all that a search asks an index, for the time of all starts and for that of each."""
        starts, found = self.starts, []
        times: dict[str, Any] = {"now": starts.now, "cleaning_time": starts.cleaning * MINUTE}
        profile = index.profile(self.need, starts)
        found += [profile.units.tolist(), profile.releases.tolist()]
        for window in (starts.span, *(starts.window(each) for each in range(starts.count))):
            free = index.free(window, **times)
            found.append(free.tolist())
            found.append(list(index.best_first(free, window, now=starts.now)))
            found.append(index.headroom(SLOT, window, **times).slots(range(HOSTS)).tolist())
        return found


def make_index(bookings: Sequence[Booking]) -> Availability:
    index = Availability()
    names = [str(each) for each in range(HOSTS + OTHERS)]
    resources = [
        Resource(
            id=ResourceId(name),
            generation=0,
            is_reservable=True,
            facts={},
            providers=TREES[number % len(TREES)],
        )
        for number, name in enumerate(names)
    ]
    starts = [at(1000 + 10 * number) for number in range(EACH_BOOKED)]
    far = [
        Booking(
            resource_id=ResourceId(name),
            reservation_id=None,
            window=Interval(start, start + MINUTE),
            share=None,
        )
        for name in names[HOSTS:]
        for start in starts
    ]
    index.load(resources, [as_columns([*far, *bookings])])
    return index


@given(
    st.lists(BOOKINGS, min_size=1, max_size=4),
    st.lists(st.builds(Question, NEEDS, STARTS.filter(lambda each: each.count > 0)), min_size=1, max_size=3),
)
def test_answers_after_changes_are_those_of_a_new_index(
    changes: list[list[Held]], questions: list[Question]
) -> None:
    index = make_index([])

    for held in changes:
        bookings = [each.booking(number) for number, each in enumerate(held)]
        for host in range(HOSTS):
            own = [each for each in bookings if each.resource_id == str(host)]
            index.put_bookings(ResourceId(str(host)), 1, own)
        new = make_index(bookings)
        for question in questions:
            assert question.answers(index) == question.answers(new)
