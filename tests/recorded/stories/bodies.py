"""Bodies that are not JSON objects, and values that no key accepts."""

from __future__ import annotations

import json
from collections.abc import Iterator

from app.http_env import host_reservation
from app.prepared_env import ODD
from recorded.steps import RACKS
from recorded.story import Request, Story, change, delete, get, lease, post, put, without

_DEEP = json.loads("[" * 40 + "]" * 40)


def _asked(**keys: object) -> Request:
    """Return a request for a lease with other keys, from four to five o'clock."""
    return post("/v1/leases", lease(4, 5) | keys, "lessee")


def _hosts(**keys: object) -> Request:
    """Return a request for a lease with other keys of its reservation."""
    return post("/v1/leases", lease(4, 5, host_reservation(**keys)), "lessee")


def _properties(*expressions: str) -> Iterator[Request]:
    for each in expressions:
        yield _hosts(resource_properties=each)


BODIES = Story(
    name="bodies",
    parts=(
        RACKS,
        post("/v1/leases", b'{"name": "x"'),
        post("/v1/leases", b"{'name': 'x'}"),
        post("/v1/leases", b'{"name": "\xff"}'),
        post("/v1/leases", b"[" * 100_000),
        post("/v1/leases", b""),
        post("/v1/leases", b"null"),
        post("/v1/leases", []),
        post("/v1/leases", {"name": "x" * 2**20}),
        post("/v1/leases", {"name": "x"}, Content_Type="text/plain"),
        post("/v1/leases", {"name": "x"}, Content_Type="application/x-www-form-urlencoded"),
        post("/v1/leases", {"name": "x"}, Content_Type="application/vnd.blazar+json"),
        post("/v1/leases", lease(4, 5), "lessee", Content_Type="Application/JSON; charset=utf-8"),
        post("/v1/leases", lease(4, 5), "lessee", Accept="text/xml"),
        post("/v1/leases", {"lease": lease(4, 5)}),
        post("/v1/leases", {"name": "x", "deep": _DEEP}),
        post("/v1/leases", {"name": "x", "more": {"text": "a\x00b"}}),
        post("/v1/leases", {"name": "x", "more": [1, 2, 10**30]}),
        post("/v1/leases", {"name": "x", "\ud800": 1}),
        get("/v1/leases", Content_Type="text/plain"),
        put("/v1/leases/<lease-1>", b"{", "lessee"),
        put("/v1/leases/<lease-1>", {"name": "x"}, "lessee", Content_Type="text/plain"),
        put("/v1/leases/<lease-1>", b"", "lessee"),
        put("/v1/leases/<lease-1>", None, "lessee"),
        put("/v1/leases/<lease-1>", {}, "lessee"),
        put("/v1/leases/<lease-1>", [], "lessee"),
        put("/v1/leases/x", b"{", "lessee"),
        post("/v1/os-hosts", b"{"),
        put("/v1/os-hosts/x", b"{"),
        Request(method="PATCH", path="/v1/os-hosts/properties/rack", body=b"{"),
        post("/v1/floatingips", b"{"),
    ),
)

LEASE_KEYS = Story(
    name="lease_keys",
    parts=(
        RACKS,
        *(post("/v1/leases", without(lease(4, 5), key)) for key in ("name", "start_date", "end_date")),
        post("/v1/leases", {}),
        _asked(name=None),
        _asked(name="x" * 81),
        _asked(name="", reservations=[]),
        _asked(name=2031.5, reservations=[]),
        _asked(name="😀" * 80, reservations=[]),
        _asked(start_date=None),
        _asked(start_date="bogus"),
        _asked(start_date="2031-02-30 00:00"),
        _asked(start_date="2031-01-01T04:00"),
        _asked(start_date="NOW"),
        _asked(start_date="2030-12-31 23:58"),
        _asked(start_date="2031-1-1 4:00", reservations=[]),
        _asked(end_date=None),
        _asked(end_date="2031-01-01 04:00"),
        _asked(start_date="now", end_date="now"),
        _asked(end_date="10000-01-01 00:00"),
        _asked(before_end_date="2031-01-01 04:00"),
        _asked(before_end_date="2031-01-01 05:00"),
        _asked(before_end_date="now"),
        _asked(before_end_date=7),
        _asked(before_end_date="2031-01-01 04:30", reservations=[]),
        _asked(before_end_date="", reservations={}, events=[]),
        _asked(reservations=None),
        _asked(reservations="x"),
        _asked(reservations=[7]),
        _asked(reservations=[{}]),
        _asked(reservations=[{"resource_type": None}]),
        _asked(reservations=[{"resource_type": "virtual:instances"}]),
        _asked(events=None, reservations=[]),
        _asked(events="x"),
        _asked(events=[{"event_type": "end_lease", "event_date": "2031-01-01 04:01"}], reservations=[]),
        _asked(id="7", project_id="elsewhere", status="ACTIVE", degraded=True, reservations=[]),
        put("/v1/leases/<lease-1>", {"name": None}, "lessee"),
        put("/v1/leases/<lease-1>", {"name": "x" * 81}, "lessee"),
        put("/v1/leases/<lease-1>", {"end_date": "bogus"}, "lessee"),
        put("/v1/leases/<lease-1>", {"reservations": [{"min": 1}]}, "lessee"),
        put("/v1/leases/<lease-1>", {"reservations": [{"id": "x", "min": 1}]}, "lessee"),
        put("/v1/leases/<lease-1>", {"before_end_date": "2031-01-01 06:00"}, "lessee"),
        get("/v1/leases", "lessee"),
    ),
)

