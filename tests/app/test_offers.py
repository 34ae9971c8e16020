"""Offers: resources are held for a short time, and a lease may be made of them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from app.http_env import ADMIN, LESSEE, STRANGER, HttpEnv, Json, Who, good, refusal
from app.offers import V11, ask, commit, delete, is_possible, listed, offer, show, wish

from blazar.domain.health import Diagnosis, Health
from blazar.domain.lease import ResourceId

pytestmark = pytest.mark.usefixtures("hosts")
SECOND = timedelta(seconds=1)
COLLEAGUE = Who(user="colleague")


def fail_host(env: HttpEnv, host_id: str) -> None:
    with env.context.store.begin() as transaction:
        failed = Diagnosis(health=Health.FAILED, problem="it is on fire")
        transaction.resources.set_diagnosis(ResourceId(host_id), failed, env.clock.now())
        transaction.commit()


@pytest.fixture
def one_host(env: HttpEnv) -> Json:
    """Leave one free host, and return the reservation of the others."""
    return env.create("now", 24 * 60, min=3, max=3, who=ADMIN)


class TestHolding:
    def test_an_offer_says_what_it_holds_and_until_when(self, env: HttpEnv) -> None:
        made = offer(env, 10, 60, min=2, max=3, ttl_seconds=60)

        now = env.clock.now().replace(tzinfo=None)
        assert made["status"] == "OPEN"
        assert made["expires_at"] == (now + 60 * SECOND).isoformat(timespec="microseconds")
        assert (made["start_date"], made["end_date"]) == (env.shown(10), env.shown(60))
        assert (made["project_id"], made["user_id"]) == (LESSEE.project, LESSEE.user)
        [reservation] = made["reservations"]
        assert (reservation["resource_type"], reservation["amount"]) == ("physical:host", 3)
        assert (reservation["min"], reservation["max"]) == (2, 3)
        assert good(show(env, made))["offer"] == made
        assert listed(env) == [made["id"]]

    def test_the_ttl_is_five_minutes_by_default_and_ends_with_the_lease(self, env: HttpEnv) -> None:
        assert offer(env)["expires_at"] == env.shown(5 + 20 / 60)
        assert offer(env, "now", 2)["expires_at"] == env.shown(2)

    def test_what_is_held_is_not_given_to_others(self, env: HttpEnv) -> None:
        offer(env, min=3, max=3)

        assert is_possible(env, min=1, max=1)
        assert not is_possible(env, min=2, max=2)
        assert "Not enough hosts" in refusal(ask(env, wish(env, min=2, max=2), STRANGER), 409)
        assert is_possible(env, start=60, end=90, min=4, max=4)

    def test_an_offer_does_nothing_in_the_cloud_and_sends_nothing(self, env: HttpEnv) -> None:
        aggregates = env.aggregates()

        offer(env, min=4, max=4)
        env.work()

        assert env.aggregates() == aggregates
        assert env.sent.event_types == []
        assert good(env.get("/leases", who=ADMIN))["leases"] == []

    def test_a_deleted_offer_holds_nothing_any_more(self, env: HttpEnv) -> None:
        made = offer(env, min=4, max=4)
        assert not is_possible(env)

        good(delete(env, made), 204)

        assert is_possible(env, min=4, max=4)
        refusal(show(env, made), 404)
        refusal(delete(env, made), 404)
        refusal(commit(env, made), 404)

    @pytest.mark.parametrize("other_manager", [False, True])
    def test_an_expired_offer_frees_its_resources_within_a_second(
        self, env: HttpEnv, other_manager: bool
    ) -> None:
        made = offer(env, min=4, max=4, ttl_seconds=30)
        if other_manager:
            env.forget_indexes()
        env.clock.advance(30 * SECOND - timedelta(microseconds=1))
        assert not is_possible(env)
        assert good(show(env, made))["offer"]["status"] == "OPEN"

        env.clock.advance(timedelta(microseconds=1))
        assert good(show(env, made))["offer"]["status"] == "EXPIRED"
        assert listed(env) == []
        env.clock.advance(SECOND)

        assert is_possible(env, min=4, max=4)

    def test_a_host_that_is_offered_cannot_be_removed(self, env: HttpEnv) -> None:
        offer(env, min=4, max=4, ttl_seconds=30)
        host_id = good(env.get("/os-hosts"))["hosts"][0]["id"]

        refusal(env.delete(f"/os-hosts/{host_id}"), 409)
        env.clock.advance(31 * SECOND)

        good(env.delete(f"/os-hosts/{host_id}"), 204)


class TestCommitting:
    def test_a_lease_has_exactly_what_was_held(self, env: HttpEnv) -> None:
        made = offer(env, 10, 60, min=2, max=2, before_end_date=env.date(40))

        lease = good(commit(env, made, COLLEAGUE), 201)["lease"]

        assert lease["id"] == made["id"]
        assert (lease["name"], lease["user_id"]) == ("night", COLLEAGUE.user)
        assert (lease["start_date"], lease["end_date"]) == (env.shown(10), env.shown(60))
        times = {each["event_type"]: each["time"] for each in lease["events"]}
        assert times == {
            "start_lease": env.shown(10),
            "before_end_lease": env.shown(40),
            "end_lease": env.shown(60),
        }
        assert len(env.booked(lease)) == 2
        assert [each["id"] for each in lease["reservations"]] == [each["id"] for each in made["reservations"]]
        assert listed(env) == []
        shown = good(show(env, made))["offer"]
        assert (shown["status"], shown["lease_id"]) == ("COMMITTED", lease["id"])
        env.pass_time(11)
        assert env.status(lease) == "ACTIVE"
        assert len(env.members(lease)) == 2

    def test_more_hosts_that_became_free_are_not_added(self, env: HttpEnv, one_host: Json) -> None:
        made = offer(env, min=1, max=4)
        assert made["reservations"][0]["amount"] == 1
        good(env.delete(f"/leases/{one_host['id']}"), 204)
        env.work()

        lease = good(commit(env, made), 201)["lease"]

        assert len(env.booked(lease)) == 1

    def test_an_unexpired_offer_is_committed_up_to_the_last_instant(self, env: HttpEnv) -> None:
        made = offer(env, min=4, max=4, ttl_seconds=30)
        env.clock.advance(30 * SECOND - timedelta(microseconds=1))

        good(commit(env, made), 201)

    def test_an_expired_offer_is_gone_even_if_its_resources_are_free(self, env: HttpEnv) -> None:
        made = offer(env, ttl_seconds=30)
        env.clock.advance(30 * SECOND)
        before = env.snapshot()

        assert "offer_id" in refusal(commit(env, made), 410)

        assert env.snapshot() == before

    def test_the_lease_keeps_its_resources_after_the_offer_would_have_expired(self, env: HttpEnv) -> None:
        made = offer(env, min=4, max=4, ttl_seconds=30)
        good(commit(env, made), 201)
        env.clock.advance(60 * SECOND)

        assert not is_possible(env)
        env.forget_indexes()
        assert not is_possible(env)

    def test_an_offer_is_committed_once(self, env: HttpEnv) -> None:
        made = offer(env)
        good(commit(env, made), 201)
        before = env.snapshot()

        assert made["id"] in refusal(commit(env, made), 409)
        refusal(delete(env, made), 409)

        assert env.snapshot() == before

    def test_the_name_of_the_offer_is_the_default(self, env: HttpEnv) -> None:
        named = good(ask(env, {**wish(env), "name": "evening"}), 201)["offer"]
        nameless = offer(env)

        lease = good(env.post("/leases", {"offer_id": named["id"]}, who=LESSEE, headers=V11), 201)["lease"]

        assert lease["name"] == "evening"
        answer = env.post("/leases", {"offer_id": nameless["id"]}, who=LESSEE, headers=V11)
        assert "name" in refusal(answer, 400)

    def test_a_failed_host_is_replaced(self, env: HttpEnv) -> None:
        made = offer(env, 10, 60, min=2, max=4)
        for each in good(env.get("/os-hosts"))["hosts"][:2]:
            fail_host(env, each["id"])

        lease = good(commit(env, made), 201)["lease"]

        assert len(env.booked(lease)) == 2
        assert is_possible(env, start=100, end=120, min=2, max=2)
        env.pass_time(11)
        assert env.status(lease) == "ACTIVE"

    def test_a_failed_host_without_replacement_is_refused_and_the_offer_remains(
        self, env: HttpEnv, one_host: Json
    ) -> None:
        made = offer(env)
        for each in good(env.get("/os-hosts"))["hosts"]:
            fail_host(env, each["id"])
        before = env.snapshot()

        refusal(commit(env, made), 409)

        assert env.snapshot() == before
        assert listed(env) == [made["id"]]

    def test_a_resource_that_an_earlier_lease_has_not_released_yet_is_kept(self, env: HttpEnv) -> None:
        env.create("now", 2, min=4, max=4, who=STRANGER)
        env.work()
        made = offer(env, 2, 60, min=4, max=4)
        env.clock.advance(timedelta(minutes=3))

        lease = good(commit(env, made), 201)["lease"]

        env.work()
        env.pass_time(5)
        assert env.status(lease) == "ACTIVE"

    def test_instances_and_hosts_are_held_together(self, env: HttpEnv) -> None:
        body = wish(env, 10, 60, min=1, max=1)
        slots = {
            "resource_type": "virtual:instance",
            "amount": 3,
            "vcpus": 1,
            "memory_mb": 16,
            "disk_gb": 0,
            "affinity": None,
            "resource_properties": "",
        }
        body["reservations"].append(slots)

        made = good(ask(env, body), 201)["offer"]
        lease = good(commit(env, made), 201)["lease"]

        assert [each["amount"] for each in made["reservations"]] == [1, 3]
        with env.context.store.read() as transaction:
            held = transaction.allocations.list_held(lease["id"])
        assert sorted(each.slots or 0 for each in held)[0] == 0
        assert sum(each.slots or 0 for each in held) == 3
