"""Calendars of leases for other programs, and subscriptions to notices."""

from __future__ import annotations

import pytest
import requests
from browser.console import Console, OpenConsole
from playwright.sync_api import expect


def _reserve(console: Console, name: str) -> None:
    expect(console.reserve(name)).to_contain_text("Active")


def test_a_calendar_of_a_lease_is_created_read_and_deleted(open_as: OpenConsole) -> None:
    alice = open_as("alice")
    _reserve(alice, "in the diary")
    alice.lease("in the diary").get_by_role("button", name="Details").click()

    alice.page.get_by_role("link", name="Calendar and notices of this lease").click()
    calendars = alice.page.get_by_role("region", name="Calendars")
    expect(
        calendars.get_by_role("combobox", name="Lease", exact=True).locator("option:checked")
    ).to_have_text("in the diary")
    calendars.get_by_label("Reminder").fill("30 min")
    calendars.get_by_role("button", name="Create the calendar").click()
    url = calendars.locator(".command code").inner_text()

    read = requests.get(url, timeout=60)
    assert (read.status_code, "SUMMARY:in the diary" in read.text, "BEGIN:VALARM" in read.text) == (
        200,
        True,
        True,
    )
    calendars.get_by_role("button", name="Delete").click()
    alice.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(calendars).to_contain_text("There are no calendars.")
    assert requests.get(url, timeout=60).status_code == 404


def test_a_calendar_of_free_times_begins_as_the_search(open_as: OpenConsole) -> None:
    alice = open_as("alice")
    alice.want(Resources="host with gpu = a100 (2)")
    expect(alice.slot()).to_be_visible()

    alice.page.get_by_role("link", name="Calendars and notices").click()
    calendars = alice.page.get_by_role("region", name="Calendars")
    calendars.get_by_role("button", name="New calendar").click()
    calendars.get_by_role("combobox", name="It shows").select_option(label="when resources are not free")
    calendars.get_by_role("button", name="Create the calendar").click()

    url = calendars.locator(".command code").inner_text()
    assert "NAME:Busy: physical:host" in requests.get(url, timeout=60).text
    (feed,) = [
        each.json() for each in alice.answers if each.request.method == "POST" and each.url.endswith("/feeds")
    ]
    assert (feed["feed"]["filter"], feed["feed"]["amount"]) == ("gpu=a100", 1)


def test_a_webhook_is_subscribed_turned_off_and_deleted(open_as: OpenConsole) -> None:
    alice = open_as("alice")
    alice.page.get_by_role("link", name="Calendars and notices").click()
    notices = alice.page.get_by_role("region", name="Notices")
    notices.get_by_role("button", name="New subscription").click()

    notices.get_by_role("combobox", name="By", exact=True).select_option(label="webhook")
    notices.get_by_label("URL").fill("http://hooks.example.org/leases")
    notices.get_by_label("only these").check()
    notices.get_by_label("ends soon").check()
    notices.get_by_label("Reminders").fill("1 d, 1 h")
    notices.get_by_role("button", name="Subscribe").click()
    expect(notices.get_by_role("alert")).to_contain_text("https")
    notices.get_by_label("URL").fill("https://hooks.example.org/leases")
    notices.get_by_role("button", name="Subscribe").click()

    expect(notices.locator(".command code")).to_contain_text("whsec_")
    made = notices.get_by_role("article")
    expect(made).to_contain_text("ends soon · 24 h, 1 h")
    made.get_by_role("button", name="Turn off").click()
    expect(made).to_contain_text("off")
    made.get_by_role("button", name="Delete").click()
    alice.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(notices).to_contain_text("There are no subscriptions.")


@pytest.mark.parametrize(("name", "is_operator"), [("alice", False), ("olga", True)])
def test_only_operators_subscribe_to_the_site(open_as: OpenConsole, name: str, is_operator: bool) -> None:
    console = open_as(name)
    if is_operator:
        expect(console.page.get_by_role("link", name="Operators")).to_be_visible()
    console.page.get_by_role("link", name="Calendars and notices").click()
    notices = console.page.get_by_role("region", name="Notices")
    notices.get_by_role("button", name="New subscription").click()
    scopes = notices.get_by_role("combobox", name="About")
    assert ("all leases of the site" in scopes.locator("option").all_inner_texts()) is is_operator
    if not is_operator:
        return

    scopes.select_option(label="all leases of the site")
    notices.get_by_label("URL").fill("https://hooks.example.org/leases")
    notices.get_by_label("only these").check()
    notices.get_by_label("few resources are free").check()
    notices.get_by_label("Few means fewer than").fill("3")
    notices.get_by_role("button", name="Subscribe").click()

    expect(notices.get_by_role("article")).to_contain_text("few resources are free")
