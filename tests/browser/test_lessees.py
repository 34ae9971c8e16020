"""Lessees find, reserve, change and end leases in the console."""

from __future__ import annotations

from typing import Any

import requests
from browser.console import Console, OpenConsole, Service
from playwright.sync_api import expect


def test_a_gpu_host_for_four_hours_takes_at_most_five_clicks(open_as: OpenConsole) -> None:
    alice = open_as("alice")
    before = alice.clicks

    alice.want(Resources="host with gpu = a100 (2)", Duration="4 h", Latest_end="Sunday")
    alice.slot().click()
    alice.page.get_by_role("button", name="Reserve", exact=True).click()

    expect(alice.page.get_by_role("article")).to_contain_text("Active")
    # A person needs two to choose from a list.
    assert alice.clicks - before + 2 <= 5


def test_no_type_has_keys_of_which_the_page_does_not_know(open_as: OpenConsole) -> None:
    """Types without resources have no free time, but the request for one is complete."""
    alice = open_as("alice")
    types = (
        alice.page.get_by_label("Resources", exact=True)
        .locator("option")
        .filter(has_text="any ")
        .all_inner_texts()
    )
    times = alice.page.get_by_role("region", name="Find a time")
    search = alice.page.get_by_role("search")
    # The requirement, which no request needs, is the field with an example in it.
    fields = search.get_by_role("group").get_by_role("textbox").and_(search.locator(":not([placeholder])"))

    for each in types:
        alice.want(Resources=each)
        for field in fields.all():
            field.fill("10")
        expect(search.locator(".problem")).to_have_count(0)
        expect(times).to_have_attribute("aria-busy", "false")
        expect(times).not_to_contain_text("Missing parameter")

    assert len(types) == 7


def test_flavors_are_chosen_by_name(open_as: OpenConsole) -> None:
    flavors = [{"id": "f-1", "name": "small", "vcpus": 1}, {"id": "f-2", "name": "large", "vcpus": 8}]
    alice = open_as("alice")

    def list_flavors(found: Any) -> None:
        for each in found["catalogue"]["resource_types"]:
            if each["resource_type"] == "flavor:instance":
                each["choices"] = {"flavor_id": flavors}

    alice.change_answers("**/v1/catalogue?choices=true", list_flavors)
    search = alice.page.get_by_role("search")
    types = search.get_by_label("Resources", exact=True).locator("option")

    alice.want(Resources=types.filter(has_text="any instance (flavor:instance)").inner_text())

    field = search.get_by_label("flavor_id")
    expect(field.locator("option")).to_have_text(["small (vcpus 1)", "large (vcpus 8)"])
    with alice.page.expect_request(lambda request: '"flavor_id":"f-2"' in (request.post_data or "")):
        field.select_option(label="large (vcpus 8)")


def test_a_refused_request_is_granted_as_an_alternative(open_as: OpenConsole) -> None:
    alice = open_as("alice")
    alice.want(Number="2", Resources="host with gpu = a100 (2)", Duration="1 day")
    alice.slot().click()
    taken = alice.page.get_by_label("Start", exact=True).input_value()
    alice.reserve("mine")
    bob = open_as("bob")
    bob.want(Number="2", Resources="host with gpu = a100 (2)", Duration="1 day")
    bob.slot().click()
    draft = bob.page.get_by_role("region", name="New lease")

    draft.get_by_label("Start").fill(taken)

    expect(draft.get_by_role("alert")).to_contain_text("2 needed")
    draft.get_by_role("button", name="Later").first.click()
    draft.get_by_role("button", name="Reserve").click()
    expect(bob.page.get_by_role("article")).to_contain_text("Waiting for its start")


