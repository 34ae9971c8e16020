"""``/healthcheck``, for load balancers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from oslo_middleware.healthcheck import Healthcheck

if TYPE_CHECKING:
    from wsgiref.types import WSGIApplication

    from oslo_config.cfg import ConfigOpts


def make_healthcheck(conf: ConfigOpts) -> Callable[[WSGIApplication], WSGIApplication]:
    """Return the middleware that serves health checks as configured in ``[healthcheck]``.

    Requests that ``allowed_source_ranges`` or ``ignore_proxied_requests`` exclude are passed on.
    """
    return lambda app: cast("WSGIApplication", Healthcheck(app, conf))
