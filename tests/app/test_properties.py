"""The names of extra capabilities of hosts, public and private."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from app.http_env import ADMIN, HttpEnv, Json, good


def listed(env: HttpEnv, query: str = "", **more: Any) -> list[Json]:
    found: list[Json] = good(env.get("/os-hosts/properties", query_string=query, **more))[
        "resource_properties"
    ]
    return found


@pytest.mark.usefixtures("hosts")
def test_properties_are_listed_with_or_without_detail(env: HttpEnv) -> None:
    names = [{"property": "rack"}, {"property": "slots"}]
    rack = {"property": "rack", "private": False, "values": ["r1", "r2"]}

    for query in ("", "detail=", "detail=False", "detail=0", "all=True"):
        assert listed(env, query) == names
    for query in ("detail=True", "detail=true", "detail=1", "detail=True&detail=False"):
        assert listed(env, query)[0] == rack


@pytest.mark.usefixtures("hosts")
def test_a_private_property_is_listed_for_operators_who_ask_for_all(env: HttpEnv) -> None:
    changed = good(env.patch("/os-hosts/properties/rack", {"private": True}))["resource_property"]
    assert (changed["property_name"], changed["private"]) == ("rack", True)
    assert changed["updated_at"] == "2031-01-01T00:00:20.000000"

    assert [each["property"] for each in listed(env)] == ["slots"]
    assert [each["property"] for each in listed(env, "all=False")] == ["slots"]
    rack = {"property": "rack", "private": True, "values": ["r1", "r2"]}
    assert listed(env, "detail=True&all=True")[0] == rack
    # Operators can still use the property and see it on hosts.
    lease = env.create(who=ADMIN, resource_properties='["==", "$rack", "r2"]')
    assert lease["status"] == "PENDING"
    assert {each["rack"] for each in good(env.get("/os-hosts"))["hosts"]} == {"r1", "r2"}

    assert not good(env.patch("/os-hosts/properties/rack", {"private": 0}))["resource_property"]["private"]
    assert len(listed(env)) == 2


def test_a_property_that_no_host_has_any_more_is_not_listed(env: HttpEnv, hosts: list[str]) -> None:
    for host_id, key in itertools.product(hosts, ("slots", "rack")):
        good(env.put(f"/os-hosts/{host_id}", {key: None}))

    assert listed(env, "detail=True&all=True") == []
    good(env.patch("/os-hosts/properties/rack", {"private": True}))
    good(env.put(f"/os-hosts/{hosts[0]}", {"rack": "r1"}))
    assert listed(env, "detail=True") == []
    assert [each["private"] for each in listed(env, "detail=True&all=True")] == [True]
