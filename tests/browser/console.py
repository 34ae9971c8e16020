"""The console in a real browser: its service, and the actions of its users."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import bcrypt
from browser.chromium import MILLISECONDS
from playwright.sync_api import Browser, Locator, Page, Response, Route, expect
from programs import free_port, start_standalone

from cloudlab.blazar import PLUGINS

USERS: Final[Mapping[str, str]] = {
    "alice": "reader,member",
    "bob": "reader,member",
    "olga": "reader,member,admin",
}
"""Roles by name; a name is also the password and the project. Olga is an operator."""
_COUNT_CLICKS: Final = """
window.clicks = 0;
document.addEventListener("click", (event) => { if (event.isTrusted) window.clicks += 1; }, true);
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => window.violations.push(event.blockedURI));
"""


class Service:
    """An embedded service with eight hosts in two racks, and with users."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = free_port()
        self._users = folder / "htpasswd"
        self._conf = folder / "blazar.conf"
        self._conf.write_text(
            "[DEFAULT]\n"
            "auth_strategy = http_basic\n"
            f"http_basic_auth_user_file = {self._users}\n"
            "[manager]\n"
            f"plugins = {','.join(PLUGINS)}\n"
            "[notices]\n"
            "channels = webhook\n"
            "[ui]\n"
            "session_keys = a secret that is long enough to be one\n"
        )
        self.admit(*USERS)
        self.url = ""
        self.start()

    def admit(self, *names: str) -> None:
        """Let these users in, and no others."""
        hashes = {each: bcrypt.hashpw(each.encode(), bcrypt.gensalt(4)).decode() for each in names}
        lines = [f"{name}:{hashed}:{USERS[name]}" for name, hashed in hashes.items()]
        self._users.write_text("\n".join(lines) + "\n")

    def start(self) -> None:
        """Start it, on the same port and with the same state as before."""
        arguments = ["--config-file", str(self._conf), "--listen-port", str(self._port), "--examples"]
        self.program, api = start_standalone(self._folder / "state", *arguments)
        self.url = api.removesuffix("/v1")


@dataclass
class Console:
    """The console as a user sees it."""

    page: Page
    url: str
    answers: list[Response] = field(default_factory=list)
    """All answers that the page got."""
    complaints: list[str] = field(default_factory=list)
    """Errors of scripts."""

    @property
    def clicks(self) -> int:
        """Return the number of clicks so far."""
        return int(self.page.evaluate("window.clicks"))

    def sign_in(self, name: str, password: str) -> None:
        """Sign in with name and password."""
        self.page.get_by_label("User", exact=True).fill(name)
        self.page.get_by_role("textbox", name="Password").fill(password)
        self.page.get_by_role("button", name="Sign in").click()
        expect(self.page.get_by_role("search")).to_be_visible()

    def want(self, **wish: str) -> None:
        """Fill fields of the search bar in, by their labels."""
        for label, value in wish.items():
            field = self.page.get_by_role("search").get_by_label(label.replace("_", " "), exact=True)
            if label == "Resources":
                field.select_option(label=value)
            else:
                field.fill(value)

    def slot(self, text: str = "") -> Locator:
        """Return the first free time that is found, or the first with a text."""
        return (
            self.page.get_by_role("region", name="Find a time")
            .get_by_role("button")
            .filter(has_text=text)
            .first
        )

    def lease(self, name: str) -> Locator:
        """Return the card of a lease."""
        return self.page.get_by_role("article", name=name)

    def change_answers(self, url: str, change: Callable[[Any], None]) -> None:
        """Change the JSON of the answers to requests of the page to some addresses."""

        def fulfill(route: Route) -> None:
            answer = route.fetch()
            found = answer.json()
            change(found)
            route.fulfill(response=answer, json=found)

        self.page.route(url, fulfill)

    def reserve(self, name: str) -> Locator:
        """Take the first free time; return the card of the lease, which is active or waits for its start."""
        self.slot().click()
        draft = self.page.get_by_role("region", name="New lease")
        draft.get_by_label("Name").fill(name)
        draft.get_by_role("button", name="Reserve").click()
        expect(self.lease(name)).to_be_visible()
        return self.lease(name)


def open_console(browser: Browser, url: str, **context: Any) -> Console:
    """Return the console in a new window of its own, with nothing from before."""
    page = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **context}).new_page()
    page.set_default_timeout(MILLISECONDS)
    page.add_init_script(_COUNT_CLICKS)
    console = Console(page, url)
    page.on("response", lambda answer: console.answers.append(answer))
    page.on("pageerror", lambda error: console.complaints.append(str(error)))
    page.goto(f"{url}/ui/")
    return console


OpenConsole = Callable[..., Console]
