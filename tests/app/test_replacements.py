"""Lessees who report broken resources of a lease, and get others."""

from __future__ import annotations

import pytest
from app.http_env import ADMIN, LESSEE, NEWER, READER, STRANGER, Answer, HttpEnv, Json, Who, good, refusal
from app.maintaining import held
from app.slots import instances
from telemetry.counting import Counts

from blazar.booking.health import record_health
from blazar.booking.reports import REPORTED
from blazar.domain.health import Diagnosis, Health
from blazar.domain.lease import ResourceId
from blazar.manager.instrumentation import instrumented
from blazar.ports.metrics import REPORTED_RESOURCES


@pytest.fixture
def ids(env: HttpEnv) -> dict[str, str]:
    """Register four hosts in two racks, and return their ids by name."""
    names = ("h1", "h2", "h3", "h4")
    found = [*env.register(*names[:2], rack="r1"), *env.register(*names[2:], rack="r2")]
    return dict(zip(names, found, strict=True))


def replace(env: HttpEnv, lease: Json, *hosts: str, who: Who = LESSEE, **keys: object) -> Answer:
    reservation_id = lease["reservations"][0]["id"]
    body = {"reservation_id": reservation_id, "resources": list(hosts), "reason": "no network", **keys}
    return env.post(f"/leases/{lease['id']}/replacements", body, who=who, headers=NEWER)


def unreported(env: HttpEnv) -> tuple[object, ...]:
    """Return everything that is stored and in the cloud, except the journal, which has the reports."""
    tables, *others = env.snapshot()
    assert isinstance(tables, dict)
    return {key: rows for key, rows in tables.items() if key != "journal"}, *others


def test_a_broken_host_is_swapped_for_a_free_one(env: HttpEnv, ids: dict[str, str]) -> None:
    lease = env.create("now", 60, min=2, max=2)
    env.work()
    broken, good_one = held(env, lease)

    answer = good(replace(env, lease, ids[broken]))

    (change,) = answer["changes"]
    assert (change["kept"], change["released"]) == ([ids[good_one]], [ids[broken]])
    env.work()
    members = env.members(lease)
    assert broken not in members
    assert good_one in members
    assert len(members) == 2
    assert broken in env.aggregates()["freepool"]
    reservation = env.lease(lease["id"])["reservations"][0]
    assert (reservation["min"], reservation["max"]) == (2, 2)


def test_it_works_before_the_start_and_keeps_the_conditions(env: HttpEnv, ids: dict[str, str]) -> None:
    lease = env.create(30, 60, resource_properties='["==", "$rack", "r1"]')
    (broken,) = held(env, lease)

    good(replace(env, lease, ids[broken]))

    assert held(env, lease) == sorted({"h1", "h2"} - {broken})


def test_without_a_free_host_nothing_changes_and_the_refusal_says_why(
    env: HttpEnv, ids: dict[str, str]
) -> None:
    lease = env.create("now", 60, min=2, max=2, resource_properties='["==", "$rack", "r1"]')
    env.work()
    before = unreported(env)

    text = refusal(replace(env, lease, ids["h1"]), 409)

    assert "Not enough hosts" in text
    assert unreported(env) == before
    assert env.members(lease) == {"h1", "h2"}


def test_a_host_with_servers_stays(env: HttpEnv, ids: dict[str, str]) -> None:
    lease = env.create("now", 60)
    env.work()
    (used,) = env.members(lease)
    reservation_id = lease["reservations"][0]["id"]
    env.cloud.boot_server("s1", "project", reservation_id=reservation_id, service_host=used)

    assert "there are servers on host" in refusal(replace(env, lease, ids[used]), 409)
    assert env.members(lease) == {used}


def test_only_what_the_lease_holds_can_be_replaced(env: HttpEnv, ids: dict[str, str]) -> None:
    lease = env.create("now", 60)
    env.work()
    (own,) = held(env, lease)
    other = next(each for each in ids if each != own)

    assert "replace: not held by" in refusal(replace(env, lease, ids[other]), 400)
    assert "resources: " in refusal(replace(env, lease), 400)
    assert "not in this lease" in refusal(replace(env, lease, ids[own], reservation_id="ghost"), 400)
    assert "reason: " in refusal(replace(env, lease, ids[own], reason="x" * 256), 400)
    small = env.create("now", 60, asked=instances(amount=1))
    assert "does not allow it" in refusal(replace(env, small, held_id(env, small)), 409)


