"""The names of extra capabilities of hosts, public and private."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from app.world import ADMIN, Json, World, good


def listed(world: World, query: str = "", **more: Any) -> list[Json]:
    found: list[Json] = good(world.get("/os-hosts/properties", query_string=query, **more))[
        "resource_properties"
    ]
    return found


@pytest.mark.usefixtures("hosts")
def test_properties_are_listed_with_or_without_detail(world: World) -> None:
    names = [{"property": "rack"}, {"property": "slots"}]
    rack = {"property": "rack", "private": False, "values": ["r1", "r2"]}

    for query in ("", "detail=", "detail=False", "detail=0", "all=True"):
        assert listed(world, query) == names
    for query in ("detail=True", "detail=true", "detail=1", "detail=True&detail=False"):
        assert listed(world, query)[0] == rack


@pytest.mark.usefixtures("hosts")
def test_a_private_property_is_listed_for_operators_who_ask_for_all(world: World) -> None:
    changed = good(world.patch("/os-hosts/properties/rack", {"private": True}))["resource_property"]
    assert (changed["property_name"], changed["private"]) == ("rack", True)
    assert changed["updated_at"] == "2031-01-01T00:00:20.000000"

    assert [each["property"] for each in listed(world)] == ["slots"]
    assert [each["property"] for each in listed(world, "all=False")] == ["slots"]
    rack = {"property": "rack", "private": True, "values": ["r1", "r2"]}
    assert listed(world, "detail=True&all=True")[0] == rack
    # Operators can still use the property and see it on hosts.
    lease = world.create(who=ADMIN, resource_properties='["==", "$rack", "r2"]')
    assert lease["status"] == "PENDING"
    assert {each["rack"] for each in good(world.get("/os-hosts"))["hosts"]} == {"r1", "r2"}

    assert not good(world.patch("/os-hosts/properties/rack", {"private": 0}))["resource_property"]["private"]
    assert len(listed(world)) == 2


def test_a_property_that_no_host_has_any_more_is_not_listed(world: World, hosts: list[str]) -> None:
    for host_id, key in itertools.product(hosts, ("slots", "rack")):
        good(world.put(f"/os-hosts/{host_id}", {key: None}))

    assert listed(world, "detail=True&all=True") == []
    good(world.patch("/os-hosts/properties/rack", {"private": True}))
    good(world.put(f"/os-hosts/{hosts[0]}", {"rack": "r1"}))
    assert listed(world, "detail=True") == []
    assert [each["private"] for each in listed(world, "detail=True&all=True")] == [True]
