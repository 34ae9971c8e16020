"""A service of the operator's is asked over HTTP whether a lease may be made or changed.

The paths, bodies and answers are those of the existing service (behaviour 7.2, rest-api 8). What is new is
optional: timeouts, what an answer that does not come means, who is exempt, and being told afterwards.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

import requests
from oslo_config.cfg import ConfigOpts

from blazar.domain.errors import EnforcementUnavailable, Unavailable, UsageDenied
from blazar.enforcement.options import GROUP
from blazar.ports.enforcement import JsonObject, LeaseUsage, Occasion
from blazar.telemetry.trail import global_request_id

if TYPE_CHECKING:
    from blazar.ports.enforcement import EnforcementFilter

_CHECK_CREATE, _CHECK_UPDATE = "check-create", "check-update"
_FROM_BASE = (_CHECK_CREATE, _CHECK_UPDATE, Occasion.ON_END.value)
"""Calls whose URL follows from the base; the others are made only if theirs is configured."""
_CALLS = (*_FROM_BASE, Occasion.COMMIT.value, Occasion.ABORT.value)
_LONGEST_MESSAGE = 1000

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalSettings:
    """How the service is spoken to."""

    urls: Mapping[str, str]
    """By call; one that is missing is not made, and allows everything."""
    headers: Mapping[str, str]
    timeout_seconds: float
    allow_on_error: bool
    exempt_project_ids: frozenset[str]
    auth_url: str | None
    region_name: str | None
    verify: bool | str


class ExternalService:
    """The filter."""

    def __init__(self, settings: ExternalSettings) -> None:
        self._settings = settings

    def check_create(self, usage: LeaseUsage, key: str) -> None:
        """Ask ``check-create``.

        Raises:
            UsageDenied: The service says no, or something else than yes.
            EnforcementUnavailable: It does not answer, and that does not mean yes.
        """
        self._check(_CHECK_CREATE, usage, {}, key)

    def check_update(self, current: LeaseUsage, usage: LeaseUsage, key: str) -> None:
        """Ask ``check-update``; raises as :meth:`check_create`."""
        self._check(_CHECK_UPDATE, usage, {"current_lease": current.document}, key)

    def wants(self, occasion: Occasion, project_id: str | None) -> bool:
        """Return whether there is a URL for it, and the project is not exempt."""
        return occasion.value in self._settings.urls and not self._is_exempt(project_id)

    def deliver(self, occasion: Occasion, document: JsonObject, key: str) -> None:
        """Tell the service. Raises Unavailable if it does not take note."""
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
                    "The service that decides about usage cannot be reached; try again later"
                ) from error
            _logger.warning("lease %s is allowed without having been checked: %s", usage.lease.id, error)
            return
        if answer.status_code == HTTPStatus.NO_CONTENT:
            return
        if answer.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR and self._settings.allow_on_error:
            _logger.warning("%s was answered with %d, which means yes here", call, answer.status_code)
            return
        raise UsageDenied(_reason(answer))

    def _post(self, call: str, more: JsonObject, document: JsonObject, key: str) -> requests.Response:
        """Return the answer. Raises Unavailable if there is none."""
        context = {
            "user_id": document["user_id"],
            "project_id": document["project_id"],
            "auth_url": self._settings.auth_url,
            "region_name": self._settings.region_name,
        }
        headers = {**self._settings.headers, "Idempotency-Key": key}
        request_id = global_request_id()
        if request_id is not None:
            headers["X-Openstack-Request-Id"] = request_id
        try:
            return requests.post(
                self._settings.urls[call],
                json={"context": context, **more, "lease": document},
                headers=headers,
                timeout=self._settings.timeout_seconds,
                allow_redirects=False,
                verify=self._settings.verify,
            )
        except requests.RequestException as error:
            # Its text may show the URL, and with it credentials.
            raise Unavailable(f"{call} got no answer: {type(error).__name__}") from error


def _reason(answer: requests.Response) -> str:
    """Return what the lessee is told."""
    try:
        body = answer.json() if answer.status_code == HTTPStatus.FORBIDDEN else None
    except requests.JSONDecodeError:
        body = None
    message = body.get("message") if isinstance(body, dict) else None
    if isinstance(message, str) and message:
        return message[:_LONGEST_MESSAGE]
    return "The service that decides about usage does not allow this"


def make_filter(conf: ConfigOpts) -> ExternalService:
    """Return the filter; the entry point ``ExternalServiceFilter``.

    Raises:
        ValueError: No URL is configured, or one is none of HTTP.
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
            verify=options.external_service_cafile or True,
        )
    )


def _read_urls(conf: ConfigOpts) -> Mapping[str, str]:
    base = conf[GROUP].external_service_base_endpoint
    urls = {}
    for call in _CALLS:
        option = f"external_service_{call.replace('-', '_')}_endpoint"
        # As a relative URL, which is how the existing service finds it.
        url = conf[GROUP][option] or (urljoin(base, call) if base and call in _FROM_BASE else None)
        if url:
            _check_url(url, option if conf[GROUP][option] else "external_service_base_endpoint")
            urls[call] = url
    if not urls:
        raise ValueError(f"[{GROUP}] external_service_base_endpoint: is not set, nor is any other endpoint")
    return urls


def _check_url(url: str, option: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"[{GROUP}] {option}: is no URL with http:// or https:// and a host")


if TYPE_CHECKING:

    def _witness(each: ExternalService) -> EnforcementFilter:
        return each
