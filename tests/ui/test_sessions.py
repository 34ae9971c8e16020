"""Sessions of browsers, with a user file and without authentication."""

from __future__ import annotations

import pytest
from api.fake_manager import FakeManager
from ui.browser import ORIGIN, Browser
from ui.conftest import KEYS, MakeBrowser

from blazar.settings import ApiSettings
from blazar.ui.errors import ConsoleError
from blazar.ui.sessions import Credentials, Session, SessionCookies

BOB = {"method": "basic", "user": "bob", "password": "secret"}
LEASE = {"name": "night", "start_date": "2031-04-05 20:00", "end_date": "2031-04-06 06:00"}


@pytest.fixture
def browser(make_basic: MakeBrowser) -> Browser:
    return make_basic()


@pytest.fixture
def signed_in(browser: Browser) -> Browser:
    assert browser.post("/ui/session", BOB).status_code == 200
    return browser


def test_without_a_session_the_ways_of_signing_in_are_named(browser: Browser) -> None:
    answer = browser.get("/ui/session")

    assert answer.status_code == 401
    assert answer.json["methods"] == ["basic"]


def test_the_session_says_who_is_signed_in(signed_in: Browser) -> None:
    assert signed_in.get("/ui/session").json == {
        "user": {"id": "bob", "name": "bob"},
        "project": {"id": "bob", "name": "bob"},
        "roles": ["reader", "member"],
        "projects": [],
        "expires_at": None,
        "can_sign_out": True,
        "region": None,
    }


def test_the_cookie_is_out_of_reach_of_scripts_and_of_other_sites(signed_in: Browser) -> None:
    (cookie,) = signed_in.cookies.values()

    assert (cookie.http_only, cookie.secure, cookie.same_site) == (True, True, "Strict")
    assert (cookie.path, cookie.max_age, cookie.expires) == ("/ui/", None, None)
    assert "secret" not in cookie.value


def test_requests_of_the_page_have_the_rights_of_the_session(
    signed_in: Browser, manager: FakeManager
) -> None:
    assert signed_in.get("/ui/api/v1/leases").status_code == 200
    assert signed_in.post("/ui/api/v1/leases", LEASE).status_code == 201
    # A member is no operator.
    assert signed_in.get("/ui/api/v1/os-hosts").status_code == 403


def test_addresses_in_answers_are_those_of_the_api(signed_in: Browser) -> None:
    """A calendar program has no session."""
    newer = {"OpenStack-API-Version": "reservation 1.1"}

    answer = signed_in.post("/ui/api/v1/feeds", {"kind": "project"}, headers=newer)

    assert answer.json["feed"]["url"].startswith(f"{ORIGIN}/v1/calendars/")


def test_a_request_cannot_claim_other_rights_than_the_session(signed_in: Browser) -> None:
    claims = {"X-Roles": "admin", "X-Auth-Token": "other", "Authorization": "Basic YWRtaW46YWRtaW4="}

    assert signed_in.get("/ui/api/v1/os-hosts", headers=claims).status_code == 403
    assert signed_in.get("/ui/api/v1/leases", headers=claims).status_code == 200


def test_without_a_session_no_browser_asks_for_a_password(browser: Browser) -> None:
    answer = browser.get("/ui/api/v1/leases", headers={"Authorization": "Basic Ym9iOnNlY3JldA=="})

    assert answer.status_code == 401
    assert "WWW-Authenticate" not in answer.headers


@pytest.mark.parametrize(
    "body",
    [
        {**BOB, "password": "wrong"},
        {**BOB, "user": "alice"},
        {**BOB, "password": ""},
        {**BOB, "user": ["bob"]},
        {**BOB, "method": "password"},
        {},
        [],
    ],
)
def test_wrong_credentials_begin_no_session(browser: Browser, body: object) -> None:
    answer = browser.post("/ui/session", body)

    assert answer.status_code in {400, 401}
    assert answer.json["error_message"]
    assert browser.cookies == {}


def test_after_signing_out_there_is_no_session(signed_in: Browser) -> None:
    assert signed_in.request("DELETE", "/ui/session").status_code == 204

    assert signed_in.cookies == {}
    assert signed_in.get("/ui/session").status_code == 401


@pytest.mark.parametrize("origin", ["https://evil.example", "null", f"{ORIGIN}.evil.example"])
def test_pages_of_others_change_nothing(signed_in: Browser, manager: FakeManager, origin: str) -> None:
    signed_in.origin = origin

    assert signed_in.post("/ui/api/v1/leases", LEASE).status_code == 403
    assert signed_in.request("DELETE", "/ui/session").status_code == 403
    assert signed_in.post("/ui/session", BOB).status_code == 403


def test_a_form_changes_nothing(signed_in: Browser) -> None:
    """A form cannot have the header, whatever its origin."""
    signed_in.is_marked = False

    assert signed_in.post("/ui/api/v1/leases", LEASE).status_code == 403
    assert signed_in.request("DELETE", "/ui/session").status_code == 403


@pytest.mark.parametrize("value", ["", "x", "gAAAAAB" + "A" * 90])
def test_a_cookie_that_was_not_made_here_is_no_session(signed_in: Browser, value: str) -> None:
    forged = {"Cookie": f"blazar_console={value}"}

    assert signed_in.get("/ui/session", headers=forged).status_code == 401
    assert signed_in.get("/ui/api/v1/leases", headers=forged).status_code == 401


def test_sessions_survive_a_new_secret_in_front_of_the_old_one(make_basic: MakeBrowser) -> None:
    before = make_basic()
    before.post("/ui/session", BOB)
    after = make_basic(session_keys=("another secret of more than 32 characters", *KEYS))
    stranger = make_basic(session_keys=("a third secret of more than 32 characters",))
    after.cookies = stranger.cookies = before.cookies

    assert after.get("/ui/session").status_code == 200
    assert stranger.get("/ui/session").status_code == 401


def test_a_short_secret_is_refused() -> None:
    with pytest.raises(ValueError, match="session_keys"):
        SessionCookies(["too short"])


def test_without_secrets_each_process_has_its_own() -> None:
    session = Session(kind=Credentials.BASIC, secret="Basic x")

    sealed = SessionCookies([]).seal(session)

    assert SessionCookies([]).open(sealed) is None


def test_a_credential_that_no_cookie_can_hold_is_refused() -> None:
    with pytest.raises(ConsoleError, match="too long"):
        SessionCookies([]).seal(Session(kind=Credentials.TOKEN, secret="t" * 4000))


def test_without_authentication_everybody_is_signed_in(make_browser: MakeBrowser) -> None:
    browser = make_browser(
        ApiSettings(auth_strategy="noauth", trusted_hosts=frozenset({"reservations.example"}))
    )

    found = browser.get("/ui/session").json

    assert (found["user"]["id"], found["can_sign_out"]) == ("admin", False)
    assert browser.get("/ui/api/v1/os-hosts").status_code == 200


def test_without_authentication_foreign_names_are_refused(make_browser: MakeBrowser) -> None:
    """A page can let its own name resolve to this machine."""
    browser = make_browser(ApiSettings(auth_strategy="noauth"))

    assert browser.get("/ui/session").status_code == 403
    assert browser.get("/ui/api/v1/leases").status_code == 403
