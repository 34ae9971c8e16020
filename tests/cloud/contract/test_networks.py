"""Contract of ``Networks``."""

from __future__ import annotations

import uuid
from dataclasses import replace
from ipaddress import ip_address, ip_network

import pytest
from cloud.contract.lab import CloudLab, LabNetwork

from blazar.domain.errors import CloudConflict, CloudNotFound, CloudRefused
from blazar.ports.network import FloatingIP, Networks

UNKNOWN_ID = str(uuid.UUID(int=1))


@pytest.fixture
def networks(lab: CloudLab) -> Networks:
    return lab.cloud.networks


@pytest.fixture
def network(lab: CloudLab) -> LabNetwork:
    return lab.network


@pytest.fixture
def floating_ip(networks: Networks, lab: CloudLab, network: LabNetwork) -> FloatingIP:
    return networks.create_floating_ip(
        network.network_id, network.subnet_id, network.free_addresses[0], lab.project_ids[0], "of a test"
    )


def seen(networks: Networks, floating_ip: FloatingIP) -> FloatingIP | None:
    found = networks.list_floating_ips(
        network_id=floating_ip.floating_network_id, addresses=[floating_ip.address]
    )
    return found[0] if found else None


def test_a_network_is_found_by_its_id(networks: Networks, network: LabNetwork) -> None:
    found = networks.find_network(network.network_id)

    assert found is not None
    assert found.id == network.network_id
    assert found.is_external
    assert networks.find_network(UNKNOWN_ID) is None


def test_the_subnets_of_a_network_are_listed(networks: Networks, network: LabNetwork) -> None:
    (subnet,) = networks.list_subnets(network.network_id)

    assert (subnet.id, subnet.network_id) == (network.subnet_id, network.network_id)
    for address in network.free_addresses:
        assert ip_address(address) in ip_network(subnet.cidr)
        assert not any(
            int(ip_address(first)) <= int(ip_address(address)) <= int(ip_address(last))
            for first, last in subnet.allocation_pools
        )


def test_an_unknown_network_has_no_subnets(networks: Networks) -> None:
    assert networks.list_subnets(UNKNOWN_ID) == ()


def test_a_floating_ip_is_made_at_an_address_for_a_project(
    networks: Networks, lab: CloudLab, network: LabNetwork, floating_ip: FloatingIP
) -> None:
    assert floating_ip.address == network.free_addresses[0]
    assert floating_ip.floating_network_id == network.network_id
    assert floating_ip.project_id == lab.project_ids[0]
    assert (floating_ip.port_id, floating_ip.tags, floating_ip.description) == (
        None,
        frozenset(),
        "of a test",
    )
    assert seen(networks, floating_ip) == floating_ip


def test_floating_ips_are_listed_by_all_that_is_given(
    networks: Networks, lab: CloudLab, network: LabNetwork, floating_ip: FloatingIP
) -> None:
    other = networks.create_floating_ip(
        network.network_id, network.subnet_id, network.free_addresses[1], lab.project_ids[1]
    )

    assert {floating_ip, other} <= set(networks.list_floating_ips(network_id=network.network_id))
    assert networks.list_floating_ips(addresses=[other.address]) == (other,)
    both = networks.list_floating_ips(addresses=[each.address for each in (floating_ip, other)])
    assert set(both) == {floating_ip, other}
    assert networks.list_floating_ips(network_id=UNKNOWN_ID) == ()
    assert networks.list_floating_ips(network_id=UNKNOWN_ID, addresses=[other.address]) == ()
    assert networks.list_floating_ips(addresses=[network.free_addresses[2]]) == ()


def test_an_address_is_given_once(
    networks: Networks, lab: CloudLab, network: LabNetwork, floating_ip: FloatingIP
) -> None:
    with pytest.raises(CloudConflict):
        networks.create_floating_ip(
            network.network_id, network.subnet_id, floating_ip.address, lab.project_ids[1]
        )

    assert networks.list_floating_ips(addresses=[floating_ip.address]) == (floating_ip,)


def test_an_address_outside_the_subnet_is_refused(
    networks: Networks, lab: CloudLab, network: LabNetwork
) -> None:
    with pytest.raises(CloudRefused):
        networks.create_floating_ip(
            network.network_id, network.subnet_id, network.outside_address, lab.project_ids[0]
        )


