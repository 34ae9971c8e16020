"""Networks, volumes and storage nodes: managers killed at any moment, and many leases that start together."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import product
from typing import Final

import pytest

from cloudlab import cinder
from cloudlab.tests.actors import Actor, Json, soon
from cloudlab.tests.end_to_end_lab import EndToEndLab
from cloudlab.tests.networks import Segments
from cloudlab.tests.storage import Storage
from cloudlab.tests.test_faults import MANAGERS, SECONDS_TO_RECOVER
from cloudlab.waiting import wait_until

LEASES: Final = 20
"""The number of leases of each type that start together."""
ROUNDS: Final = 2
"""The number of leases of each type during which managers are killed."""
SECONDS: Final = 60
"""Time within which all leases that start together have started."""
RESERVATIONS: Final[dict[str, Json]] = {
    "network": {"resource_type": "network", "network_name": "many"},
    "volume": {
        "resource_type": "virtual:volume",
        "gibibytes": 1,
        "resource_properties": '["==", "$made_for", "parts"]',
    },
    "storage": {"resource_type": "physical:storage", "min": 1, "max": 1},
}


@dataclass(frozen=True, slots=True)
class ManyResources:
    """Enough segments and pools for all leases."""

    lab: EndToEndLab
    segments: Segments
    storage: Storage

    def reserve(self, kind: str, start: str | datetime = "now") -> Json:
        """Return a new lease of a kind, until it is deleted."""
        leases = self.lab.lessee.blazar.lease
        return dict(leases.create(f"many {kind}", start, None, [RESERVATIONS[kind]], [], duration="2h"))

    def existing(self) -> dict[str, int]:
        """Return the number of objects in Neutron and Cinder, by the kind of their reservations."""
        types = list(self.storage.types().values())
        small = [each for each in types if each["extra_specs"]["pool_name"].startswith("small")]
        return {
            "network": len(self.segments.existing()),
            "volume": len(types) - len(small),
            "storage": len(small),
        }


@pytest.fixture
def many(lab: EndToEndLab) -> Iterator[ManyResources]:
    """Return registered resources, which are removed after the test."""
    segments, storage = Segments(lab), Storage(lab)
    segments.register(LEASES)
    small = [("slow", each) for each in cinder.POOLS["slow"] if each.startswith("small")]
    storage.register(*small)
    storage.register(("fast", "ssd"), sole_use=False, made_for="parts")
    yield ManyResources(lab, segments, storage)
    lab.clear()
    segments.deregister()
    storage.deregister()


@pytest.mark.long
def test_a_manager_killed_at_any_moment_of_a_start_and_an_end_leaves_nothing_behind(
    lab: EndToEndLab, many: ManyResources, lessee: Actor
) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    chance = random.Random(seed)

    def kill_one() -> None:
        time.sleep(chance.uniform(0, 1))  # noqa: TID251
        victim = lab.openstack.service(chance.choice(MANAGERS))
        victim.kill()
        victim.start()

    for number, kind in product(range(ROUNDS), RESERVATIONS):
        lease = many.reserve(kind)
        kill_one()
        # The manager that is killed may be answering the question for the status.
        lessee.wait_for_lease(lease, "ACTIVE", seconds=SECONDS_TO_RECOVER, despite_outages=True)
        assert many.existing() == dict.fromkeys(RESERVATIONS, 0) | {kind: 1}, f"round {number}, seed {seed}"
        lessee.blazar.lease.delete(lease["id"])
        kill_one()
        lessee.wait_for_lease(lease, "GONE", seconds=SECONDS_TO_RECOVER, despite_outages=True)
        assert many.existing() == dict.fromkeys(RESERVATIONS, 0), f"round {number}, seed {seed}"
    for name in MANAGERS:
        lab.openstack.service(name).wait_until_answers()


@pytest.mark.long
def test_many_leases_of_each_type_start_and_end_together(
    many: ManyResources, lessee: Actor, record_property: Callable[[str, object], None]
) -> None:
    # Creating all of them takes some seconds.
    start = soon(45)
    leases = [many.reserve(kind, start) for kind in RESERVATIONS for _ in range(LEASES)]
    assert {lessee.status(each) for each in leases} == {"PENDING"}

    def statuses() -> set[str]:
        return {each["status"] for each in lessee.blazar.lease.list()}

    wait_until(lambda: statuses() == {"ACTIVE"}, "all are active", seconds=60 + SECONDS + 45)
    late = [
        each["id"]
        for each in lessee.blazar.lease.list()
        if (
            datetime.fromisoformat(each["updated_at"]) - datetime.fromisoformat(each["start_date"])
        ).total_seconds()
        > SECONDS
    ]
    assert late == []
    assert many.existing() == dict.fromkeys(RESERVATIONS, LEASES)

    for each in leases:
        lessee.blazar.lease.delete(each["id"])
    wait_until(lambda: not lessee.blazar.lease.list(), "all are gone", seconds=2 * SECONDS)
    assert many.existing() == dict.fromkeys(RESERVATIONS, 0)
