"""Pools that cannot be reserved as a whole are neither listed nor counted as storage nodes."""

from __future__ import annotations

from app.http_env import LESSEE, NEWER, good, refusal
from app.storage import FAST, SLOW, Storage


def register(storage: Storage) -> None:
    storage.register(FAST, sole_use=True, media="ssd")
    storage.register(SLOW, sole_use=False, media="disk")


def test_the_catalogue(storage: Storage) -> None:
    register(storage)
    env = storage.env

    found = good(env.get("/catalogue", who=LESSEE, headers=NEWER))["catalogue"]

    amounts = {each["resource_type"]: each["reservable"] for each in found["resource_types"]}
    assert (amounts["physical:storage"], amounts["virtual:volume"]) == (1, 2)
    media = [each for each in found["properties"] if each["property"] == "media"]
    values = {
        name: {one["value"]: one["reservable"] for one in each["values"]}
        for each in media
        for name in each["resource_types"]
    }
    assert values == {
        "physical:storage": {"ssd": 1},
        "virtual:volume": {"ssd": 1, "disk": 1},
    }


def test_free_amounts_timeline_and_search_agree_with_it(storage: Storage) -> None:
    register(storage)
    env = storage.env
    query = {"resource_type": "physical:storage", "from": env.date(0), "to": env.date(60)}

    free = good(env.get("/availability", params=query, who=LESSEE, headers=NEWER))
    times = good(env.get("/timeline", params=query, who=LESSEE, headers=NEWER))
    by_resource = {**query, "resources": "true"}
    rows = good(env.get("/timeline", params=by_resource, who=LESSEE, headers=NEWER))

    assert [each["total"] for each in free["groups"]] == [1]
    assert [each["free"] for each in free["groups"][0]["steps"]] == [1]
    assert [each["total"] for each in times["groups"]] == [1]
    assert [each["free"] for each in times["groups"][0]["intervals"]] == [1]
    assert len(rows["resources"]) == 1
    grouped = {**query, "group_by": "media"}
    free = good(env.get("/availability", params=grouped, who=LESSEE, headers=NEWER))
    assert [each["value"] for each in free["groups"]] == ["ssd"]
    wish = env.wish(0, 60, asked={"resource_type": "physical:storage", "min": 2, "max": 2})
    text = refusal(env.post("/leases", wish, who=LESSEE, headers=NEWER), 409)
    assert "2 asked for (min), 1 fit" in text
