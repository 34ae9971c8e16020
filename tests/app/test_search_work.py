"""The work of searches by requests that are expensive to answer, counted in choices of resources."""

from __future__ import annotations

from typing import Any

import pytest
from app.http_env import LESSEE, NEWER, HttpEnv, Json, good
from app.slots import instances

from blazar.app.leases.alternatives import CHOICES_FOR_TIMES
from blazar.booking import joint_choice, search
from blazar.booking.grouped_choice import choose, count_further_choices
from blazar.domain.search_budget import MAX_CHOICES

AT_ONCE = 24 * 10
"""At least as many choices as one window takes: those of ten reservations in all orders."""


@pytest.fixture
def env(env: HttpEnv) -> HttpEnv:
    """Return the service with ten hosts and many leases of instances that end at different times."""
    env.register(*(f"h{number}" for number in range(10)))
    for number in range(60):
        env.create(100 + 7 * number, 130 + 9 * number, asked=instances(amount=1 + number % 3))
    return env


@pytest.fixture
def choices(env: HttpEnv, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the types for which resources are chosen from now on."""
    found: list[str] = []

    def choose_and_note(plugin: Any, *arguments: Any) -> Any:
        found.append(plugin.resource_type)
        return choose(plugin, *arguments)

    monkeypatch.setattr(search, "choose", choose_and_note)
    monkeypatch.setattr(joint_choice, "choose", choose_and_note)
    return found


def ranges(count: int) -> list[Json]:
    """Return reservations of instances of different sizes, of as many as possible."""
    item = {key: each for key, each in instances(memory_mb=1, disk_gb=0).items() if key != "amount"}
    return [{**item, "vcpus": 1 + number % 4, "count": {"least": 1, "most": 100}} for number in range(count)]


def ask(env: HttpEnv, reservations: list[Json], order: str) -> Json:
    body = {"reservations": reservations, "duration_minutes": 60, "order": order, "limit": 100}
    body["latest_end"] = env.date(48 * 60)
    return dict(good(env.post("/availability/search", body, who=LESSEE, headers=NEWER)))


@pytest.mark.parametrize(("count", "order"), [(5, "most"), (10, "most"), (10, "earliest")])
def test_a_search_with_many_ranges_stops_early_and_says_so(
    env: HttpEnv, choices: list[str], count: int, order: str
) -> None:
    answer = ask(env, ranges(count), order)

    assert not answer["complete"]
    assert MAX_CHOICES < len(choices) < MAX_CHOICES + 2 * AT_ONCE
    found = {"name": "found", **answer["slots"][0]["request"]}
    good(env.post("/leases", found, who=LESSEE, headers=NEWER), 201)


def test_a_search_with_one_range_is_complete(env: HttpEnv, choices: list[str]) -> None:
    answer = ask(env, ranges(1), "most")

    assert answer["complete"]
    assert len(answer["slots"]) > 10
    assert len(choices) < MAX_CHOICES


def test_all_shapes_share_the_work_of_one_search(env: HttpEnv, choices: list[str]) -> None:
    shapes = [{"reservations": ranges(4)}] * 4
    body = {"shapes": shapes, "duration_minutes": 60, "order": "most", "limit": 100}

    answer = good(env.post("/availability/search", body, who=LESSEE, headers=NEWER))

    assert not answer["complete"]
    assert len(choices) < MAX_CHOICES + 8 * AT_ONCE


def test_the_alternatives_of_a_refused_lease_take_limited_work(env: HttpEnv, choices: list[str]) -> None:
    # Each of them fits alone at any time, but all of them never do.
    asked = [instances(amount=7) for _ in range(6)]

    answer = env.post("/leases", {**env.wish(110, 170), "reservations": asked}, who=LESSEE, headers=NEWER)

    assert answer.status_code == 409
    assert answer.json["alternatives"]
    assert len(choices) < 3 * CHOICES_FOR_TIMES + AT_ONCE


def test_units_that_are_spread_take_a_choice_for_each_value(
    env: HttpEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = set[int]()

    def count_and_note(*arguments: Any) -> int:
        counted.add(count_further_choices(*arguments))
        return count_further_choices(*arguments)

    monkeypatch.setattr(search, "count_further_choices", count_and_note)
    answer = ask(env, [instances(amount=8, spread="hypervisor_hostname")], "earliest")

    assert answer["slots"]
    assert counted == {7}
