"""Network segments and their leases."""

from __future__ import annotations

from app.http_env import PLUGINS, Json
from recorded.steps import PHYSICAL_NETWORK, WORK, failing, time_passes
from recorded.story import Request, Story, change, delete, get, lease, patch, post, put, without


def _vlan(segment_id: object = 201, **keys: object) -> Json:
    return {"network_type": "vlan", "physical_network": "physnet1", "segment_id": segment_id, **keys}


def _networks(**keys: object) -> Json:
    return {"resource_type": "network", "network_name": "lab", **keys}


def _asked(**keys: object) -> Request:
    return post("/v1/leases", lease(4, 5, _networks(**keys)), "lessee")


NETWORKS = Story(
    name="networks",
    plugins=(*PLUGINS, "network.plugin"),
    parts=(
        get("/v1/networks", "lessee"),
        get("/v1/networks"),
        PHYSICAL_NETWORK,
        post("/v1/networks", {}),
        post("/v1/networks", without(_vlan(), "physical_network")),
        post("/v1/networks", without(_vlan(), "segment_id")),
        post("/v1/networks", _vlan(network_type="gre")),
        post("/v1/networks", _vlan(4095)),
        post("/v1/networks", _vlan("many")),
        post("/v1/networks", _vlan(105)),
        post("/v1/networks", _vlan(physical_network="elsewhere")),
        post("/v1/networks", {"network_type": "vxlan", "segment_id": 2**24}),
        post("/v1/networks", _vlan(fabric="a", stitch_provider="one"), "lessee"),
        post("/v1/networks", _vlan(fabric="a", stitch_provider="one")),
        post("/v1/networks", _vlan()),
        post("/v1/networks", _vlan("202-203", fabric="b")),
        post("/v1/networks", {"network_type": "vxlan", "segment_id": 5000, "physical_network": None}),
        post("/v1/networks", {"network_type": "flat", "physical_network": "physnet1"}),
        failing("segments.*"),
        post("/v1/networks", _vlan(240)),
        delete("/v1/networks/<network-5>"),
        get("/v1/networks"),
        get("/v1/networks/<network-1>"),
        get("/v1/networks/201"),
        get("/v1/networks/<network-1>", "lessee"),
        put("/v1/networks/<network-1>", {"fabric": "c", "row": 7, "stitch_provider": None}),
        put("/v1/networks/<network-1>", {"segment_id": 202}),
        put("/v1/networks/<network-1>", {"row": 8}, "lessee"),
        get("/v1/networks/properties"),
        get("/v1/networks/properties?detail=true"),
        get("/v1/networks/properties", "lessee"),
        patch("/v1/networks/properties/row", {"private": True}),
        patch("/v1/networks/properties/none", {"private": True}),
        get("/v1/networks/properties?detail=true&all=true"),
        get("/v1/networks/allocations"),
        get("/v1/networks/<network-1>/allocation"),
        get("/v1/networks/unknown/allocation"),
    ),
)

NETWORK_LEASES = Story(
    name="network_leases",
    plugins=(*PLUGINS, "network.plugin"),
    parts=(
        PHYSICAL_NETWORK,
        post("/v1/networks", _vlan(201, fabric="a")),
        post("/v1/networks", _vlan(202)),
        post("/v1/leases", lease(4, 5, without(_networks(), "network_name")), "lessee"),
        _asked(network_name=7),
        _asked(network_description="x" * 300),
        _asked(amount=0),
        _asked(before_end="party"),
        _asked(network_properties="("),
        _asked(resource_properties='["==", "$unknown", "1"]'),
        _asked(amount=3),
        _asked(
            network_description="of a course",
            network_properties='["==", "$physical_network", "physnet1"]',
            resource_properties='["==", "$fabric", "a"]',
            before_end="",
        ),
        _asked(resource_properties='["==", "$fabric", "a"]'),
        get("/v1/networks/allocations"),
        get("/v1/networks/allocations?lease_id=<lease-1>"),
        post("/v1/leases", lease("now", 2, _networks(amount=2)), "lessee"),
        WORK,
        get("/v1/leases/<lease-2>", "lessee"),
        put("/v1/leases/<lease-2>", change(2, network_name="other"), "lessee"),
        put("/v1/leases/<lease-2>", change(2, amount=1), "lessee"),
        put("/v1/leases/<lease-1>", change(1, network_name="other", amount="2"), "lessee"),
        put("/v1/leases/<lease-1>", change(1, resource_properties=""), "lessee"),
        delete("/v1/networks/<network-1>"),
        time_passes(3),
        get("/v1/leases", "lessee"),
    ),
)

STORIES = (NETWORKS, NETWORK_LEASES)
