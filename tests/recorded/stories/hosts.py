"""Hosts, their resource properties and their allocations."""

from __future__ import annotations

from app.http_env import host_reservation
from app.slots import FLAVOR, instances, of_flavor
from recorded.steps import (
    MENDED,
    RACKS,
    WORK,
    failing,
    flavors,
    hypervisors,
    removed_hypervisor,
    seconds_pass,
    server,
    time_passes,
)
from recorded.story import Story, delete, get, lease, patch, post, put

_RACK_1 = '["==", "$rack", "r1"]'

HOSTS = Story(
    name="hosts",
    parts=(
        get("/v1/os-hosts"),
        hypervisors("h1", "h2", "h3"),
        hypervisors("h4", zone="az1"),
        post("/v1/os-hosts", {}),
        post("/v1/os-hosts", {"name": "", "id": ""}),
        post("/v1/os-hosts", {"name": ["h1"]}),
        post("/v1/os-hosts", {"name": "no-such-host"}),
        post("/v1/os-hosts", {"id": 17000}),
        post("/v1/os-hosts", {"host": {"name": "h1"}}),
        post("/v1/os-hosts", {"name": "h1", "k" * 65: "x"}),
        post("/v1/os-hosts", {"name": "h1", "": "x"}),
        post("/v1/os-hosts", {"name": "h1", "rack": None}),
        post("/v1/os-hosts", {"name": "h1", "created_at": "99"}),
        post("/v1/os-hosts", {"name": "h1", "reservable": False}),
        post("/v1/os-hosts", {"name": "h1", "rack": "r1", "slots": 8, "ssd": True, "empty": "", "load": 1.5}),
        post("/v1/os-hosts", {"name": "h1"}),
        post("/v1/os-hosts", {"id": 10, "name": "ignored", "a b": "😀"}),
        post("/v1/os-hosts", {"name": "h4"}),
        server("h3"),
        post("/v1/os-hosts", {"name": "h3"}),
        failing("placement.find_provider"),
        post("/v1/os-hosts", {"name": "h2"}),
        MENDED,
        post("/v1/os-hosts", {"name": "h2", "rack": "r1"}),
        get("/v1/os-hosts"),
        get("/v1/os-hosts/3"),
        get("/v1/os-hosts/h1"),
        seconds_pass(100),
        put("/v1/os-hosts/3", {"rack": "r2", "gpu": 4, "name": "front"}),
        put("/v1/os-hosts/3", {"gpu": None, "no_such_key": None}),
        put("/v1/os-hosts/3", {}),
        put("/v1/os-hosts/3", {"gpu": {"x": 1}}),
        put("/v1/os-hosts/3", {"k" * 65: "x"}),
        put("/v1/os-hosts/3", {"status": "down"}),
        put("/v1/os-hosts/3", {"id": "9", "rack": "r3"}),
        put("/v1/os-hosts/17000", {"rack": "r2"}),
        get("/v1/os-hosts/3"),
        delete("/v1/os-hosts/17000"),
        delete("/v1/os-hosts/h1"),
        delete("/v1/os-hosts/3"),
        get("/v1/os-hosts/3"),
        delete("/v1/os-hosts/3"),
        post("/v1/os-hosts", {"name": "h1"}),
        failing("compute.remove_host"),
        delete("/v1/os-hosts/3"),
        MENDED,
        get("/v1/os-hosts/3"),
        removed_hypervisor("h1"),
        delete("/v1/os-hosts/3"),
    ),
)

OCCUPIED_HOSTS = Story(
    name="occupied_hosts",
    parts=(
        RACKS,
        post(
            "/v1/leases", lease(1, 3, host_reservation(min=2, max=2, resource_properties=_RACK_1)), "lessee"
        ),
        put("/v1/os-hosts/3", {"rack": "r2"}),
        put("/v1/os-hosts/3", {"rack": None, "gpu": "h100"}),
        put("/v1/os-hosts/3", {"rack": "r1", "gpu": "h100"}),
        delete("/v1/os-hosts/3"),
        time_passes(1),
        server("h1", reservation=1),
        delete("/v1/os-hosts/3"),
        get("/v1/os-hosts/3/allocation"),
        delete("/v1/leases/<lease-1>", "lessee"),
        WORK,
        get("/v1/leases/<lease-1>", "lessee"),
        put("/v1/os-hosts/3", {"rack": "r2"}),
        delete("/v1/os-hosts/3"),
        get("/v1/os-hosts"),
    ),
)

