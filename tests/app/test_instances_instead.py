"""Instances as an alternative to hosts of which parts are reserved, over HTTP."""

from __future__ import annotations

import pytest
from app.http_env import STRANGER, HttpEnv, good, host_reservation
from app.slots import instances
from app.test_disabled_plugins import disable
from app.test_refusals import PATH, by_kind, lease, refused, take


@pytest.mark.usefixtures("hosts")
def test_instances_are_an_alternative_to_hosts_of_which_parts_are_taken(env: HttpEnv) -> None:
    part = {**env.wish(100, 9999), "reservations": [instances(amount=4, affinity=False)]}
    good(env.post(PATH, part, who=STRANGER), 201)
    asked = host_reservation(min=2, max=2, hypervisor_properties="vcpus>=1")

    answer = refused(env, lease(env, 150, 250, asked))

    (other,) = by_kind(answer)["other_type"]
    (made,) = other["bodies"][0]["reservations"]
    assert {key: made[key] for key in ("resource_type", "amount", "affinity")} == {
        "resource_type": "virtual:instance",
        "amount": 2,
        "affinity": False,
    }
    size = f"with {made['vcpus']} vCPUs and {made['memory_mb']} MB each"
    assert other["summary"] == f"2 of virtual:instance {size}, instead of 2 hosts"
    (taken,) = take(env, other)
    assert taken["reservations"][0]["resource_type"] == "virtual:instance"


@pytest.mark.usefixtures("hosts")
def test_a_type_that_is_not_enabled_is_no_alternative(env: HttpEnv) -> None:
    part = {**env.wish(100, 9999), "reservations": [instances(amount=4, affinity=False)]}
    good(env.post(PATH, part, who=STRANGER), 201)
    disable(env, "virtual:instance")

    answer = refused(env, lease(env, 150, 250, host_reservation(min=2, max=2)))

    assert "other_type" not in by_kind(answer)
