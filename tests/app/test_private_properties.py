"""Private resource properties: hidden from lessees, usable by operators."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from app.http_env import ADMIN, LESSEE, HttpEnv, Json, good, host_reservation, lease_of, refusal
from app.slots import FLAVOR, instances, of_flavor

SECRET = "vendor"
ASKED: tuple[tuple[str, Callable[..., Json], str], ...] = (
    ("hosts", host_reservation, "resource_properties"),
    ("hypervisors", host_reservation, "hypervisor_properties"),
    ("instances", instances, "resource_properties"),
    ("flavor", of_flavor, "resource_properties"),
)
every_kind = pytest.mark.parametrize(
    ("asked", "key"), [pytest.param(*each[1:], id=each[0]) for each in ASKED]
)


def expression(name: str, value: str = "acme", operator: str = "==") -> str:
    return f'["{operator}", "${name}", "{value}"]'


def set_private(env: HttpEnv, private: bool) -> None:
    good(env.patch(f"/os-hosts/properties/{SECRET}", {"private": private}))


@pytest.fixture
def with_secret(env: HttpEnv) -> HttpEnv:
    """Return an environment whose hosts have a private property; two of the four have the value acme."""
    env.cloud.flavors.create_flavor(FLAVOR)
    env.register("h1", "h2", **{SECRET: "acme", "rack": "r1"})
    env.register("h3", "h4", **{SECRET: "other", "rack": "r1"})
    set_private(env, True)
    return env


@every_kind
@pytest.mark.parametrize("operator", ["==", "!="])
@pytest.mark.parametrize("value", ["acme", "nonsense"])
def test_a_new_lease_of_a_lessee_does_not_tell_a_private_property_from_an_unknown_one(
    with_secret: HttpEnv, asked: Callable[..., Json], key: str, operator: str, value: str
) -> None:
    def message(name: str) -> str:
        wanted = asked(**{key: f'["and", {expression("rack", "r1")}, {expression(name, value, operator)}]'})
        answer = with_secret.post("/leases", with_secret.wish(10, 60, asked=wanted), who=LESSEE)
        return refusal(answer, 400)

    assert message(SECRET).replace(SECRET, "nothing") == message("nothing")


@every_kind
def test_a_change_by_a_lessee_does_not_tell_a_private_property_from_an_unknown_one(
    with_secret: HttpEnv, asked: Callable[..., Json], key: str
) -> None:
    lease = with_secret.create(10, 60, asked=asked(), who=LESSEE)
    reservation = lease["reservations"][0]["id"]

    def message(name: str) -> str:
        change = {"reservations": [{"id": reservation, key: expression(name)}]}
        return refusal(with_secret.put(f"/leases/{lease['id']}", change, who=LESSEE), 400)

    assert message(SECRET).replace(SECRET, "nothing") == message("nothing")


@every_kind
def test_an_operator_uses_a_private_property_in_a_requirement(
    with_secret: HttpEnv, asked: Callable[..., Json], key: str
) -> None:
    wish = with_secret.wish(10, 60, asked=asked(**{key: expression(SECRET)}))

    lease = lease_of(with_secret.post("/leases", wish, who=ADMIN), 201)

    assert lease["status"] == "PENDING"


def test_a_reservation_keeps_what_it_requires_when_the_property_becomes_private(env: HttpEnv) -> None:
    env.register("h1", "h2", **{SECRET: "acme"})
    env.register("h3", "h4", **{SECRET: "x"})
    required = expression(SECRET)
    lease = env.create(10, 60, asked=host_reservation(resource_properties=required), who=LESSEE)
    reservation = lease["reservations"][0]["id"]
    set_private(env, True)
    path = f"/leases/{lease['id']}"

    shown = lease_of(env.get(path, who=LESSEE))
    assert shown["reservations"][0]["resource_properties"] == required
    good(env.put(path, {"end_date": env.date(70)}, who=LESSEE))
    grown = {"reservations": [{"id": reservation, "min": 2, "max": 2, "resource_properties": required}]}
    good(env.put(path, grown, who=LESSEE))
    other = {"reservations": [{"id": reservation, "resource_properties": expression(SECRET, "x")}]}
    assert f"no host has a property named {SECRET}" in refusal(env.put(path, other, who=LESSEE), 400)

    env.pass_time(10)
    assert env.status(lease) == "ACTIVE"
    assert env.members(lease) == {"h1", "h2"}


def test_another_host_is_found_by_a_property_that_became_private(env: HttpEnv) -> None:
    env.register("h1", **{SECRET: "x"})
    env.register("h2", "h3", **{SECRET: "acme"})
    lease = env.create(10, 60, resource_properties=expression(SECRET))
    set_private(env, True)
    env.cloud.boot_server("pet", "other", service_host="h2")

    env.pass_time(12)

    assert env.status(lease) == "ACTIVE"
    assert env.members(lease) == {"h3"}


def test_hosts_and_lists_show_private_properties_to_those_only_for_whom_they_exist(
    with_secret: HttpEnv,
) -> None:
    reading = {f"blazar:oshosts:{what}": "" for what in ("get", "put", "get_resource_properties")}
    with_secret.set_policy(reading)

    def seen() -> set[bool]:
        hosts = good(with_secret.get("/os-hosts", who=LESSEE))["hosts"]
        path = f"/os-hosts/{hosts[0]['id']}"
        one = good(with_secret.get(path, who=LESSEE))["host"]
        changed = good(with_secret.put(path, {"rack": "r2"}, who=LESSEE))["host"]
        listed = good(with_secret.get("/os-hosts/properties", params={"all": "True"}, who=LESSEE))
        names = [each["property"] for each in listed["resource_properties"]]
        assert all("rack" in each for each in (*hosts, one, changed, names))
        return {SECRET in each for each in (*hosts, one, changed, names)}

    assert seen() == {False}
    with_secret.set_policy({**reading, "blazar:oshosts:private_resource_properties": "role:member"})
    assert seen() == {True}
