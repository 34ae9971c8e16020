"""The capacity allocation table of small random clouds, compared with a count at every hour."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from clocks import EPOCH
from hypothesis import given
from hypothesis import strategies as st

from blazar.domain.instants import micros
from blazar.domain.interval import Interval
from blazar.domain.lease import ResourceId
from blazar.domain.providers import Inventory
from blazar.planning.allocation_table import BookedTimes, allocation_table
from blazar.planning.hosts import PlannedHost, Pool
from blazar.planning.load import merged

HOURS = 12
WINDOW = Interval(EPOCH, EPOCH + timedelta(hours=HOURS))
Hours = tuple[tuple[int, int], ...]
"""Beginnings and ends."""

spans = st.tuples(st.integers(-3, 14), st.integers(1, 6)).map(lambda each: (each[0], sum(each)))


@st.composite
def hosts(draw: st.DrawFn) -> PlannedHost:
    number = draw(st.integers(0, 99))
    is_registered = draw(st.booleans())
    return PlannedHost(
        name=f"h{number}",
        service_host=f"h{number}",
        zone=draw(st.sampled_from(["az1", "az2"])),
        rack=draw(st.sampled_from(["r1", "-"])),
        kind=draw(st.sampled_from(["small", "large"])),
        pool=Pool.RESERVABLE if is_registered else Pool.GENERAL,
        resource_id=ResourceId(f"h{number}") if is_registered else None,
        problem=draw(st.sampled_from(["", "", "down"])),
        inventories={
            "VCPU": Inventory(total=8, reserved=1, allocation_ratio=draw(st.sampled_from([1.0, 2.5])))
        },
        used={} if is_registered else {"VCPU": draw(st.integers(0, 7))},
    )


clouds = st.lists(hosts(), max_size=8, unique_by=lambda each: each.name)
booked = st.dictionaries(st.integers(0, 99).map(lambda each: ResourceId(f"h{each}")), st.tuples(spans, spans))


def times(found: Mapping[ResourceId, Hours]) -> Mapping[ResourceId, Hours]:
    def instant(hour: int) -> int:
        return micros(EPOCH + timedelta(hours=hour))

    return {key: tuple(merged((instant(a), instant(b)) for a, b in own)) for key, own in found.items()}


def count(which: list[PlannedHost], found: Mapping[ResourceId, Hours], hour: int) -> int:
    own = (found.get(each.resource_id, ()) for each in which if each.resource_id is not None)
    return sum(any(start <= hour < end for start, end in each) for each in own)


@given(clouds, booked, booked)
def test_it_is_that_of_counting_hosts_at_every_hour(
    cloud: list[PlannedHost], reserved: Mapping[ResourceId, Hours], maintained: Mapping[ResourceId, Hours]
) -> None:
    keys = reserved.keys() | maintained.keys()
    occupied = {key: (*reserved.get(key, ()), *maintained.get(key, ())) for key in keys}

    rows = allocation_table(cloud, BookedTimes(reserved=times(reserved), occupied=times(occupied)), WINDOW)

    assert sum(row.total for row in rows) == len(cloud)
    for row in rows:
        own = [each for each in cloud if (each.zone, each.rack, each.kind) == (row.zone, row.rack, row.kind)]
        inside = [each for each in own if each.pool is Pool.RESERVABLE]
        usable = [each for each in inside if not each.problem]
        levels = [count(inside, reserved, hour) for hour in range(HOURS)]
        assert (row.total, row.reservable, row.general) == (len(own), len(inside), len(own) - len(inside))
        assert row.unusable == len(inside) - len(usable)
        assert (row.reserved_now, row.peak) == (levels[0], max(levels))
        assert abs(row.mean - sum(levels) / HOURS) < 0.006
        free = [len(usable) - count(usable, occupied, hour) for hour in range(HOURS)]
        assert row.headroom == min(free)
        outside = [each for each in own if each.pool is Pool.GENERAL]
        for amounts, of in ((row.general_amounts, outside), (row.reservable_amounts, inside)):
            assert bool(amounts) is bool(of)
            for each in amounts:
                assert each.total == 8 * len(of)
                assert each.capacity == sum(int(7 * one.inventories["VCPU"].allocation_ratio) for one in of)
                assert each.used == sum(one.used.get("VCPU", 0) for one in of)
