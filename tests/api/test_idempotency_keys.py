"""The header Idempotency-Key, up to the manager."""

from __future__ import annotations

from typing import Any

import falcon.testing
import pytest
from api.conftest import LEASE, Api

from blazar.domain.errors import IdempotencyKeyReused, UnknownMethod

KEY = "Idempotency-Key"
NEWER = {"OpenStack-API-Version": "reservation 1.1"}


def post(api: Api, key: str, version: Any = NEWER) -> falcon.testing.Result:
    return api.post("/v1/leases", json=LEASE, headers={**version, KEY: key})


def test_the_key_reaches_the_manager_with_the_body(api: Api) -> None:
    answer = post(api, "a-1")

    assert answer.status_code == 201
    assert answer.json["lease"]["name"] == "night"
    assert api.manager.calls == [("create_lease_once", "a-1", LEASE)]
    assert "idempotency-replayed" not in answer.headers


def test_a_repeated_response_says_so(api: Api) -> None:
    first = post(api, "a-1")

    again = post(api, "a-1")

    assert (again.status_code, again.json) == (201, first.json)
    assert again.headers["idempotency-replayed"] == "true"


def test_version_1_0_ignores_the_key(api: Api) -> None:
    for key in ("a-1", "a 1", ""):
        answer = post(api, key, {})

        assert answer.status_code == 201
    assert {call[0] for call in api.manager.calls} == {"create_lease"}


@pytest.mark.parametrize("key", ["", "a b", "a\tb", "\u00e9", "x" * 256])
def test_a_malformed_key_is_refused(api: Api, key: str) -> None:
    answer = post(api, key)

    assert answer.status_code == 400
    assert answer.json["error_message"].startswith("Idempotency-Key: must have 1 to 255 visible ASCII")
    assert api.manager.calls == []


def test_the_longest_key_is_accepted(api: Api) -> None:
    assert post(api, "!" + "~" * 254).status_code == 201


def test_a_key_of_another_request_is_a_conflict(api: Api) -> None:
    api.manager.failure = IdempotencyKeyReused()

    answer = post(api, "a-1")

    assert answer.status_code == 409
    assert answer.json["error_message"].startswith("Idempotency-Key: this key was already used")


def test_a_manager_that_does_not_know_keys_creates_nothing(api: Api) -> None:
    api.manager.failure = UnknownMethod("create_lease_once")

    answer = post(api, "a-1")

    assert answer.status_code == 503
    assert "Idempotency-Key" in answer.json["error_message"]
    assert [call[0] for call in api.manager.calls] == ["create_lease_once"]


def test_other_requests_ignore_the_key(api: Api) -> None:
    answer = api.put("/v1/leases/l1", json={"name": "new"}, headers={**NEWER, KEY: "a b"})

    assert answer.status_code == 200
