"""Which URLs and addresses webhooks may have."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blazar.domain.webhook_rules import RefusedUrl, WebhookRules

RULES = WebhookRules()
EMBEDDING = ("::ffff:{}", "64:ff9b::{}", "::{}", "::ffff:0:{}")
"""Forms of IPv6 addresses that contain an IPv4 address, which a gateway or the system would call."""


@pytest.mark.parametrize(
    "address",
    [
        *("0.0.0.0", "10.1.2.3", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254"),
        *("169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.168.1.1", "198.18.0.1"),
        *("192.0.2.1", "198.51.100.1", "203.0.113.1", "192.88.99.1", "224.0.0.1", "239.255.255.255"),
        *("240.0.0.1", "255.255.255.255", "168.63.129.16"),
        *("::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "64:ff9b::7f00:1"),
        *("64:ff9b:1::a00:1", "100::1", "2001::1", "2001:db8::1", "2002:7f00:1::", "fc00::1"),
        *("fd00:ec2::254", "fe80::1", "febf::1", "fec0::1", "ff02::1", "3fff::1", "5f00::1"),
        "fe80::1%eth0",
    ],
)
def test_addresses_inside_a_site_are_refused(address: str) -> None:
    assert not RULES.allows(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", ["8.8.8.8", "1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111"])
def test_public_addresses_are_allowed(address: str) -> None:
    assert RULES.allows(ipaddress.ip_address(address))


@given(st.ip_addresses(v=4).filter(lambda each: not RULES.allows(each)), st.sampled_from(EMBEDDING))
def test_no_form_of_ipv6_hides_a_refused_address(address: ipaddress.IPv4Address, form: str) -> None:
    assert not RULES.allows(ipaddress.ip_address(form.format(address)))


@given(st.ip_addresses())
def test_what_python_calls_private_is_refused(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    is_inside = address.is_private or address.is_loopback or address.is_link_local or address.is_multicast
    assert not (is_inside and RULES.allows(address))


def test_an_operator_can_allow_networks_inside_and_refuse_public_ones() -> None:
    rules = WebhookRules(
        allowed=(ipaddress.ip_network("10.0.0.0/8"), ipaddress.ip_network("fd00::/8")),
        refused=(ipaddress.ip_network("10.9.0.0/16"), ipaddress.ip_network("8.8.8.0/24")),
    )

    allowed = ["10.1.2.3", "fd00::1", "1.1.1.1"]
    refused = ["10.9.0.1", "8.8.8.8", "127.0.0.1", "::ffff:10.1.2.3"]

    assert all(rules.allows(ipaddress.ip_address(each)) for each in allowed)
    assert not any(rules.allows(ipaddress.ip_address(each)) for each in refused)


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("http://hooks.example.org/", "must begin with https://"),
        ("ftp://hooks.example.org/", "must begin with https://"),
        ("file:///etc/passwd", "must begin with https://"),
        ("hooks.example.org", "must begin with https://"),
        ("https:///path", "must name a host"),
        ("https://", "must name a host"),
        ("https://user:password@hooks.example.org/", "user name"),
        ("https://hooks.example.org\\@127.0.0.1/", "backslash"),
        ("https://hooks.example.org/#part", "fragment"),
        ("https://hooks.example.org:22/", "port 22 is not allowed here; allowed ports: 443, 8443"),
        ("https://hooks.example.org:0/", "port 0 is not allowed"),
        ("https://hooks.example.org:99999/", "is not a URL"),
        ("https://hooks.example.org/\r\nX-Header: 1", "printable ASCII"),
        ("https://hooks.example.org/ ", "printable ASCII"),
        ("https://hööks.example.org/", "printable ASCII"),
        ("https://hooks.example.org/" + "a" * 2048, "at most 2048"),
        ("https://127.0.0.1/", "address 127.0.0.1 is not allowed here"),
        ("https://[::1]/", "address ::1 is not allowed here"),
        ("https://[::ffff:169.254.169.254]/", "not allowed here"),
        ("https://[fe80::1%25eth0]/", "must name a host"),
        ("https://[hooks]/", "is not a URL"),
    ],
)
def test_a_url_that_is_not_allowed_is_refused_with_the_reason(url: str, problem: str) -> None:
    with pytest.raises(RefusedUrl) as refused:
        RULES.parse(url)

    assert problem in str(refused.value)


def test_the_parts_of_an_allowed_url_are_returned() -> None:
    usual = RULES.parse("https://Hooks.example.org/leases?key=1")
    other = WebhookRules(allows_http=True, ports=frozenset()).parse("http://[2606:4700::1111]:8080")

    assert (usual.scheme, usual.host, usual.port, usual.path) == (
        "https",
        "hooks.example.org",
        443,
        "/leases?key=1",
    )
    assert usual.origin == "https://hooks.example.org"
    assert (other.host, other.port, other.path) == ("2606:4700::1111", 8080, "/")
    assert other.origin == "http://[2606:4700::1111]:8080"


@given(st.text(max_size=60))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    for url in (text, f"https://{text}"):
        try:
            WebhookRules(ports=frozenset()).parse(url)
        except RefusedUrl:
            continue
