"""People without a mouse or a screen can use the console."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from browser.console import OpenConsole
from playwright.sync_api import Page, expect


# Layout depends on the width, and colours on the scheme.
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_axe_finds_nothing(open_as: OpenConsole, scheme: str, width: int) -> None:
    # axe is a script that the page's policy forbids.
    context = {"color_scheme": scheme, "viewport": {"width": width, "height": 844}, "bypass_csp": True}
    olga = open_as("olga", **context)
    olga.reserve("seen by axe")
    expect(olga.lease("seen by axe")).to_contain_text("Active")
    found = [*_violations(olga.page)]
    for link in olga.page.get_by_role("navigation").get_by_role("link").all():
        link.click()
        expect(olga.page.get_by_role("heading", level=1, name=link.inner_text())).to_be_attached()
        found += _violations(olga.page)

    assert found == []


def _violations(page: Page) -> list[str]:
    found = Axe().run(page).response["violations"]
    return [f"{each['id']}: {node['html']}" for each in found for node in each["nodes"]]


def test_a_lease_is_made_with_the_keyboard_alone(open_as: OpenConsole) -> None:
    alice = open_as("alice")
    expect(alice.slot()).to_be_visible()
    alice.slot().focus()

    alice.page.keyboard.press("Enter")
    draft = alice.page.get_by_role("region", name="New lease")
    # The key Tab skips the button until the service has answered whether the lease is possible.
    expect(draft.get_by_role("button", name="Reserve")).to_be_enabled()
    for _ in range(30):
        if draft.get_by_role("button", name="Reserve").evaluate("each => each === document.activeElement"):
            break
        alice.page.keyboard.press("Tab")
    alice.page.keyboard.press("Enter")

    expect(alice.page.get_by_role("article")).to_be_visible()
