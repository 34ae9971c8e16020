"""Usage rules about times, as lessees experience them on the embedded service."""

from __future__ import annotations

import logging
from dataclasses import replace

import pytest
from app.http_env import ADMIN, LESSEE, NEWER, STRANGER, HttpEnv, Json, good, host_reservation, refusal
from app.rules import only, racks, refused, take_all, use_rules
from telemetry.counting import Counts

from blazar.ports.metrics import RULE_REFUSALS

pytestmark = pytest.mark.usefixtures("hosts")

HOUR, DAY = 60, 24 * 60
HOSTS = 'applies_to: {resource_types: ["physical:host"]}'
R1 = "applies_to: {resources: rack=r1}"


class TestNewLeases:
    def test_the_horizon(self, env: HttpEnv) -> None:
        use_rules(env, "kind: horizon, start_days: 30, end_days: 31")

        env.create(30 * DAY, 30 * DAY + HOUR)
        answer = refused(env, 32 * DAY, 32 * DAY + HOUR)

        assert answer["error_message"] == (
            "start_date: all resource types: a lease starts at most 30 days ahead and ends at most 31 days"
            " ahead; the latest start is Fri 2031-01-31 00:00 UTC; you can request this from Fri 2031-01-03"
            " 00:00 UTC (rule rule-1); end_date: all resource types: a lease starts at most 30 days ahead and"
            " ends at most 31 days ahead; the latest end is Sat 2031-02-01 00:00 UTC; you can request this"
            " from Thu 2031-01-02 01:00 UTC (rule rule-1)"
        )
        env.pass_time(2 * DAY)
        env.create(32 * DAY, 32 * DAY + HOUR)

    def test_the_lead_time(self, env: HttpEnv) -> None:
        use_rules(env, "kind: lead_time, lead_hours: 2")

        answer = refused(env, HOUR, 2 * HOUR)

        assert only(answer["reasons"]) == {
            "code": "lead_time",
            "rule": "rule-1",
            "summary": "start_date: all resource types: a lease starts at least 2 hours after its request;"
            " the earliest start is Wed 2031-01-01 02:00 UTC (rule rule-1)",
            "possible_from": None,
            "earliest_start_date": "2031-01-01 02:00",
        }
        assert "later" in take_all(env, answer)
        env.create(2 * HOUR, 3 * HOUR)

    def test_the_longest_lease(self, env: HttpEnv) -> None:
        use_rules(env, "kind: longest, longest_hours: 3")

        answer = refused(env, HOUR, 5 * HOUR)

        assert only(answer["reasons"])["latest_end_date"] == env.date(4 * HOUR)
        assert take_all(env, answer) == ["shorter", "split"]
        env.create(HOUR, 4 * HOUR)

    def test_the_shortest_lease(self, env: HttpEnv) -> None:
        use_rules(env, "kind: shortest, shortest_hours: 3")

        answer = refused(env, HOUR, 2 * HOUR)

        assert only(answer["reasons"])["code"] == "shortest"
        assert only(answer["reasons"])["earliest_end_date"] == env.date(4 * HOUR)
        env.create(HOUR, 4 * HOUR)

    def test_api_1_0_gets_the_message_and_the_status_of_filters(self, env: HttpEnv) -> None:
        use_rules(env, "kind: longest, longest_hours: 3")
        lease = env.create(HOUR, 2 * HOUR)

        created = env.post("/leases", env.wish(HOUR, 5 * HOUR), who=LESSEE)
        changed = env.put(f"/leases/{lease['id']}", {"end_date": env.date(5 * HOUR)}, who=LESSEE)

        assert "a lease lasts at most 3 hours" in refusal(created, 403)
        assert "a lease lasts at most 3 hours" in refusal(changed, 400)
        assert created.json.keys() == {"error_code", "error_message", "error_name"}

    def test_a_shortage_is_no_matter_of_rules(self, env: HttpEnv) -> None:
        use_rules(env, "kind: longest, longest_hours: 3")

        answer = refused(env, HOUR, 5 * HOUR, 409, min=9, max=9)

        assert answer["reasons"][0]["binding"] == "registered"
        assert "rules" not in answer["reasons"][0]


