"""Requests per lease to OpenStack's services, counted in their own logs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial

from cloudlab.lab import OpenStackLab
from cloudlab.tests.actors import Actor, Json
from cloudlab.tests.networks import Segments
from cloudlab.tests.storage import Storage, VolumeUser

APIS = ("nova-api", "placement", "keystone", "neutron", "cinder")
LOOK = "/os-hypervisors/detail"
CONSTANT_OF_A_START = 6
CONSTANT_OF_AN_END = 4


class Meter:
    """Counter of the requests of blazar-manager.

    Requests of the monitor are not counted. Those of sweeps, which run once a minute, are not part of a
    lease, but cannot be told apart.
    """

    def __init__(self, openstack: OpenStackLab) -> None:
        self._openstack = openstack
        self._before = {name: len(openstack.requests(name)) for name in APIS}

    def read(self) -> Counter[str]:
        """Return the number of requests so far, by API."""
        return Counter(
            {
                name: sum(
                    each.user_agent.startswith("blazar/") and not each.path.endswith(LOOK)
                    for each in self._openstack.requests(name)[self._before[name] :]
                )
                for name in APIS
            }
        )


def costs(
    openstack: OpenStackLab, lessee: Actor, reserve: Callable[[], Json]
) -> tuple[Counter[str], Counter[str]]:
    """Return the cost of the start and the end of a lease, the smaller of two trials."""
    starts, ends = [], []
    for _ in range(2):
        meter = Meter(openstack)
        lease = reserve()
        lessee.wait_for_lease(lease, "ACTIVE")
        starts.append(meter.read())
        meter = Meter(openstack)
        lessee.end(lease)
        ends.append(meter.read())
    return min(starts, key=Counter.total), min(ends, key=Counter.total)


def test_a_host_more_costs_two_requests_at_the_start_and_two_at_the_end(
    openstack: OpenStackLab, lessee: Actor
) -> None:
    start_of_one, end_of_one = costs(openstack, lessee, partial(lessee.reserve, 1))
    start_of_four, end_of_four = costs(openstack, lessee, partial(lessee.reserve, 4))
    print(f"start: {dict(start_of_one)} for one host, {dict(start_of_four)} for four")
    print(f"end: {dict(end_of_one)} for one host, {dict(end_of_four)} for four")

    for cost in (start_of_one, end_of_one, start_of_four, end_of_four):
        assert cost["placement"] == cost["keystone"] == 0
    assert start_of_one["nova-api"] <= 6
    # Steps for several hosts run at the same time, and the last answer need not show all of them.
    assert start_of_four["nova-api"] - start_of_one["nova-api"] in (2 * 3, 2 * 3 + 1)
    assert end_of_one["nova-api"] <= 3 + CONSTANT_OF_AN_END
    assert end_of_four["nova-api"] - end_of_one["nova-api"] == 2 * 3


def test_a_segment_costs_at_most_three_requests_at_the_start_and_four_at_the_end(
    openstack: OpenStackLab, segments: Segments, lessee: Actor
) -> None:
    start_of_one, end_of_one = costs(openstack, lessee, partial(segments.reserve, lessee, 1))
    start_of_two, end_of_two = costs(openstack, lessee, partial(segments.reserve, lessee, 2))
    print(f"start: {dict(start_of_one)} for one segment, {dict(start_of_two)} for two")
    print(f"end: {dict(end_of_one)} for one segment, {dict(end_of_two)} for two")

    assert start_of_two["neutron"] - start_of_one["neutron"] <= 3
    assert end_of_two["neutron"] - end_of_one["neutron"] <= 4
    assert start_of_one["neutron"] <= 3 + CONSTANT_OF_A_START
    assert end_of_one["neutron"] <= 4 + CONSTANT_OF_AN_END


def test_a_pool_more_costs_three_requests_at_the_start_and_four_at_the_end(
    openstack: OpenStackLab, storage: Storage, lessee: Actor
) -> None:
    storage.register(("fast", "nvme"))
    user = VolumeUser(lessee, "lessee")
    start_of_one, end_of_one = costs(openstack, lessee, partial(user.reserve, 4))
    start_of_two, end_of_two = costs(openstack, lessee, partial(user.reserve, 4, amount=2, affinity=False))
    print(f"start: {dict(start_of_one)} for one pool, {dict(start_of_two)} for two")
    print(f"end: {dict(end_of_one)} for one pool, {dict(end_of_two)} for two")

    assert start_of_two["cinder"] - start_of_one["cinder"] <= 3
    assert end_of_two["cinder"] - end_of_one["cinder"] <= 4
    assert start_of_one["cinder"] <= 3 + CONSTANT_OF_A_START
    assert end_of_one["cinder"] <= 4 + CONSTANT_OF_AN_END
