"""Usage rules that count what a project uses: cool-down and stacking."""

from __future__ import annotations

import pytest
from app.http_env import LESSEE, NEWER, STRANGER, HttpEnv, Who, good, host_reservation, refusal
from app.rules import change_refused, only, racks, refused, take_all, use_rules
from clocks import EPOCH

from blazar.reconcile.periodic.tasks import DELETE_USES

pytestmark = pytest.mark.usefixtures("hosts")

HOUR, DAY = 60, 24 * 60
R1 = "applies_to: {resources: rack=r1}"
IN_R1 = '["==", "$rack", "r1"]'
COLLEAGUE = Who(user="colleague", project=LESSEE.project or "")


class TestCoolDown:
    def test_time_lies_between_two_leases_of_a_project(self, env: HttpEnv) -> None:
        use_rules(env, "kind: cool_down, cool_down_hours: 2")
        env.create(10 * HOUR, 12 * HOUR)

        answer = refused(env, 13 * HOUR, 15 * HOUR)

        assert only(answer["reasons"]) == {
            "code": "cool_down",
            "rule": "rule-1",
            "summary": "start_date: all resource types: at least 2 hours lie between two leases of a project;"
            " the earliest start is Wed 2031-01-01 14:00 UTC (rule rule-1)",
            "possible_from": None,
            "earliest_start_date": env.date(14 * HOUR),
        }
        assert {"later", "earlier"} <= set(take_all(env, answer))
        refused(env, 7 * HOUR, 9 * HOUR)
        refused(env, 11 * HOUR, 15 * HOUR)
        env.create(14 * HOUR, 15 * HOUR)
        env.create(6 * HOUR, 8 * HOUR)
        env.create(10 * HOUR, 11 * HOUR, who=COLLEAGUE)
        env.create(13 * HOUR, 15 * HOUR, who=STRANGER)

    def test_also_after_the_lease_was_deleted_or_shortened(self, env: HttpEnv) -> None:
        use_rules(env, "kind: cool_down, cool_down_hours: 2")
        lease = env.create("now", 10 * HOUR)
        env.work()
        env.pass_time(HOUR)
        env.delete(f"/leases/{lease['id']}", who=LESSEE)
        env.work()
        assert env.get(f"/leases/{lease['id']}").status_code == 404

        answer = refused(env, 2 * HOUR, 3 * HOUR)

        assert only(answer["reasons"])["earliest_start_date"] == env.date(3 * HOUR)
        env.create(3 * HOUR, 4 * HOUR)

    def test_a_deleted_lease_that_had_not_started_does_not_count(self, env: HttpEnv) -> None:
        use_rules(env, "kind: cool_down, cool_down_hours: 2")
        lease = env.create(HOUR, 2 * HOUR)
        env.delete(f"/leases/{lease['id']}", who=LESSEE)
        env.work()

        env.create(3 * HOUR, 4 * HOUR)

    def test_past_uses_are_forgotten_after_the_cool_down(self, env: HttpEnv) -> None:
        use_rules(env, "kind: cool_down, cool_down_hours: 2")
        env.create("now", HOUR)
        env.pass_time(2 * HOUR)
        refusal(env.post("/leases", env.wish("now", 4 * HOUR), who=LESSEE), 403)

        env.pass_time(3 * HOUR)

        env.create("now", 5 * HOUR)
        env.pass_time(10 * HOUR)
        now = env.clock.now()
        with env.context.store.begin() as transaction:
            assert len(transaction.uses.of_project(str(LESSEE.project), now, EPOCH)) == 2
            transaction.work.schedule([DELETE_USES], now)
            transaction.commit()
        env.work()
        with env.context.store.read() as transaction:
            assert transaction.uses.of_project(str(LESSEE.project), now, EPOCH) == []

    def test_only_of_the_same_resource(self, env: HttpEnv) -> None:
        use_rules(env, "kind: cool_down, cool_down_hours: 2, same_resource: true")
        env.create(10 * HOUR, 12 * HOUR, min=3, max=3)

        env.create(13 * HOUR, 14 * HOUR)
        answer = refused(env, 13 * HOUR, 14 * HOUR, 403)

        assert "of the same resource of a project" in only(answer["reasons"])["summary"]

    def test_only_among_resources_with_a_property(self, env: HttpEnv) -> None:
        use_rules(env, f"kind: cool_down, cool_down_hours: 2, {R1}")
        env.create(10 * HOUR, 12 * HOUR, resource_properties=IN_R1)

        lease = env.create(13 * HOUR, 14 * HOUR, min=2, max=2)
        refused(env, 13 * HOUR, 14 * HOUR, min=1, max=1, resource_properties=IN_R1)

        assert racks(env, lease) == ["r2", "r2"]

    def test_a_search_keeps_the_distance(self, env: HttpEnv) -> None:
        use_rules(env, "kind: cool_down, cool_down_hours: 2")
        env.create(5 * HOUR, 6 * HOUR)
        body = {
            "reservations": [host_reservation(min=1, max=1)],
            "duration_minutes": 90,
            "latest_end": env.date(20 * HOUR),
        }

        found = good(env.post("/availability/search", body, who=LESSEE, headers=NEWER))["slots"]

        times = [(each["start_date"], each["latest_start_date"]) for each in found]
        assert times == [
            (env.date(0), env.date(90)),
            (env.date(4.5 * HOUR), env.date(5 * HOUR)),
            (env.date(8 * HOUR), env.date(18.5 * HOUR)),
        ]
        for start, latest in times:
            for each in (start, latest):
                begin = next(minute for minute in range(20 * HOUR) if env.date(minute) == each)
                lease = env.create(begin, begin + 90)
                env.delete(f"/leases/{lease['id']}", who=LESSEE)
                env.work()

    def test_an_extension_keeps_the_distance_too(self, env: HttpEnv) -> None:
        use_rules(env, "kind: cool_down, cool_down_hours: 2")
        lease = env.create("now", 2 * HOUR)
        env.create(5 * HOUR, 6 * HOUR)
        env.work()

        answer = change_refused(env, lease, end_date=env.date(4 * HOUR))

        assert only(answer["reasons"])["code"] == "cool_down"
        (shorter,) = answer["alternatives"]
        assert shorter["bodies"] == [{"end_date": env.date(3 * HOUR)}]
        env.change(lease, **shorter["bodies"][0])

    def test_a_lease_is_not_split_without_a_distance(self, env: HttpEnv) -> None:
        use_rules(env, "kind: cool_down, cool_down_hours: 2", "kind: longest, longest_hours: 3")

        answer = refused(env, HOUR, 6 * HOUR)

        assert take_all(env, answer) == ["shorter"]


