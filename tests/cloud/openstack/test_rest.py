"""Calls: requests, errors, pages, time-outs and connections."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from cloud.openstack.conftest import MakeCloud
from cloud.openstack.stub import Reply, Request, StubCloud
from telemetry.listening import listening
from trickling import HABITS, trickling

from blazar.cloud.openstack.driver import OpenStackCloud
from blazar.domain.errors import CloudConflict, CloudError, CloudNotFound, CloudRefused, CloudUnavailable
from blazar.ports.compute import Lessee
from blazar.telemetry.log_context import arriving

AGGREGATES = "/compute/v2.1/os-aggregates"
CLASSES = "/placement/resource_classes"
ACTION = f"{AGGREGATES}/7/action"
FLOATING_IPS = "/network/v2.0/floatingips"
SERVERS = "/compute/v2.1/servers/detail"
CHANGED = Reply(body={"aggregate": {"id": 7, "name": "a", "availability_zone": None, "hosts": ["node-1"]}})


def add_host(cloud: OpenStackCloud) -> None:
    cloud.aggregates.add_host(7, "node-1")


def error_of(stub: StubCloud, cloud: OpenStackCloud, reply: Reply) -> CloudError:
    """Return the error that a write with this reply raises."""
    stub.lay_out("POST", ACTION, reply)
    with pytest.raises(CloudError) as error:
        add_host(cloud)
    return error.value


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        *((status, CloudRefused) for status in (400, 402, 403, 405, 406, 410, 412, 413, 415, 422, 451)),
        *((status, CloudUnavailable) for status in (304, 401, 408, 425, 429, 500, 501, 502, 503, 504, 599)),
        (404, CloudNotFound),
        (409, CloudConflict),
    ],
)
def test_a_status_means_an_error(
    stub: StubCloud, cloud: OpenStackCloud, status: int, kind: type[CloudError]
) -> None:
    assert type(error_of(stub, cloud, Reply(status=status))) is kind


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"conflictingRequest": {"code": 409, "message": "what Nova says"}}, "what Nova says"),
        (
            {"NeutronError": {"type": "Other", "message": "what Neutron says", "detail": ""}},
            "what Neutron says",
        ),
        (
            {"errors": [{"status": 409, "title": "Conflict", "detail": "In general.\n\n what it says  "}]},
            "what it says",
        ),
        ({"errors": [{"status": 409, "title": "only a title"}]}, "only a title"),
        (
            {"message": "what Glance says<br /><br />\n\n\n", "code": "409 Conflict", "title": "Conflict"},
            "what Glance says",
        ),
        (
            "<html><head><title>409</title></head><body><h1>409</h1>what a proxy says</body></html>",
            "what a proxy says",
        ),
        ({"conflictingRequest": {"message": "x" * 1000}}, f"{'x' * 300}…"),
        ([], "Conflict"),
        ("", "Conflict"),
        ({"errors": []}, "Conflict"),
    ],
)
def test_a_message_says_what_the_service_said(
    stub: StubCloud, cloud: OpenStackCloud, body: Any, text: str
) -> None:
    error = error_of(stub, cloud, Reply(status=409, body=body, headers={"x-openstack-request-id": "req-1"}))

    assert error.message == f"Nova: POST /os-aggregates/7/action: 409 {text} (req-1)"


def test_a_quota_of_neutron_is_no_conflict_that_passes(stub: StubCloud, cloud: OpenStackCloud) -> None:
    body = {"NeutronError": {"type": "OverQuota", "message": "Quota exceeded", "detail": ""}}
    stub.lay_out("POST", FLOATING_IPS, Reply(status=409, body=body))

    with pytest.raises(CloudRefused, match="Quota exceeded"):
        cloud.networks.create_floating_ip("network", "subnet", "203.0.113.5", "project")


@pytest.mark.parametrize(
    "body",
    [
        "",
        "<html>welcome</html>",
        [],
        {},
        {"aggregates": None},
        {"aggregates": [{}]},
        {"aggregates": [{"id": "one", "name": "a", "availability_zone": None}]},
        {"aggregates": [1]},
    ],
)
def test_an_answer_that_is_something_else_is_unavailability(
    stub: StubCloud, cloud: OpenStackCloud, body: Any
) -> None:
    stub.lay_out("GET", AGGREGATES, Reply(body=body))

    with pytest.raises(CloudUnavailable, match="Nova: GET /os-aggregates: the answer cannot be used"):
        cloud.aggregates.list_aggregates()
    assert "the answer cannot be used" in error_of(stub, cloud, Reply(body=body)).message


def test_a_list_that_is_not_there_is_unavailability(stub: StubCloud, cloud: OpenStackCloud) -> None:
    with pytest.raises(CloudUnavailable, match="404"):
        cloud.aggregates.list_aggregates()


def test_an_answer_that_does_not_come_is_unavailability(
    stub: StubCloud, cloud_of: MakeCloud, credentials: str
) -> None:
    cloud = cloud_of(f"{credentials}[nova]\ntimeout = 2\n")
    stub.lay_out("POST", ACTION, Reply(is_withheld=True))

    with pytest.raises(CloudUnavailable, match=r"no answer in 2 s"):
        add_host(cloud)

    assert len(stub.asked("POST", ACTION)) == 1


@pytest.mark.parametrize(
    "reply", [Reply(is_cut=True), Reply(status=503), Reply(status=500), Reply(status=409)]
)
def test_a_write_is_sent_once(stub: StubCloud, cloud: OpenStackCloud, reply: Reply) -> None:
    error_of(stub, cloud, reply)

    assert len(stub.asked("POST", ACTION)) == 1


@pytest.mark.parametrize("reply", [Reply(is_cut=True), Reply(status=503), Reply(status=500)])
def test_a_read_is_sent_once_more(stub: StubCloud, cloud: OpenStackCloud, reply: Reply) -> None:
    stub.lay_out("GET", AGGREGATES, reply, Reply(body={"aggregates": []}))

    assert cloud.aggregates.list_aggregates() == ()

    assert len(stub.asked("GET", AGGREGATES)) == 2


def test_a_read_that_fails_twice_has_failed(stub: StubCloud, cloud: OpenStackCloud) -> None:
    stub.lay_out("GET", AGGREGATES, *[Reply(status=503)] * 3)

    with pytest.raises(CloudUnavailable, match="503"):
        cloud.aggregates.list_aggregates()

    assert len(stub.asked("GET", AGGREGATES)) == 2


def test_a_read_that_was_waited_for_is_not_sent_again(
    stub: StubCloud, cloud_of: MakeCloud, credentials: str
) -> None:
    cloud = cloud_of(f"{credentials}[nova]\ntimeout = 2\n")
    stub.lay_out("GET", AGGREGATES, Reply(is_withheld=True))

    with pytest.raises(CloudUnavailable, match=r"no answer in 2 s"):
        cloud.aggregates.list_aggregates()

    assert len(stub.asked("GET", AGGREGATES)) == 1


@pytest.mark.parametrize("habit", HABITS)
def test_an_answer_that_trickles_in_is_given_up(
    stub: StubCloud, cloud_of: MakeCloud, credentials: str, habit: bytes
) -> None:
    with trickling(habit) as url:
        cloud = cloud_of(f"{credentials}[nova]\ntimeout = 1\nendpoint_override = {url}\n")

        with pytest.raises(CloudUnavailable, match=r"not finished within 3 s"):
            cloud.aggregates.list_aggregates()


@pytest.mark.parametrize("habit", HABITS)
def test_a_token_that_trickles_in_is_given_up(
    cloud_of: MakeCloud, credentials: str, stub: StubCloud, habit: bytes
) -> None:
    with trickling(habit) as url:
        slow = credentials.replace(f"{stub.url}/", url)
        cloud = cloud_of(f"{slow}timeout = 0.2\n")

        with pytest.raises(CloudUnavailable, match="Keystone"):
            cloud.aggregates.list_aggregates()


def test_a_service_that_does_not_run_is_unavailability(
    stub: StubCloud, cloud_of: MakeCloud, credentials: str
) -> None:
    with StubCloud() as gone:
        url = gone.url.replace("//", "//user:hidden@")

    with pytest.raises(CloudUnavailable, match="Nova: POST /os-aggregates/7/action: ") as error:
        add_host(cloud_of(f"{credentials}[nova]\nendpoint_override = {url}\n"))

    assert "hidden" not in error.value.message


def test_tokens_are_in_no_message(stub: StubCloud, cloud: OpenStackCloud) -> None:
    error = error_of(stub, cloud, Reply(status=500))

    assert "token-1" not in error.message
    assert "token-1" not in repr(cloud.nova.access.grant())


def test_a_call_says_which_microversion_it_was_written_for(stub: StubCloud, cloud: OpenStackCloud) -> None:
    stub.lay_out("POST", ACTION, CHANGED)
    stub.lay_out("GET", CLASSES, Reply(body={"resource_classes": []}))
    stub.lay_out("GET", FLOATING_IPS, Reply(body={"floatingips": []}))

    add_host(cloud)
    cloud.placement.list_resource_classes()
    cloud.networks.list_floating_ips()

    said = [each.headers.get("OpenStack-API-Version") for each in stub.requests[2:]]
    assert said == ["compute 2.1", "placement 1.29", None]


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("a b", "/placement/resource_providers/a b"),
        ("a/b?c#d", "/placement/resource_providers/a/b?c#d"),
        ("%2e%2e", "/placement/resource_providers/%2e%2e"),
        ("ü", "/placement/resource_providers/ü"),
    ],
)
def test_a_path_is_escaped(stub: StubCloud, cloud: OpenStackCloud, name: str, path: str) -> None:
    with pytest.raises(CloudNotFound):
        cloud.placement.delete_provider(name)

    assert stub.requests[-1].path == path
    assert stub.requests[-1].query == {}


@pytest.mark.parametrize("name", ["", ".", ".."])
def test_a_path_does_not_lead_elsewhere(stub: StubCloud, cloud: OpenStackCloud, name: str) -> None:
    with pytest.raises(CloudNotFound):
        cloud.placement.delete_provider(name)

    assert stub.requests == []


def server(number: int) -> dict[str, object]:
    return {
        "id": f"s{number}",
        "name": f"server {number}",
        "tenant_id": "project",
        "metadata": {},
        "flavor": {"extra_specs": {}},
        "OS-EXT-SRV-ATTR:host": "node-1",
        "OS-EXT-STS:task_state": None,
        "OS-EXT-STS:vm_state": "active",
    }


def page(*numbers: int, has_next: bool = True) -> Reply:
    links = {"servers_links": [{"rel": "next", "href": "http://elsewhere/"}]} if has_next else {}
    return Reply(body={"servers": [server(each) for each in numbers], **links})


def test_weakness_39_all_pages_are_read(stub: StubCloud, cloud: OpenStackCloud) -> None:
    stub.lay_out("GET", SERVERS, page(1, 2), page(3, 4), page(5, has_next=False))

    found = cloud.servers.list_servers(service_host="node-1")

    assert [each.id for each in found] == ["s1", "s2", "s3", "s4", "s5"]
    asked = stub.asked("GET", SERVERS)
    assert [each.query.get("marker") for each in asked] == [None, "s2", "s4"]
    assert {each.query["host"] for each in asked} == {"node-1"}


def test_an_empty_page_is_the_last_one(stub: StubCloud, cloud: OpenStackCloud) -> None:
    stub.lay_out("GET", SERVERS, page(1, 2), page())

    assert [each.id for each in cloud.servers.list_servers()] == ["s1", "s2"]


@pytest.mark.parametrize("status", [400, 404])
def test_a_list_that_changes_while_it_is_read_has_to_be_read_anew(
    stub: StubCloud, cloud: OpenStackCloud, status: int
) -> None:
    stub.lay_out("GET", SERVERS, page(1, 2), Reply(status=status))

    with pytest.raises(CloudUnavailable):
        cloud.servers.list_servers()


def test_a_service_that_repeats_itself_is_not_asked_for_ever(stub: StubCloud, cloud: OpenStackCloud) -> None:
    stub.lay_out("GET", SERVERS, page(1, 2))

    with pytest.raises(CloudUnavailable, match="twice"):
        cloud.servers.list_servers()


def test_threads_keep_their_connections(stub: StubCloud, cloud: OpenStackCloud) -> None:
    """As many as workers and request threads, 72 by default; the library keeps ten."""
    number = 24
    stub.lay_out("GET", CLASSES, Reply(body={"resource_classes": []}))
    cloud.placement.list_resource_classes()
    barrier = threading.Barrier(number)
    answer = stub.answer

    def answer_together(request: Request) -> Reply:
        barrier.wait()
        return answer(request)

    stub.answer = answer_together  # type: ignore[method-assign]

    for _ in range(3):
        with ThreadPoolExecutor(number) as pool:
            for each in [pool.submit(cloud.placement.list_resource_classes) for _ in range(number)]:
                each.result()

    asked = stub.asked("GET", CLASSES)
    assert len(asked) == 3 * number + 1
    assert len({each.connection for each in asked}) == number


def test_services_are_told_for_which_request_they_are_called(stub: StubCloud, cloud: OpenStackCloud) -> None:
    stub.lay_out("POST", ACTION, CHANGED)
    local = "req-6a0c1f0e-1111-4222-8333-0123456789ab"
    sent_by_client = "req-6a0c1f0e-9999-4222-8333-0123456789ab"

    add_host(cloud)
    with arriving(local, None):
        add_host(cloud)
    with arriving(local, sent_by_client):
        add_host(cloud)

    ids = [each.headers.get("X-Openstack-Request-Id") for each in stub.asked("POST", ACTION)]
    assert ids == [None, local, sent_by_client]


def test_no_token_and_no_password_is_logged_at_any_level(stub: StubCloud, cloud: OpenStackCloud) -> None:
    stub.lay_out("POST", ACTION, CHANGED)
    lessee = Lessee(project_id="p", token="the lessee's token")

    with listening(None) as lines:
        add_host(cloud)
        cloud.compute_for(lessee).find_flavor("f")

    logged = "\n".join(each.text for each in lines)
    assert "os-aggregates/7/action" in logged
    for secret in ("pass-word", "token-1", "the lessee's token"):
        assert secret not in logged


NETWORKS = "/network/v2.0/networks"
PROOF = "/network/v2.0/quotas/no-project"


def test_a_neutron_that_was_away_must_know_administrators_before_its_lists_count(
    stub: StubCloud, cloud: OpenStackCloud
) -> None:
    cut, refused = Reply(is_cut=True), Reply(status=403)
    stub.lay_out("GET", NETWORKS, cut, Reply(body={"networks": []}))
    stub.lay_out("GET", PROOF, refused, refused, Reply(body={"quota": {}}))

    for _ in range(2):
        with pytest.raises(CloudUnavailable, match="no administrator"):
            cloud.segments.list_networks()
    assert cloud.segments.list_networks() == ()
    assert cloud.segments.list_networks() == ()

    assert len(stub.asked("GET", PROOF)) == 3
    assert len(stub.asked("GET", NETWORKS)) == 3


@pytest.mark.parametrize("status", [401, 500, 503])
def test_only_an_answer_of_neutron_itself_proves_that(
    stub: StubCloud, cloud: OpenStackCloud, status: int
) -> None:
    stub.lay_out("GET", NETWORKS, Reply(is_cut=True), *[Reply(status=401)] * (status == 401), Reply())
    stub.lay_out("GET", PROOF, Reply(status=status), Reply(status=403))

    with pytest.raises(CloudUnavailable):
        cloud.segments.list_networks()
    if status != 401:
        with pytest.raises(CloudUnavailable, match="no administrator"):
            cloud.segments.list_networks()

    assert len(stub.asked("GET", PROOF)) == 2
