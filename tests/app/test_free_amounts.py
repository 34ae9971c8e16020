"""Free amounts over time, over HTTP, on the embedded service."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from app.floatingips import Pool
from app.http_env import ADMIN, LESSEE, READER, STRANGER, HttpEnv, Json, Who, good, quiet_settings, refusal
from app.slots import FLAVOR, SECRET, instances
from app.test_catalogue import fail
from clocks import EPOCH

from blazar.app.questions import group
from blazar.app.visible_facts import read_visible_facts
from blazar.booking.context import Context
from blazar.domain.availability import Availability, Resource
from blazar.domain.errors import InvalidParameter
from blazar.domain.lease import ResourceId
from blazar.manager.build import build_context
from blazar.settings import Settings
from blazar_plugin_testing.service_env import Silent

NEWER = {"OpenStack-API-Version": "reservation 1.1"}
PATH = "/availability"
HOSTS = {"resource_type": "physical:host"}

Numbers = list[tuple[int, int]]


def ask(env: HttpEnv, who: Who = LESSEE, tag: str | None = None, **keys: Any) -> Any:
    """Return the response to a question about hosts in the next ten hours; None leaves a key out."""
    query = {**HOSTS, "from": "now", "to": env.date(600), **keys}
    headers = NEWER if tag is None else {**NEWER, "If-None-Match": tag}
    params = {key: value for key, value in query.items() if value is not None}
    return env.get(PATH, params=params, who=who, headers=headers)


def groups(
    env: HttpEnv, who: Who = LESSEE, **keys: Any
) -> Mapping[object, tuple[int, list[tuple[int, int]]]]:
    """Return the total and the steps, in minutes from now, of each group."""
    minutes = {env.date(each): each for each in range(601)}
    return {
        each["value"]: (each["total"], [(minutes[one["time"]], one["free"]) for one in each["steps"]])
        for each in good(ask(env, who, **keys))["groups"]
    }


@pytest.mark.usefixtures("hosts")
def test_free_hosts_are_a_step_function(env: HttpEnv) -> None:
    env.create("now", 60, min=2, max=2, who=STRANGER)
    env.create(60, 200)
    env.create(150, 200, min=2, max=2, who=STRANGER)

    answer = good(ask(env))

    assert groups(env) == {None: (4, [(0, 2), (60, 3), (150, 1), (200, 4)])}
    assert (answer["from"], answer["to"], answer["region"]) == (env.date(0), env.date(600), None)
    assert answer["resource_type"] == "physical:host"
    assert list(answer) == ["region", "resource_type", "from", "to", "groups"]
    inside: Json = {"from": env.date(100), "to": env.date(150)}
    assert groups(env, **inside) == {None: (4, [(100, 3)])}
    assert good(ask(env, to=None))["to"] == env.date(7 * 24 * 60)


@pytest.mark.usefixtures("hosts")
def test_groups_and_filters(env: HttpEnv) -> None:
    env.register("h5", gpu="a100")
    env.create(10, 20, resource_properties='["==", "$rack", "r2"]', who=STRANGER)

    assert groups(env, group_by="rack") == {
        "r1": (2, [(0, 2)]),
        "r2": (2, [(0, 2), (10, 1), (20, 2)]),
        None: (1, [(0, 1)]),
    }
    assert list(groups(env, group_by="slots", filter="slots>=1")) == ["8", "10"]
    assert groups(env, filter='["==", "$rack", "r2"]') == {None: (2, [(0, 2), (10, 1), (20, 2)])}
    assert groups(env, filter="gpu=a100,rack=r1") == {None: (0, [(0, 0)])}
    assert groups(env, filter="gpu=h100", group_by="rack") == {}
    assert groups(env, group_by="vcpus").keys() == {16}


def test_cleaning_time_and_failed_hosts_are_not_free(env_with: Callable[[Settings], HttpEnv]) -> None:
    env = env_with(quiet_settings(cleaning_minutes=15))
    first, second, _ = env.register("h1", "h2", "h3")
    env.create(30, 60, min=3, max=3)

    assert groups(env) == {None: (3, [(0, 3), (15, 0), (75, 3)])}
    fail(env, first)
    fail(env, second)
    assert groups(env) == {None: (1, [(0, 1), (15, 0), (75, 1)])}


@pytest.mark.usefixtures("hosts")
def test_a_host_that_is_released_late_is_not_free_now(env: HttpEnv) -> None:
    env.create("now", 10)
    env.work()
    with env.failing("compute.remove_host"):
        env.clock.set(EPOCH + timedelta(minutes=20, seconds=20))

        env.work()

        assert groups(env) == {None: (4, [(20, 3), (21, 4)])}


def test_floating_ips_by_network(env: HttpEnv, pool: Pool) -> None:
    pool.register(1, 2, 3)
    good(env.post("/leases", {**env.wish(10, 20), "reservations": [pool.asked(2)]}, who=STRANGER), 201)

    found = groups(env, resource_type="virtual:floatingip", group_by="network_id")

    assert list(found.values()) == [(3, [(0, 3), (10, 1), (20, 3)])]
    assert list(found) == [pool.asked(1)["network_id"]]
    only = f"network_id={pool.asked(1)['network_id']}"
    assert groups(env, resource_type="virtual:floatingip", filter=only)[None][0] == 3
    assert "group_by" in refusal(ask(env, resource_type="virtual:floatingip", group_by="address"), 400)
    assert "filter" in refusal(ask(env, resource_type="virtual:floatingip", filter="address=1"), 400)


@pytest.mark.usefixtures("hosts")
def test_an_unchanged_answer_gets_304(env: HttpEnv) -> None:
    later: Json = {"from": env.date(60)}
    first = ask(env, **later)
    tag = first.headers["etag"]

    for who in (LESSEE, STRANGER, ADMIN):
        again = ask(env, who, tag=f'"other", W/{tag}', **later)
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    assert first.headers["cache-control"] == "private, no-cache"
    assert good(ask(env, tag="*", **later)) == first.json
    assert good(ask(env, tag="nonsense", **later)) == first.json
    env.clock.set(EPOCH + timedelta(minutes=30))
    assert ask(env, tag=tag, **later).status_code == 304


def others_of(env: HttpEnv) -> Context:
    """Return the context of another manager on the same database."""
    context = env.context
    return build_context(env.engine, env.clock, env.cloud, env.settings, context.plugins, Silent())


def change_booking(env: HttpEnv) -> None:
    env.create(70, 80, who=STRANGER)


def end_early(env: HttpEnv) -> None:
    lease = good(env.get("/leases"))["leases"][0]
    assert env.delete(f"/leases/{lease['id']}").status_code == 204


def extend(env: HttpEnv) -> None:
    lease = good(env.get("/leases"))["leases"][0]
    env.change(lease, who=ADMIN, end_date=env.date(301))


def lose_a_host(env: HttpEnv) -> None:
    fail(env, good(env.get("/os-hosts"))["hosts"][-1]["id"])


def change_a_property(env: HttpEnv) -> None:
    host = good(env.get("/os-hosts"))["hosts"][-1]
    good(env.put(f"/os-hosts/{host['id']}", {"rack": "r9"}))


def remove_a_host(env: HttpEnv) -> None:
    host = good(env.get("/os-hosts"))["hosts"][-1]
    assert env.delete(f"/os-hosts/{host['id']}").status_code == 204


@pytest.mark.usefixtures("hosts")
@pytest.mark.parametrize(
    "change",
    [
        change_booking,
        end_early,
        extend,
        lose_a_host,
        change_a_property,
        remove_a_host,
        lambda env: env.register("h9"),
    ],
)
def test_every_change_of_the_answer_changes_its_tag_on_every_manager(
    env: HttpEnv, change: Callable[[HttpEnv], object]
) -> None:
    env.create(100, 300, resource_properties='["==", "$rack", "r1"]')
    keys: Json = {"from": env.date(60), "group_by": "rack"}
    first, before, own = ask(env, **keys), env.context, others_of(env)
    env.restart(own)
    assert ask(env, tag=first.headers["etag"], **keys).status_code == 304
    env.restart(before)

    change(env)

    second = ask(env, tag=first.headers["etag"], **keys)
    assert second.status_code == 200
    assert second.json != first.json
    env.restart(own)
    assert ask(env, tag=first.headers["etag"], **keys).status_code == 200
    assert ask(env, tag=second.headers["etag"], **keys).status_code == 304


@pytest.mark.usefixtures("hosts")
def test_other_questions_have_other_tags(env: HttpEnv) -> None:
    env.register("h5", gpu="a100")
    later: Json = {"from": env.date(60)}
    questions: list[Json] = [
        later,
        {},
        {"from": env.date(61)},
        {**later, "to": env.date(599)},
        {**later, "filter": "gpu=a100"},
        {**later, "filter": "rack=r1"},
        {**later, "group_by": "rack"},
        {**later, "group_by": "gpu"},
        {**later, "resource_type": "virtual:floatingip"},
    ]

    assert len({ask(env, **each).headers["etag"] for each in questions}) == len(questions)
    now = ask(env)
    env.clock.set(env.clock.now() + timedelta(seconds=20))
    assert ask(env, tag=now.headers["etag"]).status_code == 304
    env.clock.set(env.clock.now() + timedelta(minutes=1))
    assert ask(env, tag=now.headers["etag"]).status_code == 200


@pytest.mark.usefixtures("hosts")
def test_rights_and_private_properties(env: HttpEnv) -> None:
    tag = ask(env, group_by="rack").headers["etag"]
    good(env.patch("/os-hosts/properties/rack", {"private": True}))

    asked: list[tuple[Json, Json]] = [
        ({"group_by": "rack"}, {"group_by": "none"}),
        ({"filter": "rack=r1"}, {"filter": "none=r1"}),
    ]
    for keys, other in asked:
        hidden, unknown = refusal(ask(env, tag=tag, **keys), 400), refusal(ask(env, **other), 400)
        assert hidden.replace("rack", "none") == unknown
        good(ask(env, ADMIN, **keys))
    good(ask(env, READER))
    refusal(ask(env, Who(roles="guest")), 403)
    refusal(ask(env, Who(project=None)), 403)
    assert env.get(PATH, params=HOSTS, who=LESSEE).status_code == 404


@pytest.mark.usefixtures("hosts")
@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({"resource_type": "physical:car"}, "resource_type: physical:car is not supported"),
        ({"resource_type": "virtual:instance"}, "unit: "),
        ({"from": "tomorrow"}, "from"),
        ({"from": "2030-01-01 00:00"}, "from: 2030-01-01 00:00 UTC is past"),
        ({"from": "9999-12-31 23:59"}, "from: must be at most 100 years"),
        ({"from": "9999-12-31 23:59", "to": None}, "from: must be at most 100 years"),
        ({"to": "now"}, "to"),
        ({"to": "2030-01-01 00:00"}, "to: must be later than from"),
        ({"to": "9999-12-31 23:59"}, "to: must be at most 366 days after from"),
        ({"filter": "rack="}, "filter"),
        ({"filter": "color=red"}, "filter: no resource has a property named color"),
        ({"filter": ",".join(["rack=r1"] * 101)}, "101 conditions"),
        ({"group_by": "color"}, "group_by: no property named color"),
        ({"group_by": "hypervisor_hostname"}, "group_by: no property named hypervisor_hostname"),
        ({"group_by": ""}, "group_by"),
        ({"group": "rack"}, "Unknown query parameter: group"),
    ],
)
def test_bad_input_is_refused_with_its_name(env: HttpEnv, keys: Json, problem: str) -> None:
    assert problem in refusal(ask(env, **keys), 400)


def test_too_many_groups_are_refused() -> None:
    index = Availability()
    for number in range(3):
        facts = {"rack": f"r{number}"}
        index.put(Resource(id=ResourceId(str(number)), generation=0, is_reservable=True, facts=facts), ())
    found, everything = read_visible_facts(index, frozenset()), np.ones(3, np.bool_)

    assert group(found, everything, "rack", most=3).values == ["r0", "r1", "r2"]
    with pytest.raises(InvalidParameter, match="group_by: rack has 3 values, at most 2"):
        group(found, everything, "rack", most=2)


SMALL = "vcpus=4,memory_mb=4096,disk_gb=10"
"""The instances of :func:`~app.slots.instances`; a host has room for four."""


def ask_units(env: HttpEnv, unit: str | None = SMALL, **keys: Any) -> Any:
    return ask(env, **{"resource_type": "virtual:instance", "unit": unit, **keys})


@pytest.mark.usefixtures("hosts")
def test_free_instances_are_counted_by_their_size(env: HttpEnv) -> None:
    empty = groups(env, resource_type="virtual:instance", unit=SMALL)
    large = groups(env, resource_type="virtual:instance", unit="vcpus=8,memory_mb=4096,disk_gb=10")
    env.create("now", 60, asked=instances(amount=5), who=STRANGER)
    env.create(30, 60, min=1, max=1, who=STRANGER)

    found = groups(env, resource_type="virtual:instance", unit=SMALL)

    assert (empty, large) == ({None: (16, [(0, 16)])}, {None: (8, [(0, 8)])})
    assert found == {None: (16, [(0, 11), (30, 7), (60, 16)])}


@pytest.mark.usefixtures("hosts")
def test_a_request_gets_as_many_instances_as_are_free(env: HttpEnv) -> None:
    env.create("now", 60, asked=instances(amount=5), who=STRANGER)
    ((_, free),) = groups(env, resource_type="virtual:instance", unit=SMALL, to=env.date(60))[None][1]

    body = env.wish("now", 60, asked=instances(amount=free + 1))
    refusal(env.post("/leases", body, who=LESSEE, headers=NEWER), 409)
    env.create("now", 60, asked=instances(amount=free))


@pytest.mark.usefixtures("hosts")
def test_free_instances_in_groups_with_a_filter(env: HttpEnv) -> None:
    found = groups(env, resource_type="virtual:instance", unit=SMALL, group_by="rack", filter="rack=r2")

    assert list(found) == ["r2"]
    assert found["r2"][0] * 2 == groups(env, resource_type="virtual:instance", unit=SMALL)[None][0]


@pytest.mark.usefixtures("hosts")
@pytest.mark.parametrize(
    ("unit", "text"),
    [
        (None, "set unit, or use POST"),
        ("", "unit: must be of the form vcpus=…,memory_mb=…,disk_gb=…"),
        ("vcpus=1", "unit: must be of the form"),
        ("vcpus=1,memory_mb=,disk_gb=1", "unit: must be of the form"),
        ("vcpus=1,vcpus=2,memory_mb=1,disk_gb=1", "unit: must be of the form"),
        ("vcpus=0,memory_mb=1,disk_gb=1", "vcpus: must be from 1"),
        ("vcpus=x,memory_mb=1,disk_gb=1", "vcpus: must be a whole number"),
    ],
)
def test_an_invalid_unit_is_refused(env: HttpEnv, unit: str | None, text: str) -> None:
    assert text in refusal(ask_units(env, unit), 400)


@pytest.mark.usefixtures("hosts")
def test_whole_resources_have_no_unit(env: HttpEnv) -> None:
    assert (
        refusal(ask(env, unit="vcpus=1"), 400) == "unit: reservations of physical:host hold whole resources"
    )


@pytest.mark.usefixtures("hosts")
def test_the_tag_of_one_size_is_not_that_of_another(env: HttpEnv) -> None:
    tag = ask_units(env, to=env.date(600), **{"from": env.date(60)}).headers["ETag"]

    same = ask_units(env, tag=tag, **{"from": env.date(60)})
    other = ask_units(env, "vcpus=2,memory_mb=1024,disk_gb=10", tag=tag, **{"from": env.date(60)})

    assert (same.status_code, other.status_code) == (304, 200)


@pytest.mark.usefixtures("hosts")
def test_free_instances_of_a_flavor(env: HttpEnv) -> None:
    for flavor in (FLAVOR, SECRET):
        env.cloud.flavors.create_flavor(flavor)

    found = groups(env, resource_type="flavor:instance", unit=f"flavor_id={FLAVOR.id}")
    hidden = ask(env, resource_type="flavor:instance", unit=f"flavor_id={SECRET.id}")

    assert found == {None: (32, [(0, 32)])}
    assert (
        hidden.status_code == ask(env, resource_type="flavor:instance", unit="flavor_id=absent").status_code
    )
    assert "secret" in refusal(hidden, 404)


def test_the_region_is_in_the_answer(env_with: Callable[[Settings], HttpEnv]) -> None:
    env = env_with(replace(quiet_settings(), region="north"))

    assert good(ask(env)) == {
        "region": "north",
        "resource_type": "physical:host",
        "from": env.date(0),
        "to": env.date(600),
        "groups": [{"value": None, "total": 0, "steps": [{"time": env.date(0), "free": 0}]}],
    }
