"""The search for times at which a lease is possible, over HTTP, on the embedded service."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from app.floatingips import Pool
from app.http_env import (
    ADMIN,
    LESSEE,
    NEWER,
    READER,
    STRANGER,
    HttpEnv,
    Json,
    Who,
    good,
    host_reservation,
    quiet_settings,
    refusal,
)
from app.slots import instances

from blazar.settings import Settings

PATH = "/availability/search"
Slot = tuple[int, int]


def ask(env: HttpEnv, *reservations: Json, who: Who = LESSEE, **keys: Any) -> Json:
    """Return the answer for a search in the next ten hours."""
    body = {"reservations": list(reservations), "latest_end": env.date(600), **keys}
    return good(env.post(PATH, body, who=who, headers=NEWER))


def slots(env: HttpEnv, *reservations: Json, **keys: Any) -> list[Slot]:
    """Return the starts and the ends that were found, in minutes from now."""
    answer = ask(env, *reservations, **keys)
    minutes = {env.date(each): each for each in range(601)}
    assert answer["complete"]
    return [(minutes[each["start_date"]], minutes[each["end_date"]]) for each in answer["slots"]]


def reserve(env: HttpEnv, slot: Slot, *reservations: Json) -> Json:
    """Return the lease in a time slot that was found."""
    start, end = slot
    return good(
        env.post("/leases", {**env.wish(start, end), "reservations": list(reservations)}, who=LESSEE), 201
    )


HOSTS = host_reservation(min=3, max=4)


@pytest.mark.usefixtures("hosts")
def test_the_earliest_slot_begins_when_enough_hosts_are_free(env: HttpEnv) -> None:
    env.create("now", 60, min=2, max=2, who=STRANGER)
    env.create(150, 200, min=2, max=2, who=STRANGER)

    answer = ask(env, HOSTS, duration_minutes=60)

    assert slots(env, HOSTS, duration_minutes=60) == [(60, 120), (200, 260)]
    assert answer["slots"][0] == {
        "shape": 0,
        "start_date": env.date(60),
        "end_date": env.date(120),
        "latest_start_date": env.date(90),
        "reservations": [{"resource_type": "physical:host", "amount": 4, "preferences_met": 0, "groups": []}],
        "request": {"start_date": env.date(60), "end_date": env.date(120), "reservations": [HOSTS]},
    }
    assert slots(env, HOSTS, duration_minutes=60, limit=1) == [(60, 120)]
    assert slots(env, HOSTS, duration_minutes=60, earliest_start=env.date(91)) == [(200, 260)]
    reserve(env, (60, 120), HOSTS)


@pytest.mark.usefixtures("hosts")
def test_longest_and_most(env: HttpEnv) -> None:
    env.create("now", 60, min=2, max=2, who=STRANGER)
    env.create(150, 200, min=2, max=2, who=STRANGER)
    any_host = host_reservation(min=1, max=4)

    longest = slots(env, HOSTS, order="longest", min_duration_minutes=10, max_duration_minutes=9999)
    assert longest == [(200, 600)]
    assert slots(env, any_host, order="earliest", duration_minutes=60) == [(0, 60)]
    assert slots(env, any_host, order="most", duration_minutes=60, limit=1) == [(60, 120)]
    (found,) = ask(env, any_host, order="most", duration_minutes=60, limit=3)["slots"][0]["reservations"]
    assert found["amount"] == 4


@pytest.mark.usefixtures("hosts")
def test_all_reservations_of_a_search_fit_together(env: HttpEnv, pool: Pool) -> None:
    pool.register(1, 2)
    env.create("now", 60, min=2, max=2, who=STRANGER)
    body = {**env.wish(70, 90), "reservations": [pool.asked(1)]}
    good(env.post("/leases", body, who=STRANGER), 201)
    asked = [host_reservation(min=2, max=2), instances(amount=2, affinity=False), pool.asked(2)]

    found = slots(env, *asked, duration_minutes=30)

    assert found == [(90, 120)]
    reserve(env, found[0], *asked)
    assert slots(env, *asked, duration_minutes=30, limit=1) == [(120, 150)]


@pytest.mark.parametrize("order", ["earliest", "most"])
def test_reservations_that_fit_alone_find_when_they_fit_together(env: HttpEnv, order: str) -> None:
    """Two instances are free throughout, but four only between two other leases."""
    env.register("h1")
    for start, end in ((0, 70), (200, 600)):
        body = {**env.wish(start or "now", end), "reservations": [instances()]}
        good(env.post("/leases", body, who=STRANGER), 201)

    found = slots(env, instances(), instances(affinity=True), duration_minutes=100, order=order)

    assert found[0] == (70, 170)


def test_cleaning_time_is_kept_free(env_with: Callable[[Settings], HttpEnv]) -> None:
    env = env_with(quiet_settings(cleaning_minutes=15))
    env.register("h1")
    env.create("now", 60, who=STRANGER)
    env.create(120, 150, who=STRANGER)

    assert slots(env, host_reservation(), duration_minutes=30) == [(75, 105), (165, 195)]
    assert slots(env, host_reservation(), duration_minutes=31) == [(165, 196)]


@pytest.mark.usefixtures("hosts")
def test_nothing_is_found_where_nothing_is_possible(env: HttpEnv) -> None:
    answer = ask(env, host_reservation(min=5, max=5), duration_minutes=60)
    assert (answer["slots"], answer["complete"]) == ([], True)
    (reason,) = answer["reasons"]
    assert reason["summary"] == "physical:host: 5 needed, but only 4 registered"
    env.create("now", 599, min=2, max=2, who=STRANGER)
    assert slots(env, HOSTS, duration_minutes=2) == []


@pytest.mark.usefixtures("hosts")
def test_a_search_reserves_nothing_and_shows_nothing_of_others(env: HttpEnv) -> None:
    lease = env.create("now", 60, min=2, max=2, who=STRANGER)
    before = env.snapshot()

    text = env.post(PATH, {"reservations": [HOSTS], "duration_minutes": 60}, who=LESSEE, headers=NEWER).text

    assert env.snapshot() == before
    assert not [
        each for each in ("h1", "h2", lease["id"], lease["name"], lease["project_id"]) if each in text
    ]


@pytest.mark.usefixtures("hosts")
def test_rights_and_private_properties(env: HttpEnv) -> None:
    good(env.patch("/os-hosts/properties/rack", {"private": True}))
    secret = host_reservation(resource_properties='["==", "$rack", "r1"]')
    body = {"reservations": [secret], "duration_minutes": 5}

    assert "no host has a property named rack" in refusal(
        env.post(PATH, body, who=LESSEE, headers=NEWER), 400
    )
    good(env.post(PATH, body, who=ADMIN, headers=NEWER))
    good(env.post(PATH, {**body, "reservations": [HOSTS]}, who=READER, headers=NEWER))
    refusal(env.post(PATH, body, who=Who(roles="guest"), headers=NEWER), 403)
    assert env.post(PATH, body, who=LESSEE).status_code == 404


@pytest.mark.usefixtures("hosts")
@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({"reservations": []}, "reservations"),
        ({"reservations": [{"min": 1}]}, "resource_type"),
        ({"reservations": [host_reservation(min=0)]}, "min"),
        ({"duration_minutes": None}, "duration_minutes"),
        ({"duration_minutes": 0}, "duration_minutes"),
        ({"duration_minutes": "long"}, "duration_minutes"),
        ({"duration_minutes": 601}, "duration_minutes: does not fit"),
        ({"duration_minutes": 2**40}, "duration_minutes"),
        ({"order": "longest"}, "max_duration_minutes, min_duration_minutes"),
        (
            {"order": "longest", "min_duration_minutes": 9, "max_duration_minutes": 8},
            "min_duration_minutes: must not be more than max_duration_minutes",
        ),
        ({"order": "best"}, "order"),
        ({"limit": 0}, "limit: must be from 1 to 100"),
        ({"limit": 101}, "limit: must be from 1 to 100"),
        ({"earliest_start": "tomorrow"}, "earliest_start"),
        (
            {"earliest_start": "9999-12-31 23:00", "latest_end": None},
            "earliest_start: must be at most",
        ),
        ({"latest_end": "now"}, "latest_end"),
        ({"latest_end": "2030-01-01 00:00"}, "latest_end: must be later"),
        ({"latest_end": "9999-12-31 23:59"}, "latest_end: must be at most 366 days"),
        ({"color": "red"}, "color"),
    ],
)
def test_bad_input_is_refused_with_its_name(env: HttpEnv, keys: Json, problem: str) -> None:
    body = {"reservations": [HOSTS], "duration_minutes": 60, "latest_end": env.date(600), **keys}
    wanted = {key: value for key, value in body.items() if value is not None}

    assert problem in refusal(env.post(PATH, wanted, who=LESSEE, headers=NEWER), 400)
