"""``/healthcheck``, for load balancers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from oslo_middleware.healthcheck import Healthcheck

if TYPE_CHECKING:
    from wsgiref.types import WSGIApplication

    from oslo_config.cfg import ConfigOpts


def make_healthcheck(conf: ConfigOpts) -> Callable[[WSGIApplication], WSGIApplication]:
    """Return what answers health checks as ``[healthcheck]`` says, and hands others' requests on.

    Others are those that ``allowed_source_ranges`` or ``ignore_proxied_requests`` exclude.
    """
    return lambda app: cast("WSGIApplication", Healthcheck(app, conf))
