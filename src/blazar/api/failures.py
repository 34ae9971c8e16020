"""A response to every request, even if a part of the WSGI stack raises an exception."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, Any

from oslo_context import context

from blazar.api.faults import defect
from blazar.api.refusals import refuse
from blazar.api.request_ids import HEADER, LOCAL
from blazar.telemetry.log_context import shown_path

if TYPE_CHECKING:
    from collections.abc import Iterable
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

_logger = logging.getLogger(__name__)


def with_failures_answered(app: WSGIApplication, *, names_request: bool = False) -> WSGIApplication:
    """Return *app* with exceptions from it or its body logged and turned into a 500 in JSON.

    Responses are JSON documents in memory; they are read to the end before they are passed on.

    Args:
        app: The application, with its middleware.
        names_request: Whether to add the request id to the response, because no outer middleware does.
    """

    def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        try:
            return _whole(app(environ, start_response))
        except Exception:
            request_id = environ.setdefault(LOCAL, context.generate_request_id())
            _logger.exception(
                "Request failed: method=%s path=%r request_id=%s",
                environ.get("REQUEST_METHOD"),
                shown_path(environ.get("PATH_INFO", "")),
                request_id,
            )
            raised = sys.exc_info()

            # The exception lets the server replace a response that was already started.
            def start(status: str, headers: list[tuple[str, str]], *_: Any) -> Any:
                return start_response(status, headers, raised)

            headers = [(HEADER, request_id)] if names_request else []
            return refuse(start, 500, defect(), *headers)

    return application


def _whole(body: Iterable[bytes]) -> Iterable[bytes]:
    """Return the complete body, which raises no exception when it is iterated."""
    if isinstance(body, (list, tuple)):
        return body
    try:
        return [b"".join(body)]
    finally:
        if hasattr(body, "close"):
            body.close()