class TestStacking:
    def test_hours_ahead_of_a_project(self, env: HttpEnv) -> None:
        use_rules(env, "kind: stacking, most_hours: 10")
        env.create(10 * HOUR, 14 * HOUR, min=2, max=2)

        answer = refused(env, 20 * HOUR, 23 * HOUR)

        assert only(answer["reasons"]) == {
            "code": "stacking",
            "rule": "rule-1",
            "summary": "reservations: all resource types: a project books at most 10 resource hours ahead;"
            " 8 hours are booked, and 3 more are requested; you can request this from Wed 2031-01-01 10:30"
            " UTC (rule rule-1)",
            "possible_from": env.date(10 * HOUR + 30),
        }
        assert "shorter" in take_all(env, answer)
        env.create(20 * HOUR, 23 * HOUR, who=STRANGER)
        env.create(20 * HOUR, 22 * HOUR)
        refusal(env.post("/leases", env.wish(30 * HOUR, 30 * HOUR + 1), who=COLLEAGUE), 403)

    def test_of_each_user(self, env: HttpEnv) -> None:
        use_rules(env, "kind: stacking, most_hours: 4, per: user")
        env.create(10 * HOUR, 14 * HOUR)

        env.create(10 * HOUR, 14 * HOUR, who=COLLEAGUE)
        refused(env, 20 * HOUR, 21 * HOUR)

    def test_in_any_period(self, env: HttpEnv) -> None:
        use_rules(env, "kind: stacking, most_hours: 5, period_days: 1")
        env.create(10 * HOUR, 14 * HOUR)

        env.create(DAY + 14 * HOUR, DAY + 18 * HOUR)
        env.create(5 * DAY, 5 * DAY + 5 * HOUR)
        refused(env, 20 * HOUR, 22 * HOUR)
        refused(env, DAY + 12 * HOUR, DAY + 14 * HOUR)
        env.create(DAY + 13 * HOUR, DAY + 14 * HOUR)

    def test_a_search_finds_the_first_time_with_hours_left(self, env: HttpEnv) -> None:
        use_rules(env, "kind: stacking, most_hours: 5, period_days: 1")
        env.create(10 * HOUR, 14 * HOUR)
        body = {"reservations": [host_reservation(min=1, max=1)], "duration_minutes": 2 * HOUR}

        found = good(env.post("/availability/search", body, who=LESSEE, headers=NEWER))["slots"]

        (slot,) = found
        assert slot["start_date"] == env.date(DAY + 9 * HOUR)
        good(env.post("/leases", {"name": "n", **slot["request"]}, who=LESSEE), 201)

    def test_only_resources_with_a_property_count(self, env: HttpEnv) -> None:
        use_rules(env, f"kind: stacking, most_hours: 4, {R1}")
        env.create(10 * HOUR, 14 * HOUR, resource_properties=IN_R1)

        lease = env.create(20 * HOUR, 24 * HOUR, min=2, max=2)

        assert racks(env, lease) == ["r2", "r2"]
        refused(env, 30 * HOUR, 31 * HOUR, resource_properties=IN_R1)

    def test_open_offers_and_changes_count(self, env: HttpEnv) -> None:
        use_rules(env, "kind: stacking, most_hours: 10")
        lease = env.create(10 * HOUR, 14 * HOUR)
        offer = good(env.post("/offers", env.wish(20 * HOUR, 24 * HOUR), who=LESSEE, headers=NEWER), 201)

        answer = change_refused(env, lease, end_date=env.date(17 * HOUR))
        assert only(answer["reasons"])["code"] == "stacking"
        body = {"offer_id": offer["offer"]["id"]}
        good(env.post("/leases", body, who=LESSEE, headers=NEWER), 201)
        env.change(lease, end_date=env.date(16 * HOUR))
        env.change(lease, start_date=env.date(50 * HOUR), end_date=env.date(56 * HOUR))

    def test_what_is_too_much_already_may_stay(self, env: HttpEnv) -> None:
        lease = env.create(10 * HOUR, 20 * HOUR, min=2, max=2)
        use_rules(env, "kind: stacking, most_hours: 5, period_days: 30")

        env.change(lease, end_date=env.date(19 * HOUR))
        change_refused(env, lease, end_date=env.date(20 * HOUR))
        change_refused(env, lease, start_date=env.date(30 * HOUR), end_date=env.date(38 * HOUR))
