"""Reservations for instances: by size, and by flavor."""

from __future__ import annotations

from app.http_env import host_reservation
from app.slots import FLAVOR, SECRET, instances, of_flavor
from recorded.steps import MENDED, RACKS, WORK, failing, flavors, instance, time_passes
from recorded.story import Request, Story, change, date, delete, get, lease, post, put, without

from blazar.ports.compute import Flavor

_NUMA = Flavor(
    id="numa",
    name="m1.numa",
    vcpus=1,
    memory_mb=512,
    disk_gb=1,
    is_public=True,
    extra_specs={"hw:numa_nodes": "2", "trait:HW_CPU_X86_VMX": "forbidden"},
)
_PREEMPTIBLE = Flavor(
    id="spot",
    name="m1.spot",
    vcpus=1,
    memory_mb=512,
    disk_gb=1,
    is_public=True,
    extra_specs={"blazar:preemptible": "true"},
)


def _asked(**keys: object) -> Request:
    return post("/v1/leases", lease(4, 5, instances(**keys)), "lessee")


def _flavor(**keys: object) -> Request:
    return post("/v1/leases", lease(4, 5, of_flavor(**keys)), "lessee")


INSTANCES = Story(
    name="instances",
    parts=(
        RACKS,
        *(
            post("/v1/leases", lease(4, 5, without(instances(), key)), "lessee")
            for key in ("vcpus", "amount", "affinity", "resource_properties")
        ),
        _asked(vcpus="x"),
        _asked(vcpus=0),
        _asked(memory_mb=-1),
        _asked(disk_gb=1.5),
        _asked(amount=0),
        _asked(amount="many"),
        _asked(affinity="maybe"),
        _asked(resource_properties='["==", "$nothing", "x"]'),
        _asked(amount=2**31 - 1),
        _asked(vcpus=10_000, amount=1),
        _asked(amount=5, affinity=True),
        _asked(amount=5, affinity=False),
        post("/v1/leases", lease("now", 2, instances(amount="5", affinity="None")), "lessee"),
        post("/v1/leases", lease("now", 2, instances(amount=3, affinity=False)), "lessee"),
        post("/v1/leases", lease("now", 2, instances(amount=2, affinity="yes", disk_gb=0)), "lessee"),
        WORK,
        get("/v1/leases", "lessee"),
        instance(1),
        instance(1),
        put("/v1/leases/<lease-1>", change(1, amount=6), "lessee"),
        put("/v1/leases/<lease-1>", change(1, amount=2), "lessee"),
        put("/v1/leases/<lease-1>", change(1, amount=1), "lessee"),
        put("/v1/leases/<lease-1>", change(1, vcpus=1), "lessee"),
        put("/v1/leases/<lease-1>", change(1, affinity=True), "lessee"),
        put("/v1/leases/<lease-1>", {"end_date": date(3)}, "lessee"),
        WORK,
        get("/v1/leases/<lease-1>", "lessee"),
        _asked(amount=8, affinity=None),
        put("/v1/leases/<lease-4>", change(4, vcpus=2, amount="16", affinity=True), "lessee"),
        put("/v1/leases/<lease-4>", change(4, vcpus=2, amount="8", affinity=True), "lessee"),
        put("/v1/leases/<lease-4>", change(4, affinity=None, resource_properties="[]"), "lessee"),
        put("/v1/leases/<lease-4>", change(4, amount=None), "lessee"),
        put("/v1/leases/<lease-4>", change(4, affinity=False), "admin"),
        put("/v1/leases/<lease-4>", change(4, flavor_id="x", aggregate_id=7, unknown=[]), "lessee"),
        put("/v1/leases/<lease-4>", {"start_date": date(6), "end_date": date(7)}, "lessee"),
        delete("/v1/leases/<lease-2>", "lessee"),
        time_passes(3),
        get("/v1/leases/<lease-1>", "lessee"),
        get("/v1/leases/<lease-3>", "lessee"),
    ),
)

FLAVORS = Story(
    name="flavors",
    parts=(
        RACKS,
        flavors(FLAVOR, SECRET, _NUMA, _PREEMPTIBLE),
        *(
            post("/v1/leases", lease(4, 5, without(of_flavor(), key)), "lessee")
            for key in ("flavor_id", "amount", "affinity")
        ),
        _flavor(flavor_id="m1.small"),
        _flavor(flavor_id=None),
        _flavor(flavor_id=["42"]),
        _flavor(flavor_id=SECRET.id),
        _flavor(flavor_id=_PREEMPTIBLE.id),
        _flavor(amount=0),
        _flavor(affinity="maybe"),
        _flavor(resource_properties="x"),
        _flavor(amount=1000),
        post("/v1/leases", lease("now", 2, of_flavor(flavor_id=42, amount="3", affinity="")), "lessee"),
        post("/v1/leases", lease("now", 2, of_flavor(flavor_id="numa", affinity="True")), "lessee"),
        post("/v1/leases", lease(3, 4, of_flavor(resource_properties='["==", "$rack", "r2"]')), "lessee"),
        WORK,
        get("/v1/leases/<lease-1>", "lessee"),
        put("/v1/leases/<lease-1>", change(1, amount=4), "lessee"),
        put("/v1/leases/<lease-1>", change(1, flavor_id="numa"), "lessee"),
        put("/v1/leases/<lease-1>", {"end_date": date(2.5)}, "lessee"),
        put("/v1/leases/<lease-3>", change(3, flavor_id="numa", affinity=False), "lessee"),
        put("/v1/leases/<lease-3>", change(3, flavor_id=SECRET.id), "lessee"),
        put("/v1/leases/<lease-3>", {"start_date": date(2), "end_date": date(5)}, "lessee"),
        post("/v1/leases", lease(2.5, 4, host_reservation(min=4, max=4)), "lessee"),
        failing("lessee.*"),
        _flavor(),
        MENDED,
        time_passes(2.5),
        get("/v1/leases", "lessee"),
    ),
)

STORIES = (INSTANCES, FLAVORS)
