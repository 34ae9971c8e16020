"""Floating IPs and their leases, and leases of several resource types."""

from __future__ import annotations

from app.floatingips import GATEWAY, UNKNOWN, address
from app.http_env import Json, host_reservation
from app.slots import instances
from recorded.steps import MENDED, NETWORKS, RACKS, WORK, addresses, failing, time_passes
from recorded.story import Request, Story, change, date, delete, get, lease, post, put, without


def _registration(**keys: object) -> Json:
    return {"floating_network_id": "<network-1>", "floating_ip_address": address(1), **keys}


def _addresses(amount: object = 1, *required: object, **keys: object) -> Json:
    found: Json = {"resource_type": "virtual:floatingip", "network_id": "<network-1>", "amount": amount}
    return {**found, **({"required_floatingips": list(required)} if required else {}), **keys}


def _asked(amount: object = 1, *required: object, **keys: object) -> Request:
    return post("/v1/leases", lease(4, 5, _addresses(amount, *required, **keys)), "lessee")


FLOATINGIPS = Story(
    name="floatingips",
    parts=(
        get("/v1/floatingips", "lessee"),
        NETWORKS,
        post("/v1/floatingips", {}),
        post("/v1/floatingips", without(_registration(), "floating_ip_address")),
        post("/v1/floatingips", _registration(floating_network_id=UNKNOWN)),
        post("/v1/floatingips", _registration(floating_network_id="<network-2>")),
        post("/v1/floatingips", _registration(floating_ip_address=None)),
        post("/v1/floatingips", _registration(floating_ip_address="203.0.113.999")),
        post("/v1/floatingips", _registration(floating_ip_address="198.51.100.1")),
        post("/v1/floatingips", _registration(floating_ip_address="203.0.113.50")),
        post("/v1/floatingips", _registration(floating_ip_address=GATEWAY)),
        post("/v1/floatingips", _registration(floating_ip_address="x" * 300)),
        post("/v1/floatingips", [_registration()]),
        post("/v1/floatingips", _registration(reservable=False, id="x", other=7)),
        post("/v1/floatingips", _registration()),
        post("/v1/floatingips", _registration(floating_ip_address=address(2))),
        failing("networks.*"),
        post("/v1/floatingips", _registration(floating_ip_address=address(3))),
        MENDED,
        get("/v1/floatingips", "reader"),
        get("/v1/floatingips/<floatingip-1>", "lessee"),
        get("/v1/floatingips/203.0.113.201", "lessee"),
        put("/v1/floatingips/<floatingip-1>", {"reservable": False}),
        post("/v1/leases", lease("now", 1, _addresses(1, address(1))), "lessee"),
        WORK,
        get("/v1/floatingips", "lessee"),
        delete("/v1/floatingips/<floatingip-1>"),
        time_passes(1),
        delete("/v1/floatingips/<floatingip-1>"),
        get("/v1/floatingips/<floatingip-1>"),
        delete("/v1/floatingips/<floatingip-1>"),
        delete("/v1/leases/<lease-1>", "lessee"),
        delete("/v1/floatingips/<floatingip-1>"),
        get("/v1/floatingips"),
    ),
)

FLOATINGIP_LEASES = Story(
    name="floatingip_leases",
    parts=(
        NETWORKS,
        addresses(1, 2, 3),
        post("/v1/leases", lease(4, 5, without(_addresses(), "network_id")), "lessee"),
        post("/v1/leases", lease(4, 5, without(_addresses(), "amount")), "lessee"),
        _asked(network_id=UNKNOWN),
        _asked(network_id="<network-2>"),
        _asked(network_id=7),
        _asked(-1),
        _asked(1, "x"),
        _asked(1, address(1), address(2)),
        _asked(1, address(9)),
        _asked(1, required_floatingips=address(1)),
        _asked(4),
        _asked(0),
        _asked("2", address(2), min="", required=None),
        _asked(2),
        _asked(1, address(2)),
        post(
            "/v1/leases",
            lease("now", 2, _addresses(1, address(1), required_floatingips=[address(1)])),
            "lessee",
        ),
        WORK,
        get("/v1/leases/<lease-3>", "lessee"),
        put("/v1/leases/<lease-3>", {"end_date": date(3)}, "lessee"),
        put("/v1/leases/<lease-3>", {"end_date": date(4.5)}, "lessee"),
        put("/v1/leases/<lease-3>", change(3, amount=2), "lessee"),
        WORK,
        put("/v1/leases/<lease-3>", change(3, amount=0), "lessee"),
        put("/v1/leases/<lease-3>", change(3, amount=1), "lessee"),
        put("/v1/leases/<lease-3>", change(3, amount="x"), "lessee"),
        put("/v1/leases/<lease-3>", change(3, network_id="<network-2>"), "lessee"),
        put("/v1/leases/<lease-3>", change(3, network_id="<network-1>", required_floatingips=[]), "lessee"),
        put("/v1/leases/<lease-3>", change(3, required_floatingips=[address(2)]), "lessee"),
        put("/v1/leases/<lease-2>", change(2, amount=3), "lessee"),
        put("/v1/leases/<lease-2>", change(2, amount=4), "lessee"),
        put("/v1/leases/<lease-2>", change(2, amount=1), "lessee"),
        time_passes(3),
        get("/v1/leases", "lessee"),
    ),
)

MIXED = Story(
    name="mixed_leases",
    parts=(
        RACKS,
        NETWORKS,
        addresses(1, 2),
        post(
            "/v1/leases",
            lease("now", 2, _addresses(2), host_reservation(), instances(amount=1, affinity=True)),
            "lessee",
        ),
        post("/v1/leases", lease("now", 2, host_reservation(), _addresses(1)), "lessee"),
        post("/v1/leases", lease("now", 2, host_reservation(), host_reservation(min=0)), "lessee"),
        get("/v1/leases", "lessee"),
        WORK,
        get("/v1/leases/<lease-1>", "lessee"),
        put(
            "/v1/leases/<lease-1>",
            {
                "end_date": date(3),
                "reservations": [
                    {"id": "<reservation-3>", "amount": 2},
                    {"id": "<reservation-2>", "min": 1, "max": 2},
                ],
            },
            "lessee",
        ),
        put(
            "/v1/leases/<lease-1>",
            {
                "name": "not renamed",
                "reservations": [
                    {"id": "<reservation-3>", "amount": 3},
                    {"id": "<reservation-1>", "amount": 3},
                ],
            },
            "lessee",
        ),
        WORK,
        get("/v1/leases/<lease-1>", "lessee"),
        get("/v1/os-hosts/allocations"),
        failing("networks.delete_floating_ip"),
        delete("/v1/leases/<lease-1>", "lessee"),
        WORK,
        get("/v1/leases/<lease-1>", "lessee"),
        MENDED,
        time_passes(0.5),
        get("/v1/leases", "lessee"),
    ),
)

STORIES = (FLOATINGIPS, FLOATINGIP_LEASES, MIXED)
