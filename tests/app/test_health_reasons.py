"""Why resources cannot be reserved, as operators read it over HTTP from API 1.1 on."""

from __future__ import annotations

import pytest
from app.floatingips import make_pool
from app.http_env import ADMIN, LESSEE, NEWER, HttpEnv, Json, Who, good
from app.networks import Vlans

from blazar.domain.health import Diagnosis, Health
from blazar.domain.lease import ResourceId

HOSTS = ("/os-hosts", "hosts", "host")
ADDRESSES = ("/floatingips", "floatingips", "floatingip")
SEGMENTS = ("/networks", "networks", "network")
DOWN = Diagnosis(health=Health.FAILED, problem="it is down")
AUDITED = Diagnosis(health=Health.DISABLED, problem="it is audited")

Collection = tuple[str, str, str]


@pytest.fixture
def env(vlans: Vlans) -> HttpEnv:
    """Return an environment with resources of each collection; lessees may read all of them."""
    env = vlans.env
    env.register("h1", "h2", "h3")
    make_pool(env).register(1, 2)
    vlans.register(201, 202)
    env.set_policy({"blazar:oshosts:get": "", "blazar:networks:get": ""})
    return env


def read(env: HttpEnv, collection: Collection, who: Who = ADMIN, *, is_newer: bool = True) -> list[Json]:
    path, key, _ = collection
    found: list[Json] = good(env.get(path, who=who, headers=NEWER if is_newer else {}))[key]
    return found


def diagnose(env: HttpEnv, resource_id: str, diagnosis: Diagnosis) -> None:
    with env.context.store.begin() as transaction:
        transaction.resources.set_diagnosis(ResourceId(resource_id), diagnosis, env.clock.now())
        transaction.commit()


@pytest.mark.parametrize("collection", [HOSTS, ADDRESSES, SEGMENTS])
class TestEveryCollection:
    def test_operators_read_why_a_resource_cannot_be_reserved(
        self, env: HttpEnv, collection: Collection
    ) -> None:
        first, second, *others = read(env, collection)
        assert {each["health_reason"] for each in (first, second, *others)} == {None}

        diagnose(env, first["id"], DOWN)
        diagnose(env, second["id"], AUDITED)

        reasons = {each["id"]: (each["reservable"], each["health_reason"]) for each in read(env, collection)}
        assert reasons == {
            first["id"]: (False, "it is down"),
            second["id"]: (False, "it is audited"),
            **{each["id"]: (True, None) for each in others},
        }
        path, _, key = collection
        assert good(env.get(f"{path}/{first['id']}", headers=NEWER))[key]["health_reason"] == "it is down"

    def test_a_health_without_a_reason_is_told_itself(self, env: HttpEnv, collection: Collection) -> None:
        first = read(env, collection)[0]["id"]

        diagnose(env, first, Diagnosis(health=Health.DISABLED))

        [shown] = [each for each in read(env, collection) if each["id"] == first]
        assert shown["health_reason"] == "disabled"

    def test_lessees_who_may_read_resources_do_not_learn_it(
        self, env: HttpEnv, collection: Collection
    ) -> None:
        first = read(env, collection)[0]["id"]
        diagnose(env, first, DOWN)
        path, _, key = collection

        listed = read(env, collection, LESSEE)
        shown = good(env.get(f"{path}/{first}", who=LESSEE, headers=NEWER))[key]

        assert [each["reservable"] for each in listed if each["id"] == first] == [False]
        assert not any("health_reason" in each for each in (*listed, shown))

    def test_at_1_0_there_is_no_such_key(self, env: HttpEnv, collection: Collection) -> None:
        diagnose(env, read(env, collection)[0]["id"], DOWN)

        older = read(env, collection, is_newer=False)

        assert older == [
            {key: value for key, value in each.items() if key != "health_reason"}
            for each in read(env, collection)
        ]
        assert "health_reason" not in str(older)


def test_an_extra_capability_with_its_name_replaces_it(env: HttpEnv) -> None:
    host_id = read(env, HOSTS)[0]["id"]

    good(env.put(f"/os-hosts/{host_id}", {"health_reason": "fresh air"}))

    assert read(env, HOSTS)[0]["health_reason"] == "fresh air"
