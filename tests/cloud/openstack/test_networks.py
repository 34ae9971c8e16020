"""Behaviour of Neutron that the contract suite does not cover."""

from __future__ import annotations

import pytest
from cloud.openstack.stub import Reply, StubCloud

from blazar.cloud.openstack.driver import OpenStackCloud
from blazar.domain.errors import CloudNotFound, CloudUnavailable

FLOATING_IPS = "/network/v2.0/floatingips"


def floating_ip(number: int) -> dict[str, object]:
    return {
        "id": f"f{number}",
        "floating_network_id": "network",
        "floating_ip_address": f"203.0.113.{number}",
        "project_id": "project",
        "port_id": None,
        "description": "",
        "tags": ["blazar"],
    }


def test_floating_ips_are_filtered_by_neutron_over_all_pages(stub: StubCloud, cloud: OpenStackCloud) -> None:
    links = [{"rel": "previous", "href": "x"}, {"rel": "next", "href": "x"}]
    stub.lay_out(
        "GET",
        FLOATING_IPS,
        Reply(body={"floatingips": [floating_ip(1)], "floatingips_links": links}),
        Reply(body={"floatingips": [floating_ip(2)], "floatingips_links": links[:1]}),
    )

    found = cloud.networks.list_floating_ips(
        network_id="network", addresses=["203.0.113.1"], tags=frozenset({"b", "a"})
    )

    assert [each.id for each in found] == ["f1", "f2"]
    assert found[0].tags == {"blazar"}
    query = {"floating_network_id": "network", "floating_ip_address": "203.0.113.1", "tags": "a,b"}
    assert [each.query for each in stub.asked("GET", FLOATING_IPS)] == [query, {**query, "marker": "f1"}]


def test_tags_of_what_is_missing_are_told_from_a_failure(stub: StubCloud, cloud: OpenStackCloud) -> None:
    stub.lay_out("PUT", f"{FLOATING_IPS}/f1/tags", Reply(status=500))

    with pytest.raises(CloudNotFound):
        cloud.networks.set_floating_ip_tags("f1", frozenset())

    stub.lay_out("GET", f"{FLOATING_IPS}/f1", Reply(body={"floatingip": floating_ip(1)}))
    with pytest.raises(CloudUnavailable):
        cloud.networks.set_floating_ip_tags("f1", frozenset())


def test_many_addresses_are_asked_for_with_urls_of_bounded_length(
    stub: StubCloud, cloud: OpenStackCloud
) -> None:
    addresses = [f"203.0.113.{number}" for number in range(120)]
    replies = [Reply(body={"floatingips": [floating_ip(number)]}) for number in (1, 2, 3)]
    stub.lay_out("GET", FLOATING_IPS, *replies)

    found = cloud.networks.list_floating_ips(network_id="network", addresses=addresses)

    assert [each.id for each in found] == ["f1", "f2", "f3"]
    asked = stub.asked("GET", FLOATING_IPS)
    assert len(asked) == 3
    assert sorted(",".join(each.query["floating_ip_address"] for each in asked).split(",")) == sorted(
        addresses
    )
    assert {each.query["floating_network_id"] for each in asked} == {"network"}


def test_without_the_plugin_for_them_there_are_no_port_forwardings(
    stub: StubCloud, cloud: OpenStackCloud
) -> None:
    stub.lay_out("GET", FLOATING_IPS, Reply(body={"floatingips": [floating_ip(1)]}))

    (found,) = cloud.networks.list_floating_ips()

    assert (found.port_forwardings, found.is_in_use) == (0, False)
    assert cloud.networks.list_port_forwardings(found.id) == ()


def test_port_forwardings_are_use_even_if_neutron_does_not_name_their_ids(
    stub: StubCloud, cloud: OpenStackCloud
) -> None:
    body = {**floating_ip(1), "port_forwardings": [{"protocol": "tcp"}, {"protocol": "udp"}]}
    stub.lay_out("GET", FLOATING_IPS, Reply(body={"floatingips": [body]}))

    (found,) = cloud.networks.list_floating_ips()

    assert (found.port_forwardings, found.is_in_use) == (2, True)
