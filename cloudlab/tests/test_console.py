"""The console with Keystone, alone and inside Horizon, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browser.chromium import open_chromium
from browser.console import Console, open_console
from playwright.sync_api import Browser, expect

from cloudlab import plan as plans
from cloudlab.lab import OpenStackLab
from cloudlab.tests.actors import Actor
from cloudlab.tests.end_to_end_lab import EndToEndLab
from cloudlab.tests.horizon import running_horizon
from cloudlab.tests.single_sign_on import LABEL, running_single_sign_on


@pytest.fixture
def chromium() -> Iterator[Browser]:
    with open_chromium() as browser:
        yield browser


@pytest.fixture
def console(chromium: Browser, lab: EndToEndLab) -> Console:
    """Return the console of the lessee, who has signed in with Keystone."""
    endpoint = str(lab.lessee.reservations.get_endpoint())
    console = open_console(chromium, endpoint.removesuffix("/v1"))
    account = lab.openstack.details.accounts["lessee"]
    console.sign_in(account.user, account.password)
    return console


def test_a_lessee_signs_in_with_keystone_and_reserves_a_host(console: Console, lessee: Actor) -> None:
    console.want(Resources="any host (4)", Duration="1 h")
    console.reserve("in the console")

    (lease,) = lessee.blazar.lease.list()
    lessee.wait_for_lease(lease, "ACTIVE")
    expect(console.lease("in the console")).to_contain_text("Active")
    console.page.get_by_text("Settings").click()
    console.page.get_by_role("button", name="Sign out").click()
    expect(console.page.get_by_role("dialog", name="Sign in")).to_be_visible()


@pytest.mark.long
def test_a_user_of_the_site_signs_in_at_its_identity_provider(
    openstack: OpenStackLab, chromium: Browser, lab: EndToEndLab, lessee: Actor
) -> None:
    plan = plans.read(openstack.folder)
    assert plan is not None
    with running_single_sign_on(openstack, plan) as url:
        console = open_console(chromium, url.removesuffix("/ui/"))
        page = console.page
        page.get_by_role("link", name=LABEL).click()
        page.get_by_label("Campus account").fill("ada")
        page.get_by_role("button", name="Log in").click()

        page.wait_for_url(url)
        console.want(Resources="any host (4)", Duration="1 h")
        console.reserve("of the campus")

        (lease,) = lessee.blazar.lease.list()
        assert lease["name"] == "of the campus"
        assert lease["project_id"] == openstack.details.accounts["lessee"].project_id
        # A page that is not a trusted dashboard gets no token.
        stranger = f"{plan.auth_url}/auth/OS-FEDERATION/websso/openid?origin=http://127.0.0.1:1/"
        assert page.request.get(stranger).status == 401


@pytest.mark.long
def test_in_horizon_nobody_signs_in_twice(
    openstack: OpenStackLab, chromium: Browser, lab: EndToEndLab, lessee: Actor
) -> None:
    account = openstack.details.accounts["lessee"]
    with running_horizon(openstack) as url:
        page = chromium.new_page()
        page.goto(f"{url}/auth/login/")
        page.fill("#id_username", account.user)
        page.fill("#id_password", account.password)
        page.click("#loginBtn")
        page.get_by_role("link", name="Reservations console").wait_for(state="attached")
        page.goto(f"{url}/project/reservations_console/")
        console = page.frame_locator("#reservations-console")
        console.get_by_label("Resources", exact=True).select_option(label="any host (4)")
        console.get_by_role("region", name="Find a time").get_by_role("button").first.click()
        draft = console.get_by_role("region", name="New lease")
        draft.get_by_label("Name").fill("in Horizon")

        draft.get_by_role("button", name="Reserve").click()

        expect(console.get_by_role("article", name="in Horizon")).to_be_visible()
        (lease,) = lessee.blazar.lease.list()
        assert (lease["name"], lease["project_id"]) == ("in Horizon", account.project_id)
        # A page of others cannot send the header of the console.
        answer = page.request.delete(f"{url}/project/reservations_console/ui/api/v1/leases/{lease['id']}")
        assert answer.status == 403
        page.context.clear_cookies()
        ended = page.request.get(f"{url}/project/reservations_console/ui/session", max_redirects=0)
        assert ended.status == 302
        page.close()
