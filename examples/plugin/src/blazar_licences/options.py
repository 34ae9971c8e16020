"""The plugin's options, in the group ``[software:licence]`` of ``blazar.conf``."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from oslo_config import cfg

GROUP = "software:licence"
OPTIONS: list[cfg.Opt] = [
    cfg.URIOpt("endpoint", schemes=["http", "https"], help="URL of the licence server; there is no default."),
    cfg.StrOpt("token", secret=True, help="Token for the licence server; none by default."),
    cfg.IntOpt("timeout_seconds", default=10, min=1, help="Timeout of a request, in seconds."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class LicenceOptions:
    """The values of the options."""

    endpoint: str
    token: str | None
    timeout: timedelta


def list_opts() -> list[tuple[str, list[cfg.Opt]]]:
    """Return the options by group, for ``oslo-config-generator``."""
    return [(GROUP, OPTIONS)]


def read_options(conf: cfg.ConfigOpts) -> LicenceOptions:
    """Register the options and return their values.

    Raises:
        ValueError: A required option is missing; the message names it.
    """
    conf.register_opts(OPTIONS, group=GROUP)
    group = conf[GROUP]
    if not group.endpoint:
        raise ValueError(f"[{GROUP}] endpoint: is not set")
    return LicenceOptions(
        endpoint=group.endpoint.rstrip("/"),
        token=group.token,
        timeout=timedelta(seconds=group.timeout_seconds),
    )
