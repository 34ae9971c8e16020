"""Random usage rules: what is granted obeys them, and what is proposed is granted."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from app.http_env import LESSEE, NEWER, STRANGER, HttpEnv, Json, Who, good, host_reservation
from app.rules import take_all

from blazar.domain.rules.parsing import parse_rules

HOUR = 60
HORIZON = 60 * HOUR
Window = tuple[int, int]
RuleKeys = dict[str, Any]


def random_rule(chance: random.Random, number: int) -> RuleKeys:
    values: Mapping[str, RuleKeys] = {
        "horizon": {"start_hours": chance.randint(5, 60), "end_hours": chance.randint(10, 60)},
        "lead_time": {"lead_hours": chance.randint(1, 9)},
        "longest": {"longest_hours": chance.randint(2, 9)},
        "shortest": {"shortest_hours": chance.randint(1, 4)},
        "cool_down": {
            "cool_down_hours": chance.randint(1, 6),
            "same_resource": chance.random() < 0.5,
        },
        "stacking": {"most_hours": chance.randint(5, 40)},
        "only_for": {"only_for_projects": [chance.choice([LESSEE.project, STRANGER.project])]},
    }
    kind = chance.choice(list(values))
    rule: RuleKeys = {"name": f"r{number}", "kind": kind, **values[kind]}
    if chance.random() < 0.2:
        rule = {"name": f"r{number}", "kind": kind, "unlimited": True}
    elif chance.random() < 0.2:
        rule["mode"] = "log"
    if kind == "stacking" and "most_hours" in rule and chance.random() < 0.5:
        rule["period_hours"] = chance.randint(10, 30)
    if chance.random() < 0.7:
        rule["applies_to"] = {"resources": chance.choice(["rack=r1", "rack=r2", "slots=8"])}
    if kind != "only_for" and chance.random() < 0.3:
        rule["exempt_projects"] = [chance.choice([LESSEE.project, STRANGER.project])]
    return rule


class Oracle:
    """The rules, in the simplest words, and all leases so far by project."""

    def __init__(self, rules: Sequence[RuleKeys], facts: Mapping[str, Json]) -> None:
        self.rules = [each for each in rules if each.get("mode") != "log"]
        self.facts = facts
        self.leases: list[tuple[str, Window, list[str]]] = []

    def deciding(self, kind: str, host: str, project: str) -> RuleKeys:
        """Return the rule that decides; one without a limit if there is none."""
        for rule in self.rules:
            key, _, value = rule.get("applies_to", {}).get("resources", "").partition("=")
            matches = not key or str(self.facts[host].get(key)) == value
            if rule["kind"] == kind and matches and project not in rule.get("exempt_projects", []):
                return rule
        return {"name": "", "unlimited": True}

    def objections(self, project: str, window: Window, hosts: Sequence[str]) -> list[str]:
        """Return the kinds of the rules that a new lease from now on violates."""
        start, end = window
        found = []
        for host in hosts:
            for kind, is_violated in (
                ("horizon", lambda rule: start > 60 * rule["start_hours"] or end > 60 * rule["end_hours"]),
                ("lead_time", lambda rule: start < 60 * rule["lead_hours"] - 1),
                ("longest", lambda rule: end - start > 60 * rule["longest_hours"]),
                ("shortest", lambda rule: end - start < 60 * rule["shortest_hours"]),
                ("only_for", lambda rule: project not in rule["only_for_projects"]),
                ("cool_down", lambda rule, host=host: self.is_too_close(rule, project, window, host)),
                ("stacking", lambda rule: self.has_too_many(rule, project, window, hosts)),
            ):
                rule = self.deciding(kind, host, project)
                if not rule.get("unlimited") and is_violated(rule):
                    found.append(kind)
        return found

    def is_too_close(self, rule: RuleKeys, project: str, window: Window, host: str) -> bool:
        for owner, (start, end), hosts in self.leases:
            same = [host] if rule["same_resource"] else hosts
            counted = [each for each in same if each in hosts and self.counts(rule, each, project)]
            is_nested = (start <= window[0] and window[1] <= end) or (window[0] <= start and end <= window[1])
            gap = max(start, window[0]) - min(end, window[1])
            if owner == project and counted and not is_nested and gap < 60 * rule["cool_down_hours"]:
                return True
        return False

    def has_too_many(self, rule: RuleKeys, project: str, window: Window, hosts: Sequence[str]) -> bool:
        leases = [(each[1], each[2]) for each in self.leases if each[0] == project]
        used = [0] * (2 * HORIZON)
        for (start, end), own in [*leases, (window, hosts)]:
            for each in own:
                if self.counts(rule, each, project):
                    for minute in range(start, min(end, len(used))):
                        used[minute] += 1
        length = 60 * rule.get("period_hours", 2 * HORIZON)
        # Hours before the request, none here, would not count.
        total = [0]
        for each_used in used:
            total.append(total[-1] + each_used)
        sums = [total[min(begin + length, len(used))] - total[begin] for begin in range(len(used))]
        return bool(max(sums) > 60 * rule["most_hours"])

    def counts(self, rule: RuleKeys, host: str, project: str) -> bool:
        return bool(self.deciding(rule["kind"], host, project)["name"] == rule["name"])


def minutes_of(env: HttpEnv) -> Mapping[str, int]:
    return {env.date(each): each for each in range(2 * HORIZON)}


@pytest.mark.parametrize("seed", range(12))
def test_what_is_granted_obeys_and_what_is_proposed_is_granted(
    env: HttpEnv, hosts: list[str], seed: int
) -> None:
    chance = random.Random(seed)
    rules = [random_rule(chance, each) for each in range(chance.randint(1, 5))]
    env.restart(replace(env.context, rules=parse_rules({"rules": rules}, env.context.plugins)))
    facts = {each["id"]: each for each in good(env.get("/os-hosts"))["hosts"]}
    oracle, at = Oracle(rules, facts), minutes_of(env)
    granted = 0
    for _ in range(8):
        who: Who = chance.choice([LESSEE, LESSEE, STRANGER])
        start = chance.randint(0, 40 * HOUR)
        least = chance.randint(1, 3)
        body = env.wish(
            start,
            start + chance.randint(30, 8 * HOUR),
            min=least,
            max=least + chance.choice([0, 0, 1]),
            resource_properties=chance.choice(["", "", "rack=r1", "slots=10"]),
        )
        answer = env.post("/leases", body, who=who, headers=NEWER)
        if answer.status_code == 201:
            lease = answer.json["lease"]
            window = (start, at[body["end_date"]])
            booked = sorted(env.booked(lease))
            assert oracle.objections(str(who.project), window, booked) == [], (rules, body)
            oracle.leases.append((str(who.project), window, booked))
            granted += 1
            continue
        is_hidden = "no host has a property named" in answer.text
        assert answer.status_code in ((400,) if is_hidden else (403, 409)), answer.text
        if who is LESSEE and not is_hidden:
            take_all(env, answer.json)
            take_slot(env, chance)
    assert granted or rules


def take_slot(env: HttpEnv, chance: random.Random) -> None:
    """Reserve each slot that a search finds, and delete the lease again."""
    length = chance.randint(30, 6 * HOUR)
    body: Json = {
        "reservations": [host_reservation(min=1, max=chance.randint(1, 3))],
        "duration_minutes": length,
        "latest_end": env.date(HORIZON),
        "limit": 3,
        "order": chance.choice(["earliest", "latest", "most"]),
    }
    if chance.random() < 0.3:
        del body["duration_minutes"]
        body |= {"order": "longest", "min_duration_minutes": 30, "max_duration_minutes": length}
    for slot in good(env.post("/availability/search", body, who=LESSEE, headers=NEWER))["slots"]:
        lease = good(env.post("/leases", {"name": "n", **slot["request"]}, who=LESSEE, headers=NEWER), 201)
        assert env.delete(f"/leases/{lease['lease']['id']}", who=LESSEE).status_code == 204
        env.work()
