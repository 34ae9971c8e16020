"""Arbitrary JSON in requests: never a 5xx, and a refused request changes nothing."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from app.http_env import Answer, Json, host_reservation
from app.prepared_env import ODD, PreparedEnv
from hypothesis import given, settings
from hypothesis import strategies as st

WORDS = (
    *("name", "id", "start_date", "end_date", "before_end_date", "events", "reservations", "resource_type"),
    *("min", "max", "hypervisor_properties", "resource_properties", "before_end", "status", "project_id"),
    *("now", "physical:host", "default", "snapshot", "2031-01-01 03:00", "2031-01-01 05:00", "h1", "spare"),
    *('["==", "$rack", "r1"]', '["and", ["!=", "$gpu", "x"], [">", "$vcpus", "1"]]', '["==", "$x", "y"]'),
)
SCALARS = st.one_of(
    st.sampled_from(WORDS),
    st.sampled_from([value for name, value in ODD.items() if name != "mebibyte"]),
    st.integers(-3, 6),
    st.integers(),
    st.floats(),
    st.text(max_size=12),
    st.text(st.characters(), max_size=4),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(WORDS) | st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=6,
).map(copy.deepcopy)
"""Arbitrary JSON values; each one is a copy, because tests modify it."""


def places(value: object, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of all parts of a JSON value, including the value itself."""
    yield at
    if isinstance(value, dict):
        for key, part in value.items():
            yield from places(part, (*at, key))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from places(part, (*at, index))


@st.composite
def mutated(draw: st.DrawFn, body: Json) -> object:
    """Return *body* with one to three parts replaced, removed or added."""
    found: Any = copy.deepcopy(body)
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.sampled_from(list(places(found))))
        if not place:
            if not isinstance(found, dict) or draw(st.integers(0, 9)) == 0:
                return draw(VALUES)
            found[draw(st.sampled_from(WORDS) | st.text(max_size=70))] = draw(VALUES)
            continue
        *path, last = place
        parent = found
        for step in path:
            parent = parent[step]
        if draw(st.booleans()):
            parent[last] = draw(VALUES)
        else:
            del parent[last]
    return found


def ask(prepared: PreparedEnv, method: str, path: str, body: object) -> Answer:
    """Return the answer; check that it is no server error, and that a refused request changed nothing."""
    before = prepared.env.snapshot()
    answer = prepared.env.ask(method, path, json=body)
    assert answer.status_code < 500, (body, answer.text)
    if answer.status_code >= 400:
        assert answer.json["error_message"]
        assert prepared.env.snapshot() == before
    return answer


@pytest.fixture(scope="module", autouse=True)
def spare_hypervisor(prepared: PreparedEnv) -> None:
    prepared.env.cloud.add_hypervisor("spare")


def test_new_leases_of_any_shape(prepared: PreparedEnv) -> None:
    wish = prepared.env.wish(200, 300)
    wish |= {"before_end_date": prepared.env.date(250), "events": []}
    wish["reservations"].append(host_reservation(min=1, max=3, resource_properties='["==", "$rack", "r1"]'))

    @settings(max_examples=120, deadline=None)
    @given(body=mutated(wish))
    def play(body: object) -> None:
        answer = ask(prepared, "POST", "/leases", body)
        if answer.status_code == 201:
            prepared.env.work()
            assert prepared.env.delete(f"/leases/{answer.json['lease']['id']}").status_code == 204
            prepared.env.work()

    play()
    assert {each["id"] for each in prepared.env.get("/leases").json["leases"]} == {
        each["id"] for each in prepared.leases.values()
    }


@pytest.mark.parametrize("name", ["ahead", "running"])
def test_changes_of_leases_of_any_shape(prepared: PreparedEnv, name: str) -> None:
    change = {
        "name": "other",
        "end_date": prepared.env.date(700),
        "reservations": [
            {
                "id": prepared.leases[name]["reservations"][0]["id"],
                "min": 1,
                "max": 2,
                "resource_properties": '["==", "$rack", "r1"]',
            }
        ],
    }

    @settings(max_examples=80, deadline=None)
    @given(body=mutated(change))
    def play(body: object) -> None:
        answer = ask(prepared, "PUT", prepared.path(name), body)
        assert (answer.status_code == 200) == ("lease" in answer.json)

    play()


def test_new_hosts_of_any_shape(prepared: PreparedEnv) -> None:
    @settings(max_examples=80, deadline=None)
    @given(body=mutated({"name": "spare", "rack": "r1", "slots": 8, "fast": True}))
    def play(body: object) -> None:
        answer = ask(prepared, "POST", "/os-hosts", body)
        if answer.status_code == 201:
            assert prepared.env.delete(f"/os-hosts/{answer.json['host']['id']}").status_code == 204

    play()
    assert prepared.env.aggregates()["freepool"] <= {"h1", "h2", "h3", "h4", "h5"}
    assert not prepared.env.has_provider("spare")


def test_changes_of_hosts_of_any_shape(prepared: PreparedEnv) -> None:
    @settings(max_examples=80, deadline=None)
    @given(body=mutated({"rack": "r2", "gpu": None, "slots": 8, "fast": True}))
    def play(body: object) -> None:
        ask(prepared, "PUT", f"/os-hosts/{prepared.hosts[0]}", body)

    play()
