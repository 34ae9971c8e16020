"""Searches with several shapes, ranges of units and preferences, over HTTP."""

from __future__ import annotations

from typing import Any

import pytest
from app.floatingips import Pool
from app.http_env import LESSEE, NEWER, STRANGER, HttpEnv, Json, good, host_reservation, refusal
from app.slots import instances

PATH = "/availability/search"


@pytest.fixture
def env(env: HttpEnv) -> HttpEnv:
    """Return the service with four hosts in two racks, of which one has GPUs."""
    env.register("a1", "a2", rack="r1", gpu="a100")
    env.register("b1", "b2", rack="r2")
    return env


def ask(env: HttpEnv, **keys: Any) -> Json:
    body = {"latest_end": env.date(600), "duration_minutes": 60, **keys}
    return dict(good(env.post(PATH, body, who=LESSEE, headers=NEWER)))


def refused(env: HttpEnv, **keys: Any) -> str:
    body = {"latest_end": env.date(600), "duration_minutes": 60, **keys}
    return refusal(env.post(PATH, body, who=LESSEE, headers=NEWER), 400)


def starts(env: HttpEnv, answer: Json) -> list[tuple[int, int]]:
    """Return the shape and the start, in minutes from now, of each slot."""
    minutes = {env.date(each): each for each in range(601)}
    return [(each["shape"], minutes[each["start_date"]]) for each in answer["slots"]]


def reserve(env: HttpEnv, slot: Json) -> Json:
    body = {"name": "found", **slot["request"]}
    return dict(good(env.post("/leases", body, who=LESSEE, headers=NEWER), 201)["lease"])


def held(env: HttpEnv, lease: Json) -> list[str]:
    path = f"/leases/{lease['id']}/allocations"
    return sorted(each["name"] for each in good(env.get(path, who=LESSEE, headers=NEWER))["allocations"])


def test_slots_of_the_preferred_shape_come_first(env: HttpEnv) -> None:
    env.create("now", 100, min=3, max=3, who=STRANGER)
    shapes = [{"reservations": [host_reservation(min=4, max=4)]}, {"reservations": [host_reservation()]}]

    answer = ask(env, shapes=shapes)

    assert starts(env, answer) == [(0, 100), (1, 0)]
    assert len(held(env, reserve(env, answer["slots"][0]))) == 4


def test_with_enough_slots_of_the_first_shape_others_are_not_searched(env: HttpEnv) -> None:
    shapes = [{"reservations": [host_reservation()]}, {"reservations": [instances(amount=1)]}]

    assert starts(env, ask(env, shapes=shapes, limit=1)) == [(0, 0)]


def test_another_type_may_be_a_shape(env: HttpEnv) -> None:
    env.create("now", 600, min=3, max=3, who=STRANGER)
    shapes = [
        {"reservations": [host_reservation(min=2, max=2)]},
        {"reservations": [instances(amount=2, affinity=None)]},
    ]

    answer = ask(env, shapes=shapes)

    assert starts(env, answer) == [(1, 0)]
    reserve(env, answer["slots"][0])


@pytest.mark.parametrize("kind", ["hosts", "instances", "addresses"])
def test_a_range_gets_as_many_as_are_free(env: HttpEnv, pool: Pool, kind: str) -> None:
    pool.register(1, 2, 3)
    env.create("now", 100, min=1, max=1, who=STRANGER)
    taken = {**env.wish("now", 100), "reservations": [pool.asked(1)]}
    good(env.post("/leases", taken, who=STRANGER), 201)
    asked = {"hosts": host_reservation(), "instances": instances(affinity=False), "addresses": pool.asked(1)}
    wanted = {**asked[kind], "count": {"least": 2, "most": 50}}

    first = ask(env, reservations=[wanted], limit=1)["slots"][0]

    (found,) = first["reservations"]
    assert found["amount"] == {"hosts": 3, "instances": 3, "addresses": 2}[kind]
    assert len(held(env, reserve(env, first))) == found["amount"]


def test_a_range_needs_its_least_number(env: HttpEnv) -> None:
    env.create("now", 100, min=3, max=3, who=STRANGER)
    wanted = {**host_reservation(), "count": {"least": 2, "most": 3}}

    answer = ask(env, reservations=[wanted])

    assert starts(env, answer) == [(0, 100)]
    assert answer["slots"][0]["reservations"][0]["amount"] == 3


def test_two_ranges_share_what_is_free(env: HttpEnv) -> None:
    wanted = {**host_reservation(), "count": {"least": 1, "most": 3}}

    first = ask(env, reservations=[wanted, wanted], limit=1)["slots"][0]

    assert [each["amount"] for each in first["reservations"]] == [3, 1]
    assert held(env, reserve(env, first)) == ["a1", "a2", "b1", "b2"]