class TestResources:
    def test_a_rule_for_some_resources_leaves_the_others(self, env: HttpEnv) -> None:
        use_rules(env, f"kind: longest, longest_hours: 3, {R1}")

        long = env.create(HOUR, 9 * HOUR, min=2, max=2)
        answer = refused(env, HOUR, 9 * HOUR, min=2, max=2, resource_properties='["==", "$rack", "r1"]')

        assert racks(env, long) == ["r2", "r2"]
        assert only(answer["reasons"])["summary"].startswith("end_date: all resource types with rack=r1: a")
        steps = answer["reasons"][0]["steps"]
        assert [each["left"] for each in steps if each["stage"] in ("free", "rule")] == [2, 0]

    def test_as_many_as_are_permitted_are_reserved(self, env: HttpEnv) -> None:
        use_rules(env, f"kind: longest, longest_hours: 3, {R1}")

        answer = refused(env, HOUR, 9 * HOUR, min=3, max=4)
        lease = env.create(HOUR, 9 * HOUR, min=1, max=4)

        assert racks(env, lease) == ["r2", "r2"]
        env.delete(f"/leases/{lease['id']}", who=LESSEE)
        env.work()
        assert {"shorter", "fewer"} <= set(take_all(env, answer))

    def test_a_private_property_is_not_named(self, env: HttpEnv) -> None:
        good(env.patch("/os-hosts/properties/rack", {"private": True}))
        use_rules(env, f"kind: longest, longest_hours: 3, {R1}")

        answer = env.post("/leases", env.wish(HOUR, 9 * HOUR, min=3, max=3), who=LESSEE, headers=NEWER)

        assert answer.status_code == 403
        assert "on some resources: a lease lasts at most 3 hours" in answer.text
        assert "rack" not in answer.text

    def test_the_first_rule_of_a_kind_decides(self, env: HttpEnv) -> None:
        use_rules(
            env,
            f"kind: longest, longest_hours: 9, {R1}",
            "kind: longest, longest_hours: 2",
            "kind: longest, longest_hours: 1",
            f"kind: shortest, shortest_hours: 2, {HOSTS}",
        )

        assert only(refused(env, HOUR, 4 * HOUR, min=3, max=3)["reasons"])["rule"] == "rule-2"
        env.create(HOUR, 10 * HOUR, min=2, max=2)
        env.create(20 * HOUR, 22 * HOUR, min=3, max=3)
        assert only(refused(env, 20 * HOUR, 21 * HOUR)["reasons"])["rule"] == "rule-4"

    def test_no_limit_is_a_decision_too(self, env: HttpEnv) -> None:
        use_rules(env, f"kind: longest, unlimited: true, {R1}", "kind: longest, longest_hours: 2")

        env.create(HOUR, 10 * HOUR, min=2, max=2)
        assert only(refused(env, HOUR, 4 * HOUR)["reasons"])["rule"] == "rule-2"


class TestScopes:
    def test_types_projects_roles_and_exemptions(self, env: HttpEnv) -> None:
        use_rules(
            env,
            'kind: longest, longest_hours: 1, applies_to: {resource_types: ["virtual:instance"]}',
            f"kind: longest, longest_hours: 2, applies_to: {{projects: [{STRANGER.project}]}}",
            "kind: longest, longest_hours: 3, applies_to: {roles: [admin]}",
            f"kind: longest, longest_hours: 4, exempt_projects: [{LESSEE.project}]",
            "kind: longest, longest_hours: 5",
        )

        for who, hours in ((STRANGER, 2), (ADMIN, 3), (LESSEE, 5)):
            lease = env.create(HOUR, (1 + hours) * HOUR, who=who)
            answer = env.post("/leases", env.wish(HOUR, (1 + hours) * HOUR + 1), who=who)
            assert f"lasts at most {hours} hours" in refusal(answer, 403), who
            env.delete(f"/leases/{lease['id']}", who=who)

    def test_a_rule_that_is_only_logged_refuses_and_decides_nothing(
        self, env: HttpEnv, caplog: pytest.LogCaptureFixture
    ) -> None:
        use_rules(
            env,
            "kind: longest, longest_hours: 2, mode: log",
            "kind: longest, longest_hours: 5",
        )

        with caplog.at_level(logging.INFO, "blazar.app.usage_rules"):
            env.create(HOUR, 3 * HOUR)
            assert caplog.messages == []
            lease = env.create(HOUR, 4 * HOUR)
        assert only(refused(env, HOUR, 9 * HOUR)["reasons"])["rule"] == "rule-2"

        (message,) = caplog.messages
        assert message == (
            f"usage rule would refuse: rule=rule-1 kind=longest lease_id={lease['id']} project_id=project"
            " resource_type=physical:host reason=end_date: all resource types: a lease lasts at most 2 hours;"
            " the latest end is Wed 2031-01-01 03:00 UTC (rule rule-1)"
        )