def test_the_form_shows_quota_and_cost_before_anything_is_reserved(open_as: OpenConsole) -> None:
    alice = open_as("alice")
    quota = {"name": "reserved_hosts", "used": 3, "limit": 10, "left": 7}
    alice.change_answers("**/v1/catalogue", lambda found: found["catalogue"]["limits"].update(quotas=[quota]))
    costs = [{"filter": "Prices", "amount": "12.5", "unit": "SU"}]
    alice.change_answers("**/v1/leases?dry_run=true", lambda found: found["preview"].update(costs=costs))
    alice.page.reload()
    alice.want(Number="2")

    alice.slot().click()

    draft = alice.page.get_by_role("region", name="New lease")
    expect(draft).to_contain_text("3 of 10 in use, 2 more")
    expect(draft).to_contain_text("12.5 SU")


def test_the_form_says_that_volumes_are_deleted(open_as: OpenConsole, service: Service) -> None:
    for pool in ("block@fast#ssd", "block@large#disk"):
        answer = requests.post(
            f"{service.url}/v1/storage-pools",
            json={"name": pool},
            auth=("olga", "olga"),
            headers={"OpenStack-API-Version": "reservation 1.1"},
            timeout=30,
        )
        assert answer.status_code == 201, answer.text
    alice = open_as("alice")
    alice.want(Resources="any volume (2)", gibibytes="5")

    alice.slot().click()

    draft = alice.page.get_by_role("region", name="New lease")
    expect(draft).to_contain_text("The volumes in the reserved storage are detached and deleted")


def test_a_lease_is_extended(open_as: OpenConsole) -> None:
    alice = open_as("alice")
    alice.want(Duration="1 h")
    lease = alice.reserve("longer")
    expect(lease).to_contain_text("Active")
    end = lease.locator("time").first.get_attribute("datetime")

    lease.get_by_role("button", name="Extend").click()
    expect(lease).to_contain_text("Possible until")
    lease.get_by_role("button", name="+ 1 h").click()
    lease.get_by_role("button", name="Extend").last.click()

    expect(lease.locator("time").first).not_to_have_attribute("datetime", str(end))


def test_a_lease_that_cannot_be_extended_says_why(open_as: OpenConsole) -> None:
    both = {"Number": "2", "Resources": "host with gpu = a100 (2)", "Duration": "1 h"}
    alice = open_as("alice")
    alice.want(**both)
    lease = alice.reserve("first")
    expect(lease).to_contain_text("Active")
    bob = open_as("bob")
    bob.want(**both)
    bob.reserve("next")

    lease.get_by_role("button", name="Extend").click()

    expect(lease).to_contain_text("No later end is possible.")
    expect(lease.get_by_role("alert")).to_contain_text("only 0 free throughout the period")


def test_a_lease_is_given_back(open_as: OpenConsole) -> None:
    alice = open_as("alice")
    lease = alice.reserve("short")
    expect(lease).to_contain_text("Active")

    lease.get_by_role("button", name="End now").click()
    alice.page.get_by_role("dialog").get_by_role("button", name="End now").click()

    expect(lease).not_to_be_visible()


def test_leases_of_strangers_are_anonymous(open_as: OpenConsole) -> None:
    alice = open_as("alice")
    alice.want(Number="2", Resources="host with gpu = a100 (2)", Duration="1 day")
    alice.reserve("top secret plan")
    (lease_id,) = _ids(alice)

    bob = open_as("bob")
    bob.want(Resources="host with gpu = a100 (2)", Duration="1 h")
    expect(bob.slot()).to_be_visible()
    bob.page.get_by_role("link", name="Leases").click()
    bob.page.wait_for_load_state("networkidle")

    told = bob.page.content() + "".join(each.text() for each in bob.answers if "/api/" in each.url)
    assert "physical:host" in told
    for secret in ("top secret plan", "alice", lease_id):
        assert secret not in told


def _ids(console: Console) -> list[str]:
    """Return the ids of the leases that the page got."""
    found: set[str] = set()
    for each in console.answers:
        if each.url.partition("?")[0].endswith("/v1/leases") and each.request.method == "GET":
            found |= {lease["id"] for lease in each.json()["leases"]}
    return sorted(found)
