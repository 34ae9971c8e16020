"""Registration of hosts with the real Nova and Placement, and changes of their data there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from blazarclient.exception import BlazarClientException
from cloudlab.tests.actors import Actor, Operator, must
from cloudlab.tests.end_to_end_lab import EndToEndLab
from cloudlab.waiting import wait_until

TRAIT = "CUSTOM_TESTED"
CLASS = "CUSTOM_TESTED_DEVICE"
IN_ZONE = '["==", "$availability_zone", "rack-1"]'


def test_a_host_is_found_by_its_exact_name_and_can_be_given_back(
    lab: EndToEndLab, operator: Operator
) -> None:
    registered = operator.registered()
    assert registered["node-1"]["id"] != registered["node-10"]["id"]

    lab.remove_host("node-1")

    assert "node-1" not in operator.freepool()["hosts"]
    assert operator.provider("blazar_node-1") is None
    assert "node-10" in operator.freepool()["hosts"]
    host = operator.blazar.host.create("node-1", rack="r1")
    assert (host["hypervisor_hostname"], host["rack"]) == ("node-1", "r1")
    # Other tests expect hosts without capabilities.
    operator.reservations.put(f"/os-hosts/{host['id']}", json={"rack": None})
    root = must(operator.provider("node-1"))
    assert must(operator.provider("blazar_node-1"))["parent_provider_uuid"] == root["uuid"]
    lab.forget_providers("node-1")


def test_a_registration_that_placement_interrupted_can_be_repeated(lab: EndToEndLab) -> None:
    operator = lab.operator
    lab.remove_host("node-2")
    placement = lab.openstack.service("placement")
    placement.stop()
    with pytest.raises(BlazarClientException) as refusal:
        operator.blazar.host.create("node-2")
    placement.start()
    placement.wait_until_answers()

    assert refusal.value.code == 503
    assert "node-2" not in operator.registered()
    assert operator.blazar.host.create("node-2")["hypervisor_hostname"] == "node-2"
    lab.forget_providers("node-2")


def test_a_host_with_servers_is_not_registered(operator: Operator, lessee: Actor) -> None:
    server = lessee.boot()
    assert lessee.wait_for_server(server) == "ACTIVE"

    with pytest.raises(BlazarClientException) as refusal:
        operator.blazar.host.create(str(operator.host_of_server(server)))

    assert refusal.value.code == 409


@pytest.fixture
def zone(operator: Operator) -> Iterator[int]:
    """An availability zone of the operator with node-2 in it."""
    body = {"name": "rack-1", "availability_zone": "rack-1"}
    made = operator.compute.post("/os-aggregates", json={"aggregate": body}).json()["aggregate"]
    path = f"/os-aggregates/{made['id']}"
    operator.compute.post(f"{path}/action", json={"add_host": {"host": "node-2"}})
    yield made["id"]
    operator.compute.post(f"{path}/action", json={"remove_host": {"host": "node-2"}})
    operator.compute.delete(path)


@pytest.mark.usefixtures("zone")
def test_hosts_are_reserved_by_their_zone_and_return_to_it(
    lab: EndToEndLab, operator: Operator, lessee: Actor
) -> None:
    with pytest.raises(BlazarClientException):
        lessee.reserve(resource_properties=IN_ZONE)
    assert "availability_zone: nova -> rack-1" in lab.refresh_hosts()

    lease = lessee.start(resource_properties=IN_ZONE)
    aggregates = operator.aggregates()

    assert operator.hosts_of(lease) == {"node-2"}
    assert aggregates["rack-1"]["hosts"] == []
    assert operator.registered()["node-2"]["availability_zone"] == "rack-1"
    assert lab.refresh_hosts() == "4 hosts were read again, 0 have changed\n"
    lessee.end(lease)
    assert operator.aggregates()["rack-1"]["hosts"] == ["node-2"]


def test_what_changes_in_the_tree_of_providers_is_read_again(lab: EndToEndLab, operator: Operator) -> None:
    lab.refresh_hosts()
    placement = operator.placement
    root = must(operator.provider("node-3"))["uuid"]
    device = {"name": "node-3_device", "parent_provider_uuid": root}
    placement.put(f"/traits/{TRAIT}", microversion="1.6")
    placement.put(f"/resource_classes/{CLASS}", microversion="1.7")
    made = placement.post("/resource_providers", json=device, microversion="1.29").json()
    try:
        path = f"/resource_providers/{made['uuid']}"
        inventories = {CLASS: {"total": 4}}
        body = {"resource_provider_generation": 0, "inventories": inventories}
        generation = placement.put(f"{path}/inventories", json=body, microversion="1.29").json()[
            "resource_provider_generation"
        ]
        traits = {"resource_provider_generation": generation, "traits": [TRAIT]}
        placement.put(f"{path}/traits", json=traits, microversion="1.29")

        assert "node-3: inventories or traits" in lab.refresh_hosts("node-3")
        assert lab.refresh_hosts("node-3") == "1 hosts were read again, 0 have changed\n"
    finally:
        placement.delete(f"/resource_providers/{made['uuid']}", microversion="1.29")
        placement.delete(f"/resource_classes/{CLASS}", microversion="1.7")
        placement.delete(f"/traits/{TRAIT}", microversion="1.6")
    assert "node-3: inventories or traits" in lab.refresh_hosts("node-3")
    lab.forget_providers("node-3")


def test_managers_read_hosts_again_when_they_start(lab: EndToEndLab, operator: Operator) -> None:
    path = f"/os-aggregates/{_make_zone(operator)}"
    try:
        manager = lab.openstack.service("blazar-manager-1")
        manager.stop()
        manager.start()
        wait_until(
            lambda: operator.registered()["node-1"]["availability_zone"] == "rack-2",
            "the zone is read",
            seconds=60,
        )
        manager.wait_until_answers()
    finally:
        operator.compute.post(f"{path}/action", json={"remove_host": {"host": "node-1"}})
        operator.compute.delete(path)
        lab.refresh_hosts()


def _make_zone(operator: Operator) -> int:
    body = {"name": "rack-2", "availability_zone": "rack-2"}
    made = operator.compute.post("/os-aggregates", json={"aggregate": body}).json()["aggregate"]
    operator.compute.post(f"/os-aggregates/{made['id']}/action", json={"add_host": {"host": "node-1"}})
    return int(made["id"])
