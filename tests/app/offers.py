"""Requests about offers."""

from __future__ import annotations

from typing import Any

from app.http_env import LESSEE, STRANGER, Answer, HttpEnv, Json, Who, good, refusal

V11 = {"OpenStack-API-Version": "reservation 1.1"}


def ask(env: HttpEnv, body: Json, who: Who = LESSEE, key: str | None = None) -> Answer:
    return env.post("/offers", body, who=who, headers=_headers(key))


def wish(env: HttpEnv, start: float | str = "now", end: float = 60, **keys: Any) -> Json:
    more: Json = {key: keys.pop(key) for key in ("ttl_seconds", "before_end_date") if key in keys}
    body = env.wish(start, end, **keys) | more
    del body["name"]
    return body


def offer(env: HttpEnv, start: float | str = "now", end: float = 60, who: Who = LESSEE, **keys: Any) -> Json:
    found: Json = good(ask(env, wish(env, start, end, **keys), who), 201)["offer"]
    return found


def commit(env: HttpEnv, made: Json, who: Who = LESSEE, key: str | None = None, **more: Any) -> Answer:
    body = {"name": "night", "offer_id": made["id"], **more}
    return env.post("/leases", body, who=who, headers=_headers(key))


def show(env: HttpEnv, made: Json, who: Who = LESSEE) -> Answer:
    return env.get(f"/offers/{made['id']}", who=who, headers=V11)


def delete(env: HttpEnv, made: Json, who: Who = LESSEE) -> Answer:
    return env.delete(f"/offers/{made['id']}", who=who, headers=V11)


def listed(env: HttpEnv, who: Who = LESSEE) -> list[str]:
    return [each["id"] for each in good(env.get("/offers", who=who, headers=V11))["offers"]]


def is_possible(env: HttpEnv, **keys: Any) -> bool:
    """Return whether a lease is possible, which is deleted at once."""
    answer = env.post("/leases", env.wish(**keys), who=STRANGER, headers=V11)
    if answer.status_code == 201:
        good(env.delete(f"/leases/{answer.json['lease']['id']}", who=STRANGER), 204)
    else:
        refusal(answer, 409)
    return bool(answer.status_code == 201)


def _headers(key: str | None) -> dict[str, str]:
    return V11 if key is None else dict(V11, **{"Idempotency-Key": key})


def ask_for(env: HttpEnv, lease: Json, body: Json, who: Who = LESSEE, key: str | None = None) -> Answer:
    """Ask for an offer for a change of a lease; the key ``reservation`` changes the first one."""
    if "reservation" in body:
        changed = {"id": lease["reservations"][0]["id"], **body["reservation"]}
        body = {
            **{name: each for name, each in body.items() if name != "reservation"},
            "reservations": [changed],
        }
    return env.post(f"/leases/{lease['id']}/offers", body, who=who, headers=_headers(key))


def hold(env: HttpEnv, lease: Json, who: Who = LESSEE, **body: Any) -> Json:
    """Return an offer for a change of a lease."""
    found: Json = good(ask_for(env, lease, body, who), 201)["offer"]
    return found


def take(env: HttpEnv, lease: Json, made: Json, who: Who = LESSEE, **more: Any) -> Answer:
    """Commit an offer for a change of a lease."""
    return env.put(f"/leases/{lease['id']}", {"offer_id": made["id"], **more}, who=who, headers=V11)


def taken(env: HttpEnv, lease: Json, made: Json) -> Json:
    """Commit an offer for a change of a lease, and return the lease."""
    found: Json = good(take(env, lease, made))["lease"]
    return found
