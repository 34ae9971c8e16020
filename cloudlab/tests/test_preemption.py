"""Hosts that are not empty when their lease starts."""

from __future__ import annotations

from cloudlab.tests.actors import Actor, Operator, only, reservation_of
from cloudlab.tests.end_to_end_lab import RESERVABLE
from cloudlab.waiting import wait_until


def test_preemptible_servers_use_hosts_until_they_are_reserved(
    operator: Operator, lessee: Actor, other: Actor
) -> None:
    flavor = lessee.openstack.details.preemptible_flavor_id
    servers = [other.boot(flavor_id=flavor) for _ in range(4)]
    assert {other.wait_for_server(each) for each in servers} == {"ACTIVE"}
    homes = {each: operator.host_of_server(each) for each in servers}
    assert set(homes.values()) <= set(RESERVABLE)
    host = str(homes[servers[0]])

    lease = lessee.start(resource_properties=only(host))

    assert operator.hosts_of(lease) == {host}
    assert all(other.is_gone(each) for each, home in homes.items() if home == host)
    assert not any(other.is_gone(each) for each, home in homes.items() if home != host)
    assert not any(key.startswith("blazar:closed:") for key in operator.freepool()["metadata"])
    again = other.boot(flavor_id=flavor)
    assert other.wait_for_server(again) == "ACTIVE"
    assert operator.host_of_server(again) != host


def test_a_host_with_somebody_elses_server_is_replaced_and_the_server_stays(
    operator: Operator, lessee: Actor
) -> None:
    lease = lessee.reserve(2, start="now", min=2, max=2)
    lessee.wait_for_lease(lease, "ACTIVE")
    usual = operator.hosts_of(lease)
    lessee.end(lease)
    occupied = sorted(usual)[0]
    foreign = operator.boot(forced_host=occupied)
    assert operator.wait_for_server(foreign) == "ACTIVE"

    lease = lessee.start(2)

    assert len(operator.hosts_of(lease)) == 2
    assert occupied not in operator.hosts_of(lease)
    assert occupied in operator.freepool()["hosts"]
    assert operator.host_of_server(foreign) == occupied


def test_without_a_free_host_the_start_waits_until_the_server_goes(operator: Operator, lessee: Actor) -> None:
    foreign = operator.boot(forced_host="node-10")
    assert operator.wait_for_server(foreign) == "ACTIVE"
    lease = lessee.reserve(4)
    wait_until(
        lambda: operator.hosts_of(lease) == set(RESERVABLE) - {"node-10"},
        "the others are handed over",
        seconds=60,
    )
    assert lessee.status(lease) == "STARTING"

    operator.delete_server(foreign)

    lessee.wait_for_lease(lease, "ACTIVE")
    assert operator.hosts_of(lease) == set(RESERVABLE)
    assert reservation_of(lease) in operator.aggregates()
