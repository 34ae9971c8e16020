"""Limits on the size of a request: refused early, with the limit, the value and the option."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from app.slots import instances
from app.world import LESSEE, Json, World, host_reservation, refusal

from blazar.settings import RequestLimits

pytestmark = pytest.mark.usefixtures("hosts")


def limited(world: World, **limits: int) -> None:
    """Restart the service with only these limits."""
    settings = world.context.settings
    all_limits = RequestLimits(**{"reservations": 0, "conditions": 0, "amount": 0, **limits})
    leases = replace(settings.leases, limits=all_limits)
    world.restart(replace(world.context, settings=replace(settings, leases=leases)))


def wish(world: World, *reservations: Json) -> Json:
    return {**world.wish(60, 120), "reservations": list(reservations)}


def conditions(number: int) -> str:
    return json.dumps(["and", *([">=", "$vcpus", str(each)] for each in range(number))])


class TestReservations:
    def test_a_lease_with_too_many_is_refused_before_they_are_parsed(self, world: World) -> None:
        limited(world, reservations=2)

        message = refusal(world.post("/leases", wish(world, *[{"resource_type": "?"}] * 3), who=LESSEE), 400)

        assert "has 3 elements" in message
        assert "at most 2 ([manager] max_reservations_per_lease)" in message
        assert world.post("/leases", wish(world, *[host_reservation()] * 2), who=LESSEE).status_code == 201

    def test_zero_is_no_limit(self, world: World) -> None:
        limited(world)

        refusal(world.post("/leases", wish(world, *[host_reservation()] * 50), who=LESSEE), 400)
        assert world.post("/leases", wish(world, *[host_reservation()] * 3), who=LESSEE).status_code == 201


class TestConditions:
    def test_all_of_a_lease_count_together(self, world: World) -> None:
        limited(world, conditions=4)
        two = host_reservation(hypervisor_properties=conditions(1), resource_properties=conditions(1))
        three = host_reservation(hypervisor_properties=conditions(2), resource_properties=conditions(1))

        message = refusal(world.post("/leases", wish(world, two, three), who=LESSEE), 400)

        assert "at most 4 in all its reservations ([manager] max_conditions_per_lease)" in message
        assert world.post("/leases", wish(world, two, two), who=LESSEE).status_code == 201

    def test_a_change_cannot_add_more(self, world: World) -> None:
        lease = world.create(60, 120)
        limited(world, conditions=2)

        more = {"id": lease["reservations"][0]["id"], "resource_properties": conditions(3)}
        message = refusal(world.put(f"/leases/{lease['id']}", {"reservations": [more]}, who=LESSEE), 400)

        assert "max_conditions_per_lease" in message

    def test_a_lease_keeps_what_it_has_when_the_limit_is_lowered(self, world: World) -> None:
        lease = world.create(60, 120, resource_properties=conditions(3))
        limited(world, conditions=2)

        world.change(lease, end_date=world.date(180), reservation={"max": 2})


class TestAmounts:
    @pytest.mark.parametrize("amount", [6, "6", 10**9])
    def test_too_many_slots_are_refused(self, world: World, amount: object) -> None:
        limited(world, amount=5)

        message = refusal(world.post("/leases", wish(world, instances(amount=amount)), who=LESSEE), 400)

        assert message.startswith("amount: the lease asks for ")
        assert "at most 5 ([manager] max_amount_per_lease)" in message

    def test_all_of_a_lease_count_together(self, world: World) -> None:
        limited(world, amount=3)
        asked = wish(world, instances(amount=2), host_reservation(min=2, max=9999))

        assert "asks for 4 hosts, instances" in refusal(world.post("/leases", asked, who=LESSEE), 400)

    def test_a_change_cannot_add_more_but_may_shrink(self, world: World) -> None:
        lease = world.create(60, 120, min=4, max=4)
        limited(world, amount=3)
        reservation = lease["reservations"][0]["id"]

        grown = {"reservations": [{"id": reservation, "min": 5, "max": 5}]}
        refusal(world.put(f"/leases/{lease['id']}", grown, who=LESSEE), 400)

        world.change(lease, reservation={"min": 4})
        world.change(lease, end_date=world.date(180))
        world.change(lease, reservation={"min": 1})
