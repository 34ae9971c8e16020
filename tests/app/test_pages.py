"""Lists in pages, as clients of API 1.1 read them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from app.floatingips import Pool
from app.http_env import ADMIN, LESSEE, NEWER, STRANGER, HttpEnv, Json, Who, good, refusal

from blazar.db.leases import SqlLeases
from blazar.domain.lease import Lease


def ask(env: HttpEnv, path: str, who: Who = LESSEE, **query: object) -> Any:
    return env.get(path, who=who, headers=NEWER, params=query)


def ids(env: HttpEnv, who: Who = LESSEE, **query: object) -> list[str]:
    return [each["id"] for each in good(ask(env, "/leases", who, **query))["leases"]]


def without_additions(value: Any) -> Any:
    """Return a JSON value without the keys that 1.1 adds to leases, reservations and resources."""
    if isinstance(value, list):
        return [without_additions(each) for each in value]
    if not isinstance(value, dict):
        return value
    added = ("status_reason", "retry_at", "held", "at_end", "same", "spread", "health_reason")
    return {key: without_additions(each) for key, each in value.items() if key not in added}


def walk(env: HttpEnv, path: str, key: str, who: Who, **query: object) -> list[Json]:
    """Return the items of all pages, following the links."""
    found: list[Json] = []
    while True:
        answer = good(ask(env, path, who, **query))
        assert answer.keys() <= {key, f"{key}_links"}
        found += answer[key]
        if f"{key}_links" not in answer:
            return found
        [link] = answer[f"{key}_links"]
        assert link["rel"] == "next"
        url = urlsplit(link["href"])
        assert url.scheme == "http"
        assert url.path == f"/v1{path}"
        query = dict(parse_qsl(url.query))


@pytest.fixture
def leases(env: HttpEnv, hosts: list[str]) -> list[Json]:
    """Return three leases of the lessee; another project has one, on the same days as the first."""
    assert len(hosts) == 4
    mine = [env.create(10 * number, 10 * number + 5, max=2) for number in (3, 1, 2)]
    env.create(10, 15, who=STRANGER)
    return mine


def test_links_lead_through_all_pages_with_the_same_order_and_filters(
    env: HttpEnv, leases: list[Json]
) -> None:
    by_start = [leases[number]["id"] for number in (1, 2, 0)]

    for limit in (1, 2, 3, 4):
        found = walk(env, "/leases", "leases", LESSEE, limit=limit, sort="start_date", name="night")
        assert [each["id"] for each in found] == by_start
        found = walk(env, "/leases", "leases", LESSEE, limit=limit, sort="name:asc,start_date:desc")
        assert [each["id"] for each in found] == by_start[::-1]
    assert len(walk(env, "/leases", "leases", ADMIN, limit=1)) == 4


def test_only_leases_that_changed_since_the_last_page_are_read(
    env: HttpEnv, leases: list[Json], monkeypatch: pytest.MonkeyPatch
) -> None:
    # They were created at the same instant, so their order depends on their ids.
    before = {each["id"]: each for each in good(ask(env, "/leases", limit=3))["leases"]}
    read: list[str] = []
    get_many = SqlLeases.get_many

    def noted(store: SqlLeases, lease_ids: Collection[str]) -> tuple[Lease, ...]:
        read.extend(lease_ids)
        return get_many(store, lease_ids)

    monkeypatch.setattr(SqlLeases, "get_many", noted)
    env.change(leases[1], name="day")
    after = {each["id"]: each for each in good(ask(env, "/leases", limit=3))["leases"]}

    assert read == [leases[1]["id"]]
    changed = leases[1]["id"]
    assert after[changed]["name"] == "day"
    assert {**after, changed: None} == {**before, changed: None}


def test_without_parameters_a_list_is_that_of_1_0(env: HttpEnv, leases: list[Json], pool: Pool) -> None:
    pool.register(1, 2)

    for path in ("/leases", "/os-hosts", "/os-hosts/allocations", "/floatingips"):
        older, newer = good(env.get(path)), good(ask(env, path, ADMIN))
        assert without_additions(newer) == older
    assert len(ids(env)) == len(leases)


def test_a_lessee_sees_nothing_of_other_projects(env: HttpEnv, leases: list[Json]) -> None:
    [theirs] = ids(env, STRANGER)
    lease_ids = {each["id"] for each in leases}

    assert set(ids(env)) == set(ids(env, project_id="project")) == lease_ids
    assert set(ids(env, ADMIN)) == {*lease_ids, theirs}
    assert ids(env, ADMIN, project_id="elsewhere") == [theirs]
    assert ids(env, ADMIN, project_id="none") == []
    refused = refusal(ask(env, "/leases", project_id="elsewhere"), 403)
    assert refused == "project_id: only operators may list the leases of other projects"
    unknown = [refusal(ask(env, "/leases", marker=each), 400) for each in (theirs, "nowhere")]
    assert unknown[0].replace(theirs, "…") == unknown[1].replace("nowhere", "…")


def test_leases_are_filtered_by_user_within_what_the_caller_may_list(
    env: HttpEnv, leases: list[Json]
) -> None:
    colleague = replace(LESSEE, user="colleague")
    theirs = env.create(10, 15, who=colleague)["id"]
    [elsewhere] = ids(env, STRANGER)
    mine = {each["id"] for each in leases}

    assert ids(env, user_id="colleague") == ids(env, ADMIN, user_id="colleague") == [theirs]
    assert set(ids(env, colleague, user_id="user")) == mine
    assert ids(env, user_id="stranger") == ids(env, user_id="unknown") == []
    assert ids(env, ADMIN, user_id="stranger") == [elsewhere]
    assert ids(env, ADMIN, user_id="stranger", project_id="project") == []
    assert len(good(env.get("/leases", who=LESSEE, params={"user_id": "colleague"}))["leases"]) == 4


def test_leases_are_filtered(env: HttpEnv, leases: list[Json]) -> None:
    first, second, third = (leases[number]["id"] for number in (1, 2, 0))
    env.change(leases[0], name="day")
    env.pass_time(11)

    assert ids(env, status="ACTIVE") == [first]
    assert ids(env, status="ACTIVE,PENDING", sort="end_date") == [first, second, third]
    assert ids(env, name="day") == [third]
    assert ids(env, starts_after=env.date(20), starts_before=env.date(30)) == [second]
    assert ids(env, ends_before=env.date(25)) == [first]
    assert ids(env, ends_after=env.date(25), name="night") == [second]
    assert ids(env, starts_after="now", sort="start_date") == [second, third]
    assert len(ids(env, resource_type="physical:host")) == 3
    assert ids(env, resource_type="virtual:instance") == []


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ({"limit": "0"}, "limit: "),
        ({"limit": "1001"}, "limit: must be a whole number from 1 to 1000"),
        ({"limit": "-1"}, "limit: "),
        ({"limit": ""}, "limit: "),
        ({"limit": "1" * 5000}, "limit: "),
        ({"limit": "٣"}, "limit: "),
        ({"marker": ""}, "marker: "),
        ({"marker": "x" * 500}, "marker: "),
        ({"sort": "colour"}, "sort: must be keys of created_at, "),
        ({"sort": "name:up"}, "sort: "),
        ({"sort": "name,name:desc"}, "sort: names name twice"),
        ({"sort": ""}, "sort: "),
        ({"status": "active"}, "status: must be one of CREATING, "),
        (
            {"starts_after": "tomorrow"},
            "tomorrow is an invalid date. Required format: %Y-%m-%d %H:%M ",
        ),
        ({"ends_before": "2031-04-05"}, "2031-04-05 is an invalid date. "),
        ({"colour": "red", "limit": "1", "size": "2"}, "Unknown query parameter: colour, size; known are "),
        ({"lease_id": "x"}, "Unknown query parameter: lease_id; "),
    ],
)
@pytest.mark.usefixtures("leases")
def test_a_wrong_parameter_is_named_and_ignored_at_1_0(
    env: HttpEnv, query: dict[str, str], named: str
) -> None:
    assert refusal(ask(env, "/leases", LESSEE, **query), 400).startswith(named)

    assert len(good(env.get("/leases", who=LESSEE, params=query))["leases"]) == 3


def test_the_operator_sets_the_size_of_the_largest_page(env: HttpEnv, leases: list[Json]) -> None:
    env.settings = replace(env.settings, api=replace(env.settings.api, max_limit=2))
    env.restart(env.context)

    assert len(ids(env)) == 2
    assert refusal(ask(env, "/leases", limit=3), 400) == "limit: must be a whole number from 1 to 2"
    assert len(walk(env, "/leases", "leases", LESSEE)) == len(leases)


def test_hosts_are_listed_in_pages(env: HttpEnv, hosts: list[str]) -> None:
    names = {"sort": "hypervisor_hostname:desc"}

    found = walk(env, "/os-hosts", "hosts", ADMIN, limit=3, **names)

    assert [each["hypervisor_hostname"] for each in found] == ["h4", "h3", "h2", "h1"]
    [only] = good(ask(env, "/os-hosts", ADMIN, hypervisor_hostname="h2", reservable="true"))["hosts"]
    assert only["id"] == hosts[1]
    assert good(ask(env, "/os-hosts", ADMIN, reservable="False"))["hosts"] == []
    assert "reservable: " in refusal(ask(env, "/os-hosts", ADMIN, reservable="maybe"), 400)
    assert "rack" in refusal(ask(env, "/os-hosts", ADMIN, rack="r1"), 400)


def test_allocations_are_listed_in_pages_of_hosts(env: HttpEnv, leases: list[Json], hosts: list[str]) -> None:
    path, lease_id = "/os-hosts/allocations", leases[1]["id"]
    older = good(env.get(path))["allocations"]

    assert walk(env, path, "allocations", ADMIN, limit=1) == older
    assert walk(env, path, "allocations", ADMIN, limit=3, lease_id="") == older
    found = walk(env, path, "allocations", ADMIN, limit=3, lease_id=lease_id)
    assert found == good(env.get(path, params={"lease_id": lease_id}))["allocations"]
    late = walk(env, path, "allocations", ADMIN, limit=3, starts_after=env.date(30))
    assert len(late) == len(hosts)
    assert {one["lease_id"] for each in late for one in each["reservations"]} == {leases[0]["id"]}
    assert "project_id" in refusal(ask(env, path, ADMIN, project_id="project"), 400)


def test_addresses_are_listed_in_pages(env: HttpEnv, pool: Pool) -> None:
    pool.register(1, 2, 3)
    older = good(env.get("/floatingips", who=LESSEE))["floatingips"]

    assert walk(env, "/floatingips", "floatingips", LESSEE, limit=2) == older
    address, network_id = older[1]["floating_ip_address"], older[1]["floating_network_id"]
    assert good(ask(env, "/floatingips", floating_ip_address=address))["floatingips"] == older[1:2]
    assert good(ask(env, "/floatingips", floating_network_id=network_id))["floatingips"] == older
    assert good(ask(env, "/floatingips", floating_network_id="x"))["floatingips"] == []
    assert "floating_ip_address" in refusal(ask(env, "/floatingips", floating_ip_address="x"), 400)
