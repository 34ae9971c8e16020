"""``/metrics`` and ``/healthcheck`` as WSGI applications, and request counting for an application."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from blazar.ports import metrics

if TYPE_CHECKING:
    from collections.abc import Iterable
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

    from blazar.ports.meter import Meter, Problems

METRICS = "/metrics"
HEALTHCHECK = "/healthcheck"
NO_ROUTE = "none"
_SEEN = "blazar.seen"
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


@dataclass(slots=True)
class _Seen:
    """Facts learned while a request is processed; survives copies of the request's environment."""

    route: str = NO_ROUTE


def note_route(environ: WSGIEnvironment, template: str) -> None:
    """Count a request under the template of its path, because the number of templates is small."""
    seen = environ.get(_SEEN)
    if seen is not None:
        seen.route = template


def counted(app: WSGIApplication, meter: Meter) -> WSGIApplication:
    """Return *app* with its requests counted and timed."""

    def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        seen = environ[_SEEN] = _Seen()
        start, status = time.perf_counter(), "500"

        def note(line: str, headers: list[tuple[str, str]], *exc_info: Any) -> Any:
            nonlocal status
            status = line.partition(" ")[0]
            return start_response(line, headers, *exc_info)

        try:
            return app(environ, note)
        finally:
            asked = environ.get("REQUEST_METHOD", "")
            method = asked if asked in _METHODS else "other"
            meter.observe(metrics.API_REQUEST_SECONDS, time.perf_counter() - start, method, seen.route)
            meter.count(metrics.API_REQUESTS, method, seen.route, status)

    return application


def with_metrics(app: WSGIApplication, page: WSGIApplication) -> WSGIApplication:
    """Return *app* with the metrics page at ``/metrics``, without authentication, under any prefix."""

    def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        is_metrics = environ.get("PATH_INFO", "") == METRICS
        return (page if is_metrics else app)(environ, start_response)

    return application


def while_healthy(app: WSGIApplication, problems: Problems) -> WSGIApplication:
    """Return *app*, which answers health checks, replaced by a 503 with the reasons while problems exist."""

    def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        found = problems()
        if found:
            return _answer(start_response, "503 Service Unavailable", {"status": "failed", "reasons": found})
        return app(environ, start_response)

    return application


def manager_pages(page: WSGIApplication, problems: Problems) -> WSGIApplication:
    """Return the pages of a manager: only ``/metrics`` and ``/healthcheck``."""

    def healthy(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        return _answer(start_response, "200 OK", {"status": "ok", "reasons": []})

    pages = {METRICS: page, HEALTHCHECK: while_healthy(healthy, problems)}

    def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        found = pages.get(environ.get("PATH_INFO", ""))
        if found is None:
            return _answer(start_response, "404 Not Found", {"pages": sorted(pages)})
        if environ.get("REQUEST_METHOD") not in ("GET", "HEAD"):
            return _answer(start_response, "405 Method Not Allowed", {}, ("Allow", "GET, HEAD"))
        return found(environ, start_response)

    return application


def _answer(
    start_response: StartResponse, status: str, body: object, *headers: tuple[str, str]
) -> Iterable[bytes]:
    content = json.dumps(body).encode()
    start_response(
        status,
        [
            ("Content-Type", "application/json"),
            ("Content-Length", str(len(content))),
            ("Cache-Control", "no-store"),
            *headers,
        ],
    )
    return [content]
