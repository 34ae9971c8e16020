"""Credentials of the services, and the number of token requests to Keystone."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from cloud.openstack.conftest import MakeCloud, MakeConf
from cloud.openstack.stub import TOKENS, Reply, Request, StubCloud
from keystoneauth1.access.service_catalog import ServiceCatalogV3

from blazar.cloud.openstack.driver import OpenStackCloud
from blazar.cloud.openstack.identity import make_old_plugin
from blazar.domain.errors import CloudRefused, CloudUnavailable

BACKUPS = "/volume/v3/backups"
AGGREGATES = "/compute/v2.1/os-aggregates"
CLASSES = "/placement/resource_classes"
FLOATING_IPS = "/network/v2.0/floatingips"
IMAGES = "/image/v2/images"

OWN = """
auth_type = v3password
auth_url = {url}/identity/v3
username = {user}
password = pass-word
project_name = service
user_domain_id = default
project_domain_id = default
"""
OLD = """
[DEFAULT]
os_auth_host = 127.0.0.1
os_auth_port = {port}
os_auth_prefix = identity
os_admin_username = old
os_admin_password = old-password
os_admin_project_name = old-project
os_admin_user_domain_name = old-domain
os_admin_project_domain_name = old-project-domain
"""


@pytest.fixture(autouse=True)
def empty_lists(stub: StubCloud) -> None:
    stub.lay_out("GET", AGGREGATES, Reply(body={"aggregates": []}))
    stub.lay_out("GET", CLASSES, Reply(body={"resource_classes": []}))
    stub.lay_out("GET", FLOATING_IPS, Reply(body={"floatingips": []}))
    stub.lay_out("GET", IMAGES, Reply(body={"images": []}))


def use_all(cloud: OpenStackCloud) -> None:
    cloud.aggregates.list_aggregates()
    cloud.images.list_images({})
    cloud.placement.list_resource_classes()
    cloud.networks.list_floating_ips()


def user(request: Request) -> str:
    name: str = request.body["auth"]["identity"]["password"]["user"]["name"]
    return name


def at_once(number: int, act: Callable[[], object]) -> list[BaseException | None]:
    """Return the result of each of so many threads."""
    barrier = threading.Barrier(number)

    def run() -> BaseException | None:
        barrier.wait()
        try:
            act()
        except CloudUnavailable as error:
            return error
        return None

    with ThreadPoolExecutor(number) as pool:
        return [each.result() for each in [pool.submit(run) for _ in range(number)]]


def test_weakness_37_all_services_share_one_token(stub: StubCloud, cloud: OpenStackCloud) -> None:
    use_all(cloud)
    use_all(cloud)

    assert len(stub.asked("POST", TOKENS)) == 1
    services = [each for each in stub.requests if not each.path.startswith("/identity")]
    assert {each.token for each in services} == {"token-1"}
    assert len(services) == 8


def test_threads_that_start_together_fetch_one_token(stub: StubCloud, cloud: OpenStackCloud) -> None:
    ends = at_once(16, cloud.placement.list_resource_classes)

    assert ends == [None] * 16
    assert len(stub.asked("POST", TOKENS)) == 1


def test_groups_that_say_the_same_share_a_token(stub: StubCloud, cloud_of: MakeCloud) -> None:
    same = OWN.format(url=stub.url, user="blazar")

    use_all(cloud_of("".join(f"[{group}]\n{same}" for group in ("nova", "placement", "neutron", "glance"))))

    assert [user(each) for each in stub.asked("POST", TOKENS)] == ["blazar"]


def test_the_group_of_a_service_wins_over_the_shared_one(
    stub: StubCloud, cloud_of: MakeCloud, credentials: str
) -> None:
    cloud = cloud_of(f"{credentials}[placement]\n{OWN.format(url=stub.url, user='placer')}")

    use_all(cloud)

    assert sorted(user(each) for each in stub.asked("POST", TOKENS)) == ["blazar", "placer"]
    placer = next(n for n, each in enumerate(stub.asked("POST", TOKENS), 1) if user(each) == "placer")
    assert {each.token for each in stub.asked("GET", CLASSES)} == {f"token-{placer}"}
    assert {each.token for each in stub.asked("GET", AGGREGATES)} == {f"token-{3 - placer}"}


def test_a_group_may_name_another_one(stub: StubCloud, cloud_of: MakeCloud) -> None:
    text = f"[keystone]\nauth_section = elsewhere\n[elsewhere]\n{OWN.format(url=stub.url, user='away')}"

    use_all(cloud_of(text))

    assert [user(each) for each in stub.asked("POST", TOKENS)] == ["away"]


def test_the_shared_group_wins_over_the_old_options(
    stub: StubCloud, cloud_of: MakeCloud, credentials: str
) -> None:
    use_all(cloud_of(OLD.format(port=stub.port) + credentials))

    assert [user(each) for each in stub.asked("POST", TOKENS)] == ["blazar"]


def test_the_old_options_make_credentials(stub: StubCloud, cloud_of: MakeCloud) -> None:
    use_all(cloud_of(OLD.format(port=stub.port)))

    (request,) = stub.asked("POST", TOKENS)
    auth = request.body["auth"]
    assert auth["identity"]["password"]["user"] == {
        "name": "old",
        "password": "old-password",
        "domain": {"name": "old-domain"},
    }
    assert auth["scope"] == {"project": {"name": "old-project", "domain": {"name": "old-project-domain"}}}
    assert len(stub.requests) == 5


@pytest.mark.parametrize(
    ("options", "url"),
    [
        ("", "http://127.0.0.1:5000/v3"),
        ("os_auth_protocol = https\nos_auth_host = keystone.example.org", None),
        ("os_auth_host = 2001:db8::1", "http://[2001:db8::1]:5000/v3"),
        ("os_auth_prefix = /identity/\nos_auth_port = 80", "http://127.0.0.1:80/identity/v3"),
    ],
)
def test_keystones_old_url_is_put_together(make_conf: MakeConf, options: str, url: str | None) -> None:
    plugin = make_old_plugin(make_conf(f"[DEFAULT]\n{options}\n"))

    assert plugin.auth_url == (url or "https://keystone.example.org:5000/v3")


def test_a_token_that_runs_out_soon_is_replaced_before(stub: StubCloud, cloud: OpenStackCloud) -> None:
    stub.token_expires_at = "2001-01-01T00:00:00.000000Z"

    cloud.aggregates.list_aggregates()
    stub.token_expires_at = "2999-01-01T00:00:00.000000Z"
    before = len(stub.asked("POST", TOKENS))
    cloud.aggregates.list_aggregates()
    cloud.aggregates.list_aggregates()

    tokens = [each.token for each in stub.asked("GET", AGGREGATES)]
    assert tokens[1:] == [f"token-{before + 1}"] * 2
    assert tokens[0] != tokens[1]


def test_a_token_that_is_refused_is_replaced_once(stub: StubCloud, cloud: OpenStackCloud) -> None:
    stub.lay_out("GET", AGGREGATES, Reply(status=401), Reply(body={"aggregates": []}))

    assert cloud.aggregates.list_aggregates() == ()

    assert [each.token for each in stub.asked("GET", AGGREGATES)] == ["token-1", "token-2"]


def test_the_catalog_is_looked_through_once_a_token(
    stub: StubCloud, cloud: OpenStackCloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[object] = []
    look = ServiceCatalogV3.get_endpoints_data

    def counted(self: ServiceCatalogV3, *arguments: Any, **keys: Any) -> object:
        looks.append(keys)
        return look(self, *arguments, **keys)

    monkeypatch.setattr(ServiceCatalogV3, "get_endpoints_data", counted)
    for _ in range(3):
        cloud.aggregates.list_aggregates()
        cloud.placement.list_resource_classes()

    assert len(looks) == 2


def test_a_service_that_has_moved_is_found_by_the_next_token(stub: StubCloud, cloud: OpenStackCloud) -> None:
    cloud.aggregates.list_aggregates()
    stub.endpoints["compute"] = {("internal", "one"): "/elsewhere/v2.1"}
    stub.lay_out("GET", AGGREGATES, Reply(status=401))
    stub.lay_out("GET", "/elsewhere/v2.1/os-aggregates", Reply(body={"aggregates": []}))

    assert cloud.aggregates.list_aggregates() == ()

    assert len(stub.asked("GET", "/elsewhere/v2.1/os-aggregates")) == 1


def test_a_second_refusal_is_no_usable_answer(stub: StubCloud, cloud: OpenStackCloud) -> None:
    stub.lay_out("GET", AGGREGATES, Reply(status=401))

    with pytest.raises(CloudUnavailable, match="401"):
        cloud.aggregates.list_aggregates()

    assert len(stub.asked("GET", AGGREGATES)) == 2


def test_threads_that_are_refused_together_fetch_one_token(stub: StubCloud, cloud: OpenStackCloud) -> None:
    cloud.aggregates.list_aggregates()
    stub.lay_out("GET", CLASSES, *[Reply(status=401)] * 8, Reply(body={"resource_classes": []}))
    barrier = threading.Barrier(8)
    answer = stub.answer

    def answer_together(request: Request) -> Reply:
        reply = answer(request)
        if reply.status == 401:
            barrier.wait()
        return reply

    stub.answer = answer_together  # type: ignore[method-assign]

    assert at_once(8, cloud.placement.list_resource_classes) == [None] * 8
    assert len(stub.asked("POST", TOKENS)) == 2


def test_wrong_credentials_are_unavailability_and_not_shown(
    stub: StubCloud, cloud: OpenStackCloud, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    text = "The request you have made requires authentication."
    stub.lay_out("POST", TOKENS, Reply(status=401, body={"error": {"message": text}}))

    with pytest.raises(CloudUnavailable, match=f"Keystone: .*{text}") as failure:
        cloud.aggregates.list_aggregates()

    assert "pass-word" not in failure.value.message
    assert "pass-word" not in caplog.text


def test_threads_that_waited_for_keystone_in_vain_do_not_wait_again(
    stub: StubCloud, cloud_of: MakeCloud, credentials: str
) -> None:
    cloud = cloud_of(f"{credentials}timeout = 5\n")
    stub.lay_out("POST", TOKENS, Reply(is_withheld=True))

    ends = at_once(8, cloud.placement.list_resource_classes)

    assert all(isinstance(each, CloudUnavailable) for each in ends)
    assert len(stub.asked("POST", TOKENS)) == 1


def test_after_a_failure_keystone_is_asked_again(stub: StubCloud, cloud: OpenStackCloud) -> None:
    stub.lay_out("POST", TOKENS, Reply(status=503))
    with pytest.raises(CloudUnavailable):
        cloud.aggregates.list_aggregates()

    stub.lay_out("POST", TOKENS)

    assert cloud.aggregates.list_aggregates() == ()


def test_a_keystone_that_does_not_run_is_unavailability(cloud_of: MakeCloud) -> None:
    with StubCloud() as gone:
        text = OLD.format(port=gone.port)

    with pytest.raises(CloudUnavailable, match="Keystone"):
        cloud_of(text).aggregates.list_aggregates()


class TestOneProject:
    """The service's own account acts as a member of a project."""

    def create(self, cloud: OpenStackCloud) -> str:
        return cloud.storage_in("of-the-lessee").create_backup("volume", "name", "text")

    def test_its_token_is_exchanged_for_one_of_the_project(
        self, stub: StubCloud, cloud: OpenStackCloud
    ) -> None:
        stub.roles = ("member",)
        stub.lay_out("POST", BACKUPS, Reply(status=202, body={"backup": {"id": "made"}}))

        assert self.create(cloud) == "made"

        first, second = (each.body["auth"] for each in stub.asked("POST", TOKENS))
        assert first["identity"]["methods"] == ["password"]
        assert second["identity"] == {"methods": ["token"], "token": {"id": "token-1"}}
        assert second["scope"] == {"project": {"id": "of-the-lessee"}}
        assert [each.token for each in stub.asked("POST", BACKUPS)] == ["token-2"]

    def test_the_role_of_an_administrator_is_not_used(self, stub: StubCloud, cloud: OpenStackCloud) -> None:
        stub.lay_out("POST", BACKUPS, Reply(status=202, body={"backup": {"id": "made"}}))

        with pytest.raises(CloudRefused, match="role admin in project of-the-lessee"):
            self.create(cloud)

        assert stub.asked("POST", BACKUPS) == []

    @pytest.mark.parametrize("status", [401, 403, 404])
    def test_without_a_role_the_call_is_refused(
        self, stub: StubCloud, cloud: OpenStackCloud, status: int
    ) -> None:
        cloud.aggregates.list_aggregates()
        stub.lay_out("POST", TOKENS, Reply(status=status, body={"error": {"message": "no access"}}))

        with pytest.raises(CloudRefused, match="needs a role"):
            self.create(cloud)

    def test_a_keystone_that_fails_is_unavailability(self, stub: StubCloud, cloud: OpenStackCloud) -> None:
        cloud.aggregates.list_aggregates()
        stub.lay_out("POST", TOKENS, Reply(status=503))

        with pytest.raises(CloudUnavailable):
            self.create(cloud)
