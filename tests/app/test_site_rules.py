"""Lease settings of the operator: cleaning time and selection of hosts."""

from __future__ import annotations

from app.conftest import EnvWith
from app.http_env import (
    lease_of,
    quiet_settings,
    shortage,
)


def test_cleaning_time_is_kept_free_between_two_leases(env_with: EnvWith) -> None:
    env = env_with(quiet_settings(cleaning_minutes=15))
    env.register("h1")
    env.create(60, 120)

    for start, end in ((121, 180), (134, 180), (30, 46), (30, 60)):
        message = shortage(env.post("/leases", env.wish(start, end)))
        assert "without the cleaning time of 15 minutes" in message
    for wish in (env.wish(119, 180), env.wish(121, 180, min=2, max=2)):
        assert "cleaning time" not in shortage(env.post("/leases", wish))

    env.create(135, 180)
    env.create(30, 45)


def test_cleaning_time_is_kept_free_also_when_a_lease_is_extended(env_with: EnvWith) -> None:
    env = env_with(quiet_settings(cleaning_minutes=15))
    env.register("h1")
    lease = env.create("now", 60)
    env.create(90, 120)
    env.work()

    message = shortage(env.put(f"/leases/{lease['id']}", {"end_date": env.date(76)}))
    assert "without the cleaning time of 15 minutes" in message
    assert env.change(lease, end_date=env.date(75))["end_date"] == env.shown(75)


def test_cleaning_time_runs_from_the_actual_end(env_with: EnvWith) -> None:
    env = env_with(quiet_settings(cleaning_minutes=15))
    env.register("h1")
    lease = env.create("now", 60)
    env.pass_time(10)
    assert env.delete(f"/leases/{lease['id']}").status_code == 204
    env.work()

    shortage(env.post("/leases", env.wish(24, 60)))
    env.create(25, 60)


def test_cleaning_time_does_not_reach_beyond_the_end_of_all_time(env_with: EnvWith) -> None:
    env = env_with(quiet_settings(cleaning_minutes=15))
    env.register("h1")
    body = {**env.wish(60, 120), "end_date": "9999-12-31 23:59"}

    lease = lease_of(env.post("/leases", body), 201)

    assert lease["end_date"] == "9999-12-31T23:59:00.000000"
    shortage(env.post("/leases", env.wish(100, 120)))
    env.create(0, 45)


def test_hosts_are_chosen_in_a_fixed_order_unless_the_site_wants_them_at_random(
    env_with: EnvWith,
) -> None:
    def chosen(*, at_random: bool) -> set[str]:
        env = env_with(quiet_settings(randomize_selection=at_random))
        env.register(*(f"h{number}" for number in range(12)))
        found = set()
        for _ in range(12):
            lease = env.create("now", 60)
            found |= env.booked(lease)
            env.delete(f"/leases/{lease['id']}")
        return found

    assert len(chosen(at_random=False)) == 1
    assert len(chosen(at_random=True)) > 1
