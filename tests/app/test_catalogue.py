"""The list of what can be reserved, over HTTP, on the embedded service."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from app.floatingips import Pool
from app.http_env import ADMIN, LESSEE, READER, STRANGER, HttpEnv, Json, Who, good, quiet_settings, refusal
from app.rules import use_rules
from app.test_quotas import Table
from telemetry.counting import Counts

from blazar.domain.health import Diagnosis, Health
from blazar.domain.lease import ResourceId
from blazar.domain.subscriptions import ChannelKind
from blazar.enforcement.duration import MaxLeaseDuration
from blazar.ports.compute import Flavor
from blazar.ports.enforcement import EnforcementFilter
from blazar.settings import NoticeSettings, Settings
from blazar.telemetry.measured import MeasuredFilter

NEWER = {"OpenStack-API-Version": "reservation 1.1"}
PATH = "/catalogue"


def catalogue(env: HttpEnv, who: Who = LESSEE) -> Json:
    """Return the catalogue as a caller sees it."""
    found: Json = good(env.get(PATH, who=who, headers=NEWER))["catalogue"]
    return found


def values(found: Json, name: str) -> list[tuple[object, int]]:
    """Return the values of a property of hosts, with the number of hosts that have each."""
    (listed,) = [
        each
        for each in found["properties"]
        if each["property"] == name and "physical:host" in each["resource_types"]
    ]
    return [(each["value"], each["reservable"]) for each in listed["values"]]


def names(found: Json) -> set[str]:
    return {each["property"] for each in found["properties"]}


def fail(env: HttpEnv, host_id: str) -> None:
    """Record that a host has failed."""
    with env.context.store.begin() as transaction:
        diagnosis = Diagnosis(health=Health.FAILED, problem="down")
        transaction.resources.set_diagnosis(ResourceId(host_id), diagnosis, env.clock.now())
        transaction.commit()


def test_types_have_their_keys_and_the_number_of_resources_that_can_be_reserved(
    env: HttpEnv, hosts: list[str], pool: Pool
) -> None:
    pool.register(1, 2, 3)
    fail(env, hosts[0])

    types = {each["resource_type"]: each for each in catalogue(env)["resource_types"]}

    assert types["physical:host"] == {
        "resource_type": "physical:host",
        "schema": types["physical:host"]["schema"],
        "keys": ["min", "max", "hypervisor_properties", "resource_properties", "before_end"],
        "unit": "host",
        "unit_keys": [],
        "has_count": True,
        "choices": None,
        "reservable": 3,
        "end_texts": types["physical:host"]["end_texts"],
    }
    assert types["virtual:instance"]["reservable"] == 3
    assert types["virtual:floatingip"]["reservable"] == 3
    assert "flavor_id" in types["flavor:instance"]["keys"]
    assert types["virtual:instance"]["unit_keys"] == ["vcpus", "memory_mb", "disk_gb"]
    env.create("now", 60)
    assert catalogue(env)["resource_types"] == list(types.values()), "reserved ones are still reservable"


def test_types_have_the_schema_of_their_reservations(env: HttpEnv) -> None:
    for each in catalogue(env)["resource_types"]:
        keys = each["schema"]["properties"].keys() - {"resource_type"}

        assert each["schema"]["properties"]["resource_type"] == {"const": each["resource_type"]}
        assert keys == set(each["keys"])
        assert set(each["schema"]["required"]) <= {*keys, "resource_type"}


def test_properties_have_values_with_the_number_of_hosts(env: HttpEnv, hosts: list[str]) -> None:
    env.register("h5", rack="r10", gpu="a100")
    fail(env, hosts[3])

    found = catalogue(env)

    assert values(found, "rack") == [("r1", 2), ("r10", 1), ("r2", 1)]
    assert values(found, "slots") == [("8", 2), ("10", 1)]
    assert values(found, "gpu") == [("a100", 1)]
    assert next(each for each in found["properties"] if each["property"] == "rack")["built_in"] is False
    assert [number for _, number in values(found, "vcpus")] == [4]
    zones = found["availability_zones"]
    assert sum(each["reservable"] for each in zones) == 4
    assert [(each["name"], each["reservable"]) for each in zones] == values(found, "availability_zone")


@pytest.mark.usefixtures("hosts")
def test_private_properties_are_only_listed_for_callers_who_may_see_them(env: HttpEnv) -> None:
    good(env.patch("/os-hosts/properties/rack", {"private": True}))

    assert "rack" not in names(catalogue(env))
    assert values(catalogue(env), "slots") == [("8", 2), ("10", 2)]
    (rack,) = [each for each in catalogue(env, ADMIN)["properties"] if each["property"] == "rack"]
    assert (rack["private"], rack["resource_types"]) == (
        True,
        ["flavor:instance", "physical:host", "virtual:instance"],
    )


def test_nothing_that_names_a_single_resource_is_listed(env: HttpEnv, hosts: list[str], pool: Pool) -> None:
    (address,) = pool.register(7)
    lease = env.create("now", 60, who=STRANGER)

    text = env.get(PATH, who=LESSEE, headers=NEWER).text

    seen = ["h1", "h2", "h3", "h4", str(address), lease["id"], lease["name"], "elsewhere", "stranger"]
    assert [each for each in seen if f'"{each}"' in text] == []
    assert names(catalogue(env)).isdisjoint(
        {"id", "hypervisor_hostname", "service_name", "address", "cpu_info"}
    )


@pytest.mark.usefixtures("hosts")
def test_limits_of_the_project(env: HttpEnv) -> None:
    table = Table(limits={"leases": 5, "reserved_hosts": 3, "reserved_instances": -1})
    longest = MaxLeaseDuration(timedelta(hours=8), frozenset({"elsewhere"}))
    filters: dict[str, EnforcementFilter] = {
        "exact": MeasuredFilter(longest, "exact", Counts()),
        "loose": MaxLeaseDuration(timedelta(hours=9), frozenset()),
    }
    env.restart(replace(env.context, limits=table, filters=filters))
    env.create("now", 90, min=2, max=2)

    limits = catalogue(env)["limits"]
    quotas = {each["name"]: (each["used"], each["limit"], each["left"]) for each in limits["quotas"]}

    assert limits["longest_lease_minutes"] == 480
    assert (limits["reservations_per_lease"], limits["amount_per_lease"]) == (10, None)
    assert quotas == {
        "leases": (1, 5, 4),
        "reserved_hosts": (2, 3, 1),
        "reserved_instances": (0, None, None),
        "host_hours_ahead": (3, None, None),
    }
    assert catalogue(env, STRANGER)["limits"]["longest_lease_minutes"] == 540
    table.is_up = False
    table.remembered.clear()
    assert "limits" in refusal(env.get(PATH, who=LESSEE, headers=NEWER), 503)


def test_kinds_of_notices(env_with: Callable[[Settings], HttpEnv]) -> None:
    channels = frozenset({ChannelKind.WEBHOOK, ChannelKind.MAIL})

    env = env_with(replace(quiet_settings(), notices=NoticeSettings(channels=channels)))

    assert catalogue(env)["subscription_kinds"] == ["mail", "webhook"]


def test_times_and_region(env_with: Callable[[Settings], HttpEnv]) -> None:
    env = env_with(replace(quiet_settings(cleaning_minutes=15), region="north"))

    found = catalogue(env)

    assert (found["region"], found["cleaning_time_minutes"], found["before_end_lead_minutes"]) == (
        "north",
        15,
        60,
    )
    assert (found["longest_period_days"], found["longest_page"]) == (366, 1000)
    assert found["subscription_kinds"] == []
    assert found["limits"]["longest_lease_minutes"] is None
    assert found["properties"] == [
        {**each, "values": []} for each in found["properties"] if each["built_in"]
    ], "without resources, only the names of facts are known"


@pytest.mark.usefixtures("hosts")
def test_rights(env: HttpEnv) -> None:
    catalogue(env, READER)
    refusal(env.get(PATH, who=Who(roles="guest"), headers=NEWER), 403)
    refusal(env.get(PATH, who=Who(project=None), headers=NEWER), 403)
    assert catalogue(env, Who(project=None, roles="admin,reader"))["limits"]["quotas"] == []
    assert env.get(PATH, who=LESSEE).status_code == 404


@pytest.mark.usefixtures("hosts")
def test_usage_rules_that_decide_for_the_caller(env: HttpEnv) -> None:
    use_rules(
        env,
        "kind: longest, longest_days: 3, applies_to: {resources: rack=r1}",
        'kind: longest, longest_days: 14, applies_to: {resource_types: ["physical:host"]}',
        f"kind: longest, longest_days: 15, applies_to: {{projects: [{STRANGER.project}]}}",
        "kind: longest, longest_days: 16",
        "kind: extension, last_hours: 48, most_days: 7",
        "kind: shortest, unlimited: true",
        "kind: horizon, start_days: 30, mode: log",
    )

    rules = catalogue(env)["limits"]["rules"]

    others = ["flavor:instance", "virtual:floatingip", "virtual:instance"]
    assert rules[0] == {
        "name": "rule-1",
        "kind": "longest",
        "resource_types": sorted([*others, "physical:host"]),
        "covers_all_resources": False,
        "resources": "rack=r1",
        "summary": "all resource types with rack=r1: a lease lasts at most 3 days",
        "limit": {"longest_minutes": 4320},
    }
    assert [(each["name"], each["limit"]) for each in rules[1:]] == [
        ("rule-2", {"longest_minutes": 20160}),
        ("rule-4", {"longest_minutes": 23040}),
        ("rule-5", {"last_minutes": 2880, "most_minutes": 10080, "beyond_longest": False}),
        ("rule-6", None),
    ]
    assert [each["resource_types"] for each in rules[1:3]] == [["physical:host"], others]
    assert [each["name"] for each in catalogue(env, STRANGER)["limits"]["rules"]][2] == "rule-3"

    good(env.patch("/os-hosts/properties/rack", {"private": True}))

    hidden, shown = catalogue(env)["limits"]["rules"][0], catalogue(env, ADMIN)["limits"]["rules"][0]
    assert (hidden["resources"], shown["resources"]) == (None, "rack=r1")
    assert "rack" not in hidden["summary"]


def flavor_choices(env: HttpEnv, who: Who) -> list[str] | None:
    """Return the names of the flavors that the catalogue lists; None if it cannot."""
    found = good(env.get(f"{PATH}?choices=true", who=who, headers=NEWER))["catalogue"]
    (listed,) = [
        each["choices"] for each in found["resource_types"] if each["resource_type"] == "flavor:instance"
    ]
    return None if listed is None else [each["name"] for each in listed["flavor_id"]]


def add_flavor(env: HttpEnv, name: str, **values: object) -> None:
    env.cloud.flavors.create_flavor(
        Flavor(id=f"id-{name}", name=name, vcpus=2, memory_mb=512, disk_gb=1, **values)  # type: ignore[arg-type]
    )


def test_the_flavors_that_a_lessee_can_reserve_are_listed_on_request(env: HttpEnv) -> None:
    add_flavor(env, "public", is_public=True)
    add_flavor(env, "own")
    env.cloud.flavors.add_flavor_access("id-own", str(LESSEE.project))
    add_flavor(
        env,
        "of-a-reservation",
        is_public=True,
        extra_specs={"aggregate_instance_extra_specs:reservation": "r"},
    )

    own, strange = flavor_choices(env, LESSEE), flavor_choices(env, STRANGER)

    assert own == ["public", "own"]
    assert strange == ["public"]
    assert all(each["choices"] is None for each in catalogue(env)["resource_types"])


def test_a_cloud_that_does_not_answer_leaves_out_the_choices_only(env: HttpEnv) -> None:
    with env.failing("lessee.list_flavors"):
        assert flavor_choices(env, LESSEE) is None


@pytest.mark.parametrize("query", ["choices=perhaps", "choice=true"])
def test_wrong_parameters_are_refused(env: HttpEnv, query: str) -> None:
    assert query.partition("=")[0] in refusal(env.get(f"{PATH}?{query}", who=LESSEE, headers=NEWER), 400)
