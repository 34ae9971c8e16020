"""Durations in the simulated cloud, and concurrent calls."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from clocks import EPOCH, ManualClock

from blazar.cloud.simulated import SimulatedCloud
from blazar.domain.errors import CloudConflict, CloudNotFound

SECOND = timedelta(seconds=1)


@pytest.fixture
def slow(clock: ManualClock) -> SimulatedCloud:
    cloud = SimulatedCloud(clock, server_deletion_time=10 * SECOND)
    cloud.add_hypervisor("node-1")
    return cloud


def test_a_server_is_listed_as_going_until_its_time_is_over(slow: SimulatedCloud, clock: ManualClock) -> None:
    server = slow.boot_server("server", "project")

    slow.servers.delete_server(server.id)
    clock.advance(10 * SECOND - timedelta.resolution)
    (going,) = slow.servers.list_servers()
    clock.advance(timedelta.resolution)

    assert (going.id, going.is_deleting) == (server.id, True)
    assert slow.servers.list_servers() == ()


def test_asking_again_does_not_prolong_a_deletion(slow: SimulatedCloud, clock: ManualClock) -> None:
    server = slow.boot_server("server", "project")

    slow.servers.delete_server(server.id)
    clock.advance(5 * SECOND)
    slow.servers.delete_server(server.id)
    clock.advance(5 * SECOND)

    assert slow.servers.list_servers() == ()


def test_a_going_server_holds_its_host_and_has_no_image(slow: SimulatedCloud, clock: ManualClock) -> None:
    zoned = slow.aggregates.create_aggregate("a", "blazar_zone", {})
    server = slow.boot_server("server", "project")
    slow.servers.delete_server(server.id)

    with pytest.raises(CloudConflict):
        slow.aggregates.add_host(zoned.id, "node-1")
    with pytest.raises(CloudConflict):
        slow.images.create_image(server.id, "image", {})

    clock.advance(10 * SECOND)
    slow.aggregates.add_host(zoned.id, "node-1")
    with pytest.raises(CloudNotFound):
        slow.images.create_image(server.id, "image", {})


def test_without_a_deletion_time_a_server_goes_at_once(simulated: SimulatedCloud) -> None:
    server = simulated.boot_server("server", "project")

    simulated.servers.delete_server(server.id)

    assert simulated.servers.list_servers() == ()


def test_the_deletion_time_can_be_changed_while_the_cloud_runs(
    simulated: SimulatedCloud, clock: ManualClock
) -> None:
    server = simulated.boot_server("server", "project")
    simulated.servers.deletion_time = SECOND

    simulated.servers.delete_server(server.id)

    assert simulated.servers.list_servers()[0].is_deleting
    clock.advance(SECOND)
    assert simulated.servers.list_servers() == ()


def test_each_call_takes_its_duration(clock: ManualClock) -> None:
    cloud = SimulatedCloud(clock, call_duration=timedelta(milliseconds=20))
    cloud.add_hypervisor("node-1")

    cloud.hypervisors.list_hypervisors()
    cloud.aggregates.create_aggregate("a", None, {"key": "value"})

    assert clock.now() == EPOCH + timedelta(milliseconds=60)


def test_calls_that_take_their_time_overlap() -> None:
    both_wait = threading.Barrier(2, timeout=10)

    class MeetingClock(ManualClock):
        def wait(self, event: threading.Event, timeout: timedelta) -> bool:
            both_wait.wait()
            return super().wait(event, timeout)

    cloud = SimulatedCloud(MeetingClock(), call_duration=SECOND)

    with ThreadPoolExecutor(2) as threads:
        answers = list(threads.map(lambda _: cloud.aggregates.list_aggregates(), range(2)))

    assert answers == [(), ()]


def test_calls_are_counted_by_operation(simulated: SimulatedCloud) -> None:
    simulated.hypervisors.list_hypervisors()
    simulated.hypervisors.list_hypervisors()
    simulated.aggregates.create_aggregate("a", None, {"key": "value"})
    with pytest.raises(CloudNotFound):
        simulated.aggregates.delete_aggregate(17)

    assert simulated.calls == {
        "compute.list_hypervisors": 2,
        "compute.create_aggregate": 1,
        "compute.set_aggregate_metadata": 1,
        "compute.delete_aggregate": 1,
    }


def test_many_threads_lose_nothing(simulated: SimulatedCloud) -> None:
    freepool = simulated.add_aggregate("freepool")

    def work(number: int) -> None:
        simulated.add_hypervisor(f"host-{number}")
        simulated.aggregates.add_host(freepool.id, f"host-{number}")
        simulated.aggregates.set_aggregate_metadata(freepool.id, {str(number): "here"})

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(100)))

    (aggregate,) = simulated.aggregates.list_aggregates()
    assert len(aggregate.hosts) == len(aggregate.metadata) == 100
    assert simulated.calls["compute.add_host"] == 100


def test_one_of_many_threads_gets_a_name(simulated: SimulatedCloud) -> None:
    def make(_: int) -> bool:
        try:
            simulated.placement.create_provider("blazar_node-1", None)
        except CloudConflict:
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(make, range(50))) == 1
