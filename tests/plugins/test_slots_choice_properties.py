"""The choice of hosts for instances, against brute force."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st
from plugins.slot_cases import FAT, OTHER, OWN, SLOT, THIN, Case, HostFacts
from samples import HOUR, at, window

from blazar.domain.availability import Shuffle
from blazar.domain.capacity import Share
from blazar.domain.errors import CannotChange, Conflict
from blazar.plugins.hosts.errors import NotEnoughHosts

# Brute force: try every placement of the instances, at every hour.


def fits(case: Case, host: HostFacts, slots: int) -> bool:
    if slots == 0:
        return True
    is_candidate = (
        host.is_known
        and (host.is_reservable or slots <= case.held.get(host.id, 0))
        and host.id not in case.excluded
        and case.rack in (None, host.rack)
    )
    return is_candidate and all(
        has_room(host, [*shares_at(case, host, hour), Share(slots=slots, demand=SLOT)])
        for hour in range(4, 9 if case.cleaning_time else 8)
    )


def shares_at(case: Case, host: HostFacts, hour: int) -> list[Share | None]:
    """Return the shares of other reservations in an hour, including their cleaning time."""
    present = [
        share
        for owner, each, share in host.bookings
        if owner != OWN and each.start <= at(hour) < each.end + case.cleaning_time
    ]
    return [*present, *case.beside.get(host.id, ())]


def has_room(host: HostFacts, shares: list[Share | None]) -> bool:
    used = {"VCPU": 0, "MEMORY_MB": 0}
    for share in shares:
        if share is None:
            return False
        for name, amount in share.demand.amounts:
            used[name] += amount * share.slots
    return used["VCPU"] <= host.vcpus and used["MEMORY_MB"] <= host.memory


def must_stay(case: Case) -> dict[str, int]:
    """Return the number of instances that must stay, by host."""
    if not case.is_active:
        return {}
    if case.amount >= sum(case.held.values()):
        return dict(case.held)
    return {key: min(slots, case.in_use.get(key, 0)) for key, slots in case.held.items()}


def is_allowed(case: Case, placed: Mapping[str, int]) -> bool:
    """Return whether a placement that fits is allowed."""
    if sum(placed.values()) != case.amount:
        return False
    if any(placed.get(key, 0) < slots for key, slots in must_stay(case).items()):
        return False
    used = [key for key, slots in placed.items() if slots]
    if case.affinity is False:
        return max(placed.values()) <= 1
    if case.affinity:
        return len(used) == 1 and (not case.is_active or not case.held or used[0] in case.held)
    return True


def every_way(case: Case) -> list[dict[str, int]]:
    roomy = [[slots for slots in range(case.amount + 1) if fits(case, host, slots)] for host in case.hosts]
    ways = (
        dict(zip((each.id for each in case.hosts), way, strict=True)) for way in itertools.product(*roomy)
    )
    return [way for way in ways if is_allowed(case, way)]


def kept_of(case: Case, placed: Mapping[str, int]) -> int:
    return sum(min(slots, placed.get(key, 0)) for key, slots in case.held.items())


MOSTLY = st.sampled_from([True, True, True, True, False])
SHARES = st.builds(Share, slots=st.integers(1, 2), demand=st.sampled_from([SLOT, THIN, FAT]))
WINDOWS = st.tuples(st.integers(1, 8), st.integers(1, 4)).map(lambda each: window(each[0], sum(each)))
BOOKINGS = st.tuples(
    st.sampled_from([OWN, OTHER, OTHER]), WINDOWS, st.one_of(SHARES, SHARES, SHARES, SHARES, st.none())
)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    hosts = tuple(
        HostFacts(
            id=str(number),
            vcpus=draw(st.sampled_from([4, 6, 8])),
            memory=draw(st.sampled_from([6, 9, 12])),
            rack="r1" if draw(MOSTLY) else "r2",
            is_reservable=draw(MOSTLY),
            is_known=number == 0 or draw(MOSTLY),
            bookings=tuple(draw(st.lists(BOOKINGS, max_size=2))),
        )
        for number in range(draw(st.sampled_from([1, 2, 3, 3, 4])))
    )
    ids = st.sampled_from([each.id for each in hosts])
    affinity = draw(st.sampled_from([None, True, False]))
    is_active = draw(st.booleans())
    held = draw(st.dictionaries(ids, st.integers(1, 3), max_size=3))
    if is_active and affinity is not None:
        # Instances in use were placed according to the affinity.
        held = dict.fromkeys(held, 1) if affinity is False else dict(list(held.items())[:1])
    return Case(
        hosts=hosts,
        amount=draw(st.integers(1, 5)),
        affinity=affinity,
        rack=None if draw(MOSTLY) else "r1",
        cleaning_time=draw(st.sampled_from([timedelta(0), HOUR])),
        held=held,
        in_use={key: draw(st.integers(0, slots)) for key, slots in held.items()},
        is_active=is_active,
        excluded=frozenset() if draw(MOSTLY) else frozenset({draw(ids)}),
        beside={} if draw(MOSTLY) else {draw(ids): (draw(SHARES | st.none()),)},
        shuffle=draw(
            st.none()
            | st.builds(Shuffle, chance=st.randoms(use_true_random=False), equals_only=st.booleans())
        ),
    )


@settings(max_examples=400)
@given(cases())
def test_slots_are_refused_only_where_no_way_of_placing_them_is_right(case: Case) -> None:
    ways = every_way(case)

    try:
        chosen = case.choose()
    except CannotChange:
        assert sum(must_stay(case).values()) > case.amount
    except NotEnoughHosts:
        assert ways == []
        assert sum(must_stay(case).values()) <= case.amount
    else:
        assert {each.id: chosen.get(each.id, 0) for each in case.hosts} in ways
        assert all(chosen.values())


@settings(max_examples=400)
@given(cases())
def test_as_much_as_possible_of_what_is_held_is_kept_and_comes_first(case: Case) -> None:
    ways = every_way(case)
    try:
        chosen = case.choose()
    except Conflict:
        return
    kept = [key in case.held for key in chosen]

    assert kept == sorted(kept, reverse=True)
    if case.affinity:
        assert any(kept) == any(kept_of(case, way) for way in ways)
    else:
        assert kept_of(case, chosen) == max(kept_of(case, way) for way in ways)


@settings(max_examples=400)
@given(cases())
def test_hosts_with_shares_of_others_are_filled_before_another_one_is_begun(case: Case) -> None:
    if case.affinity:
        return
    try:
        chosen = case.choose()
    except Conflict:
        return
    begun = [each for each in case.hosts if each.id in chosen and not is_begun(case, each)]
    most = 1 if case.affinity is False else case.amount

    for host in case.hosts:
        is_full = chosen.get(host.id, 0) >= most or not fits(case, host, chosen.get(host.id, 0) + 1)
        assert not begun or not is_begun(case, host) or is_full


def is_begun(case: Case, host: HostFacts) -> bool:
    """Return whether the reservation already holds the host, or others share it in the window."""
    wide = window(4, 8).widened(case.cleaning_time)
    shares = [share for owner, each, share in host.bookings if owner != OWN and each.overlaps(wide)]
    return host.id in case.held or any([*shares, *case.beside.get(host.id, ())])
