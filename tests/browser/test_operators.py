"""Operators see hosts and all leases in the console, and register hosts."""

from __future__ import annotations

import requests
from browser.console import OpenConsole, Service
from playwright.sync_api import expect


def test_an_operator_registers_a_host_again(open_as: OpenConsole) -> None:
    olga = open_as("olga")
    olga.page.get_by_role("link", name="Operators").click()
    olga.page.get_by_role("link", name="Resources").click()
    hosts = olga.page.get_by_role("region", name="os-hosts")
    row = hosts.get_by_role("row", name="host-3")
    row.get_by_role("button", name="Deregister").click()
    olga.page.get_by_role("dialog").get_by_role("button", name="Deregister").click()
    expect(row).not_to_be_visible()

    hosts.get_by_role("button", name="Register", exact=True).click()
    hosts.get_by_label("One resource a line").fill("host-3 rack=r9")
    hosts.get_by_role("button", name="Register", exact=True).last.click()

    expect(row).to_contain_text("r9")
    expect(row).to_contain_text("in service")


def test_operators_see_the_leases_of_all_projects(open_as: OpenConsole) -> None:
    alice, olga = open_as("alice"), open_as("olga")
    alice.reserve("of alice")

    olga.page.get_by_role("link", name="Operators").click()
    olga.page.get_by_role("link", name="All leases").click()

    expect(olga.page.get_by_role("main")).to_contain_text("of alice")


def test_lessees_have_no_part_for_operators(open_as: OpenConsole) -> None:
    alice = open_as("alice")

    expect(alice.page.get_by_role("link", name="Leases")).to_be_visible()
    expect(alice.page.get_by_role("link", name="Operators")).not_to_be_visible()


def test_a_maintenance_is_ended_once(open_as: OpenConsole, service: Service) -> None:
    answer = requests.post(
        f"{service.url}/v1/maintenance",
        json={"resource_type": "physical:host", "resources": ["host-3"], "reason": "new disks"},
        auth=("olga", "olga"),
        headers={"OpenStack-API-Version": "reservation 1.1"},
        timeout=30,
    )
    assert answer.status_code == 201, answer.text
    olga = open_as("olga")
    olga.page.get_by_role("link", name="Operators").click()
    olga.page.get_by_role("link", name="Maintenance").click()
    maintenance = olga.page.get_by_role("article", name="new disks")
    expect(maintenance.get_by_role("button", name="End")).to_be_visible()

    olga.change_answers("**/v1/maintenance", lambda found: found["maintenances"][0].update(status="ENDED"))
    olga.page.reload()

    expect(maintenance).to_contain_text("ended")
    expect(maintenance.get_by_role("button")).to_have_count(1)
