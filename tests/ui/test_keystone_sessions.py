"""Signing in with Keystone."""

from __future__ import annotations

import io
from typing import Any
from urllib.parse import parse_qs, urlsplit

import falcon.testing
import pytest
from ui.browser import Browser
from ui.conftest import MakeBrowser
from ui.keystone import PASSWORD, FakeKeystone

from blazar.settings import ApiSettings

ALICE = {"method": "password", "user": "alice", "password": PASSWORD}
CONSOLE = "https://reservations.example/ui/"
FORM = {"Content-Type": "application/x-www-form-urlencoded", "Origin": "https://keystone.example"}


@pytest.fixture
def browser(make_keystone_browser: MakeBrowser) -> Browser:
    return make_keystone_browser()


def test_a_user_signs_in_and_has_the_first_project(browser: Browser) -> None:
    answer = browser.post("/ui/session", ALICE)

    assert answer.status_code == 200
    assert answer.json["user"] == {"id": "u7", "name": "alice"}
    assert answer.json["project"] == {"id": "p1", "name": "astronomy"}
    assert [each["name"] for each in answer.json["projects"]] == ["astronomy", "biology"]
    assert answer.json["expires_at"].startswith("2999-01-01T00:00:00")
    assert browser.get("/ui/api/v1/leases").status_code == 200


def test_neither_password_nor_token_is_in_the_answer(browser: Browser, keystone: FakeKeystone) -> None:
    answer = browser.post("/ui/session", ALICE)

    shown = answer.text + str(answer.headers)
    assert PASSWORD not in shown
    assert not any(each in shown for each in keystone.tokens)


def test_a_user_can_choose_the_project_at_once(browser: Browser) -> None:
    answer = browser.post("/ui/session", {**ALICE, "project_id": "p2"})

    assert answer.json["project"]["id"] == "p2"


def test_an_application_credential_has_its_own_project(browser: Browser) -> None:
    body = {"method": "application_credential", "id": "c1", "secret": "s1"}

    assert browser.post("/ui/session", body).json["project"]["id"] == "p2"


def test_the_project_is_switched(browser: Browser) -> None:
    browser.post("/ui/session", ALICE)

    answer = browser.request("PUT", "/ui/session", json={"project_id": "p2"})

    assert answer.json["project"]["name"] == "biology"
    assert browser.get("/ui/session").json["project"]["name"] == "biology"


@pytest.mark.parametrize(
    ("body", "status"), [({"project_id": "p9"}, 401), ({}, 400), ({"project_id": 1}, 400)]
)
def test_a_project_of_others_changes_nothing(browser: Browser, body: object, status: int) -> None:
    browser.post("/ui/session", ALICE)

    assert browser.request("PUT", "/ui/session", json=body).status_code == status
    assert browser.get("/ui/session").json["project"]["id"] == "p1"


def test_signing_out_makes_the_token_useless(browser: Browser, keystone: FakeKeystone) -> None:
    browser.post("/ui/session", ALICE)

    assert browser.request("DELETE", "/ui/session").status_code == 204

    assert browser.cookies == {}
    assert "DELETE /v3/auth/tokens" in keystone.asked
    assert not [each for each in keystone.tokens.values() if each is not None]


@pytest.mark.parametrize(
    "body", [{**ALICE, "password": "wrong"}, {"method": "application_credential", "id": "c1", "secret": "x"}]
)
def test_wrong_credentials_are_refused(browser: Browser, body: object) -> None:
    answer = browser.post("/ui/session", body)

    assert answer.status_code == 401
    assert "wrong" in answer.json["error_message"]
    assert browser.cookies == {}


def test_a_token_that_has_expired_ends_the_session(browser: Browser, keystone: FakeKeystone) -> None:
    browser.post("/ui/session", ALICE)
    keystone.tokens.clear()

    answer = browser.get("/ui/session")

    assert answer.status_code == 401
    assert answer.json["methods"] == ["password", "application_credential"]


def test_a_token_that_no_cookie_can_hold_is_said(browser: Browser, keystone: FakeKeystone) -> None:
    keystone.suffix = "x" * 4000

    answer = browser.post("/ui/session", ALICE)

    assert answer.status_code == 400
    assert "too long" in answer.json["error_message"]
    assert browser.cookies == {}


def test_without_keystone_nobody_signs_in_and_is_told_so(make_browser: MakeBrowser) -> None:
    options = "[keystone_authtoken]\nauth_type = none\nwww_authenticate_uri = http://127.0.0.1:9\n"
    browser = make_browser(ApiSettings(auth_strategy="keystone"), options, keystone_url="http://127.0.0.1:9")

    answer = browser.post("/ui/session", ALICE)

    assert answer.status_code == 503
    assert "does not answer" in answer.json["error_message"]


def test_a_service_that_does_not_know_keystone_does_not_start(make_browser: MakeBrowser) -> None:
    with pytest.raises(ValueError, match="keystone_url"):
        make_browser(ApiSettings(auth_strategy="keystone"), "[keystone_authtoken]\nauth_type = none\n")


