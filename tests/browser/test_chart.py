"""Lessees drag over the chart, release a part of a lease, and print what the console shows."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any

import pytest
import requests
from browser.console import Console, OpenConsole, Service
from playwright.sync_api import Page, expect

GPUS = "host with gpu = a100 (2)"
STEP = timedelta(minutes=30)
"""More than the chart rounds by when it shows a day."""


def offers(service: Service, name: str) -> list[dict[str, Any]]:
    """Return the open offers of a user's project."""
    answer = requests.get(
        f"{service.url}/v1/offers",
        auth=(name, name),
        headers={"OpenStack-API-Version": "reservation 1.1"},
        timeout=30,
    )
    found: list[dict[str, Any]] = answer.json()["offers"]
    return found


def pointed(page: Page) -> datetime:
    """Return the time under the pointer, as the chart tells it."""
    text = page.locator(".readout").inner_text()
    found = re.search(r"\((\d{4}-\d\d-\d\d \d\d:\d\d) UTC\)", text)
    assert found, text
    return datetime.fromisoformat(found[1])


def drag(console: Console, first: float, last: float) -> tuple[datetime, datetime]:
    """Drag over a part of the first row, from a share of its width to another; return the times."""
    # Results that arrive later would move the calendar.
    expect(console.page.locator(".slots")).to_have_attribute("aria-busy", "false")
    box = console.page.locator(".canvas").bounding_box()
    assert box is not None
    height, mouse = box["y"] + 40, console.page.mouse
    mouse.move(box["x"] + first * box["width"], height)
    start = pointed(console.page)
    mouse.down()
    mouse.move(box["x"] + last * box["width"], height, steps=5)
    end = pointed(console.page)
    mouse.up()
    return start, end


def test_dragging_a_free_stretch_fills_the_form_and_holds_an_offer(
    open_as: OpenConsole, service: Service
) -> None:
    alice = open_as("alice", timezone_id="UTC")
    alice.want(Resources=GPUS)
    alice.page.get_by_role("button", name="Day", exact=True).click()
    expect(alice.page.locator(".canvas canvas")).to_be_visible()
    expect(alice.slot()).to_be_visible()

    start, end = drag(alice, 0.5, 0.75)

    draft = alice.page.get_by_role("region", name="New lease")
    expect(draft).to_contain_text("Held for you for")
    shown = [
        datetime.fromisoformat(draft.get_by_label(each, exact=True).input_value())
        for each in ("Start", "End")
    ]
    assert all(abs(one - other) <= STEP for one, other in zip(shown, (start, end), strict=True))
    (offer,) = offers(service, "alice")
    assert [datetime.fromisoformat(offer[f"{each}_date"]) for each in ("start", "end")] == shown
    assert offer["expiry_notice"] is False, "no notice is sent when it expires"
    draft.get_by_role("button", name="Reserve", exact=True).click()
    expect(alice.page.get_by_role("article")).to_contain_text("Waiting for its start")
    assert offers(service, "alice") == []


def test_a_form_that_is_left_releases_what_it_held(open_as: OpenConsole, service: Service) -> None:
    alice = open_as("alice", timezone_id="UTC")
    alice.want(Resources=GPUS)
    alice.page.get_by_role("button", name="Day", exact=True).click()
    expect(alice.page.locator(".canvas canvas")).to_be_visible()
    expect(alice.slot()).to_be_visible()
    drag(alice, 0.5, 0.75)
    draft = alice.page.get_by_role("region", name="New lease")
    expect(draft).to_contain_text("Held for you for")

    with alice.page.expect_response(lambda answer: answer.request.method == "DELETE"):
        draft.get_by_role("button", name="Cancel").click()

    assert offers(service, "alice") == []


def test_a_chosen_host_is_released_and_the_rest_stays(open_as: OpenConsole) -> None:
    alice = open_as("alice")
    alice.want(Number="2", Resources=GPUS, Duration="4 h")
    lease = alice.reserve("both")
    expect(lease).to_contain_text("Active")
    expect(lease).to_contain_text(re.compile("2 . host"))

    lease.get_by_role("button", name="Shrink").click()
    boxes = lease.get_by_role("checkbox")
    expect(boxes).to_have_count(2)
    released = boxes.first.locator("..").inner_text().strip()
    boxes.first.check()
    lease.get_by_role("button", name="Release 1").click()

    expect(lease).to_contain_text(re.compile("1 . host"))
    lease.get_by_role("button", name="Details").click()
    expect(lease.get_by_role("heading", name="host")).to_be_visible()
    expect(lease.locator("section p").first).not_to_have_text(released)
    expect(lease).to_contain_text("1 resource released")


def test_all_hosts_cannot_be_released(open_as: OpenConsole) -> None:
    alice = open_as("alice")
    alice.want(Number="2", Resources=GPUS, Duration="4 h")
    lease = alice.reserve("both")
    expect(lease).to_contain_text("Active")

    lease.get_by_role("button", name="Shrink").click()
    boxes = lease.get_by_role("checkbox")
    expect(boxes).to_have_count(2)
    for each in boxes.all():
        each.check()

    expect(lease.get_by_role("button", name="Release 2")).to_be_disabled()


_CONTROLS = "button:not(.plain, .link), input, select, textarea, summary, nav, form"


@pytest.mark.parametrize("width", [1280, 390])
def test_print_has_what_is_needed_and_no_controls(open_as: OpenConsole, width: int) -> None:
    olga = open_as("olga", viewport={"width": width, "height": 844})
    lease = olga.reserve("on paper")
    expect(lease).to_contain_text("Active")
    lease.get_by_role("button", name="Details").click()
    expect(lease.get_by_role("heading", name="History")).to_be_visible()

    olga.page.emulate_media(media="print")

    for each in (
        lease.get_by_role("heading", name="on paper"),
        lease.get_by_role("heading", name="History"),
        olga.page.get_by_role("heading", name="Calendar"),
        olga.page.locator(".canvas canvas"),
        olga.page.locator(".legend"),
    ):
        expect(each).to_be_visible()
    expect(lease).to_contain_text("The servers on the reserved hosts are deleted")
    expect(olga.page.locator(_CONTROLS).locator("visible=true")).to_have_count(0)
    body = olga.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert body[0] <= body[1], "nothing is cut off at the right"


def test_the_pages_of_operators_have_no_controls_on_paper(open_as: OpenConsole) -> None:
    olga = open_as("olga")
    olga.page.get_by_role("link", name="Operators").click()
    parts = {"Resources": "host-3", "All leases": "", "Utilisation": ""}
    for part, text in parts.items():
        olga.page.emulate_media(media="screen")
        olga.page.get_by_role("link", name=part).click()
        expect(olga.page.get_by_role("main")).to_contain_text(text)
        olga.page.wait_for_load_state("networkidle")

        olga.page.emulate_media(media="print")

        expect(olga.page.get_by_role("main")).to_be_visible()
        expect(olga.page.locator(_CONTROLS).locator("visible=true")).to_have_count(0)
