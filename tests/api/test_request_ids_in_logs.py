"""Log lines of a request contain the request id that its client received."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from api.conftest import Api
from oslo_context import context as oslo
from telemetry.listening import listening

if TYPE_CHECKING:
    from collections.abc import Iterable
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

GLOBAL = "req-6a0c1f0e-9999-4222-8333-0123456789ab"
HEADER = "x-openstack-request-id"


def test_a_request_is_logged_once_with_its_ids_and_who_made_it(api: Api) -> None:
    with listening() as lines:
        answer = api.get("/v1/leases/l1", headers={"X-OpenStack-Request-ID": GLOBAL})

    (line,) = (each for each in lines if each.text.startswith("Request answered"))
    assert line.text == "Request answered: method=GET path='/v1/leases/l1' status=200"
    assert line.about["request_id"] == answer.headers[HEADER]
    assert line.about["global_request_id"] == GLOBAL
    assert (line.about["user_id"], line.about["project_id"]) == ("u1", "p1")
    assert line.about["lease_id"] == "l1"


def test_what_a_guard_refuses_bears_the_id_of_this_request_and_not_of_the_one_before(
    make_api: Callable[..., Api],
) -> None:
    seen = []

    def guard(app: WSGIApplication) -> WSGIApplication:
        def refuse(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
            present: Any = oslo.get_current()
            seen.append(present.request_id)
            start_response("401 Unauthorized", [("Content-Type", "text/plain")])
            return [b""]

        return refuse

    api = make_api(guard=guard)

    answers = [api.get("/v1/leases") for _ in range(2)]

    assert seen == [each.headers[HEADER] for each in answers]
    assert oslo.get_current() is None


def test_the_manager_is_told_both_ids(api: Api) -> None:
    answer = api.get("/v1/leases", headers={"X-OpenStack-Request-ID": GLOBAL})

    caller = api.manager.caller
    assert caller is not None
    assert (caller.request_id, caller.global_request_id) == (answer.headers[HEADER], GLOBAL)


def test_a_path_cannot_forge_a_line(api: Api) -> None:
    with listening() as lines:
        api.get("/v1/leases/x%0aRequest%20answered")

    assert [each.about.get("lease_id") for each in lines if "Request answered" in each.text] == [None]
    assert all("\n" not in each.text for each in lines)


def test_health_checks_do_not_fill_the_log(api: Api) -> None:
    with listening(level=20) as lines:
        api.get("/healthcheck")

    assert lines == []
