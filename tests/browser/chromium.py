"""Debian's Chromium without a window."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from needed import give_up
from playwright.sync_api import Browser, expect, sync_playwright

MILLISECONDS: Final = 60_000
"""Time within which a page shows what is expected; a machine that is busy is no failure."""
# A browser of a person does more in the background, and needs a network for it.
_QUIET: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@contextmanager
def open_chromium() -> Iterator[Browser]:
    """Start the browser; without it, the test is skipped, or fails in CI."""
    program = shutil.which("chromium")
    if program is None:
        give_up("there is no chromium: apt-get install chromium")
    expect.set_options(timeout=MILLISECONDS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(_QUIET))
        yield browser
        browser.close()