def test_preferences_are_given_up_from_the_last_one_on(env: HttpEnv) -> None:
    env.create("now", 100, resource_properties='["==", "$rack", "r1"]', min=1, max=1, who=STRANGER)
    wanted = {**host_reservation(min=2, max=2), "prefer": ["gpu=a100", "rack=r2"]}

    answer = ask(env, reservations=[wanted])

    found = [
        (start, answer["slots"][number]["reservations"][0]["preferences_met"])
        for number, (_, start) in enumerate(starts(env, answer))
    ]
    assert found == [(100, 1), (0, 0)]
    assert held(env, reserve(env, answer["slots"][0])) == ["a1", "a2"]


def test_a_preference_keeps_the_requirement(env: HttpEnv) -> None:
    wanted = {**host_reservation(resource_properties="rack=r1"), "prefer": ["rack=r2"]}

    (slot,) = ask(env, reservations=[wanted], limit=1)["slots"]

    assert slot["reservations"][0]["preferences_met"] == 0


def test_groups_tell_where_the_units_are(env: HttpEnv) -> None:
    wanted = {**host_reservation(min=3, max=3), "spread": "rack"}

    (slot,) = ask(env, reservations=[wanted], limit=1)["slots"]

    ((group,),) = [each["groups"] for each in slot["reservations"]]
    assert group["property"] == "rack"
    assert sorted(each["amount"] for each in group["values"]) == [1, 2]
    assert slot["request"]["reservations"][0]["spread"] == "rack"


def test_names_of_hosts_are_no_groups(env: HttpEnv) -> None:
    wanted = {**host_reservation(min=1, max=1), "same": "hypervisor_hostname"}

    (slot,) = ask(env, reservations=[wanted], limit=1)["slots"]

    assert slot["reservations"][0]["groups"] == [{"property": "hypervisor_hostname", "values": []}]


def test_without_slots_the_reasons_are_those_of_the_first_shape(env: HttpEnv) -> None:
    shapes = [
        {
            "reservations": [
                {**host_reservation(min=3, max=3, resource_properties="gpu=a100"), "prefer": ["rack=r2"]}
            ]
        },
        {"reservations": [host_reservation(min=9, max=9)]},
    ]

    answer = ask(env, shapes=shapes)

    assert answer["slots"] == []
    assert [each["summary"] for each in answer["reasons"]] == [
        "physical:host: 3 needed, but only 2 of 4 left that also satisfy gpu=a100"
    ]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"count": {"least": 3, "most": 2}}, "count: least must not be more than most"),
        ({"count": {"least": 3}}, "count: must be an object with least and most"),
        ({"count": {"least": 0, "most": 2}}, "least: must be from 1 to"),
        ({"prefer": [""]}, "prefer: must not have an empty requirement"),
        ({"prefer": []}, "prefer: must be a list of 1 to 4 requirements"),
    ],
)
def test_bad_input(env: HttpEnv, keys: Json, message: str) -> None:
    assert refused(env, reservations=[{**host_reservation(), **keys}]).startswith(message)


def test_shapes_are_instead_of_reservations(env: HttpEnv) -> None:
    both = {"shapes": [{"reservations": [host_reservation()]}], "reservations": [host_reservation()]}

    assert refused(env, **both) == "shapes: cannot be given with reservations"


def test_other_bad_input_names_its_key(env: HttpEnv) -> None:
    assert "shapes" in refused(env, shapes=[])
    assert "shapes" in refused(env, shapes=[{"reservations": [host_reservation()]}] * 9)
    assert "prefer" in refused(env, reservations=[{**host_reservation(), "prefer": ["gpu=="]}])
    greedy = {"reservations": [{**host_reservation(), "prefer": ["rack=r1"] * 4}]}
    assert refused(env, shapes=[greedy] * 3) == (
        "shapes: each shape and each preference is searched on its own: 15 searches, at most 12 are possible"
    )
    assert "shelf" in refused(env, reservations=[{**host_reservation(), "prefer": ["shelf=1"]}])
    ignored = {**host_reservation(), "count": {"least": 1, "most": 10**9}}
    assert ask(env, reservations=[ignored])["slots"]


def test_addresses_have_no_preferences(env: HttpEnv, pool: Pool) -> None:
    pool.register(1)

    message = refused(env, reservations=[{**pool.asked(1), "prefer": ["rack=r1"]}])

    assert message == "prefer: reservations of type virtual:floatingip do not support it"
