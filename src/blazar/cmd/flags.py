"""Flags of the existing service's programs, so that its systemd units can start the programs of this one."""

from __future__ import annotations

import logging
from collections.abc import Collection

from oslo_config import cfg

from blazar.cloud.openstack.options import KEYSTONE_OPTIONS
from blazar.known_options import flags_without_effect
from blazar.options import DEFAULT_OPTIONS

_logger = logging.getLogger(__name__)

LOG_EXCHANGE = cfg.BoolOpt("log_exchange", default=False, help="Accepted for compatibility; has no effect.")
_NAMES = ("host", "port", "identity_service", "os_region_name")

FLAGS: list[cfg.Opt] = [
    *(each for each in (*DEFAULT_OPTIONS, *KEYSTONE_OPTIONS) if each.name in _NAMES),
    LOG_EXCHANGE,
]
"""Flags of ``blazar-api`` and ``blazar-manager``."""
IDLE_IN_API = frozenset({"identity_service", "log_exchange"})
"""Flags without effect in ``blazar-api``."""
IDLE_IN_MANAGER = IDLE_IN_API | {"host", "port"}
"""Flags without effect in ``blazar-manager``."""


def warn_of_flags(conf: cfg.ConfigOpts, without_effect: Collection[str]) -> None:
    """Log a warning for each flag of the command line that has no effect."""
    for flag in flags_without_effect(conf, sorted(without_effect)):
        _logger.warning("Flag without effect: flag=%s", flag)
