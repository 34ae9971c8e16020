"""Progress of a lease: its holdings, why it waits, and when the service tries again."""

from __future__ import annotations

import pytest
from app.http_env import LESSEE, NEWER, HttpEnv, Json, good

KEYS = ("status_reason", "retry_at", "held")


def read(env: HttpEnv, lease: Json) -> Json:
    found: Json = good(env.get(f"/leases/{lease['id']}", who=LESSEE, headers=NEWER))["lease"]
    assert good(env.get("/leases", who=LESSEE, headers=NEWER))["leases"] == [found]
    return found


@pytest.mark.usefixtures("hosts")
def test_a_lease_shows_what_it_holds_until_it_is_over(env: HttpEnv) -> None:
    lease = env.create("now", 5, min=2, max=2)
    env.work()

    shown = read(env, lease)
    env.pass_time(6)
    over = read(env, lease)

    assert [shown[key] for key in KEYS] == [None, None, 2]
    assert [shown["reservations"][0][key] for key in KEYS] == [None, None, 2]
    assert [over[key] for key in KEYS] == [None, None, 0]
    assert not set(KEYS) & good(env.get(f"/leases/{lease['id']}", who=LESSEE))["lease"].keys()


@pytest.mark.usefixtures("hosts")
def test_a_lease_that_waits_says_why_and_until_when(env: HttpEnv) -> None:
    lease = env.create("now", 60)
    with env.failing("compute.create_aggregate"):
        env.work()
        shown = read(env, lease)

    assert shown["status_reason"] == shown["reservations"][0]["status_reason"] == "the cloud does not respond"
    assert shown["retry_at"] == shown["reservations"][0]["retry_at"]
    assert shown["retry_at"] > env.shown(0)
    env.pass_time(10)
    assert [read(env, lease)[key] for key in KEYS] == [None, None, 1]
