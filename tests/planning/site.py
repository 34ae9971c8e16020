"""The simulated site of ``doc/operators/plan.md``: its hosts, its servers, and ten days of leases."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import timedelta
from itertools import count
from pathlib import Path

import sqlalchemy as sa
from app.http_env import HttpEnv, Who, host_reservation, lease_of, quiet_settings, shortage
from app.slots import instances
from clocks import EPOCH
from planning.running import SHAPE, general, reservable, run_json

from blazar.ports.compute import Flavor

PHYSICS = Who(user="ada", project="physics")
BIOLOGY = Who(user="ben", project="biology")
DAYS = 10
"""The number of past days."""
_HOUR = 60
_DAY = 24 * _HOUR
NOVA_CONF = """\
[filter_scheduler]
available_filters = nova.scheduler.filters.all_filters
available_filters = blazarnova.scheduler.filters.blazar_filter.BlazarFilter
enabled_filters = ComputeFilter,ImagePropertiesFilter,AggregateInstanceExtraSpecsFilter
[blazar:physical:host]
aggregate_freepool_name = freepool
"""
LEASE = """\
name: summer-school
start_date: 2031-01-14 08:00
end_date: 2031-01-18 18:00
reservations:
  - resource_type: virtual:instance
    vcpus: 4
    memory_mb: 8192
    disk_gb: 40
    amount: 30
    affinity: null
    resource_properties: ""
"""


def make_site(engine: sa.Engine, folder: Path) -> HttpEnv:
    """Return the service after ten days of use; everything about it is always the same."""
    env = HttpEnv(engine, folder, quiet_settings(cleaning_minutes=10))
    numbers = count(1)
    env.restart(replace(env.context, new_id=lambda: str(uuid.uuid5(uuid.NAMESPACE_OID, str(next(numbers))))))
    _equip(env)
    for day in range(DAYS):
        start = day * _DAY + 8 * _HOUR
        _advance(env, start - 2 * _HOUR)
        _reserve(env, f"simulation-{day}", PHYSICS, start, start + 20 * _HOUR, hosts=2 + day % 3)
        if day % 2:
            _reserve(env, f"imaging-{day}", BIOLOGY, start, start + 30 * _HOUR, hosts=1)
    _ahead(env)
    _advance(env, DAYS * _DAY)
    (folder / "nova.conf").write_text(NOVA_CONF)
    (folder / "usage-rules.yaml").write_text(run_json(env, "plan")["policy"]["rules"])
    (folder / "summer-school.yaml").write_text(LEASE)
    return env


def _equip(env: HttpEnv) -> None:
    for rack, names, zone in (
        ("r1", ("compute-1", "compute-2", "compute-3"), "az1"),
        ("r2", ("compute-4", "compute-5", "compute-6"), "az1"),
        ("r3", ("compute-7", "compute-8"), "az2"),
    ):
        reservable(env, *names, zone=zone, rack=rack)
    general(
        env, "compute-9", "compute-10", "compute-11", "compute-12", "compute-13", "compute-14", zone="az1"
    )
    flavor = Flavor(id="c4", name="c4.large", vcpus=4, memory_mb=8192, disk_gb=40, is_public=True)
    env.cloud.flavors.create_flavor(flavor)
    for number in range(16):
        host = f"compute-{9 + number % 4}"
        env.cloud.boot_server(f"web-{number}", "web", flavor_id=flavor.id, service_host=host)
    assert SHAPE.vcpus == 16


def _ahead(env: HttpEnv) -> None:
    """Reserve what is ahead on the tenth day."""
    now = DAYS * _DAY
    _reserve(env, "night-run", PHYSICS, now - 4 * _HOUR, now + 2 * _DAY, hosts=3)
    _reserve(env, "sequencing", BIOLOGY, now + 3 * _DAY, now + 6 * _DAY, hosts=3, rack="r2")
    _reserve(env, "benchmark", PHYSICS, now + 4 * _DAY, now + 5 * _DAY, hosts=2)
    slots = instances(vcpus=4, memory_mb=8192, disk_gb=40, amount=6)
    lease_of(
        env.post("/leases", {**env.wish(now + _DAY, now + 4 * _DAY, asked=slots), "name": "course"}), 201
    )
    asked = host_reservation(min=5, max=5)
    assembly = {**env.wish(now + 3 * _DAY, now + 4 * _DAY, asked=asked), "name": "assembly"}
    shortage(env.post("/leases", assembly, who=BIOLOGY))


def _reserve(
    env: HttpEnv, name: str, who: Who, start: int, end: int, *, hosts: int, rack: str | None = None
) -> None:
    condition = "" if rack is None else f'["==", "$rack", "{rack}"]'
    asked = host_reservation(min=hosts, max=hosts, resource_properties=condition, before_end="snapshot")
    lease_of(env.post("/leases", {**env.wish(start, end, asked=asked), "name": name}, who=who), 201)


def _advance(env: HttpEnv, minutes: int) -> None:
    """Let time pass in half hours, on which leases start and end."""
    while env.clock.now() < EPOCH + timedelta(minutes=minutes):
        env.clock.advance(timedelta(minutes=30) - timedelta(seconds=env.clock.now().second))
        env.work()
