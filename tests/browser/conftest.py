from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser.chromium import open_chromium
from browser.console import Console, OpenConsole, Service, open_console
from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    with open_chromium() as browser:
        yield browser


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
        console.sign_in(name, name)
        return console

    yield open_page
    for each in opened:
        assert each.complaints == []
        assert each.page.evaluate("window.violations") == []
        assert [answer.url for answer in each.answers if not answer.url.startswith(service.url)] == []
        each.page.context.close()
