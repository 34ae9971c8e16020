"""Leases of which it is not recorded what they held, such as those that had ended when they were imported."""

from __future__ import annotations

import sqlalchemy as sa
from app.http_env import HttpEnv
from planning.running import DAY, reservable, run_json

from blazar.db.tables import held_periods


def lose_records(env: HttpEnv) -> None:
    with env.engine.begin() as connection:
        connection.execute(sa.delete(held_periods))


def test_they_count_with_the_fewest_hosts_of_their_range(racks: HttpEnv) -> None:
    racks.create("now", DAY, min=2, max=100)
    racks.pass_time(DAY + 1)
    recorded = run_json(racks, "plan")["recommendation"]["demand"]["past"]
    lose_records(racks)

    found = run_json(racks, "plan")["recommendation"]

    assert recorded["peak"] == 6
    assert (found["demand"]["past"]["peak"], found["target"], found["lacking"]) == (2, 3, 0)


def test_a_replay_makes_their_requests_for_the_fewest_hosts(env: HttpEnv) -> None:
    reservable(env, "h1", "h2")
    env.create("now", DAY, min=1, max=100)
    reservable(env, "h3")
    env.create("now", DAY)
    env.pass_time(DAY + 1)
    lose_records(env)

    found = run_json(env, "what-if --add 1 --like h1")

    assert (found["replay_before"]["requests"], found["replay_before"]["refused"]) == (2, [])
    assert found["replay_after"]["peak"] == 2
