"""Free amounts now and later, as metrics show them, on the embedded service."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest
from app.floatingips import Pool
from app.http_env import HttpEnv
from app.maintaining import maintain
from app.slots import instances
from app.test_catalogue import fail

from blazar.app.capacity_levels import CapacityLevels
from blazar.ports.capacity import CapacityLevel
from blazar.settings import CapacitySettings

HOUR = timedelta(hours=1)
WITHIN = CapacitySettings(within=(HOUR, 24 * HOUR))
BY_RACK = replace(WITHIN, properties=("rack",))
ONLY_HOSTS, ONLY_INSTANCES = ("physical.host.plugin",), ("virtual.instance.plugin",)


def levels(env: HttpEnv, settings: CapacitySettings = WITHIN) -> list[CapacityLevel]:
    return list(CapacityLevels(env.context, settings).read())


def of(env: HttpEnv, unit: str, settings: CapacitySettings = WITHIN) -> Mapping[str, CapacityLevel]:
    """Return the levels of hosts in a unit: that of all under an empty name, then those by value."""
    found = [each for each in levels(env, settings) if (each.collection, each.unit) == ("host", unit)]
    return {f"{each.property}={each.value}" if each.property else "": each for each in found}


def free(found: Mapping[str, CapacityLevel]) -> Mapping[str, tuple[int, int, list[int]]]:
    """Return the total, the amount that is free now, and the least amounts."""
    return {
        key: (each.forecast.total, each.forecast.free, list(each.forecast.least.values()))
        for key, each in found.items()
    }


def only(env: HttpEnv, plugins: tuple[str, ...]) -> None:
    """Restart the service with these plugins only."""
    kept = {key: each for key, each in env.context.plugins.items() if _entry(key) in plugins}
    env.restart(replace(env.context, plugins=kept))


def _entry(resource_type: str) -> str:
    return f"{resource_type.replace(':', '.')}.plugin"


@pytest.mark.usefixtures("hosts")
def test_whole_hosts_are_free_until_they_are_booked(env: HttpEnv) -> None:
    env.create("now", 30, min=1, max=1)
    env.create(45, 90, min=2, max=2)
    env.create(120, 200, min=4, max=4)

    found = of(env, "resources")[""]

    assert free({"": found}) == {"": (4, 3, [2, 0])}
    assert found.forecast.low_after == timedelta(minutes=120)


@pytest.mark.usefixtures("hosts")
def test_groups_by_the_properties_that_are_named(env: HttpEnv) -> None:
    env.register("h5")
    env.create(10, 20, min=2, max=2, resource_properties='["==", "$rack", "r2"]')

    assert free(of(env, "resources", BY_RACK)) == {
        "": (5, 5, [3, 3]),
        "rack=": (1, 1, [1, 1]),
        "rack=r1": (2, 2, [2, 2]),
        "rack=r2": (2, 2, [0, 0]),
    }
    low = {key: each.forecast.low_after for key, each in of(env, "resources", BY_RACK).items()}
    assert low == {"": None, "rack=": None, "rack=r1": None, "rack=r2": timedelta(minutes=10)}
    assert list(of(env, "resources", replace(BY_RACK, properties=("unknown",)))) == [""]


@pytest.mark.usefixtures("hosts")
def test_rare_values_are_counted_together(env: HttpEnv) -> None:
    env.register("h5", rack="r3")
    env.register("h6", rack="r4")

    found = free(of(env, "resources", replace(BY_RACK, most_values=2)))

    assert {key: total for key, (total, _, _) in found.items()} == {
        "": 6,
        "rack=r1": 2,
        "rack=r2": 2,
        "rack=others": 2,
    }


@pytest.mark.usefixtures("hosts")
def test_a_value_with_the_name_of_the_rest_is_counted_with_it(env: HttpEnv) -> None:
    env.register("h5", "h6", "h7", rack="others")
    env.register("h8", rack="r3")

    found = free(of(env, "resources", replace(BY_RACK, most_values=1)))

    assert {key: total for key, (total, _, _) in found.items()} == {"": 8, "rack=others": 8}


@pytest.mark.usefixtures("hosts")
def test_parts_of_hosts_are_counted_in_resource_classes(env: HttpEnv) -> None:
    env.create(30, 90, asked=instances(amount=3))
    env.create(30, 60, min=1, max=1)

    found = free({**of(env, "VCPU"), "hosts": of(env, "resources")[""]})

    # One host whole, which has 16, and three instances with four on another one.
    assert found == {"": (64, 64, [36, 36]), "hosts": (4, 4, [2, 2])}


@pytest.mark.usefixtures("hosts")
def test_the_units_are_those_in_which_the_types_are_reserved(env: HttpEnv) -> None:
    def units() -> set[str]:
        return {each.unit for each in levels(env) if each.collection == "host"}

    classes = {"VCPU", "MEMORY_MB", "DISK_GB"}
    assert units() == {"resources", *classes}
    everything = env.context
    only(env, ONLY_HOSTS)
    assert units() == {"resources"}
    env.restart(everything)
    only(env, ONLY_INSTANCES)
    assert units() == classes


def test_failed_hosts_and_those_under_maintenance_are_not_free(env: HttpEnv, hosts: list[str]) -> None:
    fail(env, hosts[0])
    env.create(
        "now", 30, asked=instances(amount=1, resource_properties='["==", "$hypervisor_hostname", "h2"]')
    )
    env.work()
    maintain(env, "h2", end_date=env.date(30))

    found = of(env, "resources")[""]

    assert free({"": found}) == {"": (3, 2, [2, 2])}
    # The whole host is booked for maintenance, while a lease still holds an instance there.
    assert of(env, "VCPU")[""].forecast.free == 32


@pytest.mark.usefixtures("hosts")
def test_every_collection_has_its_level(env: HttpEnv, pool: Pool) -> None:
    pool.register(1, 2)

    found = {(each.collection, each.unit): each.forecast for each in levels(env)}

    assert found["floatingip", "resources"].free == 2
    assert all(math.isfinite(each.free) for each in found.values())


@pytest.mark.usefixtures("hosts")
def test_without_a_forecast_only_the_present_is_read(env: HttpEnv) -> None:
    env.create(10, 20, min=4, max=4)

    found = of(env, "resources", CapacitySettings(within=()))[""]

    assert free({"": found}) == {"": (4, 4, [])}
    assert found.forecast.low_after is None
