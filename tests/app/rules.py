"""Usage rules for tests of the embedded service."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import yaml
from app.http_env import LESSEE, NEWER, HttpEnv, Json, good

from blazar.domain.rules.parsing import parse_rules
from blazar.domain.rules.rule import Rules


def rules_of(env: HttpEnv, text: str) -> Rules:
    """Return the rules of a YAML text."""
    return parse_rules(yaml.safe_load(text), env.context.plugins)


def use_rules(env: HttpEnv, *rules: str) -> None:
    """Let the service apply rules, each as a YAML flow mapping without its braces; all of them are named."""
    text = "rules:\n" + "".join(f"- {{name: rule-{at}, {each}}}\n" for at, each in enumerate(rules, 1))
    env.restart(replace(env.context, rules=rules_of(env, text)))


def only(reasons: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the only refusal of a rule in the only reason."""
    (reason,) = reasons
    assert reason["binding"] == "rule", reason
    (found,) = reason["rules"]
    return dict(found)


def refused(env: HttpEnv, start: float | str, end: float, status: int = 403, **keys: Any) -> Json:
    """Return the body of the refusal of a new lease at API 1.1; check that nothing changes."""
    before = env.snapshot()
    answer = env.post("/leases", env.wish(start, end, **keys), who=LESSEE, headers=NEWER)
    assert answer.status_code == status, answer.text
    assert env.snapshot() == before
    return dict(answer.json)


def change_refused(env: HttpEnv, lease: Json, status: int = 400, **keys: Any) -> Json:
    """Return the body of the refusal of a change at API 1.1; check that nothing changes."""
    before = env.snapshot()
    answer = env.put(f"/leases/{lease['id']}", keys, who=LESSEE, headers=NEWER)
    assert answer.status_code == status, answer.text
    assert env.snapshot() == before
    return dict(answer.json)


def take_all(env: HttpEnv, answer: Json) -> list[str]:
    """Create each alternative of a refused lease and delete it again; return their kinds."""
    for each in answer["alternatives"]:
        leases = [
            good(env.post("/leases", body, who=LESSEE, headers=NEWER), 201)["lease"]
            for body in each["bodies"]
        ]
        for lease in leases:
            assert env.delete(f"/leases/{lease['id']}", who=LESSEE).status_code == 204
        env.work()
    return [each["kind"] for each in answer["alternatives"]]


def racks(env: HttpEnv, lease: Json) -> list[str]:
    """Return the rack of each host of a lease."""
    hosts = {each["id"]: each["rack"] for each in good(env.get("/os-hosts"))["hosts"]}
    return sorted(hosts[each] for each in env.booked(lease))