def test_refusals_are_counted(env: HttpEnv) -> None:
    counts = Counts()
    use_rules(env, "kind: longest, longest_hours: 3", "kind: shortest, shortest_hours: 9, mode: log")
    env.restart(replace(env.context, meter=counts))

    env.create(HOUR, 3 * HOUR)
    refused(env, HOUR, 9 * HOUR)

    assert counts.of(RULE_REFUSALS) == {("rule-2", "log"): 1, ("rule-1", "enforce"): 1}


class TestQuestions:
    def test_a_search_finds_only_what_is_permitted(self, env: HttpEnv) -> None:
        use_rules(
            env,
            "kind: lead_time, lead_hours: 2",
            f"kind: horizon, start_hours: 5, {R1}",
            "kind: horizon, start_hours: 20",
            "kind: longest, longest_hours: 3",
        )

        body = {"reservations": [host_reservation(min=3, max=3)], "duration_minutes": 60}
        answer = good(env.post("/availability/search", body, who=LESSEE, headers=NEWER))
        (slot,) = answer["slots"]

        assert (slot["start_date"], slot["latest_start_date"]) == (env.date(2 * HOUR), env.date(5 * HOUR))
        good(env.post("/leases", {"name": "n", **slot["request"]}, who=LESSEE), 201)

    def test_the_longest_slot_is_at_least_the_shortest_lease(self, env: HttpEnv) -> None:
        use_rules(env, "kind: shortest, shortest_hours: 3", "kind: longest, longest_hours: 6")
        env.create(5 * HOUR, 8 * HOUR, min=4, max=4)

        def search(latest_end: int) -> Json:
            body = {
                "reservations": [host_reservation(min=1, max=1)],
                "order": "longest",
                "min_duration_minutes": 30,
                "max_duration_minutes": 9 * HOUR,
                "latest_end": env.date(latest_end),
            }
            return dict(good(env.post("/availability/search", body, who=LESSEE, headers=NEWER)))

        (slot,) = search(8 * HOUR)["slots"]
        assert (slot["start_date"], slot["end_date"]) == (env.date(0), env.date(5 * HOUR))
        assert search(2 * HOUR)["slots"] == []
        assert only(search(2 * HOUR)["reasons"])["code"] == "shortest"

    def test_the_possible_changes_of_a_lease(self, env: HttpEnv) -> None:
        use_rules(env, "kind: extension, last_hours: 2, most_hours: 3")
        lease = env.create("now", 10 * HOUR)
        env.work()

        def latest_end() -> object:
            body = {"lease_id": lease["id"]}
            found = good(env.post("/availability/search", body, who=LESSEE, headers=NEWER))
            return found["latest_end_date"]

        assert latest_end() is None
        env.pass_time(9 * HOUR)
        assert latest_end() == env.date(13 * HOUR)

    def test_a_dry_run_and_an_offer_obey(self, env: HttpEnv) -> None:
        use_rules(env, "kind: longest, longest_hours: 3")

        for path in ("/leases?dry_run=true", "/offers"):
            answer = env.post(path, env.wish(HOUR, 9 * HOUR), who=LESSEE, headers=NEWER)
            assert answer.status_code == 403, path
            assert only(answer.json["reasons"])["code"] == "longest"

    def test_an_offer_is_committed_as_of_its_request(self, env: HttpEnv) -> None:
        use_rules(env, "kind: lead_time, lead_minutes: 30", "kind: extension, last_minutes: 30")
        body = {**env.wish(30, 60), "ttl_seconds": 600}
        offer = good(env.post("/offers", body, who=LESSEE, headers=NEWER), 201)["offer"]
        env.pass_time(5)

        refusal(env.post("/leases", env.wish(30, 60), who=LESSEE), 403)
        good(env.post("/leases", {"offer_id": offer["id"]}, who=LESSEE, headers=NEWER), 201)
