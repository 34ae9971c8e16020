"""Maintenance of hosts, on the real Nova."""

from __future__ import annotations

import pytest

from blazarclient.exception import BlazarClientException
from cloudlab.tests.actors import Actor, Operator, in_minutes, soon
from cloudlab.tests.end_to_end_lab import EndToEndLab
from cloudlab.waiting import wait_until


@pytest.mark.long
def test_a_drained_host_gets_no_lease_leaves_the_freepool_and_returns(
    lab: EndToEndLab, operator: Operator, lessee: Actor
) -> None:
    ahead = lessee.reserve(1, start=in_minutes(30), end=in_minutes(60))
    (host,) = operator.booked(ahead)
    everything = len(operator.registered())

    preview = operator.blazar.maintenance.create([host], leave_pool=True, dry_run=True)
    assert (operator.booked(ahead), host in operator.freepool()["hosts"]) == ({host}, True)
    made = operator.blazar.maintenance.create([host], reason="new disks", leave_pool=True)
    try:
        assert [each["lease_id"] for each in made["moves"]] == [ahead["id"]]
        assert preview["moves"] == made["moves"]
        assert operator.booked(ahead).isdisjoint({host})
        wait_until(lambda: host not in operator.freepool()["hosts"], "it left the freepool", seconds=30)
        with pytest.raises(BlazarClientException, match="Not enough hosts"):
            lessee.reserve(everything)
        running = lessee.start(everything - 1, end=in_minutes(20))
        assert host not in operator.hosts_of(running)
        lessee.end(running)
        assert host not in operator.freepool()["hosts"]
        ending = {"end_date": f"{soon(5):%Y-%m-%d %H:%M}"}
        operator.blazar.maintenance.update(made["id"], ending)
        wait_until(lambda: host in operator.freepool()["hosts"], "it returns by itself", seconds=150)
        assert operator.blazar.maintenance.get(made["id"])["status"] == "ENDED"
    finally:
        operator.blazar.maintenance.delete(made["id"])
    assert host in operator.freepool()["hosts"]


def test_the_hosts_of_an_aggregate_are_drained_and_a_running_lease_keeps_its_host(
    lab: EndToEndLab, operator: Operator, lessee: Actor
) -> None:
    running = lessee.start(1)
    (host,) = operator.hosts_of(running)

    made = operator.blazar.maintenance.create(aggregate=running["reservations"][0]["id"])
    try:
        assert [each["name"] for each in made["resources"]] == [host]
        assert [each["lease_id"] for each in made["active"]] == [running["id"]]
        server = lessee.boot(reservation=running["reservations"][0]["id"])
        assert lessee.wait_for_server(server) == "ACTIVE"
    finally:
        operator.blazar.maintenance.delete(made["id"])
    lessee.end(running)
