"""Webhooks, as the Standard Webhooks specification describes them.

A lessee names the URL, so the manager connects only to an address that was checked, and to no other: the name
is resolved once, redirects are not followed, and proxies are not used.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

import urllib3
from urllib3.exceptions import HTTPError, SSLError

from blazar import __version__
from blazar.channels.resolver import Resolve, resolve
from blazar.domain.webhook_rules import Address, Endpoint, RefusedUrl, WebhookRules
from blazar.domain.webhook_signatures import signed_headers
from blazar.http_deadlines import DeadlineExceeded, DeadlinePool, DeadlineTlsPool, deadline
from blazar.ports.notices import Delivery, DeliveryFailed

if TYPE_CHECKING:
    from blazar.ports.notices import Channel

_MOST_ADDRESSES: Final = 4
"""Addresses of a host to which a connection is tried."""
_LONGEST_ANSWER: Final = 4096
"""Bytes of an answer that are read, so that the receiver can end its response; they are not used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookSettings:
    """Settings of webhooks."""

    rules: WebhookRules
    timeout_seconds: float = 10
    """Limit for a whole attempt, from the resolution of the name to the end of the answer."""
    ca_file: str | None = None
    """File of certificate authorities; None for those of the system."""


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    retry_after: str | None


class Webhooks:
    """Implements :class:`blazar.ports.notices.Channel`."""

    def __init__(self, settings: WebhookSettings, resolve: Resolve = resolve) -> None:
        """Create the channel.

        Args:
            settings: The settings.
            resolve: Returns the addresses of a host.
        """
        self._settings = settings
        self._resolve = resolve

    def deliver(self, delivery: Delivery, now: datetime) -> None:
        """Send a notice. Raises DeliveryFailed unless the receiver answers with 2xx."""
        subscription = delivery.subscription
        try:
            endpoint = self._settings.rules.parse(subscription.target or "")
        except RefusedUrl as error:
            raise DeliveryFailed(f"url: {error}", is_silent=True) from error
        body = body_of(delivery)
        headers = {
            "Host": endpoint.origin.partition("://")[2],
            "Content-Type": "application/json",
            "User-Agent": f"blazar/{__version__}",
            "Connection": "close",
            **signed_headers(delivery.message_id, now, body, subscription.keys_at(now)),
        }
        answer = self._exchange(endpoint, body, headers)
        if not HTTPStatus.OK <= answer.status < HTTPStatus.MULTIPLE_CHOICES:
            raise _refusal(answer, now)

    def _exchange(self, endpoint: Endpoint, body: bytes, headers: dict[str, str]) -> _Answer:
        """Return the answer. Raises DeliveryFailed if there is none in time."""
        began = time.monotonic()
        addresses = self._addresses(endpoint)
        left = max(0.1, self._settings.timeout_seconds - (time.monotonic() - began))
        try:
            with deadline(left):
                return self._ask_first(endpoint, addresses, body, headers)
        except DeadlineExceeded as error:
            raise DeliveryFailed(
                f"no complete answer within {self._settings.timeout_seconds:g} s", is_silent=True
            ) from error
        except SSLError as error:
            raise DeliveryFailed(f"TLS failed: {_tls_problem(error)}", is_silent=True) from error
        except (HTTPError, OSError, ValueError) as error:
            raise DeliveryFailed(f"no answer: {type(error).__name__}", is_silent=True) from error

    def _addresses(self, endpoint: Endpoint) -> Sequence[Address]:
        """Return the allowed addresses of a host. Raises DeliveryFailed if it has none."""
        try:
            found = self._resolve(endpoint.host, endpoint.port, self._settings.timeout_seconds / 2)
        except OSError as error:
            raise DeliveryFailed(f"the host cannot be resolved: {error}", is_silent=True) from error
        allowed = [each for each in found if self._settings.rules.allows(each)]
        if not allowed:
            raise DeliveryFailed("the host has no address that may be called from here", is_silent=True)
        return allowed[:_MOST_ADDRESSES]

    def _ask_first(
        self, endpoint: Endpoint, addresses: Sequence[Address], body: bytes, headers: dict[str, str]
    ) -> _Answer:
        """Return the answer of the first address that accepts a connection."""
        *others, last = addresses
        for address in others:
            try:
                return self._ask(endpoint, address, body, headers)
            except urllib3.exceptions.NewConnectionError:
                continue
        return self._ask(endpoint, last, body, headers)

    def _ask(self, endpoint: Endpoint, address: Address, body: bytes, headers: dict[str, str]) -> _Answer:
        with self._pool(endpoint, address) as pool:
            response = pool.urlopen(
                "POST",
                endpoint.path,
                body=body,
                headers=headers,
                retries=False,
                redirect=False,
                assert_same_host=False,
                timeout=self._settings.timeout_seconds,
                preload_content=False,
                decode_content=False,
            )
            try:
                response.read(_LONGEST_ANSWER)
                return _Answer(response.status, response.headers.get("Retry-After"))
            finally:
                response.close()

    def _pool(self, endpoint: Endpoint, address: Address) -> Any:
        """Return connections to an address; TLS checks the certificate for the name of the host."""
        if endpoint.scheme == "http":
            return DeadlinePool(str(address), endpoint.port)
        return DeadlineTlsPool(
            str(address),
            endpoint.port,
            server_hostname=endpoint.host,
            assert_hostname=endpoint.host,
            cert_reqs="CERT_REQUIRED",
            ca_certs=self._settings.ca_file,
        )


def body_of(delivery: Delivery) -> bytes:
    """Return the body of a request, the same at every attempt."""
    body = {
        "type": delivery.type,
        "timestamp": delivery.at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "data": delivery.data,
    }
    return json.dumps(body, separators=(",", ":")).encode()


def _refusal(answer: _Answer, now: datetime) -> DeliveryFailed:
    if HTTPStatus.MULTIPLE_CHOICES <= answer.status < HTTPStatus.BAD_REQUEST:
        return DeliveryFailed(f"answered with {answer.status}; redirects are not followed")
    return DeliveryFailed(
        f"answered with {answer.status}",
        retry_after=_retry_after(answer.retry_after, now),
        is_gone=answer.status == HTTPStatus.GONE,
    )


def _retry_after(text: str | None, now: datetime) -> timedelta | None:
    """Return the time for which a receiver wants no request; None if it does not say so."""
    if text is None or len(text) > 64:
        return None
    if text.isascii() and text.isdecimal():
        return timedelta(seconds=min(int(text), 10**9))
    try:
        found = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(timedelta(0), found - now) if found.tzinfo is not None else None


def _tls_problem(error: SSLError) -> str:
    """Return what is wrong with a certificate, without what the peer sent."""
    inner = error.args[0] if error.args else None
    return str(getattr(inner, "verify_message", "") or type(inner).__name__)


if TYPE_CHECKING:

    def _witness(each: Webhooks) -> Channel:
        return each
