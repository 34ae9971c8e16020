"""Filter that asks an external service over HTTP whether a lease may be created or changed.

The paths, bodies and answers are those of the existing service. Optional additions are timeouts, the choice
to allow leases while the external service is down, exempt projects, and calls that report the outcome.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

import requests
from oslo_config.cfg import ConfigOpts

from blazar.domain.errors import EnforcementUnavailable, Unavailable, UsageDenied
from blazar.enforcement.options import GROUP
from blazar.http_deadlines import DeadlineAdapter, deadline
from blazar.ports.enforcement import Cost, JsonObject, LeaseUsage, Occasion
from blazar.telemetry.log_context import global_request_id

if TYPE_CHECKING:
    from blazar.ports.enforcement import EnforcementFilter, EstimatesCost

_CHECK_CREATE, _CHECK_UPDATE = "check-create", "check-update"
_FROM_BASE = (_CHECK_CREATE, _CHECK_UPDATE, Occasion.ON_END.value)
"""Calls whose URL is derived from the base; the others are made only if their URL is configured."""
_ESTIMATE_COST = "estimate-cost"
_CALLS = (*_FROM_BASE, Occasion.COMMIT.value, Occasion.ABORT.value, _ESTIMATE_COST)
_LONGEST_UNIT = 32
_LONGEST_MESSAGE = 1000
_LONGEST_ANSWER = 64 * 1024
"""Bytes of an answer that are read; the message in a longer answer is not shown to the lessee."""

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalSettings:
    """Settings of the calls to the external service."""

    urls: Mapping[str, str]
    """By call; a call without a URL is not made and allows everything."""
    headers: Mapping[str, str]
    timeout_seconds: float
    """Limit for a whole call, from connecting to the last byte of the answer."""
    allow_on_error: bool
    exempt_project_ids: frozenset[str]
    auth_url: str | None
    region_name: str | None
    verify: bool | str


@dataclass(frozen=True, slots=True)
class _Answer:
    status_code: int
    body: bytes

    @property
    def ok(self) -> bool:
        return self.status_code < HTTPStatus.BAD_REQUEST


class ExternalService:
    """The filter that calls the external service."""

    def __init__(self, settings: ExternalSettings) -> None:
        self._settings = settings

    def check_create(self, usage: LeaseUsage, key: str) -> None:
        """Call ``check-create``.

        Raises:
            UsageDenied: The service denies the lease, or gives an unexpected answer.
            EnforcementUnavailable: The service does not answer, and leases are not allowed in this case.
        """
        self._check(_CHECK_CREATE, usage, {}, key)

    def check_update(self, current: LeaseUsage, usage: LeaseUsage, key: str) -> None:
        """Call ``check-update``; raises as :meth:`check_create` does."""
        self._check(_CHECK_UPDATE, usage, {"current_lease": current.document}, key)

    def cost_of(self, usage: LeaseUsage) -> Cost | None:
        """Call ``estimate-cost``, if its URL is configured and the project is not exempt.

        Raises:
            Unavailable: The service does not answer, or does not state a cost.
        """
        if _ESTIMATE_COST not in self._settings.urls or self._is_exempt(usage.lease.project_id):
            return None
        answer = self._post(_ESTIMATE_COST, {}, usage.document, "")
        if answer.status_code == HTTPStatus.NO_CONTENT:
            return None
        if answer.status_code != HTTPStatus.OK:
            raise Unavailable(f"{_ESTIMATE_COST} was answered with {answer.status_code}")
        return _parse_cost(answer)

    def wants(self, occasion: Occasion, project_id: str | None) -> bool:
        """Return whether a URL for the call is configured and the project is not exempt."""
        return occasion.value in self._settings.urls and not self._is_exempt(project_id)

    def deliver(self, occasion: Occasion, document: JsonObject, key: str) -> None:
        """Deliver a message to the service. Raises Unavailable if the service does not accept it."""
        answer = self._post(occasion.value, {}, document, key)
        if not answer.ok:
            raise Unavailable(f"{occasion.value} was answered with {answer.status_code}")

    def _is_exempt(self, project_id: object) -> bool:
        return project_id in self._settings.exempt_project_ids

    def _check(self, call: str, usage: LeaseUsage, more: JsonObject, key: str) -> None:
        if call not in self._settings.urls or self._is_exempt(usage.lease.project_id):
            return
        try:
            answer = self._post(call, more, usage.document, key)
        except Unavailable as error:
            if not self._settings.allow_on_error:
                raise EnforcementUnavailable(
                    "The usage enforcement service cannot be reached; try again later"
                ) from error
            _logger.warning("lease allowed without a check: lease_id=%s reason=%s", usage.lease.id, error)
            return
        if answer.status_code == HTTPStatus.NO_CONTENT:
            return
        is_allowed = answer.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR and self._settings.allow_on_error
        if answer.status_code != HTTPStatus.FORBIDDEN:
            _logger.warning(
                "unexpected response of the usage service: call=%s status=%d lease_is=%s",
                call,
                answer.status_code,
                "allowed" if is_allowed else "refused",
            )
        if not is_allowed:
            raise UsageDenied(_reason(answer))

    def _post(self, call: str, more: JsonObject, document: JsonObject, key: str) -> _Answer:
        """Return the answer. Raises Unavailable if none arrives in time."""
        context = {
            "user_id": document["user_id"],
            "project_id": document["project_id"],
            "auth_url": self._settings.auth_url,
            "region_name": self._settings.region_name,
        }
        headers = {**self._settings.headers, **({"Idempotency-Key": key} if key else {})}
        request_id = global_request_id()
        if request_id is not None:
            headers["X-Openstack-Request-Id"] = request_id
        body = {"context": context, **more, "lease": document}
        try:
            return self._exchange(self._settings.urls[call], body, headers)
        except (requests.RequestException, OSError) as error:
            # The error text may contain the URL, and with it credentials.
            raise Unavailable(f"{call} got no answer: {type(error).__name__}") from error

    def _exchange(self, url: str, body: JsonObject, headers: Mapping[str, str]) -> _Answer:
        """Return the answer; read no more of it than needed."""
        with deadline(self._settings.timeout_seconds), requests.Session() as session:
            for scheme in ("http://", "https://"):
                session.mount(scheme, DeadlineAdapter())
            with session.post(
                url,
                json=body,
                headers=dict(headers),
                timeout=self._settings.timeout_seconds,
                allow_redirects=False,
                verify=self._settings.verify,
                stream=True,
            ) as response:
                content = b""
                for part in response.iter_content(8192):
                    content += part
                    if len(content) > _LONGEST_ANSWER:
                        break
                return _Answer(response.status_code, content[: _LONGEST_ANSWER + 1])


def _parse_cost(answer: _Answer) -> Cost:
    """Return the cost in an answer, ``{"amount": 12.5, "unit": "SU"}``. Raises Unavailable."""
    try:
        body = json.loads(answer.body, parse_float=Decimal, parse_int=Decimal)
        amount, unit = body["amount"], body["unit"]
    except (ValueError, RecursionError, KeyError, TypeError) as error:
        raise Unavailable(f"{_ESTIMATE_COST} was answered without an amount and a unit") from error
    if not isinstance(amount, Decimal) or not amount.is_finite() or abs(amount.adjusted()) > _LONGEST_UNIT:
        raise Unavailable(f"{_ESTIMATE_COST} was answered with an amount that is not a number")
    if not isinstance(unit, str) or not 0 < len(unit) <= _LONGEST_UNIT:
        raise Unavailable(f"{_ESTIMATE_COST} was answered with a unit that is not a short text")
    return Cost(amount=amount, unit=unit)


def _reason(answer: _Answer) -> str:
    """Return the message for the lessee."""
    if answer.status_code != HTTPStatus.FORBIDDEN:
        return (
            f"The usage enforcement service answered with status {answer.status_code}, neither allowing nor "
            "refusing this; try again later"
        )
    try:
        body = json.loads(answer.body)
    except (ValueError, RecursionError):
        body = None
    message = body.get("message") if isinstance(body, dict) else None
    if isinstance(message, str) and message:
        return message[:_LONGEST_MESSAGE]
    return "The usage enforcement service does not allow this"


def make_filter(conf: ConfigOpts) -> ExternalService:
    """Return the filter; the entry point ``ExternalServiceFilter``.

    Raises:
        ValueError: No URL is configured, a URL is not an HTTP URL, or the CA file does not exist.
    """
    options = conf[GROUP]
    headers = {}
    if options.external_service_token:
        headers["X-Auth-Token"] = options.external_service_token
    if options.external_service_bearer_token:
        headers["Authorization"] = f"Bearer {options.external_service_bearer_token}"
    return ExternalService(
        ExternalSettings(
            urls=_read_urls(conf),
            headers=headers,
            timeout_seconds=options.external_service_timeout,
            allow_on_error=options.external_service_allow_on_error,
            exempt_project_ids=frozenset(options.external_service_exempt_project_ids),
            auth_url=options.external_service_auth_url,
            region_name=options.external_service_region_name,
            verify=_read_cafile(conf) or True,
        )
    )


def _read_cafile(conf: ConfigOpts) -> str | None:
    path: str | None = conf[GROUP].external_service_cafile
    if path and not Path(path).exists():
        raise ValueError(f"[{GROUP}] external_service_cafile: file {path} does not exist")
    return path


def _read_urls(conf: ConfigOpts) -> Mapping[str, str]:
    base = conf[GROUP].external_service_base_endpoint
    urls = {}
    for call in _CALLS:
        option = f"external_service_{call.replace('-', '_')}_endpoint"
        # Joined as a relative URL, as in the existing service.
        url = conf[GROUP][option] or (urljoin(base, call) if base and call in _FROM_BASE else None)
        if url:
            _check_url(url, option if conf[GROUP][option] else "external_service_base_endpoint")
            urls[call] = url
    if not urls:
        raise ValueError(f"[{GROUP}] external_service_base_endpoint: must be set if no other endpoint is")
    return urls


def _check_url(url: str, option: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"[{GROUP}] {option}: must be a URL with http:// or https:// and a host")


if TYPE_CHECKING:

    def _witness(each: ExternalService) -> tuple[EnforcementFilter, EstimatesCost]:
        return each, each
