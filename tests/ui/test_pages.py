"""The files of the console."""

from __future__ import annotations

import gzip
from pathlib import Path

import falcon.testing
import pytest
from ui.browser import Browser
from ui.conftest import MakeBrowser

from blazar.settings import ApiSettings, UiSettings
from blazar.ui.application import with_console

NOAUTH = ApiSettings(auth_strategy="noauth")


@pytest.fixture
def browser(make_browser: MakeBrowser) -> Browser:
    return make_browser(NOAUTH, frame_ancestors=())


def test_the_page_is_served_to_everybody(browser: Browser) -> None:
    answer = browser.get("/ui/")

    assert answer.text.startswith("<!doctype html>")
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert answer.headers["Cache-Control"] == "no-cache"


def test_without_a_slash_the_browser_is_sent_to_the_page(browser: Browser) -> None:
    answer = browser.get("/ui")

    assert (answer.status_code, answer.headers["Location"]) == (308, "/ui/")


def test_assets_are_kept_by_browsers_and_compressed(browser: Browser) -> None:
    answer = browser.get("/ui/assets/page-1a2b.js", headers={"Accept-Encoding": "br, gzip"})

    assert gzip.decompress(answer.content) == b"console.log(1)"
    assert "immutable" in answer.headers["Cache-Control"]
    assert browser.get("/ui/assets/page-1a2b.js").text == "console.log(1)"


def test_an_unchanged_file_is_not_sent_again(browser: Browser) -> None:
    etag = browser.get("/ui/").headers["ETag"]

    answer = browser.get("/ui/", headers={"If-None-Match": etag})

    assert (answer.status_code, answer.content) == (304, b"")


@pytest.mark.parametrize("path", ["/ui/other.js", "/ui/../blazar.conf", "/ui/assets/", "/ui/%2e%2e/conf"])
def test_nothing_else_is_served(browser: Browser, path: str) -> None:
    assert browser.get(path).status_code == 404


def test_scripts_styles_and_frames_of_others_are_forbidden(browser: Browser) -> None:
    for path in ("/ui/", "/ui/assets/page-1a2b.js", "/ui/nothing"):
        headers = browser.get(path).headers

        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert (headers["X-Frame-Options"], headers["X-Content-Type-Options"]) == ("DENY", "nosniff")


def test_named_origins_may_show_it_in_a_frame(make_browser: MakeBrowser) -> None:
    browser = make_browser(NOAUTH, frame_ancestors=("https://dashboard.example.org",))

    headers = browser.get("/ui/").headers

    assert headers["Content-Security-Policy"].endswith("frame-ancestors https://dashboard.example.org")
    assert "X-Frame-Options" not in headers


def test_the_api_is_where_it_was(make_browser: MakeBrowser) -> None:
    browser = make_browser(NOAUTH)
    own = {"Host": "127.0.0.1"}

    assert browser.get("/v1/leases", headers=own).status_code == 200
    assert browser.get("/uix", headers=own).status_code == 404


def test_under_a_prefix_of_the_web_server_addresses_have_it(make_browser: MakeBrowser) -> None:
    browser = make_browser(NOAUTH)
    client = falcon.testing.TestClient(browser.app)

    answer = client.simulate_get("/ui", root_path="/reservation")

    assert answer.headers["Location"] == "/reservation/ui/"


def test_a_service_without_the_page_does_not_start(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="console is not part of this installation"):
        with_console(lambda *_: [], lambda app: app, NOAUTH, UiSettings(), bundle=tmp_path / "nowhere")
