"""Hosts to move into the freepool and out of it, compared with all possible choices on small clouds."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, combinations

from hypothesis import given
from hypothesis import strategies as st

from blazar.domain.lease import ResourceId
from blazar.domain.providers import Inventory
from blazar.planning.hosts import PlannedHost, Pool
from blazar.planning.load import Load
from blazar.planning.recommendation import Demand, Recommendation, recommend


def host(
    number: int, rack: str, pool: Pool, *, servers: int = 0, used: int = 0, problem: str = ""
) -> PlannedHost:
    return PlannedHost(
        name=f"h{number:02}",
        service_host=f"h{number:02}",
        zone="nova",
        rack=rack,
        kind="small",
        pool=pool,
        resource_id=ResourceId(str(number)) if pool is Pool.RESERVABLE else None,
        problem=problem,
        inventories={"VCPU": Inventory(total=10)},
        used={"VCPU": used},
        servers=servers,
    )


@st.composite
def clouds(draw: st.DrawFn) -> tuple[PlannedHost, ...]:
    hosts = []
    for number in range(draw(st.integers(0, 8))):
        servers = draw(st.integers(0, 1))
        hosts.append(
            host(
                number,
                draw(st.sampled_from("abc")),
                draw(st.sampled_from(Pool)),
                servers=servers,
                used=5 * servers,
                problem=draw(st.sampled_from(["", "", "", "down"])),
            )
        )
    return tuple(hosts)


def demand(needed: int, growth_percent: float = 0) -> Demand:
    return Demand(past=Load(peak=needed), booked=Load(), growth_percent=growth_percent)


def is_enough(usable: tuple[PlannedHost, ...], needed: int, *, is_spread: bool) -> bool:
    """Return whether the loss of any rack, or of any one host, leaves as many hosts as are needed."""
    if not needed:
        return True
    racks = {each.rack for each in usable}
    left = [sum(each.rack != rack for each in usable) for rack in racks] if is_spread else []
    return min(left, default=len(usable) - 1) >= needed


def names(hosts: Iterable[PlannedHost]) -> set[str]:
    return {each.name for each in hosts}


def pools(hosts: tuple[PlannedHost, ...]) -> tuple[tuple[PlannedHost, ...], bool]:
    usable = tuple(each for each in hosts if each.pool is Pool.RESERVABLE and each.is_usable)
    return usable, len({each.rack for each in usable}) > 1


def after(found: Recommendation, hosts: tuple[PlannedHost, ...]) -> tuple[PlannedHost, ...]:
    usable, _ = pools(hosts)
    return (*(each for each in usable if each not in found.move_out), *found.move_in)


@given(clouds(), st.integers(0, 6))
def test_as_few_hosts_as_possible_join(hosts: tuple[PlannedHost, ...], needed: int) -> None:
    usable, is_spread = pools(hosts)
    spare = [each for each in hosts if each.pool is Pool.GENERAL and each.is_usable and not each.servers]

    found = recommend(hosts, demand(needed), (), general_limit_percent=1000)

    choices = chain.from_iterable(combinations(spare, size) for size in range(len(spare) + 1))
    enough = (each for each in choices if is_enough((*usable, *each), needed, is_spread=is_spread))
    fewest = next(enough, None)
    assert names(found.move_in) <= names(spare)
    if fewest is None:
        assert found.lacking > 0
        assert names(found.move_in) == names(spare)
    else:
        assert found.lacking == 0
        assert len(found.move_in) == len(fewest)


@given(clouds(), st.integers(0, 6), st.sets(st.integers(0, 8)))
def test_hosts_leave_while_enough_are_left(
    hosts: tuple[PlannedHost, ...], needed: int, booked: set[int]
) -> None:
    usable, is_spread = pools(hosts)
    unbooked = {each.resource_id for each in usable if int(each.name[1:]) not in booked} - {None}

    found = recommend(hosts, demand(needed), {each for each in unbooked if each}, general_limit_percent=1000)

    left = after(found, hosts)
    assert {each.resource_id for each in found.move_out} <= unbooked
    if found.move_out:
        assert is_enough(left, needed, is_spread=is_spread)
        assert found.move_in == ()
        assert len(left) >= found.target


@given(clouds(), st.integers(0, 6), st.sampled_from([50, 80, 100]))
def test_the_general_pool_keeps_what_it_needs(
    hosts: tuple[PlannedHost, ...], needed: int, limit: float
) -> None:
    found = recommend(hosts, demand(needed), (), general_limit_percent=limit)

    general = [each for each in hosts if each.pool is Pool.GENERAL and each not in found.move_in]
    if found.move_in:
        assert sum(each.used["VCPU"] for each in general) <= limit / 100 * 10 * len(general)
    assert len(found.to_empty) <= found.lacking
    assert all(each.servers for each in found.to_empty)


def test_the_headroom_is_the_largest_rack() -> None:
    hosts = (
        *(host(number, "a", Pool.RESERVABLE) for number in range(3)),
        host(3, "b", Pool.RESERVABLE),
        *(host(number, "c", Pool.GENERAL) for number in range(4, 8)),
    )

    found = recommend(hosts, demand(2, growth_percent=50), (), general_limit_percent=80)

    assert (found.demand.needed, found.headroom, found.target, found.present) == (3, 3, 6, 4)
    assert [each.name for each in found.move_in] == ["h04", "h05"]


def test_no_host_is_moved_while_no_demand_is_known() -> None:
    hosts = (
        *(host(number, "a", Pool.RESERVABLE) for number in range(2)),
        *(host(number, "b", Pool.GENERAL) for number in range(2, 4)),
    )
    every = {each.resource_id for each in hosts if each.resource_id}

    found = recommend(hosts, demand(0), every, general_limit_percent=80)

    assert (found.move_in, found.move_out) == ((), ())
    assert (found.target, found.present, found.lacking) == (2, 2, 0)


def test_the_demand_that_an_operator_expects_counts_if_it_is_higher() -> None:
    hosts = (
        *(host(number, "a", Pool.RESERVABLE) for number in range(2)),
        *(host(number, "b", Pool.GENERAL) for number in range(2, 8)),
    )
    expected = Demand(past=Load(peak=2), booked=Load(), growth_percent=50, expected=4)

    found = recommend(hosts, expected, (), general_limit_percent=80)

    assert (found.demand.needed, found.headroom, found.target) == (4, 1, 5)
    assert [each.name for each in found.move_in] == ["h02", "h03", "h04"]
