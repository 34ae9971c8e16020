"""Rules for the URLs that lessees name: managers must not be made to call services inside the site."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, urlsplit

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_INSIDE: Final = tuple(
    ipaddress.ip_network(each)
    for each in (
        # IPv4: this network, private, shared, loopback, link-local with metadata services, protocol
        # assignments, documentation, 6to4 relays, benchmarks, multicast, reserved.
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15"),
        *("198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
        # The metadata and health service of one provider has a public address.
        "168.63.129.16/32",
        # IPv6: unspecified, loopback and IPv4-compatible, IPv4-mapped, IPv4-translated, NAT64, discard-only,
        # protocol assignments with Teredo, documentation, 6to4, segment routing, unique local, link-local,
        # site-local, multicast. Those that embed an IPv4 address could reach any of the above.
        *("::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64"),
        *("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10"),
        *("fec0::/10", "ff00::/8"),
    )
)
_LONGEST_URL: Final = 2048
_PLAIN: Final = re.compile(r"[!-~]+")
_HOST: Final = re.compile(r"[A-Za-z0-9._-]+|[0-9A-Fa-f:.]+")
_PORTS: Final = {"https": 443, "http": 80}


class RefusedUrl(ValueError):
    """A URL is not allowed; the text says why, and may be shown to lessees."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """The parts of a URL that a request needs."""

    scheme: str
    host: str
    port: int
    path: str
    """With the query."""

    @property
    def origin(self) -> str:
        """Return the URL without its path, which may be secret."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        is_usual = self.port == _PORTS[self.scheme]
        return f"{self.scheme}://{host}{'' if is_usual else f':{self.port}'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookRules:
    """The operator's rules for webhooks."""

    allows_http: bool = False
    ports: frozenset[int] = frozenset({443, 8443})
    """Allowed ports; empty for all."""
    allowed: tuple[Network, ...] = ()
    """Networks inside the site that may be called."""
    refused: tuple[Network, ...] = ()
    """Further networks that must not be called, also if ``allowed`` contains them."""

    def parse(self, url: str) -> Endpoint:
        """Return the parts of an allowed URL. Raises RefusedUrl."""
        if len(url) > _LONGEST_URL or not _PLAIN.fullmatch(url):
            raise RefusedUrl(f"must be a URL of at most {_LONGEST_URL} printable ASCII characters")
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError as error:
            raise RefusedUrl(f"is not a URL: {error}") from error
        self._check_parts(url, parts)
        host = parts.hostname or ""
        number = _PORTS[parts.scheme] if port is None else port
        if self.ports and number not in self.ports:
            allowed = ", ".join(map(str, sorted(self.ports)))
            raise RefusedUrl(f"port {number} is not allowed here; allowed ports: {allowed}")
        if (literal := _literal(host)) is not None:
            self.check(literal)
        path = parts.path or "/"
        return Endpoint(
            scheme=parts.scheme,
            host=host,
            port=number,
            path=f"{path}?{parts.query}" if parts.query else path,
        )

    def _check_parts(self, url: str, parts: SplitResult) -> None:
        schemes = ("https", "http") if self.allows_http else ("https",)
        if parts.scheme not in schemes:
            raise RefusedUrl(f"must begin with {' or '.join(f'{each}://' for each in schemes)}")
        if not parts.hostname or not _HOST.fullmatch(parts.hostname):
            raise RefusedUrl("must name a host")
        if "@" in parts.netloc or "\\" in url:
            raise RefusedUrl("must not have a user name or a backslash")
        if "#" in url:
            raise RefusedUrl("must not have a fragment")

    def check(self, address: Address) -> None:
        """Raise RefusedUrl if requests to an address are not allowed."""
        if not self.allows(address):
            raise RefusedUrl(f"address {address} is not allowed here")

    def allows(self, address: Address) -> bool:
        """Return whether requests to an address are allowed. An address with a zone never is."""
        if getattr(address, "scope_id", None) is not None or _is_in(address, self.refused):
            return False
        if _is_in(address, self.allowed):
            return True
        return address.is_global and not address.is_multicast and not _is_in(address, _INSIDE)


def _is_in(address: Address, networks: Sequence[Network]) -> bool:
    return any(address in each for each in networks if each.version == address.version)


def _literal(host: str) -> Address | None:
    """Return the address that a host is; None for a name."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
