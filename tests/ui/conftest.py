from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import bcrypt
import pytest
from api.fake_manager import FakeManager
from oslo_config import cfg
from served import served
from ui.browser import Browser
from ui.keystone import SERVICE_TOKEN, FakeKeystone

from blazar.api.app import make_app
from blazar.api.auth import make_guard
from blazar.api.health import make_healthcheck
from blazar.api.policies import make_policy
from blazar.api.routes import TYPE_APIS
from blazar.settings import ApiSettings, UiSettings
from blazar.ui.application import with_console

KEYS = ("a secret that is long enough to be one",)
MakeBrowser = Callable[..., Browser]


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """Return a folder with a page and an asset."""
    folder = tmp_path / "bundle"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>Reservations</title>")
    (folder / "assets" / "page-1a2b.js").write_text("console.log(1)")
    return folder


@pytest.fixture
def manager() -> FakeManager:
    return FakeManager()


@pytest.fixture
def make_browser(tmp_path: Path, bundle: Path, manager: FakeManager) -> MakeBrowser:
    """Return a function that makes browsers of a new service."""

    def make(settings: ApiSettings, options: str = "", **ui: Any) -> Browser:
        file = tmp_path / "blazar.conf"
        file.write_text(options)
        conf = cfg.ConfigOpts()
        conf([], project="blazar", default_config_files=[str(file)], default_config_dirs=[])
        guard = make_guard(settings, conf)
        api = make_app(
            manager,
            settings,
            make_policy(conf, TYPE_APIS),
            guard=guard,
            healthcheck=make_healthcheck(conf),
            types=TYPE_APIS,
        )
        settings_of_console = UiSettings(**{"session_keys": KEYS, **ui})
        return Browser(with_console(api, guard, settings, settings_of_console, bundle=bundle))

    return make


@pytest.fixture
def make_basic(tmp_path: Path, make_browser: MakeBrowser) -> MakeBrowser:
    """Return a function that makes browsers of a service with a user file."""
    users = tmp_path / "htpasswd"
    users.write_text(f"bob:{bcrypt.hashpw(b'secret', bcrypt.gensalt(4)).decode()}:reader,member\n")
    settings = ApiSettings(auth_strategy="http_basic", http_basic_user_file=str(users))
    return lambda **ui: make_browser(settings, **ui)


@pytest.fixture
def keystone() -> FakeKeystone:
    return FakeKeystone()


@pytest.fixture
def make_keystone_browser(make_browser: MakeBrowser, keystone: FakeKeystone) -> Iterator[MakeBrowser]:
    """Return a function that makes browsers of a service with a Keystone."""
    with served(keystone) as url:
        options = (
            "[keystone_authtoken]\n"
            "auth_type = admin_token\n"
            f"endpoint = {url}/v3\n"
            f"token = {SERVICE_TOKEN}\n"
            f"www_authenticate_uri = {url}\n"
            "http_request_max_retries = 0\n"
        )
        settings = ApiSettings(auth_strategy="keystone")
        yield lambda **ui: make_browser(settings, options, **{"keystone_url": url, **ui})
