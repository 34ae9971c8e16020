"""Project limits from Keystone (unified limits), read by oslo.limit.

oslo.limit could also count and compare, but not in the transaction that reserves, and it treats a resource
without a registered limit as forbidden. Here, such a resource is not limited, so that an operator who limits
hosts does not need a limit for every resource class.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, Protocol, cast

from keystoneauth1 import exceptions as keystone_errors
from openstack import exceptions as sdk_errors
from oslo_config import cfg
from oslo_limit import exception as limit_errors
from oslo_limit import limit

from blazar.domain.errors import LimitsUnavailable
from blazar.ports.clock import Clock

GROUP = "oslo_limit"
_TIMEOUT_SECONDS = 10
_REMEMBERED = 10_000

_logger = logging.getLogger(__name__)


class Enforcer(Protocol):
    """The used part of ``oslo_limit.limit.Enforcer``; None as an argument selects all resources."""

    def get_registered_limits(self, resources_to_check: None) -> list[tuple[str, int]]:
        """Return the default limits, for projects without own limits."""

    def get_project_limits(self, project_id: str, resource_names: None) -> list[tuple[str, int]]:
        """Return the limits set for a project."""


class KeystoneLimits:
    """Implements :class:`blazar.ports.quotas.Limits`; caches the limits for a while."""

    def __init__(self, connect: Callable[[], Enforcer], clock: Clock, lifetime: timedelta) -> None:
        self._connect = connect
        self._clock = clock
        self._lifetime = lifetime
        self._lock = threading.Lock()
        self._enforcer: Enforcer | None = None
        self._known: dict[str, tuple[datetime, Mapping[str, int]]] = {}

    def get(self, project_id: str, *, fresh: bool = False) -> Mapping[str, int]:
        """Return a project's limits. Raises LimitsUnavailable."""
        now = self._clock.now()
        with self._lock:
            at, known = self._known.get(project_id, (None, {}))
        if not fresh and at is not None and now < at + self._lifetime:
            return known
        limits = self._ask(lambda each: each.get_project_limits(project_id, None))
        limits = {**self.get_defaults(), **limits}
        with self._lock:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[project_id] = (now, limits)
        return limits

    def get_defaults(self) -> Mapping[str, int]:
        """Return the default limits. Raises LimitsUnavailable."""
        return self._ask(lambda each: each.get_registered_limits(None))

    def _ask(self, question: Callable[[Enforcer], list[tuple[str, int]]]) -> Mapping[str, int]:
        try:
            with self._lock:
                if self._enforcer is None:
                    self._enforcer = self._connect()
                enforcer = self._enforcer
            return dict(question(enforcer))
        except (
            keystone_errors.ClientException,
            sdk_errors.SDKException,
            limit_errors.SessionInitError,
            # oslo.limit raises this if Keystone does not have the service or endpoint.
            ValueError,
        ) as error:
            _logger.warning("cannot read limits from Keystone: reason=%s", error)
            raise LimitsUnavailable("The limits of the project cannot be read now") from error


def connect(conf: cfg.ConfigOpts) -> Callable[[], Enforcer]:
    """Return a function that creates the enforcer from the option group ``[oslo_limit]``.

    Defaults for missing options are the catalog's endpoint of type ``reservation`` in ``os_region_name``, and
    the account of ``[keystone]``.

    Raises:
        ValueError: *conf* is not ``cfg.CONF``, the configuration that oslo.limit reads.
    """
    if conf is not cfg.CONF:
        raise ValueError("limits require the global configuration, cfg.CONF")
    group: Any = conf[GROUP]
    conf.set_default("timeout", _TIMEOUT_SECONDS, group=GROUP)
    if not group.auth_type and not group.auth_section:
        conf.set_default("auth_section", "keystone", group=GROUP)
    if not (group.endpoint_id or group.endpoint_service_type or group.endpoint_service_name):
        conf.set_default("endpoint_service_type", "reservation", group=GROUP)
    if not group.endpoint_region_name:
        conf.set_default("endpoint_region_name", conf.os_region_name, group=GROUP)
    return lambda: cast("Enforcer", limit.Enforcer(lambda project_id, names: {}, cache=False))
