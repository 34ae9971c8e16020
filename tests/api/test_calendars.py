"""Calendars over HTTP: their limits, and what is logged of them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from api.conftest import Api
from api.fake_feeds import TOKEN
from telemetry.counting import Counts
from telemetry.listening import listening

from blazar.ports.metrics import API_REQUESTS
from blazar.telemetry.pages import counted

PATH = f"/v1/calendars/{TOKEN}.ics"
WRONG = f"/v1/calendars/{'w' * 43}.ics"
SECONDS_OF_AN_HOUR = 3600


def statuses(api: Api, path: str, number: int, **more: Any) -> list[int]:
    return [api.get(path, **more).status_code for _ in range(number)]


def asked(api: Api) -> int:
    return sum(name == "get_calendar" for name, *_ in api.manager.calls)


def test_managers_get_only_the_digest_of_a_token_and_no_caller(api: Api) -> None:
    answer = api.get(PATH, headers={"If-None-Match": '"a", "b"'})

    assert (answer.status_code, answer.text) == (200, "BEGIN:VCALENDAR\r\n")
    digest = hashlib.sha256(TOKEN.encode()).hexdigest()
    assert api.manager.calls == [("get_calendar", digest, ("a", "b"))]
    assert (api.manager.caller.user_id, api.manager.caller.project_id) == (None, None)
    assert (api.manager.caller.roles, api.manager.caller.token) == ((), None)


def test_a_token_is_made_here_and_sent_once(api: Api) -> None:
    url = api.post(
        "/v1/feeds", json={"kind": "project"}, headers={"OpenStack-API-Version": "reservation 1.1"}
    ).json["feed"]["url"]

    token = url.removeprefix("http://falconframework.org/v1/calendars/").removesuffix(".ics")
    (name, digest, _body) = api.manager.calls[-1]
    assert (name, digest) == ("create_feed", hashlib.sha256(token.encode()).hexdigest())


def test_the_address_has_the_prefix_of_the_service(api: Api) -> None:
    made = api.post(
        "/v1/feeds",
        json={"kind": "project"},
        headers={"OpenStack-API-Version": "reservation 1.1"},
        root_path="/reservation",
    )

    assert made.json["feed"]["url"].startswith("http://falconframework.org/reservation/v1/calendars/")


def test_head_and_unknown_versions_are_answered_too(api: Api) -> None:
    head = api.request("HEAD", PATH)

    assert (head.status_code, head.text, head.headers["ETag"]) == (200, "", '"e1"')
    assert api.get(PATH, headers={"OpenStack-API-Version": "reservation 9.9"}).status_code == 200


@pytest.mark.parametrize("path", ["/v1/calendars/", "/v1/calendars", f"{PATH}/", f"/v1/calendars/{TOKEN}"])
def test_other_paths_do_not_exist(api: Api, path: str) -> None:
    assert api.get(path).status_code == 404
    assert asked(api) == 0


class TestLimits:
    def test_a_feed_is_read_a_limited_number_of_times(self, make_api: Callable[..., Api]) -> None:
        api = make_api(feed_reads_per_hour=3)

        assert statuses(api, PATH, 5) == [200, 200, 200, 429, 429]
        refused = api.get(PATH, remote_addr="192.0.2.1")

        assert asked(api) == 3
        assert refused.json["error_code"] == 429
        assert "Try again later" in refused.json["error_message"]
        assert 0 < int(refused.headers["Retry-After"]) <= SECONDS_OF_AN_HOUR

    def test_answers_without_a_calendar_count_too(self, make_api: Callable[..., Api]) -> None:
        api = make_api(feed_reads_per_hour=3)

        tag = {"If-None-Match": '"e1"'}
        assert statuses(api, PATH, 4, headers=tag) == [304, 304, 304, 429]

    def test_an_address_tries_a_limited_number_of_tokens(self, make_api: Callable[..., Api]) -> None:
        api = make_api(unknown_feeds_per_hour=2)

        paths = [f"/v1/calendars/{letter * 43}.ics" for letter in "abcd"]
        assert [api.get(each).status_code for each in paths] == [404, 404, 429, 429]
        assert asked(api) == 2
        assert api.get(PATH).status_code == 429
        assert statuses(api, WRONG, 3, remote_addr="192.0.2.1") == [404, 404, 429]

    def test_a_feed_that_was_read_lately_is_served_to_its_neighbours(
        self, make_api: Callable[..., Api]
    ) -> None:
        api = make_api(unknown_feeds_per_hour=2)
        assert api.get(PATH, remote_addr="192.0.2.1").status_code == 200

        assert statuses(api, WRONG, 3, remote_addr="192.0.2.2") == [404, 404, 429]

        assert api.get(PATH, remote_addr="192.0.2.2").status_code == 200

    @pytest.mark.parametrize(
        ("first", "second", "is_same"),
        [
            ("2001:db8::1", "2001:db8::ffff:1", True),
            ("2001:db8::1", "2001:db8:0:1::1", False),
            ("::ffff:192.0.2.1", "192.0.2.1", True),
            ("192.0.2.1", "192.0.2.2", False),
            ("", "", True),
            ("unix:", "unix:", True),
            ("203.0.113.1, 192.0.2.1", "203.0.113.2, 192.0.2.1", True),
        ],
    )
    def test_the_network_of_an_address_counts(
        self, make_api: Callable[..., Api], first: str, second: str, is_same: bool
    ) -> None:
        api = make_api(unknown_feeds_per_hour=1)
        assert api.get(WRONG, extras={"REMOTE_ADDR": first}).status_code == 404

        assert api.get(WRONG, extras={"REMOTE_ADDR": second}).status_code == (429 if is_same else 404)

    def test_paths_that_are_no_calendars_count_as_unknown(self, make_api: Callable[..., Api]) -> None:
        api = make_api(unknown_feeds_per_hour=2)

        assert [api.get(f"/v1/calendars/{each}").status_code for each in ("a//b", "x", "y")] == [
            308,
            404,
            429,
        ]

    def test_a_service_that_is_down_counts_for_nothing(self, make_api: Callable[..., Api]) -> None:
        api = make_api(unknown_feeds_per_hour=2, feed_reads_per_hour=2)
        api.manager.failure = RuntimeError("x")
        assert statuses(api, PATH, 4) == [500] * 4

        api.manager.failure = None

        assert statuses(api, PATH, 3) == [200, 200, 429]

    def test_refusals_are_counted_under_the_route(self, make_api: Callable[..., Api]) -> None:
        api, counts = make_api(feed_reads_per_hour=1), Counts()
        measured = replace(api, app=counted(api.app, counts))

        statuses(measured, PATH, 2)

        route = "/v1/calendars/{token}.ics"
        assert counts.of(API_REQUESTS) == {("GET", route, "200"): 1, ("GET", route, "429"): 1}

    def test_other_methods_read_nothing(self, make_api: Callable[..., Api]) -> None:
        api = make_api(unknown_feeds_per_hour=1, feed_reads_per_hour=1)

        for method in ("OPTIONS", "POST", "DELETE"):
            assert api.request(method, PATH).status_code in (200, 405)

        assert statuses(api, PATH, 2) == [200, 429]


class TestLogs:
    @pytest.mark.parametrize(
        "path",
        [PATH, WRONG, f"//v1/calendars/{TOKEN}.ics", f"/v1/calendars//{TOKEN}", f"/x/calendars/{TOKEN}\n"],
    )
    def test_no_token_is_logged(self, make_api: Callable[..., Api], path: str) -> None:
        api = make_api(unknown_feeds_per_hour=1)

        with listening() as lines:
            for failure in (None, RuntimeError("x"), None):
                api.manager.failure = failure
                api.get(path)

        assert lines
        for each in lines:
            assert "ttt" not in each.text + str(each.about)
            assert "www" not in each.text + str(each.about)
        assert any("/calendars/***" in each.text for each in lines)

    def test_claimed_identities_are_not_logged(self, api: Api) -> None:
        with listening() as lines:
            api.get(PATH)

        (line,) = (each for each in lines if each.text.startswith("Request answered"))
        assert line.text == "Request answered: method=GET path='/v1/calendars/***' status=200"
        assert line.about["user_id"] is None
        assert line.about["project_id"] is None
