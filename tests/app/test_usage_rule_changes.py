"""Usage rules about changes of leases, as lessees experience them on the embedded service."""

from __future__ import annotations

import pytest
from app.http_env import HttpEnv
from app.rules import change_refused, only, racks, use_rules

pytestmark = pytest.mark.usefixtures("hosts")

HOUR, DAY = 60, 24 * 60
R1 = "applies_to: {resources: rack=r1}"


class TestChanges:
    def test_what_does_not_grow_is_allowed_after_a_rule_was_added(self, env: HttpEnv) -> None:
        lease = env.create(40 * DAY, 45 * DAY)
        use_rules(
            env,
            "kind: longest, longest_days: 2",
            "kind: horizon, start_days: 30, end_days: 30",
            "kind: shortest, shortest_hours: 1",
        )

        env.change(lease, end_date=env.date(44 * DAY))
        env.change(lease, start_date=env.date(39 * DAY), end_date=env.date(43 * DAY))
        env.change(lease, name="other")
        answer = change_refused(env, lease, end_date=env.date(45 * DAY))

        codes = [each["code"] for each in answer["reasons"][0]["rules"]]
        assert codes == ["horizon", "longest"]
        assert change_refused(env, lease, end_date=env.date(39 * DAY + 30))["reasons"][0]["binding"] == "rule"

    def test_the_lead_time_counts_for_earlier_starts_and_added_hosts(self, env: HttpEnv) -> None:
        use_rules(env, "kind: lead_time, lead_hours: 4")
        lease = env.create(10 * HOUR, 12 * HOUR)
        env.change(lease, start_date=env.date(5 * HOUR))
        change_refused(env, lease, start_date=env.date(3 * HOUR))
        env.pass_time(3 * HOUR)

        env.change(lease, start_date=env.date(6 * HOUR))
        more = [{"id": lease["reservations"][0]["id"], "min": 2, "max": 2}]
        answer = change_refused(env, lease, reservations=more)

        assert only(answer["reasons"])["code"] == "lead_time"

    def test_a_running_lease_can_be_shortened_below_the_shortest(self, env: HttpEnv) -> None:
        use_rules(env, "kind: shortest, shortest_hours: 5")
        lease = env.create("now", 6 * HOUR)
        env.work()
        env.pass_time(30)

        assert env.change(lease, end_date="now")["id"] == lease["id"]

    def test_a_lease_of_some_hosts_moves_to_others_that_are_permitted(self, env: HttpEnv) -> None:
        use_rules(env, f"kind: longest, longest_hours: 3, {R1}")
        lease = env.create(HOUR, 2 * HOUR)
        assert racks(env, lease) == ["r1"]

        env.change(lease, end_date=env.date(9 * HOUR))

        assert racks(env, lease) == ["r2"]

    def test_alternatives_of_a_change_are_permitted(self, env: HttpEnv) -> None:
        use_rules(env, "kind: longest, longest_hours: 3", "kind: lead_time, lead_minutes: 30")
        lease = env.create(HOUR, 2 * HOUR)

        answer = change_refused(env, lease, start_date=env.date(10), end_date=env.date(6 * HOUR))

        assert answer["alternatives"] == []
        answer = change_refused(env, lease, end_date=env.date(6 * HOUR))
        (shorter,) = answer["alternatives"]
        assert shorter["bodies"] == [{"end_date": env.date(4 * HOUR)}]
        env.change(lease, **shorter["bodies"][0])


class TestExtensions:
    RULE = "kind: extension, last_hours: 2, most_hours: 3"

    def test_only_in_the_last_hours(self, env: HttpEnv) -> None:
        use_rules(env, self.RULE)
        lease = env.create("now", 10 * HOUR)
        env.work()

        answer = change_refused(env, lease, end_date=env.date(11 * HOUR))

        assert only(answer["reasons"]) == {
            "code": "extension",
            "rule": "rule-1",
            "summary": "end_date: all resource types: a lease that has started can be extended only in its"
            " last 2 hours, by at most 3 hours at a time; you can extend the lease from Wed 2031-01-01 08:00"
            " UTC (rule rule-1)",
            "possible_from": env.date(8 * HOUR),
        }
        assert answer["alternatives"] == []
        env.pass_time(8 * HOUR)
        env.change(lease, end_date=env.date(11 * HOUR))

    def test_by_at_most_so_much(self, env: HttpEnv) -> None:
        use_rules(env, self.RULE)
        lease = env.create("now", 10 * HOUR)
        env.work()
        env.pass_time(9 * HOUR)

        answer = change_refused(env, lease, end_date=env.date(14 * HOUR))

        assert only(answer["reasons"])["latest_end_date"] == env.date(13 * HOUR)
        (shorter,) = answer["alternatives"]
        env.change(lease, **shorter["bodies"][0])
        assert env.lease(lease["id"])["end_date"] == env.shown(13 * HOUR)

    def test_a_lease_that_has_not_started_is_changed_freely(self, env: HttpEnv) -> None:
        use_rules(env, self.RULE)
        lease = env.create(HOUR, 10 * HOUR)

        env.change(lease, end_date=env.date(20 * HOUR))

    @pytest.mark.parametrize("is_beyond", [True, False])
    def test_beyond_the_longest_lease_if_so_stated(self, env: HttpEnv, is_beyond: bool) -> None:
        use_rules(
            env,
            f"{self.RULE}, beyond_longest: {str(is_beyond).lower()}",
            "kind: longest, longest_hours: 10",
        )
        lease = env.create("now", 10 * HOUR)
        env.work()
        env.pass_time(9 * HOUR)

        if is_beyond:
            env.change(lease, end_date=env.date(12 * HOUR))
        else:
            answer = change_refused(env, lease, end_date=env.date(12 * HOUR))
            assert only(answer["reasons"])["code"] == "longest"
