from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser.console import MILLISECONDS, Console, OpenConsole, Service, open_console
from needed import give_up
from playwright.sync_api import Browser, expect, sync_playwright

# What a browser of a person does in the background needs a network.
_QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Return Debian's Chromium without a window."""
    program = shutil.which("chromium")
    if program is None:
        give_up("there is no chromium: apt-get install chromium")
    expect.set_options(timeout=MILLISECONDS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(_QUIET))
        yield browser
        browser.close()


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    made = Service(tmp_path)
    yield made
    made.program.close()


@pytest.fixture
def open_as(chromium: Browser, service: Service) -> Iterator[OpenConsole]:
    """Return a function that opens the console for a user who signs in.

    Afterwards, no page has broken the rules of its content security policy or had an error, or has sent a
    request to another address.
    """
    opened: list[Console] = []

    def open_page(name: str, **context: object) -> Console:
        console = open_console(chromium, service.url, **context)
        opened.append(console)
        console.sign_in(name)
        return console

    yield open_page
    for each in opened:
        assert each.complaints == []
        assert each.page.evaluate("window.violations") == []
        assert [answer.url for answer in each.answers if not answer.url.startswith(service.url)] == []
        each.page.context.close()
