"""Offers for changes of leases: what an extension, a move or a larger amount needs is held for a time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from app.http_env import LESSEE, STRANGER, HttpEnv, Json, good, quiet_settings, refusal
from app.offers import V11, ask_for, delete, hold, is_possible, listed, show, take, taken
from app.slots import instances
from app.test_offers import fail_host

from blazar.settings import Settings

pytestmark = pytest.mark.usefixtures("hosts")
SECOND = timedelta(seconds=1)
MICROSECOND = timedelta(microseconds=1)


class TestExtension:
    def test_the_same_hosts_are_held_for_the_additional_time_only(self, env: HttpEnv) -> None:
        lease = env.create(10, 60, min=4, max=4)
        hosts = env.booked(lease)

        made = hold(env, lease, end_date=env.date(90))

        assert (made["lease_id"], made["status"]) == (lease["id"], "OPEN")
        assert (made["start_date"], made["end_date"]) == (env.shown(10), env.shown(90))
        assert made["reservations"][0]["id"] == lease["reservations"][0]["id"]
        assert made["reservations"][0]["amount"] == 4
        assert not is_possible(env, start=60, end=90)
        assert is_possible(env, start=90, end=120, min=4, max=4)
        assert is_possible(env, start="now", end=10, min=4, max=4)
        assert env.lease(lease["id"])["end_date"] == env.shown(60)
        extended = taken(env, lease, made)
        assert extended["end_date"] == env.shown(90)
        assert env.booked(lease) == hosts
        assert not is_possible(env, start=60, end=90)
        assert listed(env) == []
        assert good(show(env, made))["offer"]["status"] == "COMMITTED"

    def test_a_lease_that_runs_is_extended_at_the_last_instant(self, env: HttpEnv) -> None:
        lease = env.create("now", 5, min=4, max=4)
        env.work()
        made = hold(env, lease, end_date=env.date(30), ttl_seconds=900)
        assert made["expires_at"] == env.shown(5)
        env.pass_time(4)
        env.clock.advance(59 * SECOND)

        taken(env, lease, made)

        env.pass_time(20)
        assert env.status(lease) == "ACTIVE"
        assert len(env.members(lease)) == 4
        env.pass_time(31)
        assert env.status(lease) == "TERMINATED"

    def test_a_lease_may_start_between_the_offer_and_its_commit(self, env: HttpEnv) -> None:
        lease = env.create(2, 60, min=4, max=4)
        made = hold(env, lease, end_date=env.date(90))
        env.pass_time(3)
        assert env.status(lease) == "ACTIVE"

        assert taken(env, lease, made)["end_date"] == env.shown(90)

    @pytest.mark.parametrize("other_manager", [False, True])
    def test_an_expired_offer_frees_its_time_and_the_lease_keeps_its_own(
        self, env: HttpEnv, other_manager: bool
    ) -> None:
        lease = env.create(10, 60, min=4, max=4)
        made = hold(env, lease, end_date=env.date(90), ttl_seconds=30)
        if other_manager:
            env.forget_indexes()
        env.clock.advance(30 * SECOND - MICROSECOND)
        assert not is_possible(env, start=60, end=90)
        env.clock.advance(SECOND)

        assert is_possible(env, start=60, end=90, min=4, max=4)
        assert not is_possible(env, start=50, end=60)
        before = env.snapshot()
        assert "offer_id" in refusal(take(env, lease, made), 410)
        assert env.snapshot() == before

    def test_the_offer_is_committed_by_another_manager(self, env: HttpEnv) -> None:
        lease = env.create(10, 60, min=4, max=4)
        made = hold(env, lease, end_date=env.date(90))
        env.forget_indexes()

        taken(env, lease, made)

        assert not is_possible(env, start=60, end=90)
        env.forget_indexes()
        assert not is_possible(env, start=60, end=90)

    def test_no_cleaning_time_is_owed_between_a_lease_and_its_offer(
        self, env_with: Callable[[Settings], HttpEnv]
    ) -> None:
        env = env_with(quiet_settings(cleaning_minutes=10))
        env.register("h1", "h2")
        lease = env.create("now", 60, min=2, max=2)
        env.work()
        made = hold(env, lease, end_date=env.date(90))

        assert not is_possible(env, start=99, end=120)
        assert is_possible(env, start=100, end=120)
        grown = hold(env, lease, end_date=env.date(120))
        env.work()
        assert env.status(lease) == "ACTIVE"
        good(delete(env, grown), 204)
        assert not is_possible(env, start=99, end=120)
        taken(env, lease, made)
        assert not is_possible(env, start=99, end=120)
        assert is_possible(env, start=100, end=120)

    def test_what_others_have_booked_is_refused_with_alternatives(self, env: HttpEnv) -> None:
        lease = env.create(10, 60, min=4, max=4)
        env.create(80, 120, min=1, max=1, who=STRANGER)
        before = env.snapshot()

        answer = ask_for(env, lease, {"end_date": env.date(90), "ttl_seconds": 60})

        refusal(answer, 409)
        assert env.snapshot() == before
        assert answer.json["reasons"]
        [first, *_] = answer.json["alternatives"]
        made = good(
            env.post(f"/leases/{lease['id']}/offers", first["bodies"][0], who=LESSEE, headers=V11), 201
        )
        taken(env, lease, made["offer"])


class TestOtherChanges:
    def test_more_hosts_are_held_for_the_rest_of_the_lease(self, env: HttpEnv) -> None:
        lease = env.create("now", 60, min=1, max=1)
        env.work()
        present = env.booked(lease)

        made = hold(env, lease, reservation={"min": 3, "max": 3})

        assert made["reservations"][0]["amount"] == 3
        assert is_possible(env, start=5, end=60, min=1, max=1)
        assert not is_possible(env, start=5, end=60, min=2, max=2)
        env.clock.advance(60 * SECOND)
        answer = good(take(env, lease, made))
        assert len(answer["changes"][0]["added"]) == 2
        assert set(answer["changes"][0]["kept"]) == present
        env.work()
        assert len(env.members(lease)) == 3

    def test_a_lease_is_moved(self, env: HttpEnv) -> None:
        lease = env.create(60, 120, min=4, max=4)

        made = hold(env, lease, start_date=env.date(90), end_date=env.date(150))

        assert not is_possible(env, start=120, end=150)
        assert not is_possible(env, start=60, end=90)
        assert is_possible(env, start=30, end=60)
        taken(env, lease, made)
        assert is_possible(env, start=60, end=90, min=4, max=4)
        assert not is_possible(env, start=90, end=150)

    def test_a_lease_that_is_moved_to_now_starts_when_the_offer_is_committed(self, env: HttpEnv) -> None:
        lease = env.create(60, 120, min=4, max=4)
        made = hold(env, lease, start_date="now")
        assert not is_possible(env, start="now", end=30)
        env.clock.advance(timedelta(minutes=4))

        moved = taken(env, lease, made)

        assert moved["start_date"] == env.shown(4)
        env.work()
        assert env.status(lease) == "ACTIVE"

    def test_an_offer_expires_before_the_change_becomes_impossible(self, env: HttpEnv) -> None:
        lease = env.create(3, 60)

        earlier = hold(env, lease, start_date=env.date(2))
        grown = hold(env, lease, reservation={"max": 2})
        longer = hold(env, lease, end_date=env.date(70))

        assert earlier["expires_at"] == env.shown(2)
        assert grown["expires_at"] == env.shown(3)
        assert longer["expires_at"] == env.shown(5 + 20 / 60)

    def test_a_reservation_is_added_and_another_removed(self, env: HttpEnv) -> None:
        lease = env.create(10, 60, min=1, max=1)
        [old] = lease["reservations"]
        new = {**env.wish(min=3, max=3)["reservations"][0]}

        made = hold(env, lease, reservations=[{"id": old["id"], "remove": True}, new])

        [shown] = made["reservations"]
        assert (shown["amount"], shown["id"] == old["id"]) == (3, False)
        assert not is_possible(env, start=10, end=60, min=2, max=2)
        changed = taken(env, lease, made)
        assert [each["id"] for each in changed["reservations"]] == [shown["id"]]
        assert len(env.booked(lease)) == 3
        assert is_possible(env, start=10, end=60, min=1, max=1)

    def test_more_instances_are_held_beside_those_of_the_lease(self, env: HttpEnv) -> None:
        size = {"vcpus": 4, "memory_mb": 16, "disk_gb": 0}
        lease = env.create(10, 60, asked=instances(amount=2, **size))
        with env.context.store.read() as transaction:
            free = 0
            while env_possible(env, free + 1, size):
                free += 1

        made = hold(env, lease, reservation={"amount": 2 + free})

        assert not env_possible(env, 1, size)
        taken(env, lease, made)
        assert not env_possible(env, 1, size)
        with env.context.store.read() as transaction:
            held = transaction.allocations.list_held(lease["id"])
        assert sum(each.slots or 0 for each in held) == 2 + free

    def test_a_change_that_needs_nothing_holds_nothing(self, env: HttpEnv) -> None:
        lease = env.create(10, 60, min=4, max=4)

        made = hold(env, lease, end_date=env.date(40))

        assert not is_possible(env, start=40, end=60)
        taken(env, lease, made)
        assert is_possible(env, start=40, end=60)

    def test_a_conflict_is_resolved_as_asked(self, env: HttpEnv) -> None:
        lease = env.create("now", 60, min=2, max=2)
        env.work()
        one = sorted(env.booked(lease))[0]
        blocked = env.create(60, 120, who=STRANGER, resource_properties=f'["==", "$id", "{one}"]')
        assert env.booked(blocked) == {one}
        body: Json = {"end_date": env.date(90), "reservation": {"on_conflict": "replace"}}

        made = hold(env, lease, **body)

        assert not is_possible(env, start=60, end=90, min=2, max=2)
        taken(env, lease, made)
        assert len(env.booked(lease)) == 2
        assert one not in env.booked(lease)

    def test_a_conflict_that_has_gone_is_not_resolved(self, env: HttpEnv) -> None:
        lease = env.create(10, 60, min=2, max=2)
        both = env.booked(lease)
        one = sorted(both)[0]
        blocked = env.create(60, 120, who=STRANGER, resource_properties=f'["==", "$id", "{one}"]')
        made = hold(env, lease, end_date=env.date(90), reservation={"on_conflict": "drop"})
        assert made["reservations"][0]["amount"] == 1
        good(env.delete(f"/leases/{blocked['id']}"), 204)

        taken(env, lease, made)

        assert env.booked(lease) == both


def env_possible(env: HttpEnv, amount: int, size: Json) -> bool:
    """Return whether so many instances are possible beside the lease of the test."""
    return is_possible(env, start=10, end=60, asked=instances(amount=amount, **size))


class TestChangesOfTheLease:
    def test_a_change_makes_the_offers_of_the_lease_outdated(self, env: HttpEnv) -> None:
        lease = env.create(10, 60, min=4, max=4)
        longer, longest = (hold(env, lease, end_date=env.date(end)) for end in (90, 120))
        assert not is_possible(env, start=90, end=120)

        taken(env, lease, longer)

        assert is_possible(env, start=90, end=120, min=4, max=4)
        assert not is_possible(env, start=60, end=90)
        assert good(show(env, longest))["offer"]["status"] == "OUTDATED"
        assert lease["id"] in refusal(take(env, lease, longest), 409)
        assert lease["id"] in refusal(take(env, lease, longer), 409)
        assert listed(env) == []
        good(delete(env, longest), 204)
        refusal(delete(env, longer), 409)

    def test_a_change_may_use_what_the_offers_of_the_lease_hold(self, env: HttpEnv) -> None:
        lease = env.create(10, 60, min=4, max=4)
        made = hold(env, lease, end_date=env.date(120))

        env.change(lease, end_date=env.date(90))

        assert not is_possible(env, start=60, end=90)
        assert is_possible(env, start=90, end=120, min=4, max=4)
        refusal(take(env, lease, made), 409)

    def test_a_new_name_changes_nothing_for_offers(self, env: HttpEnv) -> None:
        lease = env.create(10, 60, min=4, max=4)
        made = hold(env, lease, end_date=env.date(120))
        env.change(lease, name="day")

        extended = taken(env, lease, made)

        assert (extended["name"], extended["end_date"]) == ("day", env.shown(120))

    def test_the_name_of_the_request_is_given_by_the_commit(self, env: HttpEnv) -> None:
        lease = env.create(10, 60)
        made = hold(env, lease, end_date=env.date(120), name="longer")
        assert env.lease(lease["id"])["name"] == lease["name"]

        assert taken(env, lease, made)["name"] == "longer"

    @pytest.mark.parametrize("is_active", [False, True])
    def test_a_deleted_lease_has_no_offers(self, env: HttpEnv, is_active: bool) -> None:
        lease = env.create("now" if is_active else 10, 60, min=4, max=4)
        if is_active:
            env.work()
        made = hold(env, lease, end_date=env.date(90))

        good(env.delete(f"/leases/{lease['id']}", who=LESSEE), 204)

        assert is_possible(env, start=60, end=90, min=4, max=4)
        env.work()
        refusal(take(env, lease, made), 404)
        refusal(show(env, made), 404)
        assert listed(env) == []

    def test_after_a_failure_others_are_chosen(self, env: HttpEnv) -> None:
        lease = env.create(10, 60, min=1, max=1)
        made = hold(env, lease, reservation={"min": 2, "max": 2})
        held = {each for each in hosts_of(env, made) if each not in env.booked(lease)}
        for each in held:
            fail_host(env, each)

        taken(env, lease, made)

        assert len(env.booked(lease)) == 2
        assert not env.booked(lease) & held

    def test_without_another_host_the_commit_is_refused_and_the_offer_remains(self, env: HttpEnv) -> None:
        lease = env.create(10, 60, min=3, max=3)
        made = hold(env, lease, reservation={"min": 4, "max": 4})
        for each in hosts_of(env, made) - env.booked(lease):
            fail_host(env, each)
        before = env.snapshot()

        answer = take(env, lease, made)

        refusal(answer, 409)
        assert answer.json["reasons"]
        assert env.snapshot() == before
        assert listed(env) == [made["id"]]


def hosts_of(env: HttpEnv, made: Json) -> set[str]:
    """Return the hosts that an offer for a lease would give to it."""
    with env.context.store.read() as transaction:
        found = transaction.offers.find(made["id"])
    assert found is not None
    assert found.change is not None
    return {str(key) for held in found.change.after.values() for key in held}
