"""Killed processes and unavailable services: every lease reaches the state of its window."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest

from cloudlab.lab import OpenStackLab
from cloudlab.tests.actors import Actor, Operator, reservation_of
from cloudlab.tests.end_to_end_lab import RESERVABLE, EndToEndLab
from cloudlab.tests.failures import away
from cloudlab.waiting import wait_until

MANAGERS = ("blazar-manager-1", "blazar-manager-2")
ROUNDS = 12
SECONDS_TO_RECOVER = 150


@pytest.fixture
def seed(record_property: Callable[[str, object], None]) -> int:
    chosen = random.randrange(2**32)
    print(f"seed {chosen}")
    return chosen


@pytest.mark.long
def test_a_manager_killed_at_any_moment_of_a_start_leaves_nothing_behind(
    lab: EndToEndLab, operator: Operator, lessee: Actor, seed: int
) -> None:
    chance = random.Random(seed)
    for number in range(ROUNDS):
        lease = lessee.reserve(4)
        time.sleep(chance.uniform(0, 1.2))  # noqa: TID251
        victim = lab.openstack.service(chance.choice(MANAGERS))
        victim.kill()
        victim.start()

        lessee.wait_for_lease(lease, "ACTIVE", seconds=SECONDS_TO_RECOVER)
        assert operator.hosts_of(lease) == set(RESERVABLE), f"round {number}, seed {seed}"
        assert operator.freepool()["hosts"] == []
        lessee.end(lease)
        assert set(operator.freepool()["hosts"]) == set(RESERVABLE)
        # If the other one were killed before, requests would get 503.
        victim.wait_until_answers()
    lab.check_nothing_is_left()


@pytest.fixture
def openstack_that_recovers(openstack: OpenStackLab) -> Iterator[OpenStackLab]:
    """The lab; after the test, all its services work again.

    A service that responds may still lack its connections: a server on an ordinary host needs all of Nova,
    Placement and Keystone, and each compute service reports again through the broker and the database.
    """
    yield openstack
    ended = datetime.now(UTC)  # noqa: TID251
    wait_until(
        lambda: not openstack.silent_services(ended),
        "everything answers",
        seconds=SECONDS_TO_RECOVER,
        explain=lambda: ", ".join(openstack.silent_services(ended)),
    )
    lessee = Actor(openstack, "lessee")
    wait_until(lambda: boots_a_server(lessee), "a server boots", seconds=SECONDS_TO_RECOVER)


def boots_a_server(actor: Actor) -> bool:
    """Return whether a server became active; it is deleted again."""
    server_id = actor.boot()
    try:
        return actor.wait_for_server(server_id) == "ACTIVE"
    finally:
        actor.delete_server(server_id)


def test_a_lease_starts_when_nova_is_back(
    openstack_that_recovers: OpenStackLab, operator: Operator, lessee: Actor
) -> None:
    with away(openstack_that_recovers.service("nova-api")):
        lease = lessee.reserve(2)
        time.sleep(30)  # noqa: TID251
        assert lessee.status(lease) == "STARTING"

    lessee.wait_for_lease(lease, "ACTIVE", seconds=SECONDS_TO_RECOVER)
    server = lessee.boot(reservation=reservation_of(lease))
    assert lessee.wait_for_server(server) == "ACTIVE"
    assert operator.host_of_server(server) in operator.hosts_of(lease)


@pytest.mark.parametrize("name", ["rabbitmq", "mariadb"])
def test_the_service_recovers_from_a_restart(
    openstack_that_recovers: OpenStackLab, operator: Operator, lessee: Actor, name: str
) -> None:
    running = lessee.start(1)
    starting = lessee.reserve(2)

    service = openstack_that_recovers.service(name)
    service.stop()
    time.sleep(3)  # noqa: TID251
    service.start()
    service.wait_until_answers()

    # A request whose response is lost with the broker gets 503 after rpc_response_timeout.
    lessee.wait_for_lease(starting, "ACTIVE", seconds=SECONDS_TO_RECOVER, despite_outages=True)
    assert lessee.status(running) == "ACTIVE"
    later = lessee.reserve(1)
    lessee.wait_for_lease(later, "ACTIVE", seconds=SECONDS_TO_RECOVER)
    lessee.end(running)
    assert len(operator.hosts_of(starting) | operator.hosts_of(later)) == 3
