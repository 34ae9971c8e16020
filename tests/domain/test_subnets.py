"""Addresses of a network that can be reserved."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blazar.domain.errors import InvalidParameter
from blazar.domain.lease import ResourceId
from blazar.domain.subnets import Subnet, find_obstacle, find_subnet
from blazar.plugins.floatingips.floatingip import FloatingIP, parse_address


def subnet(
    cidr: str = "203.0.113.0/24",
    *,
    subnet_id: str = "home",
    gateway: str | None = "203.0.113.1",
    pools: tuple[tuple[str, str], ...] = (("203.0.113.10", "203.0.113.99"),),
) -> Subnet:
    return Subnet(id=subnet_id, network_id="net", cidr=cidr, gateway_ip=gateway, allocation_pools=pools)


V6 = subnet("2001:db8::/64", gateway="2001:db8::1", pools=(("2001:db8::10", "2001:db8::ff"),))


def obstacle(address: str, *subnets: Subnet) -> str | None:
    return find_obstacle(ip_address(address), subnets)


@pytest.mark.parametrize(
    ("address", "word"),
    [
        ("198.51.100.7", "no subnet"),
        ("2001:db8::5", "no subnet"),
        ("203.0.113.0", "network or broadcast"),
        ("203.0.113.255", "network or broadcast"),
        ("203.0.113.1", "gateway"),
        ("203.0.113.10", "allocation pool"),
        ("203.0.113.50", "allocation pool"),
        ("203.0.113.99", "allocation pool"),
    ],
)
def test_what_neutron_needs_or_gives_out_is_not_for_reservations(address: str, word: str) -> None:
    assert word in str(obstacle(address, subnet()))


@pytest.mark.parametrize("address", ["203.0.113.2", "203.0.113.9", "203.0.113.100", "203.0.113.254"])
def test_what_lies_beside_the_pools_is_for_reservations(address: str) -> None:
    assert obstacle(address, subnet()) is None


def test_a_subnet_needs_neither_a_gateway_nor_pools() -> None:
    assert obstacle("203.0.113.1", subnet(gateway=None, pools=())) is None


@pytest.mark.parametrize("first_is_home", [True, False])
def test_the_pools_and_gateways_of_all_subnets_are_in_the_way(first_is_home: bool) -> None:
    """The allocation pool of a subnet lies within it, but its gateway does not have to."""
    other = subnet("198.51.100.0/24", subnet_id="other", gateway="203.0.113.7", pools=())
    subnets = (subnet(), other) if first_is_home else (other, subnet())

    assert obstacle("203.0.113.7", *subnets) == "is the gateway of subnet other"
    assert obstacle("198.51.100.7", *subnets) is None
    assert "pool of subnet home" in str(obstacle("203.0.113.10", *subnets))


def test_several_pools_are_all_checked() -> None:
    pools = (("203.0.113.2", "203.0.113.3"), ("203.0.113.200", "203.0.113.200"))

    assert obstacle("203.0.113.200", subnet(pools=pools)) is not None
    assert obstacle("203.0.113.201", subnet(pools=pools)) is None


def test_ipv6_has_no_broadcast_but_an_address_of_any_router() -> None:
    assert "network" in str(obstacle("2001:db8::", V6))
    assert obstacle("2001:db8::ffff:ffff:ffff:ffff", V6) is None
    assert "gateway" in str(obstacle("2001:0db8:0:0::0001", V6))
    assert "pool" in str(obstacle("2001:db8::20", V6))
    assert obstacle("2001:db8::20", subnet(), subnet("2001:db8::/64", gateway=None, pools=())) is None


@pytest.mark.parametrize("address", ["203.0.113.4", "203.0.113.5"])
def test_of_two_addresses_each_is_a_machine_s(address: str) -> None:
    assert obstacle(address, subnet("203.0.113.4/31", gateway=None, pools=())) is None


def test_a_subnet_of_one_address_has_that_one() -> None:
    assert obstacle("203.0.113.4", subnet("203.0.113.4/32", gateway=None, pools=())) is None


addresses = st.integers(0, 63).map(lambda number: IPv4Address(f"192.0.2.{number}"))


@st.composite
def networks(draw: st.DrawFn) -> tuple[Subnet, ...]:
    """Return disjoint subnets of 16 addresses, with pools anywhere in them."""
    found = []
    for number in draw(st.sets(st.integers(0, 3), max_size=3)):
        cidr = IPv4Network(f"192.0.2.{16 * number}/28")
        inside = st.integers(int(cidr[1]), int(cidr[-2]))
        pools = []
        for one, other in draw(st.lists(st.tuples(inside, inside), max_size=2)):
            pools.append((str(IPv4Address(min(one, other))), str(IPv4Address(max(one, other)))))
        gateway = draw(st.none() | addresses)
        found.append(
            subnet(
                str(cidr),
                subnet_id=str(number),
                gateway=None if gateway is None else str(gateway),
                pools=tuple(pools),
            )
        )
    return tuple(draw(st.permutations(found)))


@given(networks(), addresses)
def test_what_can_be_reserved_is_what_a_list_of_all_others_leaves(
    subnets: tuple[Subnet, ...], address: IPv4Address
) -> None:
    left = {host for each in subnets for host in IPv4Network(each.cidr).hosts()}
    for each in subnets:
        left -= {IPv4Address(each.gateway_ip)} if each.gateway_ip else set()
        for first, last in each.allocation_pools:
            left -= {
                IPv4Address(number) for number in range(int(IPv4Address(first)), int(IPv4Address(last)) + 1)
            }

    assert (find_obstacle(address, subnets) is None) == (address in left)


@given(networks(), addresses)
def test_an_address_lies_in_the_subnet_that_has_it(subnets: tuple[Subnet, ...], address: IPv4Address) -> None:
    found = find_subnet(address, subnets)

    assert (found is None) == all(address not in ip_network(each.cidr) for each in subnets)
    assert found is None or address in ip_network(found.cidr)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("2001:0DB8:0000::0001", "2001:db8::1"),
        ("::FFFF:203.0.113.7", "::ffff:203.0.113.7"),
    ],
)
def test_an_address_has_one_canonical_form(text: str, canonical: str) -> None:
    assert parse_address("x", text) == ip_address(canonical)


@pytest.mark.parametrize(
    "value",
    [
        None,
        3405803786,
        "",
        " ",
        "203.0.113.7 ",
        "203.0.113",
        "203.0.113.256",
        "203.0.113.07",
        "203.0.113.0/24",
        "fe80::1%eth0",
        "::g",
        "x" * 300,
        ["203.0.113.7"],
        True,
        "203.0.113.7\n",
        "٢.0.0.1",
    ],
)
def test_what_is_no_address_is_refused_by_name(value: object) -> None:
    with pytest.raises(InvalidParameter, match="floating_ip_address: must be an"):
        parse_address("floating_ip_address", value)


def test_floating_ips_are_in_the_order_of_their_addresses() -> None:
    texts = ["203.0.113.9", "203.0.113.10", "203.0.113.100", "2001:db8::2"]
    resources = [
        FloatingIP(id=ResourceId(text), network_id="net", subnet_id="sub", address=text).as_resource()
        for text in reversed(texts)
    ]

    assert [each.id for each in sorted(resources, key=lambda each: each.size)] == texts
