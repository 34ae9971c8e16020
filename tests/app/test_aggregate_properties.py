"""Extra capabilities of hosts follow from host aggregates, and reservations and groups can use them."""

from __future__ import annotations

from typing import Any

import pytest
from app.conftest import EnvWith
from app.http_env import LESSEE, NEWER, HttpEnv, Json, good, host_reservation, quiet_settings, refusal

from blazar.plugins.hosts.refresh import refresh_hosts
from blazar.plugins.hosts.settings import HostSettings

RACKS = {"rack-1": ("h1", "h2"), "rack-2": ("h3",)}


@pytest.fixture
def env(env_with: EnvWith) -> HttpEnv:
    """Return an environment with three hosts in aggregates of two racks, and a property that follows them."""
    settings = quiet_settings().with_own(HostSettings(aggregate_properties={"rack": "rack-*"}))
    env = env_with(settings)
    for host in ("h1", "h2", "h3", "h4"):
        env.cloud.add_hypervisor(host)
    for name, hosts in {**RACKS, "gpu": ("h1",)}.items():
        aggregate = env.cloud.add_aggregate(name, None)
        for host in hosts:
            env.cloud.aggregates.add_host(aggregate.id, host)
    for host in ("h1", "h2", "h3"):
        good(env.post("/os-hosts", {"name": host}), 201)
    return env


def racks(env: HttpEnv) -> dict[str, Any]:
    hosts = good(env.get("/os-hosts"))["hosts"]
    return {each["hypervisor_hostname"]: each.get("rack") for each in hosts}


def move(env: HttpEnv, host: str, source: str, target: str) -> None:
    ids = {each.name: each.id for each in env.cloud.aggregates.list_aggregates()}
    env.cloud.aggregates.remove_host(ids[source], host)
    env.cloud.aggregates.add_host(ids[target], host)


def refresh(env: HttpEnv) -> dict[str, str]:
    return refresh_hosts(env.context, "operator").changed


def reserve(env: HttpEnv, start: float, **keys: str) -> Json:
    """Return a lease with two hosts, for ten minutes."""
    body = {**env.wish(start, start + 10), "reservations": [{**host_reservation(min=2, max=2), **keys}]}
    return dict(good(env.post("/leases", body, who=LESSEE, headers=NEWER), 201)["lease"])


def hosts_of(env: HttpEnv, lease: Json) -> set[str]:
    path = f"/leases/{lease['id']}/allocations"
    return {each["name"] for each in good(env.get(path, who=LESSEE, headers=NEWER))["allocations"]}


def test_a_registered_host_has_the_name_of_its_aggregate(env: HttpEnv) -> None:
    assert racks(env) == {"h1": "rack-1", "h2": "rack-1", "h3": "rack-2"}
    assert good(env.get("/os-hosts/properties")) == {"resource_properties": [{"property": "rack"}]}


def test_a_refresh_follows_a_host_that_was_moved(env: HttpEnv) -> None:
    move(env, "h2", "rack-1", "rack-2")

    assert refresh(env) == {"h2": "rack: rack-1 -> rack-2"}
    assert racks(env) == {"h1": "rack-1", "h2": "rack-2", "h3": "rack-2"}
    assert refresh(env) == {}


def test_a_host_without_an_aggregate_loses_the_property(env: HttpEnv) -> None:
    aggregate = next(each for each in env.cloud.aggregates.list_aggregates() if each.name == "rack-2")
    env.cloud.aggregates.remove_host(aggregate.id, "h3")

    assert refresh(env) == {"h3": "rack: rack-2 -> None"}
    assert racks(env)["h3"] is None


def test_free_amounts_are_grouped_by_aggregates(env: HttpEnv) -> None:
    path = "/availability?resource_type=physical:host&group_by=rack"

    groups = good(env.get(path, who=LESSEE, headers=NEWER))["groups"]

    assert [(each["value"], each["total"]) for each in groups] == [("rack-1", 2), ("rack-2", 1)]


def test_hosts_of_a_reservation_are_in_one_aggregate_or_spread_over_them(env: HttpEnv) -> None:
    assert hosts_of(env, reserve(env, 10, same="rack")) == {"h1", "h2"}
    assert "h3" in hosts_of(env, reserve(env, 20, spread="rack"))


def test_a_reserved_host_that_left_its_zone_stays_in_its_aggregate(env_with: EnvWith) -> None:
    env = env_with(quiet_settings().with_own(HostSettings(aggregate_properties={"rack": "rack-*"})))
    env.cloud.add_hypervisor("h1")
    aggregate = env.cloud.add_aggregate("rack-9", "az9")
    env.cloud.aggregates.add_host(aggregate.id, "h1")
    good(env.post("/os-hosts", {"name": "h1"}), 201)
    lease = env.create()
    env.work()
    assert env.aggregates()[lease["reservations"][0]["id"]] == {"h1"}
    assert env.aggregates()["rack-9"] == frozenset()

    assert refresh(env) == {}
    assert racks(env) == {"h1": "rack-9"}


@pytest.mark.parametrize("method", ["post", "put"])
def test_no_request_sets_a_property_that_follows_from_aggregates(env: HttpEnv, method: str) -> None:
    if method == "post":
        answer = env.post("/os-hosts", {"name": "h4", "rack": "rack-7"})
    else:
        host_id = good(env.get("/os-hosts"))["hosts"][0]["id"]
        answer = env.put(f"/os-hosts/{host_id}", {"rack": "rack-7"})

    assert refusal(answer, 400).startswith("rack: is the name of the host's aggregate that matches rack-*")
