from __future__ import annotations

import logging
from collections.abc import Callable, Iterator

import pytest
from api.conftest import LEASE, Api

from blazar.api.faults import STATUSES, status_of
from blazar.domain.errors import (
    BlazarError,
    CloudRefused,
    CloudRefusesLease,
    Conflict,
    NotEnoughResources,
    Unavailable,
)
from blazar.plugins.floatingips.errors import NotEnoughFloatingIPs
from blazar.plugins.hosts.errors import NotEnoughHosts
from blazar.resource_types import import_parts

INTERNAL = {
    "error_code": 500,
    "error_message": "Internal Server Error",
    "error_name": "INTERNAL_SERVER_ERROR",
}


def tree(kind: type[BlazarError] = BlazarError) -> Iterator[type[BlazarError]]:
    yield kind
    for child in kind.__subclasses__():
        if child.__module__.startswith("blazar."):
            yield from tree(child)


def test_every_error_has_a_status_and_every_status_an_error() -> None:
    assert set(STATUSES) == {each for each in tree() if not each.__module__.startswith("blazar.plugins.")}


def test_an_error_of_a_resource_type_is_no_defect() -> None:
    import_parts("errors")
    own = [each for each in tree() if each.__module__.startswith("blazar.plugins.")]

    assert NotEnoughHosts in own
    assert [each for each in own if status_of(each.__new__(each)) == 500] == []


def test_codes_are_unique() -> None:
    codes = [kind.code for kind in tree()]

    assert len(codes) == len(set(codes))


def test_an_unlisted_error_has_its_parents_status() -> None:
    class TooHot(Conflict):
        """Raised by a third-party plugin."""

        code = "too-hot"

    assert status_of(TooHot("it is too hot")) == 409


@pytest.mark.parametrize("failure", [RuntimeError("secret"), BlazarError("secret"), CloudRefused("secret")])
def test_a_defect_is_answered_without_its_cause_and_logged_once(
    api: Api, caplog: pytest.LogCaptureFixture, failure: Exception
) -> None:
    api.manager.failure = failure

    answer = api.get("/v1/leases")

    assert answer.status_code == 500
    assert answer.json == INTERNAL
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["openstack-api-version"] == "reservation 1.0"
    logged = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert len(logged) == 1
    assert logged[0].exc_info is not None
    assert logged[0].exc_info[1] is failure


def test_what_the_manager_answers_wrongly_is_a_defect_too(api: Api) -> None:
    del api.manager.leases["l1"]["project_id"]

    assert api.get("/v1/leases/l1").json == INTERNAL


def test_an_outage_is_a_warning_without_a_traceback(api: Api, caplog: pytest.LogCaptureFixture) -> None:
    api.manager.failure = Unavailable("no manager answers")

    assert api.get("/v1/leases").status_code == 503
    assert [(record.levelno, record.exc_info) for record in caplog.records] == [(logging.WARNING, None)]


def test_a_refusal_is_not_logged_as_an_error(api: Api, caplog: pytest.LogCaptureFixture) -> None:
    api.manager.failure = NotEnoughHosts("2 asked for, 1 is free")

    assert api.get("/v1/leases").status_code == 400
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


HOSTS, ADDRESSES, OTHERS, REFUSED = (
    kind("Not enough of it")
    for kind in (NotEnoughHosts, NotEnoughFloatingIPs, NotEnoughResources, CloudRefusesLease)
)


@pytest.mark.parametrize(
    ("settings", "statuses"),
    [
        ({}, {HOSTS: 400, ADDRESSES: 400, OTHERS: 400, REFUSED: 400}),
        ({"shortage_status": 409}, {HOSTS: 409, ADDRESSES: 409, OTHERS: 409, REFUSED: 409}),
        ({"shortage_status": 500}, {HOSTS: 500, ADDRESSES: 400, OTHERS: 500, REFUSED: 500}),
    ],
)
def test_a_shortage_is_400_at_1_0_unless_an_option_says_otherwise_and_409_from_1_1_on(
    make_api: Callable[..., Api], settings: dict[str, int], statuses: dict[BlazarError, int]
) -> None:
    api = make_api(**settings)
    for failure, status in statuses.items():
        api.manager.failure = failure
        for method, path in (("POST", "/v1/leases"), ("PUT", "/v1/leases/l1")):
            for asked, expected in ((None, status), ("reservation 1.0", status), ("reservation 1.1", 409)):
                headers = {} if asked is None else {"OpenStack-API-Version": asked}

                answer = api.request(method, path, json=LEASE, headers=headers)

                assert answer.status_code == expected
                assert answer.json == {
                    "error_code": expected,
                    "error_message": "Not enough of it",
                    "error_name": expected,
                }


def test_a_shortage_that_is_answered_with_500_is_no_defect(
    make_api: Callable[..., Api], caplog: pytest.LogCaptureFixture
) -> None:
    api = make_api(shortage_status=500)
    api.manager.failure = HOSTS

    api.post("/v1/leases", json=LEASE)

    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_what_is_away_for_now_says_when_to_ask_again(make_api: Callable[..., Api]) -> None:
    api = make_api()
    api.manager.failure = Unavailable("The message broker cannot be reached")

    answer = api.get("/v1/leases")

    assert answer.status_code == 503
    assert answer.headers["content-type"] == "application/json"
    assert int(answer.headers["retry-after"]) > 0
    assert answer.json["error_message"] == "The message broker cannot be reached"