def test_a_missing_network_or_subnet_has_no_addresses(
    networks: Networks, lab: CloudLab, network: LabNetwork
) -> None:
    address, project_id = network.free_addresses[0], lab.project_ids[0]

    with pytest.raises(CloudNotFound):
        networks.create_floating_ip(UNKNOWN_ID, network.subnet_id, address, project_id)
    with pytest.raises(CloudNotFound):
        networks.create_floating_ip(network.network_id, UNKNOWN_ID, address, project_id)


def test_tags_are_replaced_as_a_whole(networks: Networks, floating_ip: FloatingIP) -> None:
    networks.set_floating_ip_tags(floating_ip.id, frozenset({"blazar", "old"}))

    networks.set_floating_ip_tags(floating_ip.id, frozenset({"blazar", "reservation:1"}))

    assert seen(networks, floating_ip) == replace(floating_ip, tags=frozenset({"blazar", "reservation:1"}))


def test_floating_ips_are_found_by_tags_that_they_all_bear(
    networks: Networks, lab: CloudLab, floating_ip: FloatingIP
) -> None:
    tag = lab.name("tag")
    networks.set_floating_ip_tags(floating_ip.id, frozenset({"blazar", tag}))

    assert [each.id for each in networks.list_floating_ips(tags=frozenset({tag}))] == [floating_ip.id]
    assert [each.id for each in networks.list_floating_ips(tags=frozenset({tag, "blazar"}))] == [
        floating_ip.id
    ]
    assert networks.list_floating_ips(tags=frozenset({tag, lab.name("other")})) == ()


def test_a_floating_ip_is_taken_off_its_port(
    networks: Networks, lab: CloudLab, floating_ip: FloatingIP
) -> None:
    lab.attach(floating_ip.id)
    attached = seen(networks, floating_ip)

    networks.detach_floating_ip(floating_ip.id)

    assert attached is not None
    assert attached.port_id is not None
    assert seen(networks, floating_ip) == floating_ip


def test_detaching_what_is_not_attached_changes_nothing(networks: Networks, floating_ip: FloatingIP) -> None:
    networks.detach_floating_ip(floating_ip.id)

    assert seen(networks, floating_ip) == floating_ip


def test_a_floating_ip_is_deleted_after_its_port_forwardings(
    networks: Networks, lab: CloudLab, floating_ip: FloatingIP
) -> None:
    forwarding_id = lab.forward_port(floating_ip.id)
    forwarding = seen(networks, floating_ip)
    with pytest.raises(CloudConflict):
        networks.delete_floating_ip(floating_ip.id)

    assert networks.list_port_forwardings(floating_ip.id) == (forwarding_id,)
    networks.delete_port_forwarding(floating_ip.id, forwarding_id)

    assert forwarding == replace(floating_ip, port_forwardings=1)
    assert networks.list_port_forwardings(floating_ip.id) == ()
    assert seen(networks, floating_ip) == floating_ip
    with pytest.raises(CloudNotFound):
        networks.delete_port_forwarding(floating_ip.id, forwarding_id)
    networks.delete_floating_ip(floating_ip.id)
    assert seen(networks, floating_ip) is None


def test_a_deleted_floating_ip_is_gone_and_its_address_is_free(
    networks: Networks, lab: CloudLab, network: LabNetwork, floating_ip: FloatingIP
) -> None:
    networks.delete_floating_ip(floating_ip.id)

    assert seen(networks, floating_ip) is None
    networks.create_floating_ip(
        network.network_id, network.subnet_id, floating_ip.address, lab.project_ids[1]
    )


def test_nothing_can_be_done_with_a_missing_floating_ip(networks: Networks) -> None:
    with pytest.raises(CloudNotFound):
        networks.set_floating_ip_tags(UNKNOWN_ID, frozenset())
    with pytest.raises(CloudNotFound):
        networks.detach_floating_ip(UNKNOWN_ID)
    with pytest.raises(CloudNotFound):
        networks.delete_floating_ip(UNKNOWN_ID)
    with pytest.raises(CloudNotFound):
        networks.delete_port_forwarding(UNKNOWN_ID, UNKNOWN_ID)
    assert networks.list_port_forwardings(UNKNOWN_ID) == ()
