"""A request id on every answer, whoever gives it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from oslo_context import context

if TYPE_CHECKING:
    from collections.abc import Iterable
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

HEADER = "x-openstack-request-id"
# Where oslo.context looks for the two ids.
LOCAL = "openstack.request_id"
GLOBAL = "openstack.global_request_id"

_FORMAT = re.compile(r"req-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def with_request_ids(app: WSGIApplication) -> WSGIApplication:
    """Return *app* with a fresh request id per request, shown in the answer's header.

    An id that the client sends is the *global* request id if it is well formed, and is ignored if not;
    it never replaces the local one.
    """

    def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        request_id = environ[LOCAL] = context.generate_request_id()
        environ.pop(GLOBAL, None)
        sent = environ.get("HTTP_X_OPENSTACK_REQUEST_ID", "")
        if _FORMAT.fullmatch(sent):
            environ[GLOBAL] = sent

        def start(status: str, headers: list[tuple[str, str]], *exc_info: Any) -> Any:
            return start_response(status, [*headers, (HEADER, request_id)], *exc_info)

        return app(environ, start)

    return application
