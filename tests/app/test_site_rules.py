"""Lease settings of the operator: cleaning time and selection of hosts."""

from __future__ import annotations

from app.conftest import WorldWith
from app.world import (
    lease_of,
    quiet_settings,
    shortage,
)


def test_cleaning_time_is_kept_free_between_two_leases(world_with: WorldWith) -> None:
    world = world_with(quiet_settings(cleaning_minutes=15))
    world.register("h1")
    world.create(60, 120)

    for start, end in ((121, 180), (134, 180), (30, 46), (30, 60)):
        message = shortage(world.post("/leases", world.wish(start, end)))
        assert "without the cleaning time of 15 minutes" in message
    for wish in (world.wish(119, 180), world.wish(121, 180, min=2, max=2)):
        assert "cleaning time" not in shortage(world.post("/leases", wish))

    world.create(135, 180)
    world.create(30, 45)


def test_cleaning_time_is_kept_free_also_when_a_lease_is_extended(world_with: WorldWith) -> None:
    world = world_with(quiet_settings(cleaning_minutes=15))
    world.register("h1")
    lease = world.create("now", 60)
    world.create(90, 120)
    world.work()

    message = shortage(world.put(f"/leases/{lease['id']}", {"end_date": world.date(76)}))
    assert "without the cleaning time of 15 minutes" in message
    assert world.change(lease, end_date=world.date(75))["end_date"] == world.shown(75)


def test_cleaning_time_runs_from_the_actual_end(world_with: WorldWith) -> None:
    world = world_with(quiet_settings(cleaning_minutes=15))
    world.register("h1")
    lease = world.create("now", 60)
    world.pass_time(10)
    assert world.delete(f"/leases/{lease['id']}").status_code == 204
    world.work()

    shortage(world.post("/leases", world.wish(24, 60)))
    world.create(25, 60)


def test_cleaning_time_does_not_reach_beyond_the_end_of_all_time(world_with: WorldWith) -> None:
    world = world_with(quiet_settings(cleaning_minutes=15))
    world.register("h1")
    body = {**world.wish(60, 120), "end_date": "9999-12-31 23:59"}

    lease = lease_of(world.post("/leases", body), 201)

    assert lease["end_date"] == "9999-12-31T23:59:00.000000"
    shortage(world.post("/leases", world.wish(100, 120)))
    world.create(0, 45)


def test_hosts_are_chosen_in_a_fixed_order_unless_the_site_wants_them_at_random(
    world_with: WorldWith,
) -> None:
    def chosen(*, at_random: bool) -> set[str]:
        world = world_with(quiet_settings(randomize_selection=at_random))
        world.register(*(f"h{number}" for number in range(12)))
        found = set()
        for _ in range(12):
            lease = world.create("now", 60)
            found |= world.booked(lease)
            world.delete(f"/leases/{lease['id']}")
        return found

    assert len(chosen(at_random=False)) == 1
    assert len(chosen(at_random=True)) > 1
