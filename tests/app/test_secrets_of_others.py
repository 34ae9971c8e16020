"""Every endpoint, asked by another project and by a project without roles: nothing about others appears."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import pytest
import sqlalchemy as sa
from app.conftest import EnvWith
from app.feeds import create_feed
from app.http_env import NEWER, STRANGER, HttpEnv, Json, Who, good, host_reservation
from app.maintaining import maintain
from app.offers import offer
from app.subscribing import URL, noticing_settings

from blazar.api.route import Route
from blazar.api.routes import ROUTES
from blazar.db.tables import metadata

PRIVATE, PRIVATE_VALUE = "vendor", "acme-internal"
UNKNOWN_ID = "00000000-0000-4000-8000-000000000000"
OWNER = Who(user="alice-4471", project="physics-2209")
UNENTITLED = Who(user="guest", project="guests", roles="")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")
OBJECT = re.compile("{(lease|offer|feed|subscription|maintenance)_id}")
REQUESTS = 400


@pytest.fixture
def shared_site(env_with: EnvWith) -> HttpEnv:
    """Return a site on which one project holds most hosts, by leases and by an offer.

    It also has a feed and a subscription, and operators plan maintenance.
    """
    env = env_with(noticing_settings())
    env.register("node-7c41", "node-9f02", **{PRIVATE: PRIVATE_VALUE, "rack": "r1"})
    env.register("node-3d88", "node-5e13", **{PRIVATE: "zenith-internal", "rack": "r2"})
    good(env.patch(f"/os-hosts/properties/{PRIVATE}", {"private": True}))
    for start, end, count in ((1, 400, 1), (50, 300, 2)):
        body = {**env.wish(start, end, min=count, max=count), "name": "launch-of-the-probe"}
        good(env.post("/leases", body, who=OWNER), 201)
    offer(env, 10, 45, who=OWNER)
    create_feed(env, who=OWNER)
    asked = {"kind": "webhook", "url": URL}
    good(env.post("/subscriptions", asked, who=OWNER, headers=NEWER), 201)
    maintain(env, "node-5e13", start_date=env.date(500), end_date=env.date(600))
    env.pass_time(2)
    return env


def secrets(env: HttpEnv) -> set[str]:
    """Return ids and names that only their project, or operators, may see."""
    assert OWNER.project is not None
    named = {OWNER.user, OWNER.project, "launch-of-the-probe", PRIVATE, PRIVATE_VALUE, "zenith-internal"}
    hosts = {"node-7c41", "node-9f02", "node-3d88", "node-5e13"}
    with env.engine.connect() as connection:
        values = [
            str(value)
            for table in metadata.sorted_tables
            for row in connection.execute(sa.select(table))
            for value in row
        ]
    ids = {found for value in values for found in _UUID.findall(value)}
    assert len(ids) > 10
    return named | hosts | ids


def path_ids(env: HttpEnv) -> dict[str, str]:
    """Return an id for each parameter of a path that names an object of a project or of operators."""
    tables = {
        name: metadata.tables[f"{name.removesuffix('_id')}s"]
        for name in ("lease_id", "offer_id", "feed_id", "subscription_id", "maintenance_id")
    }
    with env.engine.connect() as connection:
        return {name: str(connection.scalar(_ids_of_owner(each))) for name, each in tables.items()}


def _ids_of_owner(table: sa.Table) -> sa.Select[tuple[str]]:
    ids = sa.select(table.c.id)
    return ids.where(table.c.project_id == OWNER.project) if "project_id" in table.c else ids


def ask(env: HttpEnv, route: Route, path: str, who: Who, **more: Any) -> Any:
    return env.ask(route.method, path, who=who, below="", headers=NEWER, **more)


def body_for(route: Route, env: HttpEnv) -> Json:
    """Return a body that is valid as far as its own project is concerned."""
    if "{subscription_id}" in route.path:
        return {"enabled": False} if route.method == "PUT" else {}
    if route.method == "PUT":
        return {"name": "mine"}
    return env.wish(20, 60) if route.method == "POST" else {}


@pytest.mark.parametrize("who", [STRANGER, UNENTITLED], ids=lambda each: each.user)
@pytest.mark.parametrize(
    "route",
    [each for each in ROUTES if OBJECT.search(each.path)],
    ids=lambda each: f"{each.method} {each.path}",
)
def test_an_object_of_another_project_is_refused_without_a_word_about_it(
    shared_site: HttpEnv, route: Route, who: Who
) -> None:
    (name,) = re.findall(r"{(\w+)}", route.path)
    theirs = path_ids(shared_site)[name]
    body = {"json": body_for(route, shared_site)} if route.method in {"PUT", "POST"} else {}
    hidden, before = secrets(shared_site) - {theirs}, shared_site.snapshot()

    answers = [
        ask(shared_site, route, route.path.replace(f"{{{name}}}", each), who, **body)
        for each in (theirs, UNKNOWN_ID)
    ]

    assert {each.status_code for each in answers} <= {403, 404}
    assert [each for each in hidden if each in answers[0].text] == []
    texts = [each.text.replace(key, "ID") for each, key in zip(answers, (theirs, UNKNOWN_ID), strict=True)]
    if name != "lease_id":
        # API 1.0 has always told the lease of another project, 403, from an unknown one, 404.
        assert answers[0].status_code == answers[1].status_code
        assert texts[0] == texts[1]
    assert shared_site.snapshot() == before


@pytest.mark.parametrize("who", [STRANGER, UNENTITLED], ids=lambda each: each.user)
def test_random_requests_show_nothing_of_others(shared_site: HttpEnv, who: Who) -> None:
    hidden = secrets(shared_site)
    chance = random.Random(17)
    statuses: dict[str, set[int]] = {}

    for _ in range(REQUESTS):
        method, path, more = random_request(chance, shared_site)
        answer = shared_site.ask(method, path, who=who, headers=NEWER, **more)
        asked = path + json.dumps(more)
        shown = [each for each in hidden if each in answer.text and each not in asked]
        assert shown == [], (method, path, more, answer.text)
        statuses.setdefault(path.partition("?")[0], set()).add(answer.status_code)

    if who is STRANGER:
        assert all(found <= {200, 201, 409} for found in statuses.values()), statuses
        assert all(200 in found or 201 in found for found in statuses.values()), statuses
    else:
        assert all(found == {403} for found in statuses.values()), statuses


def test_changes_of_an_own_lease_show_nothing_of_others(shared_site: HttpEnv) -> None:
    own = shared_site.create(310, 320, who=STRANGER, asked=host_reservation(min=2, max=2))
    reservation = own["reservations"][0]["id"]
    known = {own["id"], reservation, *(each["id"] for each in own["events"])}
    hidden = secrets(shared_site) - known
    changes = [
        {"end_date": shared_site.date(900)},
        {"start_date": shared_site.date(60)},
        {"reservations": [{"id": reservation, "min": 4, "max": 4}]},
        {"reservations": [{"id": reservation, "release": ["1", "2", "3", "4"]}]},
        {"start_date": shared_site.date(60), "reservations": [{"id": reservation, "on_conflict": "drop"}]},
        {"start_date": shared_site.date(60), "reservations": [{"id": reservation, "on_conflict": "replace"}]},
    ]
    statuses = []

    for path in (f"/leases/{own['id']}?dry_run=true", f"/leases/{own['id']}"):
        for body in changes:
            answer = shared_site.put(path, body, who=STRANGER, headers=NEWER)
            assert [each for each in hidden if each in answer.text] == [], (body, answer.text)
            statuses.append(answer.status_code)
    for lease_id in (own["id"], path_ids(shared_site)["lease_id"]):
        answer = shared_site.post("/availability/search", {"lease_id": lease_id}, who=STRANGER, headers=NEWER)
        assert [each for each in hidden - {lease_id} if each in answer.text] == [], answer.text
        statuses.append(answer.status_code)

    assert statuses[-2:] == [200, 403]
    assert {200, 400, 409} <= set(statuses[:-2]), statuses


@pytest.mark.parametrize("name", [PRIVATE, "nothing"])
def test_a_private_property_answers_like_an_unknown_one(shared_site: HttpEnv, name: str) -> None:
    """Each question names the property; apart from its name, the answer is that for an unknown property."""

    def texts(asked: str) -> list[tuple[int, str]]:
        answers = [
            shared_site.ask(method, path.replace("NAME", asked), who=STRANGER, headers=NEWER, **more)
            for method, path, more in questions(shared_site, asked)
        ]
        return [(each.status_code, each.text.replace(asked, "NAME")) for each in answers]

    assert texts(name) == texts("unknown")


def questions(env: HttpEnv, name: str) -> list[tuple[str, str, Json]]:
    """Return requests that name a property wherever one can be named."""
    wish = env.wish(20, 60, resource_properties=f"{name}={PRIVATE_VALUE}")
    search = {
        "latest_end": env.date(600),
        "duration_minutes": 30,
        "reservations": wish["reservations"],
    }
    window = {"resource_type": "physical:host", "from": "now", "to": env.date(600)}
    return [
        ("POST", "/leases", {"json": wish}),
        ("POST", "/leases?dry_run=true", {"json": wish}),
        ("POST", "/offers", {"json": {key: wish[key] for key in wish if key != "name"}}),
        ("POST", "/availability/search", {"json": search}),
        *[
            ("GET", path, {"params": {**window, **asked}})
            for path in ("/availability", "/timeline")
            for asked in ({"group_by": name}, {"filter": f"{name}={PRIVATE_VALUE}"})
        ],
    ]


def random_request(chance: random.Random, env: HttpEnv) -> tuple[str, str, Json]:
    """Return a request about what is free, for a random time."""
    start = chance.randrange(3, 400)
    end = start + chance.randrange(1, 200)
    count = chance.randrange(1, 6)
    terms = chance.choice(["", "", "rack=r1", "rack!=r1", '["not", ["==", "$rack", "r2"]]', "rack"])
    asked = host_reservation(min=count, max=count, resource_properties=terms)
    wish = {**env.wish(start, end), "reservations": [asked] * chance.choice([1, 1, 2])}
    window = {"resource_type": "physical:host", "from": env.date(start), "to": env.date(end)}
    if terms:
        window["filter"] = terms
    grouped = {**window, "group_by": "rack"} if chance.random() < 0.5 else window
    search = {
        "earliest_start": env.date(start),
        "latest_end": env.date(end + 600),
        "duration_minutes": chance.randrange(1, 300),
        "order": chance.choice(["earliest", "latest", "most"]),
        "reservations": wish["reservations"],
    }
    return chance.choice(
        [
            ("POST", "/leases", {"json": wish}),
            ("POST", "/leases?dry_run=true", {"json": wish}),
            ("POST", "/offers", {"json": {key: wish[key] for key in wish if key != "name"}}),
            ("POST", "/availability/search", {"json": search}),
            ("GET", "/availability", {"params": grouped}),
            ("GET", "/timeline", {"params": grouped}),
            ("GET", "/timeline", {"params": {**window, "resources": "true"}}),
            ("GET", "/catalogue", {}),
            ("GET", "/leases", {}),
            ("GET", "/offers", {}),
        ]
    )
