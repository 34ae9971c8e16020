"""The pictures of the console in the documentation: ``make screenshots`` writes them again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from browser.chromium import open_chromium
from browser.console import Console, open_console
from playwright.sync_api import Browser, expect
from programs import start_standalone

_FOLDER: Final = Path(__file__).parents[2] / "doc" / "_static"
_GPU: Final = "host with gpu = a100 (2)"


def _reserve(console: Console) -> None:
    """A time was chosen: the form shows what it means."""
    console.want(Resources=_GPU)
    console.slot().click()
    draft = console.page.get_by_role("region", name="New lease")
    expect(draft.get_by_role("button", name="Reserve")).to_be_enabled()


def _refuse(console: Console) -> None:
    """The dates were changed to those of other leases: what is possible instead."""
    console.want(Number="2", Resources=_GPU)
    # The first times have only one of them.
    console.page.get_by_role("region", name="Find a time").get_by_role("button").last.click()
    draft = console.page.get_by_role("region", name="New lease")
    now = console.page.evaluate("new Date(Date.now() + 6e4).toISOString().slice(0, 16).replace('T', ' ')")
    draft.get_by_label("Start").fill(now)
    expect(draft.get_by_role("alert")).to_contain_text("needed")


def _operate(console: Console) -> None:
    """An operator looks at the hosts."""
    console.page.get_by_role("link", name="Operators").click()
    console.page.get_by_role("link", name="Resources").click()
    expect(console.page.get_by_role("row", name="host-8")).to_be_visible()


def _take(browser: Browser, url: str, name: str, scene: Callable[[Console], None], **context: object) -> None:
    console = open_console(browser, url, timezone_id="UTC", **context)
    expect(console.slot()).to_be_visible()
    scene(console)
    console.page.mouse.move(0, 0)
    console.page.wait_for_load_state("networkidle")
    console.page.screenshot(path=_FOLDER / f"console-{name}.png")
    console.page.context.close()
    print(_FOLDER / f"console-{name}.png")


def main() -> None:
    """Take all pictures, of a service with example hosts and leases."""
    with TemporaryDirectory() as folder, open_chromium() as browser:
        program, api = start_standalone(Path(folder), "--examples", "--example-leases")
        url = api.removesuffix("/v1")
        try:
            _take(browser, url, "reserve", _reserve)
            _take(browser, url, "refusal", _refuse)
            _take(browser, url, "operators", _operate)
            phone = {"width": 390, "height": 844}
            _take(browser, url, "phone", _reserve, viewport=phone, color_scheme="dark")
        finally:
            program.stop()
            program.close()


if __name__ == "__main__":
    main()