HOST_RESERVATION_KEYS = Story(
    name="host_reservation_keys",
    parts=(
        RACKS,
        *(
            post("/v1/leases", lease(4, 5, without(host_reservation(), key)), "lessee")
            for key in ("min", "max", "hypervisor_properties", "resource_properties")
        ),
        post("/v1/leases", lease(4, 5, {"resource_type": "physical:host"}), "lessee"),
        post("/v1/leases", lease(4, 5, without(host_reservation(min="1"), "max")), "lessee"),
        _hosts(min="x", max="y"),
        _hosts(min=0),
        _hosts(min=True),
        _hosts(min=1.5),
        _hosts(min=None),
        _hosts(min=2, max=1),
        _hosts(max=2**31),
        _hosts(min="1", max="2", before_end="snapshot", no_such_key=7),
        _hosts(before_end="reboot"),
        _hosts(before_end=None),
        _hosts(hypervisor_properties=None, resource_properties=None, before_end=""),
        _hosts(hypervisor_properties=["==", "$rack", "r1"]),
        _hosts(resource_properties=ODD["long-text"]),
        _hosts(min=99, max=99, resource_properties='["==", "$rack", "r1"]'),
        *_properties("x", "null", "{}", '["and"]', '["or", 1]', "['==', '$rack', 'r1']"),
        *_properties('["==", "rack", "r1"]', '["==", "$rack", 1]', '["==", "$no_such_key", "x"]'),
        *_properties("[" * 500 + "]" * 500),
        get("/v1/leases", "lessee"),
    ),
)

_EXPRESSIONS = (
    "[]",
    '["==", "$rack", "r1"]',
    '["=", "$rack", "r2"]',
    '["!=", "$gpu", "none"]',
    '["and", ["==", "$rack", "r2"], [">", "$slots", "7"]]',
    '["and", ["and", ["==", "$rack", "r1"], [">=", "$vcpus", "1"]], ["<", "$memory_mb", "99999999"]]',
    '["==", "$hypervisor_hostname", "h4"]',
    '["==", "$rack", "r3"]',
)

EXPRESSIONS = Story(
    name="expressions",
    parts=(
        RACKS,
        # All hosts are free for each of them.
        *(
            post(
                "/v1/leases", lease(4 + hour, 5 + hour, host_reservation(resource_properties=each)), "lessee"
            )
            for hour, each in enumerate(_EXPRESSIONS)
        ),
        get("/v1/os-hosts/allocations"),
        put("/v1/leases/<lease-2>", change(2, resource_properties='["==", "$rack", "r2"]'), "lessee"),
        put("/v1/leases/<lease-1>", change(1, hypervisor_properties='["<=", "$vcpus", "0"]'), "lessee"),
        put("/v1/leases/<lease-1>", change(1, hypervisor_properties='["==", "$nothing", "0"]'), "lessee"),
        post(
            "/v1/leases",
            lease(
                4,
                5,
                host_reservation(
                    hypervisor_properties='["==", "$rack", "r2"]', resource_properties='["!=", "$slots", "8"]'
                ),
            ),
            "lessee",
        ),
        delete("/v1/leases/<lease-3>", "lessee"),
        get("/v1/os-hosts/allocations"),
    ),
)

STORIES = (BODIES, LEASE_KEYS, HOST_RESERVATION_KEYS, EXPRESSIONS)
