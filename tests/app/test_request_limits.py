"""Limits on the size of a request: refused early, with the limit, the value and the option."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from app.http_env import LESSEE, NEWER, HttpEnv, Json, host_reservation, refusal
from app.slots import instances

from blazar.settings import RequestLimits

NAMES = ("reservations", "conditions", "expression_length", "amount")

pytestmark = pytest.mark.usefixtures("hosts")


def limited(env: HttpEnv, **limits: int) -> None:
    """Restart the service with only these limits."""
    settings = env.context.settings
    all_limits = RequestLimits(**dict.fromkeys(NAMES, 0) | limits)
    leases = replace(settings.leases, limits=all_limits)
    env.restart(replace(env.context, settings=replace(settings, leases=leases)))


def wish(env: HttpEnv, *reservations: Json) -> Json:
    return {**env.wish(60, 120), "reservations": list(reservations)}


def conditions(number: int) -> str:
    return json.dumps(["and", *([">=", "$vcpus", str(each)] for each in range(number))])


class TestReservations:
    def test_a_lease_with_too_many_is_refused_before_they_are_parsed(self, env: HttpEnv) -> None:
        limited(env, reservations=2)

        message = refusal(env.post("/leases", wish(env, *[{"resource_type": "?"}] * 3), who=LESSEE), 400)

        assert "has 3 elements" in message
        assert "at most 2 ([manager] max_reservations_per_lease)" in message
        assert env.post("/leases", wish(env, *[host_reservation()] * 2), who=LESSEE).status_code == 201

    def test_zero_is_no_limit(self, env: HttpEnv) -> None:
        limited(env)

        refusal(env.post("/leases", wish(env, *[host_reservation()] * 50), who=LESSEE), 400)
        assert env.post("/leases", wish(env, *[host_reservation()] * 3), who=LESSEE).status_code == 201


class TestConditions:
    def test_all_of_a_lease_count_together(self, env: HttpEnv) -> None:
        limited(env, conditions=4)
        two = host_reservation(hypervisor_properties=conditions(1), resource_properties=conditions(1))
        three = host_reservation(hypervisor_properties=conditions(2), resource_properties=conditions(1))

        message = refusal(env.post("/leases", wish(env, two, three), who=LESSEE), 400)

        assert "at most 4 in all its reservations ([manager] max_conditions_per_lease)" in message
        assert env.post("/leases", wish(env, two, two), who=LESSEE).status_code == 201

    def test_a_change_cannot_add_more(self, env: HttpEnv) -> None:
        lease = env.create(60, 120)
        limited(env, conditions=2)

        more = {"id": lease["reservations"][0]["id"], "resource_properties": conditions(3)}
        message = refusal(env.put(f"/leases/{lease['id']}", {"reservations": [more]}, who=LESSEE), 400)

        assert "max_conditions_per_lease" in message

    def test_a_lease_keeps_what_it_has_when_the_limit_is_lowered(self, env: HttpEnv) -> None:
        lease = env.create(60, 120, resource_properties=conditions(3))
        limited(env, conditions=2)

        env.change(lease, end_date=env.date(180), reservation={"max": 2})


class TestLengths:
    LONG = " " * 100 + conditions(1)

    @pytest.mark.parametrize("key", ["hypervisor_properties", "resource_properties"])
    @pytest.mark.parametrize("asked", [LONG, ["and", [">=", "$vcpus", "1" * 100]]])
    def test_a_long_expression_of_a_new_lease_is_refused(self, env: HttpEnv, key: str, asked: object) -> None:
        limited(env, expression_length=100)

        message = refusal(env.post("/leases", wish(env, host_reservation(**{key: asked})), who=LESSEE), 400)

        assert message.startswith(f"{key}: has 1")
        assert "an expression may have at most 100 ([manager] max_expression_length)" in message
        short = host_reservation(**{key: conditions(1)})
        assert env.post("/leases", wish(env, short), who=LESSEE).status_code == 201

    def test_a_change_to_a_long_one_is_refused(self, env: HttpEnv) -> None:
        lease = env.create(60, 120)
        limited(env, expression_length=100)

        longer = {"id": lease["reservations"][0]["id"], "resource_properties": self.LONG}
        message = refusal(env.put(f"/leases/{lease['id']}", {"reservations": [longer]}, who=LESSEE), 400)

        assert message.startswith("resource_properties: has 130 characters")

    def test_a_lease_keeps_what_it_has_when_the_limit_is_lowered(self, env: HttpEnv) -> None:
        lease = env.create(60, 120, resource_properties=self.LONG)
        limited(env, expression_length=100)

        env.change(lease, end_date=env.date(180), reservation={"max": 2})
        env.change(lease, reservation={"resource_properties": self.LONG})

    def test_a_search_has_the_same_limit(self, env: HttpEnv) -> None:
        limited(env, expression_length=100)
        wanted = [{**host_reservation(), "prefer": [self.LONG]}]
        body = {"reservations": wanted, "duration_minutes": 60}
        path, query = "/availability", {"filter": self.LONG}

        searched = env.post("/availability/search", body, who=LESSEE, headers=NEWER)

        assert refusal(searched, 400).startswith("prefer: has 130 characters")
        asked = env.get(path, params=query, who=LESSEE, headers=NEWER)
        assert refusal(asked, 400).startswith("filter: has 130 characters")

    def test_an_expression_of_ten_thousand_characters_is_possible_by_default(self, env: HttpEnv) -> None:
        padded = " " * 10_000 + conditions(1)

        asked = wish(env, host_reservation(resource_properties=padded))
        assert env.post("/leases", asked, who=LESSEE).status_code == 201
        longer = host_reservation(resource_properties=" " * 20_000 + conditions(1))
        assert "at most 16384" in refusal(env.post("/leases", wish(env, longer), who=LESSEE), 400)


class TestAmounts:
    @pytest.mark.parametrize("amount", [6, "6", 10**9])
    def test_too_many_slots_are_refused(self, env: HttpEnv, amount: object) -> None:
        limited(env, amount=5)

        message = refusal(env.post("/leases", wish(env, instances(amount=amount)), who=LESSEE), 400)

        assert message.startswith("amount: the lease asks for ")
        assert "at most 5 ([manager] max_amount_per_lease)" in message

    def test_all_of_a_lease_count_together(self, env: HttpEnv) -> None:
        limited(env, amount=3)
        asked = wish(env, instances(amount=2), host_reservation(min=2, max=9999))

        assert "asks for 4 hosts, instances" in refusal(env.post("/leases", asked, who=LESSEE), 400)

    def test_a_change_cannot_add_more_but_may_shrink(self, env: HttpEnv) -> None:
        lease = env.create(60, 120, min=4, max=4)
        limited(env, amount=3)
        reservation = lease["reservations"][0]["id"]

        grown = {"reservations": [{"id": reservation, "min": 5, "max": 5}]}
        refusal(env.put(f"/leases/{lease['id']}", grown, who=LESSEE), 400)

        env.change(lease, reservation={"min": 4})
        env.change(lease, end_date=env.date(180))
        env.change(lease, reservation={"min": 1})
