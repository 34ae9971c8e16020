"""Problems of the cloud that ``blazar-status check cloud`` reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

import pytest
from app.http_env import FREEPOOL, LESSEE, HttpEnv
from app.slots import instances
from oslo_upgradecheck.upgradecheck import Code, Result

from blazar.booking.context import Context
from blazar.cloud.simulated.shape import HostShape
from blazar.cmd import cloud_checks
from blazar.cmd.cloud_checks import SeenCloud, see_cloud
from blazar.domain.providers import Inventory
from blazar.planning.nova import FILTER, NovaConf
from blazar.plugins.slots.names import provider_name
from blazar.ports.clock import Clock, ClockReading
from blazar.ports.compute import Flavor

pytestmark = pytest.mark.usefixtures("hosts")

Check = Callable[[Context, SeenCloud], Result]


def found_by(check: Check, env: HttpEnv) -> tuple[Code, str]:
    result = check(env.context, see_cloud(env.context))
    return result.code, str(result.details)


def with_conf(check: Callable[..., Result], conf: NovaConf | None) -> Check:
    return lambda context, seen: check(context, seen, conf)


def nova_conf(**groups: dict[str, list[str]]) -> NovaConf:
    return NovaConf(name="nova.conf", values=groups)


GOOD = {
    "available_filters": ["nova.scheduler.filters.all_filters", FILTER],
    "enabled_filters": ["ComputeFilter,BlazarFilter"],
}


def test_a_sound_cloud_passes(env: HttpEnv) -> None:
    env.create("now", 60)
    env.create("now", 60, asked=instances())
    env.work()
    filter_check = with_conf(cloud_checks.check_filter, nova_conf(filter_scheduler=GOOD))

    for check in (
        cloud_checks.check_freepool,
        cloud_checks.check_hosts,
        cloud_checks.check_zones,
        filter_check,
        with_conf(cloud_checks.check_filter, None),
        with_conf(cloud_checks.check_extra_specs, None),
        cloud_checks.check_traits,
        cloud_checks.check_providers,
    ):
        code, text = found_by(check, env)
        assert code is Code.SUCCESS, text
        assert text


def test_hosts_outside_the_freepool_are_named(env: HttpEnv) -> None:
    (pool,) = (each for each in env.cloud.aggregates.list_aggregates() if each.name == FREEPOOL)
    env.cloud.aggregates.remove_host(pool.id, "h2")
    env.cloud.add_hypervisor("stray")
    env.cloud.aggregates.add_host(pool.id, "stray")

    code, text = found_by(cloud_checks.check_freepool, env)

    assert code is Code.FAILURE
    assert "h2 in neither; stray in the freepool, but not registered" in text


def test_a_freepool_in_a_zone_is_a_failure(env: HttpEnv) -> None:
    (pool,) = (each for each in env.cloud.aggregates.list_aggregates() if each.name == FREEPOOL)
    for host in pool.hosts:
        env.cloud.aggregates.remove_host(pool.id, host)
    env.cloud.aggregates.delete_aggregate(pool.id)
    env.cloud.add_aggregate(FREEPOOL, "az1")

    code, text = found_by(cloud_checks.check_freepool, env)

    assert code is Code.FAILURE
    assert "aggregate freepool: in zone az1, but needed is: exists, without an availability zone" in text


def test_hosts_that_are_gone_or_down_are_named(env: HttpEnv) -> None:
    env.cloud.set_host_state("h1", is_up=False)
    assert found_by(cloud_checks.check_hosts, env) == (
        Code.WARNING,
        "Registered hosts: h1: its compute service h1 is down",
    )

    env.cloud.remove_hypervisor("h2")

    code, text = found_by(cloud_checks.check_hosts, env)
    assert (code, text) == (Code.FAILURE, "Registered hosts: h2: Nova does not know it")


def test_a_zone_that_looks_like_one_of_a_reservation_is_a_failure(env: HttpEnv) -> None:
    env.cloud.add_aggregate("site", "blazar_site")

    code, text = found_by(cloud_checks.check_zones, env)

    assert code is Code.FAILURE
    assert "aggregate site is in zone blazar_site" in text


def test_a_changed_zone_is_a_warning_until_hosts_are_read_again(env: HttpEnv) -> None:
    zone = env.cloud.add_aggregate("az2", "az2")
    env.cloud.aggregates.add_host(zone.id, "h1")

    code, text = found_by(cloud_checks.check_zones, env)

    assert code is Code.WARNING
    assert "h1 was in nova and is in az2" in text
    assert "blazar-manage host refresh" in text


def test_the_zone_of_a_reserved_host_has_not_changed(env: HttpEnv) -> None:
    lease = env.create("now", 60)
    env.work()
    assert env.members(lease)

    assert found_by(cloud_checks.check_zones, env)[0] is Code.SUCCESS


@pytest.mark.parametrize("wrong", ["available_filters", "enabled_filters"])
def test_a_filter_that_is_not_configured_is_a_failure(env: HttpEnv, wrong: str) -> None:
    conf = nova_conf(filter_scheduler={**GOOD, wrong: ["ComputeFilter"]})

    code, text = found_by(with_conf(cloud_checks.check_filter, conf), env)

    assert code is Code.FAILURE
    assert text.startswith(f"[filter_scheduler] {wrong}: ComputeFilter, but needed is: contains ")


def test_an_ordinary_server_on_a_free_host_shows_that_the_filter_has_no_effect(env: HttpEnv) -> None:
    env.cloud.boot_server("stray", LESSEE.project or "", service_host="h1")

    code, text = found_by(with_conf(cloud_checks.check_filter, None), env)

    assert code is Code.FAILURE
    assert "effect of BlazarFilter" in text
    assert "on h1" in text


def test_flavors_that_need_metadata_of_a_zone_are_a_warning(env: HttpEnv) -> None:
    check = cloud_checks.check_extra_specs
    zone = env.cloud.add_aggregate("az1", "az1")
    env.cloud.aggregates.set_aggregate_metadata(zone.id, {"ssd": "true"})
    env.cloud.aggregates.add_host(zone.id, "h1")
    specs = {"aggregate_instance_extra_specs:ssd": "true"}
    env.cloud.flavors.create_flavor(
        Flavor(id="8", name="fast", vcpus=1, memory_mb=512, disk_gb=1, extra_specs=specs)
    )

    code, text = found_by(with_conf(check, None), env)
    assert code is Code.WARNING
    assert "Servers of these flavors find no reserved host: fast" in text
    code, text = found_by(with_conf(check, nova_conf(filter_scheduler=GOOD)), env)
    assert code is Code.WARNING
    assert "AggregateInstanceExtraSpecsFilter is not enabled, but flavors need it: fast" in text


def test_traits_and_inventories_that_have_changed_are_warnings(env: HttpEnv) -> None:
    env.cloud.set_traits("h1", ["HW_CPU_X86_AVX2"])
    code, text = found_by(cloud_checks.check_traits, env)
    assert (code, "hosts were read: h1; " in text) == (Code.WARNING, True)
    assert found_by(cloud_checks.check_providers, env)[0] is Code.SUCCESS

    env.cloud.resize_hypervisor("h2", HostShape(vcpus=8))
    env.cloud.add_provider("h3", "h3_numa0", {"CUSTOM_PAGES": Inventory(total=4)})

    code, text = found_by(cloud_checks.check_providers, env)
    assert (code, "hosts were read: h2, h3; " in text) == (Code.WARNING, True)


def test_a_host_without_its_nested_provider_is_a_failure(env: HttpEnv) -> None:
    provider = env.cloud.placement.find_provider(provider_name("h4"))
    assert provider is not None
    env.cloud.placement.delete_provider(provider.uuid)

    code, text = found_by(cloud_checks.check_providers, env)

    assert code is Code.FAILURE
    assert "no nested provider blazar_<host> for h4" in text


@dataclass(frozen=True, slots=True)
class OtherClock:
    """A reference clock that is late."""

    difference: timedelta

    def compare(self, clock: Clock) -> ClockReading:
        now = clock.now()
        return ClockReading(before=now, there=now - self.difference, after=now)


@pytest.mark.parametrize(
    ("seconds", "code"),
    [(0, Code.SUCCESS), (1, Code.SUCCESS), (-1.5, Code.WARNING), (2.5, Code.FAILURE), (-9, Code.FAILURE)],
)
def test_a_clock_that_differs_from_the_database_is_found(env: HttpEnv, seconds: float, code: Code) -> None:
    found = cloud_checks.check_clock(env.context, OtherClock(timedelta(seconds=seconds)))

    assert found.code is code
    assert f"by {abs(seconds):.2f} s" in str(found.details)


def test_a_database_on_this_machine_has_the_same_clock(env: HttpEnv) -> None:
    assert cloud_checks.check_clock(env.context, None).code is Code.SUCCESS
