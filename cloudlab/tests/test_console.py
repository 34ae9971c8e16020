"""The console with Keystone, alone and inside Horizon, mostly in a real browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import requests
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


def test_an_application_credential_and_another_project_begin_sessions(
    openstack: OpenStackLab, lab: EndToEndLab, lessee: Actor
) -> None:
    """Without a browser: what the page sends is tested against the embedded service."""
    user_id = openstack.session("lessee").get_user_id()
    identity, admin = openstack.api("identity", "lessee"), openstack.api("identity")
    other = lab.other.project_id
    credentials = f"/users/{user_id}/application_credentials"
    wanted = {"application_credential": {"name": "console", "roles": [{"name": "member"}]}}
    made = identity.post(credentials, json=wanted).json()["application_credential"]
    role_id = next(each["id"] for each in admin.get("/roles").json()["roles"] if each["name"] == "member")
    grant = f"/projects/{other}/users/{user_id}/roles/{role_id}"
    page = requests.Session()
    page.headers["X-Requested-With"] = "blazar-console"
    # Its cookie is only for encrypted connections; a browser makes an exception for this machine.
    page.hooks["response"].append(lambda answer, **_: page.headers.update(cookie_of(answer)))
    url = f"{str(lessee.reservations.get_endpoint()).removesuffix('/v1')}/ui"
    account = openstack.details.accounts["lessee"]
    lease = lessee.reserve()
    try:
        sent = {"method": "application_credential", "id": made["id"], "secret": made["secret"]}
        begun = page.post(f"{url}/session", json=sent)
        assert (begun.status_code, begun.json()["project"]["id"]) == (200, lessee.project_id)
        listed = page.get(f"{url}/api/v1/leases").json()["leases"]
        assert [each["id"] for each in listed] == [lease["id"]]
        # Keystone does not let such a credential have other projects.
        assert page.put(f"{url}/session", json={"project_id": other}).status_code in (401, 403)
        identity.delete(f"{credentials}/{made['id']}")
        assert page.post(f"{url}/session", json=sent).status_code == 401

        admin.put(grant)
        sent = {"method": "password", "user": account.user, "password": account.password}
        assert page.post(f"{url}/session", json=sent).status_code == 200
        switched = page.put(f"{url}/session", json={"project_id": other})
        assert (switched.status_code, switched.json()["project"]["id"]) == (200, other)
        assert page.get(f"{url}/api/v1/leases").json()["leases"] == []
    finally:
        admin.delete(grant, raise_exc=False)
        identity.delete(f"{credentials}/{made['id']}", raise_exc=False)


def cookie_of(answer: requests.Response) -> dict[str, str]:
    """Return the header that sends the cookie of an answer back, if it has one."""
    cookie = answer.headers.get("Set-Cookie")
    return {} if cookie is None else {"Cookie": cookie.partition(";")[0]}


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
