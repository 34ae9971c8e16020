"""Requirements in requests: the expressions of API 1.1, and API 1.0 without them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from app.http_env import ADMIN, LESSEE, NEWER, HttpEnv, Json, good, host_reservation, quiet_settings, refusal

from blazar.settings import Settings


def asked(env: HttpEnv, expression: str) -> Json:
    return {**env.wish(10, 60), "reservations": [host_reservation(resource_properties=expression, max=9)]}


def chosen(env: HttpEnv, expression: str) -> set[str]:
    """Return the hosts of a lease with this requirement."""
    lease = good(env.post("/leases", asked(env, expression), who=LESSEE, headers=NEWER), 201)["lease"]
    found = env.get(f"/leases/{lease['id']}/allocations", who=LESSEE, headers=NEWER)
    env.delete(f"/leases/{lease['id']}", who=LESSEE)
    return {each["name"] for each in good(found)["allocations"]}


# The fixture registers h1 and h2 in rack r1, h3 and h4 in rack r2.
@pytest.mark.usefixtures("hosts")
@pytest.mark.parametrize(
    ("expression", "names"),
    [
        ("rack=r1", {"h1", "h2"}),
        ("rack=r1|r2", {"h1", "h2", "h3", "h4"}),
        ("rack!=r1", {"h3", "h4"}),
        ("rack=r2,reservable=true", {"h3", "h4"}),
        ("rack,vcpus>=1", {"h1", "h2", "h3", "h4"}),
        ('["not", ["==", "$rack", "r1"]]', {"h3", "h4"}),
        ('["or", ["==", "$rack", "r2"], ["not", ["exists", "$rack"]]]', {"h3", "h4"}),
        ('["and", ["in", "$rack", ["r1", "r2"]], [">=", "$vcpus", 1]]', {"h1", "h2", "h3", "h4"}),
    ],
)
def test_1_1_takes_the_new_operators_and_the_short_form(
    env: HttpEnv, expression: str, names: set[str]
) -> None:
    assert chosen(env, expression) == names


@pytest.mark.usefixtures("hosts")
@pytest.mark.parametrize("expression", ["rack=r1", '["or", ["==", "$rack", "r1"]]', '["==", "$vcpus", 1]'])
def test_1_0_refuses_them_as_before(env: HttpEnv, expression: str) -> None:
    message = refusal(env.post("/leases", asked(env, expression), who=LESSEE), 400)

    assert message.startswith("resource_properties: ")
    assert good(env.get("/leases", who=LESSEE))["leases"] == []


@pytest.mark.usefixtures("hosts")
def test_1_0_keeps_an_expression_that_it_would_not_accept(env: HttpEnv) -> None:
    lease = good(env.post("/leases", asked(env, "rack=r1"), who=LESSEE, headers=NEWER), 201)["lease"]
    (reservation,) = lease["reservations"]

    changed = env.change(lease, reservations=[{"id": reservation["id"], "max": 1}])

    assert changed["reservations"][0]["resource_properties"] == "rack=r1"
    path, item = f"/leases/{lease['id']}", {"id": reservation["id"], "resource_properties": "rack=r1|r2"}
    refusal(env.put(path, {"reservations": [item]}, who=LESSEE), 400)
    good(env.put(path, {"reservations": [item]}, who=LESSEE, headers=NEWER))


@pytest.mark.usefixtures("hosts")
def test_no_operator_lets_a_lessee_probe_a_private_property(env: HttpEnv) -> None:
    good(env.patch("/os-hosts/properties/rack", {"private": True}))

    for expression in ("rack=r1", "!rack", '["not", ["or", ["in", "$rack", ["r1"]]]]', '["exists", "$rack"]'):
        answer = env.post("/leases", asked(env, expression), who=LESSEE, headers=NEWER)
        assert "no host has a property named rack" in refusal(answer, 400)


def in_region(env_with: Callable[[Settings], HttpEnv]) -> HttpEnv:
    """Return a service in the region north, with three hosts; operators have set one for the last."""
    env = env_with(replace(quiet_settings(), region="north"))
    env.register("n1", "n2")
    env.register("n3", region="west")
    return env


def test_resources_know_the_region_of_their_service(env_with: Callable[[Settings], HttpEnv]) -> None:
    env = in_region(env_with)

    assert chosen(env, "region=north") == {"n1", "n2"}
    assert chosen(env, "region") == {"n1", "n2", "n3"}
    refusal(env.post("/leases", asked(env, "region=south"), who=LESSEE, headers=NEWER), 409)


def test_a_property_of_operators_named_region_wins(env_with: Callable[[Settings], HttpEnv]) -> None:
    env = in_region(env_with)
    listed = good(env.get("/os-hosts", who=ADMIN))["hosts"]
    good(env.put(f"/os-hosts/{listed[0]['id']}", {"rack": "r1"}, who=ADMIN))

    assert chosen(env, "region=west") == {"n3"}
    assert chosen(env, "region=north") == {"n1", "n2"}


@pytest.mark.usefixtures("hosts")
def test_without_a_configured_region_its_name_is_unknown(env: HttpEnv) -> None:
    message = refusal(env.post("/leases", asked(env, "region=north"), who=LESSEE, headers=NEWER), 400)

    assert "region" in message