class TestWebSingleSignOn:
    """The browser goes to Keystone, which sends it back with a token."""

    @pytest.fixture
    def browser(self, make_keystone_browser: MakeBrowser) -> Browser:
        choices = {"openid": "Campus login", "campus/saml2": "Other login"}
        return make_keystone_browser(websso=choices, public_url=CONSOLE)

    def test_the_choices_are_named(self, browser: Browser) -> None:
        found = browser.get("/ui/session").json

        assert found["methods"] == ["password", "application_credential", "websso"]
        assert found["websso"][0] == {"id": "openid", "name": "Campus login"}

    @pytest.mark.parametrize(
        ("choice", "path"),
        [
            ("openid", "/v3/auth/OS-FEDERATION/websso/openid"),
            ("campus/saml2", "/v3/auth/OS-FEDERATION/identity_providers/campus/protocols/saml2/websso"),
        ],
    )
    def test_the_browser_is_sent_to_keystone(self, browser: Browser, choice: str, path: str) -> None:
        answer = browser.get(f"/ui/session/websso?idp={choice}")

        target = urlsplit(answer.headers["Location"])
        assert (answer.status_code, target.path) == (303, path)
        assert parse_qs(target.query) == {"origin": [f"{CONSOLE}session/websso"]}

    def test_the_token_of_keystone_begins_a_session(self, browser: Browser, keystone: FakeKeystone) -> None:
        browser.get("/ui/session/websso?idp=openid")

        answer = self.come_back(browser, keystone.add(None))

        assert (answer.status_code, answer.headers["Location"]) == (303, CONSOLE)
        assert browser.get("/ui/session").json["user"]["name"] == "alice"
        assert list(browser.cookies) == ["blazar_console"]

    def test_nobody_is_signed_in_as_somebody_else(self, browser: Browser, keystone: FakeKeystone) -> None:
        """A page of others sends a form with the token of its own user."""
        answer = self.come_back(browser, keystone.add(None))

        assert answer.status_code == 403
        assert browser.cookies == {}

    @pytest.mark.parametrize("site", ["cross-site", "same-site"])
    def test_a_page_of_others_begins_no_sign_in(
        self, browser: Browser, keystone: FakeKeystone, site: str
    ) -> None:
        """It opens the address that begins one, and then sends the form."""
        answer = browser.get("/ui/session/websso?idp=openid", headers={"Sec-Fetch-Site": site})

        assert (answer.status_code, answer.headers.get("Location")) == (403, None)
        assert browser.cookies == {}
        assert self.come_back(browser, keystone.add(None)).status_code == 403
        assert browser.cookies == {}

    @pytest.mark.parametrize("site", ["same-origin", "none"])
    def test_the_console_and_a_typed_address_begin_one(
        self, browser: Browser, keystone: FakeKeystone, site: str
    ) -> None:
        browser.get("/ui/session/websso?idp=openid", headers={"Sec-Fetch-Site": site})

        answer = self.come_back(browser, keystone.add(None), **{"Sec-Fetch-Site": "cross-site"})

        assert answer.status_code == 303
        assert list(browser.cookies) == ["blazar_console"]

    @pytest.mark.parametrize("is_chunked", [True, False])
    def test_the_form_has_a_bounded_length(self, browser: Browser, is_chunked: bool) -> None:
        browser.get("/ui/session/websso?idp=openid")
        stream = io.BytesIO(b"token=" + b"x" * 1_000_000)
        extras: dict[str, Any] = {"wsgi.input": stream}
        if is_chunked:
            extras |= {"HTTP_TRANSFER_ENCODING": "chunked", "wsgi.input_terminated": True}
        else:
            extras |= {"CONTENT_LENGTH": "1000006"}

        answer = browser.request("POST", "/ui/session/websso", headers=FORM, extras=extras)

        assert answer.status_code == 413
        assert stream.tell() < 20_000
        assert list(browser.cookies) == ["blazar_console_sso"]

    def test_a_form_without_a_length_is_not_read(self, browser: Browser) -> None:
        browser.get("/ui/session/websso?idp=openid")
        stream = io.BytesIO(b"token=x")
        extras = {"wsgi.input": stream}

        assert browser.request("POST", "/ui/session/websso", headers=FORM, extras=extras).status_code == 400
        assert stream.tell() == 0

    @pytest.mark.parametrize("body", ["token=a&token=b", "a=%FF", "\0", "[]"])
    def test_a_form_without_one_token_is_refused(self, browser: Browser, body: str) -> None:
        browser.get("/ui/session/websso?idp=openid")

        answer = browser.request("POST", "/ui/session/websso", body=body, headers=FORM)

        assert answer.status_code == 400

    @pytest.mark.parametrize("token", ["unknown", ""])
    def test_a_wrong_token_begins_no_session(self, browser: Browser, token: str) -> None:
        browser.get("/ui/session/websso?idp=openid")

        assert self.come_back(browser, token).status_code in {400, 401}
        assert list(browser.cookies) == ["blazar_console_sso"]

    def test_unknown_choices_are_refused(self, browser: Browser) -> None:
        assert browser.get("/ui/session/websso?idp=other").status_code == 404

    def test_the_address_of_the_console_is_needed(self, make_keystone_browser: MakeBrowser) -> None:
        with pytest.raises(ValueError, match="public_url"):
            make_keystone_browser(websso={"openid": "Campus login"})

    @staticmethod
    def come_back(browser: Browser, token: str, **headers: str) -> falcon.testing.Result:
        return browser.request(
            "POST", "/ui/session/websso", body=f"token={token}", headers={**FORM, **headers}
        )
