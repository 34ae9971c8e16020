"""Usage of reserved hosts, as seen on the real Nova."""

from __future__ import annotations

import pytest

from cloudlab.tests.actors import Actor, Json, in_minutes, reservation_of
from cloudlab.waiting import wait_until

API = {"OpenStack-API-Version": "reservation 1.1"}


def usage(actor: Actor, by: str = "project") -> list[Json]:
    query = {"by": by, "from": f"{in_minutes(-30):%Y-%m-%d %H:%M}", "to": f"{in_minutes(1):%Y-%m-%d %H:%M}"}
    answer: Json = actor.reservations.get("/usage", params=query, headers=API).json()
    groups: list[Json] = answer["usage"]["groups"]
    return groups


@pytest.mark.long
def test_a_host_with_a_server_is_in_use_and_another_is_idle(lessee: Actor, other: Actor) -> None:
    def hours(figure: str) -> float:
        return sum(
            float(each["hours"][figure])
            for group in usage(lessee)
            for each in group["amounts"]
            if (each["unit"], each["resource_class"]) == ("hosts", None)
        )

    used, idle = hours("in_use"), hours("idle")
    lease = lessee.start(2)
    server = lessee.boot(reservation=reservation_of(lease))
    assert lessee.wait_for_server(server) == "ACTIVE"

    wait_until(lambda: hours("in_use") > used and hours("idle") > idle, "both are seen", seconds=200)

    assert lessee.project_id not in {each["value"] for each in usage(other)}
    lessee.end(lease)