PROPERTIES = Story(
    name="properties",
    parts=(
        get("/v1/os-hosts/properties"),
        RACKS,
        get("/v1/os-hosts/properties"),
        get("/v1/os-hosts/properties?detail=True"),
        get("/v1/os-hosts/properties?detail=False"),
        get("/v1/os-hosts/properties?detail=1&detail=0&limit=1"),
        patch("/v1/os-hosts/properties/gpu", {"private": True}),
        get("/v1/os-hosts/properties?detail=True"),
        get("/v1/os-hosts/properties?detail=True&all=True"),
        get("/v1/os-hosts/properties?all=off"),
        get("/v1/os-hosts/3"),
        post(
            "/v1/leases", lease(1, 2, host_reservation(resource_properties='["!=", "$gpu", "x"]')), "lessee"
        ),
        post("/v1/leases", lease(1, 2, host_reservation(resource_properties='["!=", "$gpu", "x"]')), "admin"),
        seconds_pass(60),
        patch("/v1/os-hosts/properties/gpu", {"private": 0}),
        patch("/v1/os-hosts/properties/gpu", {}),
        patch("/v1/os-hosts/properties/gpu", {"property_name": "cpu", "resource_type": "x"}),
        patch("/v1/os-hosts/properties/gpu"),
        patch("/v1/os-hosts/properties/gpu", {"private": "yes"}),
        patch("/v1/os-hosts/properties/gpu", []),
        patch("/v1/os-hosts/properties/no_such_property", {"private": True}),
        patch("/v1/os-hosts/properties/vcpus", {"private": True}),
        put("/v1/os-hosts/3", {"gpu": None}),
        delete("/v1/leases/<lease-1>"),
        put("/v1/os-hosts/3", {"gpu": None}),
        get("/v1/os-hosts/properties?detail=True&all=True"),
        patch("/v1/os-hosts/properties/gpu", {"private": True}),
    ),
)

ALLOCATIONS = Story(
    name="allocations",
    parts=(
        get("/v1/os-hosts/allocations"),
        RACKS,
        flavors(FLAVOR),
        get("/v1/os-hosts/allocations"),
        post("/v1/leases", lease(0.5, 1, host_reservation(resource_properties=_RACK_1)), "lessee"),
        post("/v1/leases", lease(2, 3, host_reservation(min=2, max=2)), "lessee elsewhere"),
        post("/v1/leases", lease(3, 4, instances(amount=3, affinity=True)), "lessee"),
        post("/v1/leases", lease(3, 4, of_flavor(amount=2, affinity=False)), "lessee"),
        get("/v1/os-hosts/allocations"),
        get("/v1/os-hosts/allocations?lease_id=<lease-2>"),
        get("/v1/os-hosts/allocations?reservation_id=<reservation-3>"),
        get("/v1/os-hosts/allocations?lease_id=<lease-2>&reservation_id=<reservation-3>"),
        get("/v1/os-hosts/allocations?lease_id=&reservation_id="),
        get("/v1/os-hosts/allocations?lease_id=x"),
        get("/v1/os-hosts/allocations?lease_id=a%00b"),
        get("/v1/os-hosts/allocations?terminated=true&lease_id=<lease-1>&lease_id=<lease-2>"),
        get("/v1/os-hosts/3/allocation"),
        get("/v1/os-hosts/3/allocation?lease_id=<lease-1>"),
        get("/v1/os-hosts/3/allocation?reservation_id=<reservation-2>"),
        get("/v1/os-hosts/17000/allocation"),
        get("/v1/os-hosts/h1/allocation"),
        time_passes(1.5),
        get("/v1/os-hosts/allocations"),
        get("/v1/os-hosts/allocations?lease_id=<lease-1>"),
    ),
)

STORIES = (HOSTS, OCCUPIED_HOSTS, PROPERTIES, ALLOCATIONS)
