"""The pages for operators, load balancers and Prometheus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import falcon.testing
import pytest
from programs import fetch
from telemetry.counting import Counts
from telemetry.scraping import samples

from blazar import __version__
from blazar.ports import metrics
from blazar.telemetry.pages import counted, manager_pages, note_route, while_healthy, with_metrics
from blazar.telemetry.process_metrics import ProcessMetrics
from blazar.telemetry.server import PagesServer

if TYPE_CHECKING:
    from collections.abc import Iterable
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment


def answering(status: str = "200 OK", route: str | None = None) -> WSGIApplication:
    """Return an application with one constant response, behind a guard that copies environments."""

    def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if route is not None:
            note_route({**environ}, route)
        start_response(status, [("Content-Type", "text/plain")])
        return [b"the application"]

    return application


def ask(app: WSGIApplication, path: str, method: str = "GET") -> Any:
    return falcon.testing.TestClient(app).simulate_request(method, path)


@pytest.mark.parametrize(
    ("method", "route", "status", "labels"),
    [
        ("GET", "/v1/leases/{lease_id}", "404 Not Found", ("GET", "/v1/leases/{lease_id}", "404")),
        ("POST", None, "401 Unauthorized", ("POST", "none", "401")),
        ("BREW", None, "405 Method Not Allowed", ("other", "none", "405")),
    ],
)
def test_requests_are_counted_by_method_route_and_status(
    method: str, route: str | None, status: str, labels: tuple[str, ...]
) -> None:
    counts = Counts()
    app = counted(answering(status, route), counts)

    app({"REQUEST_METHOD": method, "PATH_INFO": "/v1/leases/17"}, lambda *_: lambda __: None)

    assert counts.of(metrics.API_REQUESTS) == {labels: 1}
    assert list(counts.values(metrics.API_REQUEST_SECONDS)) == [labels[:2]]


def test_metrics_stand_beside_the_application_for_everybody() -> None:
    app = with_metrics(answering("401 Unauthorized"), ProcessMetrics(metrics.OF_API).page())

    assert ask(app, "/metrics").status_code == 200
    assert "blazar_api_requests_total" in ask(app, "/metrics").text
    assert f'blazar_build_info{{version="{__version__}"}} 1.0' in ask(app, "/metrics").text
    assert [ask(app, path).status_code for path in ("/", "/metrics/x", "/v1/metrics")] == [401] * 3


def test_a_process_is_healthy_until_a_part_of_it_is_not() -> None:
    problems: list[str] = []
    app = while_healthy(answering(), lambda: tuple(problems))
    assert ask(app, "/healthcheck").text == "the application"

    problems.append("dispatch: the thread has ended")
    answer = ask(app, "/healthcheck")

    assert answer.status_code == 503
    assert answer.json == {"status": "failed", "reasons": ["dispatch: the thread has ended"]}


def test_a_manager_shows_two_pages_and_nothing_else() -> None:
    app = manager_pages(ProcessMetrics(metrics.OF_MANAGER).page(), lambda: ())

    assert ask(app, "/healthcheck").json == {"status": "ok", "reasons": []}
    assert ask(app, "/healthcheck", "HEAD").status_code == 200
    assert samples(ask(app, "/metrics").text)["blazar_claims_taken_over_total"] == 0
    assert ask(app, "/").status_code == 404
    assert ask(app, "/").json == {"pages": ["/healthcheck", "/metrics"]}
    assert ask(app, "/healthcheck", "POST").status_code == 405


def test_pages_are_served_until_the_server_is_stopped() -> None:
    server = PagesServer(manager_pages(ProcessMetrics(metrics.OF_MANAGER).page(), lambda: ()), "127.0.0.1", 0)
    server.start()
    url = f"http://127.0.0.1:{server.port}"

    found = fetch(f"{url}/healthcheck"), fetch(f"{url}/metrics")
    server.stop()

    assert [status for status, _ in found] == [200, 200]
    with pytest.raises(OSError, match="refused"):
        fetch(f"{url}/healthcheck")


def test_a_port_in_use_is_not_available() -> None:
    server = PagesServer(answering(), "127.0.0.1", 0)

    with pytest.raises(OSError, match="in use"):
        PagesServer(answering(), "127.0.0.1", server.port)
    server.stop()
