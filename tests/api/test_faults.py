from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from api.conftest import Api

from blazar.api.faults import STATUSES, status_of
from blazar.domain.errors import BlazarError, CloudRefused, Conflict, NotEnoughHosts, Unavailable

INTERNAL = {
    "error_code": 500,
    "error_message": "Internal Server Error",
    "error_name": "INTERNAL_SERVER_ERROR",
}


def tree(kind: type[BlazarError] = BlazarError) -> Iterator[type[BlazarError]]:
    yield kind
    for child in kind.__subclasses__():
        if child.__module__ == BlazarError.__module__:
            yield from tree(child)


def test_every_error_has_a_status_and_every_status_an_error() -> None:
    assert set(STATUSES) == set(tree())


def test_codes_are_unique() -> None:
    codes = [kind.code for kind in tree()]

    assert len(codes) == len(set(codes))


def test_an_error_nobody_has_listed_has_its_parents_status() -> None:
    class TooHot(Conflict):
        """Raised by a plugin of somebody else's."""

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
    del api.manager.leases["l1"]["start_date"]

    assert api.get("/v1/leases").json == INTERNAL


def test_an_outage_is_a_warning_without_a_traceback(api: Api, caplog: pytest.LogCaptureFixture) -> None:
    api.manager.failure = Unavailable("no manager answers")

    assert api.get("/v1/leases").status_code == 503
    assert [(record.levelno, record.exc_info) for record in caplog.records] == [(logging.WARNING, None)]


def test_a_refusal_is_not_logged_as_an_error(api: Api, caplog: pytest.LogCaptureFixture) -> None:
    api.manager.failure = NotEnoughHosts("2 asked for, 1 is free")

    assert api.get("/v1/leases").status_code == 409
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
