"""Limits on how often calendars are read.

Calendars are served without authentication. A limit for each feed keeps a program that reads too often from
keeping managers busy; a limit for unknown tokens does the same for clients that guess, or that still have the
address of a deleted feed. Each process counts for itself.
"""

from __future__ import annotations

import ipaddress
import math
import time
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from limits import RateLimitItemPerHour
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from blazar.api.faults import shape_a
from blazar.api.feeds import CALENDAR, digest_of
from blazar.api.refusals import refuse
from blazar.settings import ApiSettings
from blazar.telemetry.pages import note_route

if TYPE_CHECKING:
    from collections.abc import Iterable
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

_V6_NETWORK_BITS: Final = 64
"""The part of an IPv6 address that a client cannot choose."""
_TOO_MANY: Final = (
    "The calendar is read too often, or too many unknown addresses were tried. Try again later."
)
_SERVED: Final = frozenset({HTTPStatus.OK, HTTPStatus.NOT_MODIFIED})


class _Allowance:
    """The reads of one kind that are allowed in an hour, for each feed or each network."""

    def __init__(self, limiter: MovingWindowRateLimiter, kind: str, per_hour: int) -> None:
        self._limiter = limiter
        self._kind = kind
        self._item = RateLimitItemPerHour(per_hour)

    def count(self, key: str) -> None:
        """Count a read."""
        self._limiter.hit(self._item, self._kind, key)

    def was_used(self, key: str) -> bool:
        """Return whether a read was counted in the last hour."""
        return self._limiter.get_window_stats(self._item, self._kind, key).remaining < self._item.amount

    def wait_seconds(self, key: str) -> int:
        """Return the seconds until the next read is allowed; 0 if it is allowed now."""
        if self._limiter.test(self._item, self._kind, key):
            return 0
        reset_at = self._limiter.get_window_stats(self._item, self._kind, key).reset_time
        return max(1, math.ceil(reset_at - time.time()))


def with_calendar_limits(app: WSGIApplication, settings: ApiSettings) -> WSGIApplication:
    """Return *app*, which serves calendars, with 429 for clients that read too often.

    A feed that was read within the last hour is served regardless of other requests from its network, so that
    a client does not lock out others that share its address.
    """
    limiter = MovingWindowRateLimiter(MemoryStorage())
    reads = _Allowance(limiter, "feed", settings.feed_reads_per_hour)
    unknown = _Allowance(limiter, "unknown", settings.unknown_feeds_per_hour)

    def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if environ.get("REQUEST_METHOD") not in ("GET", "HEAD"):
            return app(environ, start_response)
        token, network = digest_of(environ.get("PATH_INFO", "")), _network_of(environ)
        wait = reads.wait_seconds(token) if reads.was_used(token) else unknown.wait_seconds(network)
        if wait:
            note_route(environ, CALENDAR)
            status = HTTPStatus.TOO_MANY_REQUESTS
            return refuse(start_response, status, shape_a(status, _TOO_MANY), ("Retry-After", str(wait)))

        def start(line: str, headers: list[tuple[str, str]], *exc_info: Any) -> Any:
            status = int(line.partition(" ")[0])
            if status in _SERVED:
                reads.count(token)
            elif status < HTTPStatus.INTERNAL_SERVER_ERROR:
                unknown.count(network)
            return start_response(line, headers, *exc_info)

        return app(environ, start)

    return application


def _network_of(environ: WSGIEnvironment) -> str:
    """Return the address of a client, or its network if the client can choose its address in it.

    Proxies append addresses to those that a client claims; the last one is that seen by the nearest proxy.
    """
    text = str(environ.get("REMOTE_ADDR", "")).rpartition(",")[2].strip()
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return text
    if isinstance(address, ipaddress.IPv4Address):
        return text
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((address, _V6_NETWORK_BITS), strict=False))
