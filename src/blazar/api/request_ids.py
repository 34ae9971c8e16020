"""A request id in every response."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, Any

from oslo_context import context

from blazar.telemetry.log_context import arriving, shown_path
from blazar.telemetry.pages import HEALTHCHECK

if TYPE_CHECKING:
    from collections.abc import Iterable
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

_logger = logging.getLogger(__name__)

HEADER = "x-openstack-request-id"
# Keys under which oslo.context expects the two ids.
LOCAL = "openstack.request_id"
GLOBAL = "openstack.global_request_id"

_FORMAT = re.compile(r"req-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def with_request_ids(app: WSGIApplication) -> WSGIApplication:
    """Return *app* with a new request id for each request, sent in a header of the response.

    Log lines written while the request is served also have the id. One of them records the response's status.

    An id sent by the client becomes the *global* request id if it is well formed; otherwise it is ignored. It
    never replaces the local id.
    """

    def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        request_id = environ[LOCAL] = context.generate_request_id()
        environ.pop(GLOBAL, None)
        sent = environ.get("HTTP_X_OPENSTACK_REQUEST_ID", "")
        if _FORMAT.fullmatch(sent):
            environ[GLOBAL] = sent

        def start(status: str, headers: list[tuple[str, str]], *exc_info: Any) -> Any:
            path = environ.get("PATH_INFO", "")
            _logger.log(
                logging.DEBUG if path == HEALTHCHECK else logging.INFO,
                "Request answered: method=%s path=%r status=%s",
                environ.get("REQUEST_METHOD"),
                shown_path(path),
                status.partition(" ")[0],
            )
            return start_response(status, [*headers, (HEADER, request_id)], *exc_info)

        with arriving(request_id, environ.get(GLOBAL)):
            return app(environ, start)

    return application
