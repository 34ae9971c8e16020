"""Extensions of leases whose hosts or addresses others have booked in the new period."""

from __future__ import annotations

from typing import Any

import pytest
from app.floatingips import Pool
from app.http_env import LESSEE, NEWER, STRANGER, Answer, HttpEnv, Json, good, host_reservation, refusal
from app.slots import instances
from app.test_chosen_releases import held


def extend(env: HttpEnv, lease: Json, end: float, *actions: Any, query: str = "") -> Answer:
    """Extend a lease; each action is for the reservation at its place, None for none."""
    items = [
        {"id": reservation["id"], "on_conflict": action}
        for reservation, action in zip(lease["reservations"], actions, strict=False)
        if action is not None
    ]
    body = {"end_date": env.date(end), "reservations": items}
    return env.put(f"/leases/{lease['id']}{query}", body, who=LESSEE, headers=NEWER)


def lease_and_conflict(env: HttpEnv, start: float | str, spare: int = 0) -> tuple[Json, str, list[str]]:
    """Return a lease for three hosts, the one that others have from minute 120 on, and the other two."""
    ids = env.register("h1", "h2", "h3")
    lease = env.create(start, 100, min=2, max=3)
    env.work()
    conflict = env.booked(env.create(120, 200, who=STRANGER)).pop()
    env.register(*(f"spare{number}" for number in range(spare)))
    return lease, conflict, sorted({*ids} - {conflict})


def test_drop_keeps_the_other_hosts_of_a_lease_that_has_not_started(env: HttpEnv) -> None:
    lease, conflict, others = lease_and_conflict(env, 50, spare=1)

    preview = good(extend(env, lease, 150, "drop", query="?dry_run=true"))["preview"]
    answer = good(extend(env, lease, 150, "drop"))

    assert preview["reservations"][0]["resources"] == others
    (change,) = answer["changes"]
    assert (change["kept"], change["added"], change["released"]) == (others, [], [conflict])
    reservation = answer["lease"]["reservations"][0]
    assert (reservation["min"], reservation["max"]) == (2, 2)
    assert held(env, lease) == others
    env.pass_time(60)
    assert env.status(lease) == "ACTIVE"


def test_a_running_lease_is_not_robbed_before_its_end(env: HttpEnv) -> None:
    lease, conflict, others = lease_and_conflict(env, "now")
    before = env.snapshot()

    message = refusal(extend(env, lease, 150, "drop"), 409)

    assert message.startswith("on_conflict: drop")
    assert conflict in message
    assert env.snapshot() == before
    item = {"id": lease["reservations"][0]["id"], "release": [conflict]}
    body = {"end_date": env.date(150), "reservations": [item]}
    good(env.put(f"/leases/{lease['id']}", body, who=LESSEE, headers=NEWER))
    assert held(env, lease) == others


@pytest.mark.parametrize("start", ["now", 50])
def test_replace_chooses_another_host(env: HttpEnv, start: float | str) -> None:
    lease, conflict, others = lease_and_conflict(env, start, spare=1)

    (change,) = good(extend(env, lease, 150, "replace"))["changes"]
    env.pass_time(60)

    assert (change["kept"], change["released"]) == (others, [conflict])
    assert held(env, lease) == sorted([*others, *change["added"]])
    assert len(change["added"]) == 1
    assert env.status(lease) == "ACTIVE"
    assert len(env.members(lease)) == 3


def test_replace_does_not_take_a_host_with_servers(env: HttpEnv) -> None:
    lease, conflict, _ = lease_and_conflict(env, "now", spare=1)
    host = good(env.get(f"/os-hosts/{conflict}"))["host"]["hypervisor_hostname"]
    env.cloud.boot_server("s", "project", reservation_id=lease["reservations"][0]["id"], service_host=host)

    assert "servers on host" in refusal(extend(env, lease, 150, "replace"), 409)
    env.work()

    assert len(env.members(lease)) == 3
    assert env.lease(lease["id"])["end_date"] == env.shown(100)


def test_replace_without_another_host_takes_fewer_or_is_refused(env: HttpEnv) -> None:
    lease, conflict, others = lease_and_conflict(env, "now")

    refused = extend(env, lease, 150, "fail")
    assert refused.status_code == 409
    assert refused.json["reasons"][0]["binding"] == "kept"
    assert [each["kind"] for each in refused.json["alternatives"]] == ["shorter"]
    assert good(extend(env, lease, 150, "replace"))["changes"][0]["released"] == [conflict]
    assert held(env, lease) == others


def test_one_address_does_not_block_the_extension_of_hosts(env: HttpEnv, pool: Pool) -> None:
    env.register("h1", "h2")
    pool.register(1, 2)
    asked = [host_reservation(min=2, max=2), pool.asked(2)]
    body = {**env.wish(50, 100), "reservations": asked}
    lease = good(env.post("/leases", body, who=LESSEE), 201)["lease"]
    good(env.post("/leases", env.wish(120, 200, asked=pool.asked(1)), who=STRANGER), 201)

    assert extend(env, lease, 150).status_code == 409
    answer = good(extend(env, lease, 150, None, "drop"))

    assert [len(each["kept"]) for each in answer["changes"]] == [2, 1]
    assert answer["lease"]["reservations"][1]["amount"] == 1


def test_without_conflicts_nothing_happens(env: HttpEnv) -> None:
    lease, *_ = lease_and_conflict(env, 50)

    for action in ("drop", "replace", "fail"):
        (change,) = good(extend(env, lease, 110, action))["changes"]
        assert (len(change["kept"]), change["added"], change["released"]) == (3, [], [])


@pytest.mark.usefixtures("hosts")
def test_invalid_actions_name_the_key(env: HttpEnv) -> None:
    asked = [host_reservation(), instances(amount=1, affinity=None)]
    lease = good(env.post("/leases", {**env.wish(50, 100), "reservations": asked}, who=LESSEE), 201)["lease"]
    env.create(120, 200, min=3, max=3, who=STRANGER)
    before = env.snapshot()

    for value in ("maybe", 5, ["drop"]):
        assert refusal(extend(env, lease, 150, value), 400).startswith("on_conflict"), value
    body = {"reservations": [{"id": lease["reservations"][0]["id"], "on_conflict": "drop", "max": 2}]}
    answer = env.put(f"/leases/{lease['id']}", body, who=LESSEE, headers=NEWER)
    assert refusal(answer, 400).startswith("on_conflict")
    assert "virtual:instance" in refusal(extend(env, lease, 110, None, "drop"), 409)
    assert env.snapshot() == before


def test_drop_of_everything_is_refused(env: HttpEnv) -> None:
    env.register("h1")
    lease = env.create(50, 100)
    env.create(120, 200, who=STRANGER)

    assert "would leave none" in refusal(extend(env, lease, 150, "drop"), 409)
