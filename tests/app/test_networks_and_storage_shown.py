"""Networks and storage in calendars, in the documents for enforcement, and in notifications."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from app.http_env import LESSEE, NEWER, STRANGER, HttpEnv, Json, Who, good
from app.networks import PHYSICAL, Vlans
from app.storage import FAST, SLOW, Storage
from app.usage import Oracle, ask_service, serving


@dataclass(frozen=True, slots=True, kw_only=True)
class Reserved:
    """A service with two registered resources of a type, and a request for one of them."""

    env: HttpEnv
    request: Json
    shown: Json
    """The keys of the type in each answer that has the reservation."""
    held: Json
    """What a document for enforcement has about the resource that is held, except for its id."""
    ids: Mapping[str, str]
    """The ids of the resources by name."""
    name: str
    """The name of the resource that the request gets."""

    @property
    def resource_type(self) -> str:
        return str(self.request["resource_type"])

    def create(self, start: float = 10, end: float = 60) -> Json:
        return self.env.create(start, end, asked=self.request)


def networks(vlans: Vlans) -> Reserved:
    found = [*vlans.register(201, fabric="a"), *vlans.register(202, fabric="b")]
    properties = '["==", "$fabric", "b"]'
    return Reserved(
        env=vlans.env,
        request={
            "resource_type": "network",
            "network_name": "lab",
            "network_description": "of a course",
            "resource_properties": properties,
        },
        shown={
            "network_name": "lab",
            "network_description": "of a course",
            "amount": 1,
            "network_properties": None,
            "resource_properties": properties,
        },
        held={
            "name": "vlan:physnet1:202",
            "network_type": "vlan",
            "physical_network": PHYSICAL,
            "segment_id": 202,
            "fabric": "b",
        },
        ids={each["name"]: each["id"] for each in found},
        name="vlan:physnet1:202",
    )


SLOW_ONLY = '["==", "$media", "disk"]'


def parts(storage: Storage) -> Reserved:
    found = storage.register(FAST, SLOW)
    return Reserved(
        env=storage.env,
        request={
            "resource_type": "virtual:volume",
            "gibibytes": 20,
            "amount": 2,
            "resource_properties": SLOW_ONLY,
        },
        shown={"gibibytes": 20, "amount": 2, "resource_properties": SLOW_ONLY, "end_action": "delete"},
        held={"name": SLOW, "gibibytes": 100, "media": "disk"},
        ids={each["name"]: each["id"] for each in found},
        name=SLOW,
    )


def whole_pools(storage: Storage) -> Reserved:
    found = storage.register(FAST, SLOW)
    return Reserved(
        env=storage.env,
        request={"resource_type": "physical:storage", "min": 1, "max": 1, "resource_properties": SLOW_ONLY},
        shown={"min": 1, "max": 1, "resource_properties": SLOW_ONLY, "end_action": "delete"},
        held={"name": SLOW, "gibibytes": 100, "media": "disk"},
        ids={each["name"]: each["id"] for each in found},
        name=SLOW,
    )


MAKERS: Mapping[str, tuple[str, Callable[[Any], Reserved]]] = {
    "network": ("vlans", networks),
    "virtual:volume": ("storage", parts),
    "physical:storage": ("storage", whole_pools),
}


@pytest.fixture(params=MAKERS)
def reserved(request: pytest.FixtureRequest) -> Reserved:
    fixture, make = MAKERS[request.param]
    return make(request.getfixturevalue(fixture))


def timeline(reserved: Reserved, who: Who = LESSEE, **keys: str) -> Json:
    env = reserved.env
    query = {"resource_type": reserved.resource_type, "from": "now", "to": env.date(120), **keys}
    found: Json = good(env.get("/timeline", params=query, who=who, headers=NEWER))
    return found


def states(reserved: Reserved, who: Who) -> list[tuple[str, Mapping[str, int]]]:
    """Return the start of each interval, and the numbers of resources in each state except for 0."""
    (group,) = timeline(reserved, who)["groups"]
    assert group["total"] == 2
    return [
        (each["start_date"], {key: value for key, value in each.items() if value and "_date" not in key})
        for each in group["intervals"]
    ]


def test_the_calendar_has_the_reservation_for_its_owner_and_as_taken_for_others(reserved: Reserved) -> None:
    env = reserved.env
    reserved.create()

    for who, state in ((LESSEE, "mine"), (STRANGER, "taken")):
        assert states(reserved, who) == [
            (env.date(0), {"free": 2}),
            (env.date(10), {"free": 1, state: 1}),
            (env.date(60), {"free": 2}),
        ]
    found = timeline(reserved, STRANGER, resources="true")
    assert sorted(each["intervals"] for each in found["resources"]) == [
        [],
        [{"start_date": env.date(10), "end_date": env.date(60), "state": "taken"}],
    ]
    assert [each for each in (*reserved.ids, *reserved.ids.values()) if f'"{each}"' in str(found)] == []


def test_a_document_for_enforcement_has_what_is_asked_for_and_what_would_be_held(reserved: Reserved) -> None:
    oracle = Oracle()
    with serving(oracle) as url:
        ask_service(reserved.env, url)
        lease = reserved.create()
        reserved.env.work()

        check, commit = oracle.asked

    for document in (check, commit):
        (reservation,) = document.body["lease"]["reservations"]
        assert reservation["id"] == lease["reservations"][0]["id"]
        assert reservation["resource_type"] == reserved.resource_type
        assert {key: reservation.get(key) for key in reserved.shown} == reserved.shown
        held = reservation["allocations"]
        assert [each["id"] for each in held] == [reserved.ids[reserved.name]] * reserved.shown.get(
            "amount", 1
        )
    (held, *_) = check.body["lease"]["reservations"][0]["allocations"]
    assert {key: held.get(key) for key in reserved.held} == reserved.held


def test_notifications_have_the_reservation_as_the_api_shows_it(reserved: Reserved) -> None:
    env = reserved.env
    lease = reserved.create()
    env.pass_time(11)
    started = env.lease(lease["id"])
    env.pass_time(61)
    ended = env.lease(lease["id"])

    told: Mapping[str, Json] = {
        kind: dict(payload) for kind, payload in zip(env.sent.event_types, env.sent.payloads, strict=True)
    }
    for event_type, shown in (
        ("lease.create", lease),
        ("lease.event.start_lease", started),
        ("lease.event.end_lease", ended),
    ):
        assert told[event_type]["reservations"] == shown["reservations"], event_type
        (reservation,) = told[event_type]["reservations"]
        assert reservation["resource_type"] == reserved.resource_type
        assert {key: reservation[key] for key in reserved.shown} == reserved.shown