def held_id(env: HttpEnv, lease: Json) -> str:
    (found,) = good(env.get(f"/leases/{lease['id']}/allocations", headers=NEWER))["allocations"]
    return str(found["resource_id"])


def test_rights(env: HttpEnv, ids: dict[str, str]) -> None:
    lease = env.create("now", 60)
    env.work()
    (own,) = held(env, lease)

    for who in (READER, STRANGER):
        refusal(replace(env, lease, ids[own], who=who), 403)
    env.set_policy({"blazar:leases:replace": "role:admin"})
    refusal(replace(env, lease, ids[own]), 403)
    good(replace(env, lease, ids[own], who=ADMIN))


def test_the_rule_cannot_be_bypassed(env: HttpEnv, ids: dict[str, str]) -> None:
    lease = env.create("now", 60)
    env.work()
    (own,) = held(env, lease)
    change = {"reservations": [{"id": lease["reservations"][0]["id"], "replace": [ids[own]]}]}

    for answer in (
        env.put(f"/leases/{lease['id']}", change, who=LESSEE, headers=NEWER),
        env.post(f"/leases/{lease['id']}/offers", change, who=LESSEE, headers=NEWER),
    ):
        assert "replace: send POST" in refusal(answer, 400)
    env.put(f"/leases/{lease['id']}", change, who=LESSEE)
    assert held(env, lease) == [own]


def test_a_reported_host_never_comes_back(env: HttpEnv, ids: dict[str, str]) -> None:
    lease = env.create("now", 60, resource_properties='["==", "$rack", "r1"]')
    env.work()
    (first,) = held(env, lease)
    good(replace(env, lease, ids[first]))
    env.work()
    (second,) = held(env, lease)
    before = unreported(env)

    text = refusal(replace(env, lease, ids[second]), 409)

    assert "Not enough hosts" in text
    assert held(env, lease) == [second] != [first]
    assert unreported(env) == before
    # The report of the host that stays counts, and it can stay.
    change = {"reservations": [{"id": lease["reservations"][0]["id"], "min": 2, "max": 2}]}
    refusal(env.put(f"/leases/{lease['id']}", change, who=LESSEE, headers=NEWER), 409)
    good(env.put(f"/leases/{lease['id']}", {"end_date": env.date(90)}, who=LESSEE, headers=NEWER))
    assert held(env, lease) == [second]
    # Others may have it.
    assert held(env, env.create("now", 60, resource_properties='["==", "$rack", "r1"]')) == [first]


def test_healing_does_not_take_a_reported_host(env: HttpEnv, ids: dict[str, str]) -> None:
    lease = env.create("now", 60, resource_properties='["==", "$rack", "r1"]')
    env.work()
    (reported,) = held(env, lease)
    good(replace(env, lease, ids[reported]))
    env.work()
    (present,) = held(env, lease)

    down = Diagnosis(health=Health.FAILED, problem="down")
    record_health(env.context, "monitor", ResourceId(ids[present]), present, down)
    env.work()

    assert held(env, lease) == [present]
    assert env.lease(lease["id"])["reservations"][0]["missing_resources"]


def test_reports_are_in_the_journal_and_counted(env: HttpEnv, ids: dict[str, str]) -> None:
    counts = Counts()
    env.restart(instrumented(env.context, counts))
    lease = env.create("now", 60, resource_properties='["==", "$rack", "r1"]')
    env.work()
    (first,) = held(env, lease)
    good(replace(env, lease, ids[first], reason="no\n\x1b[31m network"))
    env.work()
    (second,) = held(env, lease)
    for _ in range(2):
        refusal(replace(env, lease, ids[second], reason=None), 409)
    refusal(replace(env, lease, ids["h3"]), 400)

    with env.context.store.read() as transaction:
        entries = transaction.journal.list_event(REPORTED, [lease["id"]])
    reservation_id = lease["reservations"][0]["id"]
    assert [(each.reservation_id, each.reason) for each in entries] == [
        (reservation_id, f"{ids[first]} {first}: no [31m network"),
        (reservation_id, f"{ids[second]} {second}"),
    ]
    assert all(each.actor and each.request_id for each in entries)
    history = good(env.get(f"/leases/{lease['id']}/history", headers=NEWER))["history"]
    assert "A resource of the reservation was reported as broken." in [each["text"] for each in history]
    assert counts.of(REPORTED_RESOURCES) == {("physical:host",): 2}
