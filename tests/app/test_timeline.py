"""The timeline, and what callers see of others in all answers about what is free, on the embedded service."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from app.http_env import ADMIN, LESSEE, READER, STRANGER, HttpEnv, Json, Who, good, quiet_settings, refusal
from app.slots import instances
from app.test_catalogue import fail

from blazar.settings import Settings

NEWER = {"OpenStack-API-Version": "reservation 1.1"}
COLLEAGUE = Who(user="colleague")
NOTHING = {"mine": 0, "project": 0, "taken": 0, "cleaning": 0, "failed": 0}
States = Mapping[tuple[int, int], Mapping[str, int]]


def ask(env: HttpEnv, who: Who = LESSEE, path: str = "/timeline", **keys: Any) -> Any:
    """Return the response to a question about hosts in the next ten hours; None leaves a key out."""
    query = {"resource_type": "physical:host", "from": "now", "to": env.date(600), **keys}
    params = {key: value for key, value in query.items() if value is not None}
    return env.get(path, params=params, who=who, headers=NEWER)


def minutes(env: HttpEnv, interval: Json) -> tuple[int, int]:
    known = {env.date(each): each for each in range(601)}
    return known[interval["start_date"]], known[interval["end_date"]]


def groups(env: HttpEnv, who: Who = LESSEE, **keys: Any) -> Mapping[object, States]:
    """Return the states by interval, in minutes from now, of each group; states with 0 are left out."""
    return {
        each["value"]: {
            minutes(env, one): {state: one[state] for state in ("free", *NOTHING) if one[state]}
            for one in each["intervals"]
        }
        for each in good(ask(env, who, **keys))["groups"]
    }


def rows(env: HttpEnv, who: Who = LESSEE, **keys: Any) -> list[Mapping[tuple[int, int], str]]:
    """Return the state by interval of each resource, in the order of the texts."""
    found = good(ask(env, who, resources="true", **keys))["resources"]
    states = [{minutes(env, one): one["state"] for one in each["intervals"]} for each in found]
    return sorted(states, key=str)


@pytest.mark.usefixtures("hosts")
def test_every_caller_sees_the_own_leases_those_of_the_project_and_that_others_exist(env: HttpEnv) -> None:
    env.create(10, 30)
    env.create(20, 40, who=COLLEAGUE)
    env.create(25, 50, who=STRANGER)

    assert groups(env) == {
        None: {
            (0, 10): {"free": 4},
            (10, 20): {"free": 3, "mine": 1},
            (20, 25): {"free": 2, "mine": 1, "project": 1},
            (25, 30): {"free": 1, "mine": 1, "project": 1, "taken": 1},
            (30, 40): {"free": 2, "project": 1, "taken": 1},
            (40, 50): {"free": 3, "taken": 1},
            (50, 600): {"free": 4},
        }
    }
    assert groups(env, COLLEAGUE)[None][25, 30] == {"free": 1, "mine": 1, "project": 1, "taken": 1}
    assert groups(env, STRANGER)[None][25, 30] == {"free": 1, "mine": 1, "taken": 2}
    assert groups(env, ADMIN)[None][25, 30] == {"free": 1, "taken": 3}
    assert groups(env, Who(project=None, roles="admin,reader"))[None][25, 30] == {"free": 1, "taken": 3}
    assert rows(env) == [{(10, 30): "mine"}, {(20, 40): "project"}, {(25, 50): "taken"}, {}]
    steps = good(ask(env, path="/availability"))["groups"][0]["steps"]
    assert {each["time"]: each["free"] for each in steps} == {
        env.date(start): states["free"] for (start, _), states in groups(env)[None].items()
    }


def test_cleaning_failed_hosts_and_groups(env_with: Callable[[Settings], HttpEnv]) -> None:
    env = env_with(quiet_settings(cleaning_minutes=15))
    first, _ = env.register("h1", rack="r1"), env.register("h2", "h3", rack="r2")
    env.create(30, 60, min=3, max=3)
    fail(env, first[0])

    assert groups(env, group_by="rack") == {
        "r1": {
            (0, 15): {"failed": 1},
            (15, 30): {"cleaning": 1},
            (30, 60): {"mine": 1},
            (60, 75): {"cleaning": 1},
            (75, 600): {"failed": 1},
        },
        "r2": {
            (0, 15): {"free": 2},
            (15, 30): {"cleaning": 2},
            (30, 60): {"mine": 2},
            (60, 75): {"cleaning": 2},
            (75, 600): {"free": 2},
        },
    }
    assert rows(env, filter="rack=r1") == [
        {
            (0, 15): "failed",
            (15, 30): "cleaning",
            (30, 60): "mine",
            (60, 75): "cleaning",
            (75, 600): "failed",
        }
    ]


@pytest.mark.usefixtures("hosts")
def test_a_host_with_one_instance_is_held(env: HttpEnv) -> None:
    env.create(10, 30, asked=instances(amount=1))
    env.create(20, 40, asked=instances(amount=1), who=STRANGER)

    found = groups(env, resource_type="virtual:instance")[None]

    # Instances of both fit on one host, which is the caller's as long as one is.
    assert found == {
        (0, 10): {"free": 4},
        (10, 30): {"free": 3, "mine": 1},
        (30, 40): {"free": 3, "taken": 1},
        (40, 600): {"free": 4},
    }


def test_ids_are_only_shown_by_policy(env: HttpEnv, hosts: list[str]) -> None:
    env.create(10, 30)

    def keys_and_ids(who: Who) -> tuple[set[str], set[str]]:
        found = good(ask(env, who, resources="true"))["resources"]
        assert [each["row"] for each in found] == [1, 2, 3, 4]
        return {key for each in found for key in each}, {each["id"] for each in found if "id" in each}

    assert keys_and_ids(LESSEE) == ({"row", "intervals"}, set())
    assert keys_and_ids(ADMIN) == ({"row", "id", "intervals"}, set(hosts))
    env.set_policy({"blazar:timeline:get_ids": "role:reader"})
    assert keys_and_ids(LESSEE)[1] == set(hosts)


@pytest.mark.usefixtures("hosts")
def test_the_first_type_is_the_default(env: HttpEnv) -> None:
    assert good(ask(env, resource_type=None))["resource_type"] == next(iter(env.context.plugins))


def test_rights(env: HttpEnv) -> None:
    good(ask(env, READER))
    refusal(ask(env, Who(roles="guest")), 403)
    refusal(ask(env, Who(project=None)), 403)
    assert env.get("/timeline", who=LESSEE).status_code == 404


@pytest.mark.usefixtures("hosts")
@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({"resource_type": "virtual:ghost"}, "resource_type"),
        ({"resources": "some"}, "resources: must be true or false"),
        ({"resources": "true", "group_by": "rack"}, "group_by: cannot be used together with resources"),
        ({"group_by": "color"}, "group_by: no property named color"),
        ({"filter": "color=red"}, "filter: no resource has a property named color"),
        ({"to": "2030-01-01 00:00"}, "to: must be later than from"),
        ({"resolution": "0"}, "resolution: must be a number of minutes, from 1 to 1440"),
        ({"resolution": "1441"}, "resolution: must be"),
        ({"resolution": "1h"}, "resolution: must be"),
        ({"limit": "1"}, "Unknown query parameter: limit"),
    ],
)
def test_bad_input_is_refused_with_its_name(env: HttpEnv, keys: Json, problem: str) -> None:
    assert problem in refusal(ask(env, **keys), 400)


SECRETS = ("zebra-name", "zebra-user", "zebra-project", "zebra-vendor", "zebra-value", "zebra-host")


@pytest.mark.parametrize("who", [LESSEE, READER], ids=["member", "reader"])
def test_nothing_of_other_projects_is_in_any_answer(env: HttpEnv, who: Who) -> None:
    other = Who(user="zebra-user", project="zebra-project")
    ids = env.register("zebra-host-1", "zebra-host-2", **{"zebra-vendor": "zebra-value"}, rack="r1")
    good(env.patch("/os-hosts/properties/zebra-vendor", {"private": True}))
    found = [good(env.post("/leases", {**env.wish(5, 50), "name": "zebra-name"}, who=other), 201)["lease"]]
    found.append(env.create("now", 20, who=other))
    env.work()
    lease_ids = [each["id"] for each in found] + [each["reservations"][0]["id"] for each in found]
    questions: list[tuple[str, Json]] = [("/catalogue", {})]
    for path in ("/availability", "/timeline"):
        questions += [
            (path, {}),
            *((path, {"group_by": each}) for each in ("rack", "vcpus", "availability_zone")),
            *((path, {"filter": each}) for each in ("rack=r1", "rack=r2", "not(rack=r1)")),
            # Refusals name what the caller sent, and nothing else.
            *((path, {"group_by": each}) for each in ("id", "hypervisor_hostname", "service_name", "none")),
            *((path, {"filter": each}) for each in ("none=1", "none")),
        ]
    by_resource: list[Json] = [{"resources": "true"}, {"resources": "true", "filter": "rack=r1"}]
    questions += [("/timeline", each) for each in by_resource]

    for path, keys in questions:
        is_question = path != "/catalogue"
        text = (ask(env, who, path, **keys) if is_question else env.get(path, who=who, headers=NEWER)).text
        assert [each for each in (*SECRETS, *lease_ids) if each in text] == [], (path, keys)
        assert [each for each in ids if f'"{each}"' in text] == [], (path, keys)
    assert ask(env, who, resources="true").text.count('"taken"') == 2
