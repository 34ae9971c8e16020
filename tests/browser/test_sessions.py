"""The page stays useful when its session ends or the service is restarted."""

from __future__ import annotations

import pytest
from browser.console import OpenConsole, Service
from playwright.sync_api import expect


def test_after_the_session_ended_the_user_goes_on_where_he_was(
    open_as: OpenConsole, service: Service
) -> None:
    alice = open_as("alice")
    alice.want(Number="3")
    alice.slot().click()
    name = alice.page.get_by_role("region", name="New lease").get_by_label("Name")
    name.fill("half entered")

    service.admit("bob")
    expect(alice.page.get_by_role("dialog", name="Sign in")).to_be_visible()
    service.admit("alice", "bob")
    alice.sign_in("alice", "alice")

    expect(name).to_have_value("half entered")
    alice.page.get_by_role("button", name="Reserve", exact=True).click()
    expect(alice.lease("half entered")).to_be_visible()


def test_nothing_is_lost_while_the_service_is_restarted(open_as: OpenConsole, service: Service) -> None:
    alice = open_as("alice")
    alice.slot().click()
    name = alice.page.get_by_role("region", name="New lease").get_by_label("Name")
    name.fill("half entered")

    service.program.stop()
    expect(alice.page.get_by_role("alert")).to_contain_text("does not answer")
    service.program.close()
    service.start()

    expect(alice.page.get_by_role("alert")).to_be_empty()
    expect(name).to_have_value("half entered")
    alice.page.get_by_role("button", name="Reserve", exact=True).click()
    expect(alice.lease("half entered")).to_be_visible()


def test_after_signing_out_the_page_shows_nothing_of_the_user(open_as: OpenConsole) -> None:
    alice = open_as("alice")
    alice.reserve("mine alone")

    alice.page.get_by_text("Settings").click()
    alice.page.get_by_role("button", name="Sign out").click()

    expect(alice.page.get_by_role("dialog", name="Sign in")).to_be_visible()
    assert "mine alone" not in alice.page.content()


def test_scripts_see_no_credentials(open_as: OpenConsole) -> None:
    alice = open_as("alice")

    seen = alice.page.evaluate(
        "document.cookie + JSON.stringify(localStorage) + JSON.stringify(sessionStorage) + location.href"
    )

    assert "blazar_console" not in seen
    assert "alice" not in seen


@pytest.mark.parametrize("password", ["", "wrong"])
def test_a_wrong_password_is_said(open_as: OpenConsole, service: Service, password: str) -> None:
    alice = open_as("alice")
    alice.page.get_by_text("Settings").click()
    alice.page.get_by_role("button", name="Sign out").click()
    dialog = alice.page.get_by_role("dialog", name="Sign in")

    dialog.get_by_label("User").fill("alice")
    dialog.get_by_label("Password").fill(password)
    dialog.get_by_role("button", name="Sign in").click()

    expect(dialog).to_be_visible()
    expect(alice.page.get_by_role("search")).not_to_be_visible()
