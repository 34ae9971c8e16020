"""Behaviour of Nova and Glance that the contract suite does not cover."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cloud.openstack.conftest import MakeCloud
from cloud.openstack.stub import Reply, StubCloud
from cloud.openstack.test_rest import server

from blazar.cloud.openstack.driver import OpenStackCloud
from blazar.domain.errors import CloudConflict, CloudRefused, CloudUnavailable
from blazar.ports.compute import Lessee

NOVA = "/compute/v2.1"
HYPERVISORS = f"{NOVA}/os-hypervisors"
UUID = "6f1d2c3b-0000-4000-8000-00000000000{}"

FLAVOR = {
    "id": "f",
    "name": "f",
    "vcpus": 1,
    "ram": 64,
    "disk": 0,
    "OS-FLV-EXT-DATA:ephemeral": 0,
    "os-flavor-access:is_public": False,
}


def hypervisor(hypervisor_id: object, name: str, **more: object) -> dict[str, object]:
    return {
        "id": hypervisor_id,
        "hypervisor_hostname": name,
        "state": "up",
        "status": "enabled",
        "service": {"host": f"host-of-{name}"},
        "hypervisor_type": "QEMU",
        "hypervisor_version": 8002000,
        "vcpus": 8,
        "memory_mb": 1024,
        "local_gb": 10,
        "cpu_info": '{"arch": "x86_64"}',
        **more,
    }


def lay_out_search(stub: StubCloud, name: str, *found: dict[str, object]) -> None:
    """Two requests with integer ids: a search, and each by its id."""
    stub.lay_out("GET", f"{HYPERVISORS}/{name}/search", Reply(body={"hypervisors": list(found)}))
    for each in found:
        stub.lay_out("GET", f"{HYPERVISORS}/{each['id']}", Reply(body={"hypervisor": each}))


def versions(stub: StubCloud, path: str) -> set[str]:
    return {each.headers["OpenStack-API-Version"] for each in stub.asked("GET", path)}


def test_the_exact_name_is_chosen_among_those_that_contain_it(stub: StubCloud, cloud: OpenStackCloud) -> None:
    names = ("node-10", "node-1", "my-node-1", "NODE-1")
    lay_out_search(stub, "node-1", *(hypervisor(number, name) for number, name in enumerate(names, 1)))

    found = cloud.hypervisors.find_hypervisor("node-1")

    assert found is not None
    assert (found.id, found.hypervisor_hostname, found.service_host) == ("2", "node-1", "host-of-node-1")
    assert versions(stub, f"{HYPERVISORS}/2") == {"compute 2.1"}


def test_one_name_for_two_hypervisors_is_a_conflict(stub: StubCloud, cloud: OpenStackCloud) -> None:
    lay_out_search(stub, "node", hypervisor(1, "node"), hypervisor(2, "node"))

    with pytest.raises(CloudConflict, match="2 hypervisors are named node"):
        cloud.hypervisors.find_hypervisor("node")


def test_with_uuids_one_request_finds_a_name(stub: StubCloud, cloud_of: MakeCloud, credentials: str) -> None:
    cloud = cloud_of(f"{credentials}[nova]\nnova_client_version = 2.53\n")
    found = [hypervisor(UUID.format(number), name) for number, name in ((1, "node-10"), (2, "node-1"))]
    stub.lay_out("GET", f"{HYPERVISORS}/detail", Reply(body={"hypervisors": found}))

    hypervisor_id = getattr(cloud.hypervisors.find_hypervisor("node-1"), "id", None)

    assert hypervisor_id == UUID.format(2)
    (asked,) = stub.asked("GET", f"{HYPERVISORS}/detail")
    assert asked.query == {"hypervisor_hostname_pattern": "node-1"}
    assert asked.headers["OpenStack-API-Version"] == "compute 2.53"


def test_hypervisors_are_asked_for_until_a_page_is_empty(
    stub: StubCloud, cloud_of: MakeCloud, credentials: str
) -> None:
    """Nova omits nodes without a service from a page, and then marks the page as the last one."""
    cloud = cloud_of(f"{credentials}[nova]\nnova_client_version = 2.53\n")
    pages = [
        Reply(body={"hypervisors": [hypervisor(UUID.format(number), f"n{number}")]}) for number in (2, 1)
    ]
    stub.lay_out("GET", f"{HYPERVISORS}/detail", *pages, Reply(body={"hypervisors": []}))

    assert [each.hypervisor_hostname for each in cloud.hypervisors.list_hypervisors()] == ["n1", "n2"]
    markers = [each.query.get("marker") for each in stub.asked("GET", f"{HYPERVISORS}/detail")]
    assert markers == [None, UUID.format(2), UUID.format(1)]


def test_without_pages_hypervisors_are_asked_for_once(stub: StubCloud, cloud: OpenStackCloud) -> None:
    stub.lay_out("GET", f"{HYPERVISORS}/detail", Reply(body={"hypervisors": [hypervisor(1, "n")]}))

    assert len(cloud.hypervisors.list_hypervisors()) == 1
    assert len(stub.asked("GET", f"{HYPERVISORS}/detail")) == 1


@pytest.mark.parametrize(
    ("given", "text"),
    [('{"a": 1}', '{"a": 1}'), ({"a": 1}, '{"a": 1}'), ("", "{}"), (None, "{}"), ({}, "{}")],
)
def test_cpu_info_is_json_text_however_it_comes(
    stub: StubCloud, cloud: OpenStackCloud, given: Any, text: str
) -> None:
    described = hypervisor(1, "n", cpu_info=given, state="down", status="disabled")
    stub.lay_out("GET", f"{HYPERVISORS}/1", Reply(body={"hypervisor": described}))

    found = cloud.hypervisors.find_hypervisor("1")

    assert found is not None
    assert json.loads(found.cpu_info) == json.loads(text)
    assert (found.is_up, found.is_enabled) == (False, False)


@pytest.mark.parametrize(
    ("service", "reason"),
    [({}, ""), ({"disabled_reason": None}, ""), ({"disabled_reason": "new disks"}, "new disks")],
)
def test_a_reason_for_disabling_need_not_be_given(
    stub: StubCloud, cloud: OpenStackCloud, service: dict[str, object], reason: str
) -> None:
    described = hypervisor(1, "n", status="disabled", service={"host": "h", **service})
    stub.lay_out("GET", f"{HYPERVISORS}/1", Reply(body={"hypervisor": described}))

    found = cloud.hypervisors.find_hypervisor("1")

    assert found is not None
    assert (found.is_enabled, found.disabled_reason) == (False, reason)


def test_zones_are_those_of_compute_services(stub: StubCloud, cloud: OpenStackCloud) -> None:
    services = [{"host": "n1", "zone": "nova"}, {"host": "n2", "zone": "az", "status": "disabled"}]
    stub.lay_out("GET", f"{NOVA}/os-services", Reply(body={"services": services}))

    assert cloud.hypervisors.list_availability_zones() == {"n1": "nova", "n2": "az"}
    assert stub.requests[-1].query == {"binary": "nova-compute"}


def test_the_zone_of_an_aggregate_is_not_among_its_metadata(stub: StubCloud, cloud: OpenStackCloud) -> None:
    metadata = {"availability_zone": "az", "key": "value"}
    described = {"id": 7, "name": "a", "availability_zone": "az", "hosts": ["n1"], "metadata": metadata}
    stub.lay_out("GET", f"{NOVA}/os-aggregates", Reply(body={"aggregates": [described]}))

    (aggregate,) = cloud.aggregates.list_aggregates()

    assert (aggregate.id, aggregate.availability_zone) == (7, "az")
    assert aggregate.hosts == {"n1"}
    assert dict(aggregate.metadata) == {"key": "value"}
    with pytest.raises(CloudRefused, match="availability zone"):
        cloud.aggregates.set_aggregate_metadata(7, {"availability_zone": "other"})
    assert len(stub.requests) == 3


def test_an_aggregate_with_hosts_is_a_conflict_and_a_ban_is_not(
    stub: StubCloud, cloud: OpenStackCloud
) -> None:
    body = {"badRequest": {"message": "Host aggregate is not empty"}}
    stub.lay_out("DELETE", f"{NOVA}/os-aggregates/7", Reply(status=400, body=body), Reply(status=403))

    with pytest.raises(CloudConflict, match="not empty"):
        cloud.aggregates.delete_aggregate(7)
    with pytest.raises(CloudRefused):
        cloud.aggregates.delete_aggregate(7)


@pytest.mark.parametrize(
    ("task_state", "vm_state", "is_deleting"),
    [
        (None, "active", False),
        ("spawning", "building", False),
        ("deleting", "active", True),
        ("soft-deleting", "active", True),
        (None, "soft-delete", False),
        ("deleting", "soft-delete", True),
        ("restoring", "soft-delete", False),
        (None, "error", False),
        (None, "deleted", True),
    ],
)
def test_a_server_is_being_deleted_when_nova_is_at_it(
    stub: StubCloud, cloud: OpenStackCloud, task_state: str | None, vm_state: str, is_deleting: bool
) -> None:
    described = {**server(1), "OS-EXT-STS:task_state": task_state, "OS-EXT-STS:vm_state": vm_state}
    stub.lay_out("GET", f"{NOVA}/servers/detail", Reply(body={"servers": [described]}))

    (found,) = cloud.servers.list_servers(flavor_id="f")

    assert found.is_deleting is is_deleting


def test_weakness_39_servers_of_all_projects_are_asked_for_restorable_ones_too(
    stub: StubCloud, cloud: OpenStackCloud
) -> None:
    described = {**server(1), "OS-EXT-SRV-ATTR:host": None}
    stub.lay_out("GET", f"{NOVA}/servers/detail", Reply(body={"servers": [described]}))

    (found,) = cloud.servers.list_servers(flavor_id="f")

    assert found.service_host == ""
    assert stub.requests[-1].query == {
        "all_tenants": "1",
        "deleted": "false",
        "soft_deleted": "true",
        "flavor": "f",
    }


def test_servers_are_deleted_for_good(stub: StubCloud, cloud: OpenStackCloud) -> None:
    stub.lay_out("POST", f"{NOVA}/servers/s1/action", Reply(status=202, body=""))

    cloud.servers.delete_server("s1")

    assert stub.requests[-1].body == {"forceDelete": None}


def test_images_are_found_over_all_pages_and_by_all_properties(
    stub: StubCloud, cloud: OpenStackCloud
) -> None:
    def image(number: int, **properties: str) -> dict[str, object]:
        return {"id": f"i{number}", "name": None, "owner": "p", "size": 1, "status": "active", **properties}

    images = "/image/v2/images"
    stub.lay_out(
        "GET",
        images,
        Reply(body={"images": [image(1, key="a+b:c"), image(2)], "next": "/v2/images?marker=i2"}),
        Reply(body={"images": [image(3, key="a+b:c", other="x")]}),
    )

    found = cloud.images.list_images({"key": "a+b:c"})

    assert [(each.id, dict(each.properties)) for each in found] == [
        ("i1", {"key": "a+b:c"}),
        ("i3", {"key": "a+b:c", "other": "x"}),
    ]
    assert [each.query for each in stub.asked("GET", images)] == [
        {"key": "a+b:c"},
        {"key": "a+b:c", "marker": "i2"},
    ]


def test_server_groups_are_counted_to_the_end(stub: StubCloud, cloud: OpenStackCloud) -> None:
    def page(*numbers: int) -> Reply:
        groups = [{"id": f"g{n}", "name": "g", "policy": "affinity", "project_id": "p"} for n in numbers]
        return Reply(body={"server_groups": groups})

    stub.lay_out("GET", f"{NOVA}/os-server-groups", page(1, 2), page(2, 3), page())

    assert [each.id for each in cloud.server_groups.list_server_groups()] == ["g1", "g2", "g3"]
    asked = [each.query["offset"] for each in stub.asked("GET", f"{NOVA}/os-server-groups")]
    assert asked == ["0", "2", "4"]


def test_a_lessee_asks_with_the_token_of_the_request(stub: StubCloud, cloud: OpenStackCloud) -> None:
    stub.lay_out("GET", f"{NOVA}/flavors/f", Reply(body={"flavor": {**FLAVOR, "extra_specs": {"k": "v"}}}))
    as_lessee = cloud.compute_for(Lessee(project_id="p", token="of-the-lessee"))

    found = as_lessee.find_flavor("f")

    assert found is not None
    assert found.extra_specs == {"k": "v"}
    assert [each.token for each in stub.asked("GET", f"{NOVA}/flavors/f")] == ["of-the-lessee"]
    assert cloud.flavors.find_flavor("f") == found
    assert stub.requests[-1].token == "token-1"


def test_extra_specs_that_nova_hides_are_not_taken_for_none(stub: StubCloud, cloud: OpenStackCloud) -> None:
    stub.lay_out("GET", f"{NOVA}/flavors/f", Reply(body={"flavor": FLAVOR}))

    with pytest.raises(CloudRefused, match="extra specs"):
        cloud.compute_for(Lessee(project_id="p", token="of-the-lessee")).find_flavor("f")


@pytest.mark.parametrize(("swap", "read"), [("", 0), (0, 0), (512, 512)])
def test_what_a_flavor_has_beside_its_size_is_read(
    stub: StubCloud, cloud: OpenStackCloud, swap: object, read: int
) -> None:
    more = {"swap": swap, "rxtx_factor": 2.5, "OS-FLV-DISABLED:disabled": True, "extra_specs": {}}
    stub.lay_out("GET", f"{NOVA}/flavors/f", Reply(body={"flavor": {**FLAVOR, **more}}))

    found = cloud.flavors.find_flavor("f")

    assert found is not None
    assert (found.swap_mb, found.rxtx_factor, found.is_disabled) == (read, 2.5, True)


def test_flavors_of_everybody_are_listed_over_all_pages(stub: StubCloud, cloud: OpenStackCloud) -> None:
    def page(*numbers: int, **more: object) -> Reply:
        specs = {"extra_specs": {"key": "value"}}
        return Reply(body={"flavors": [{**FLAVOR, "id": f"f{n}", **specs} for n in numbers], **more})

    more = [{"rel": "next", "href": f"{NOVA}/flavors/detail?is_public=None&marker=f2"}]
    stub.lay_out("GET", f"{NOVA}/flavors/detail", page(1, 2, flavors_links=more), page(3))

    found = cloud.flavors.list_flavors()

    assert [(each.id, dict(each.extra_specs)) for each in found] == [
        (f"f{number}", {"key": "value"}) for number in (1, 2, 3)
    ]
    asked = stub.asked("GET", f"{NOVA}/flavors/detail")
    assert [each.query for each in asked] == [{"is_public": "None"}, {"is_public": "None", "marker": "f2"}]
    assert versions(stub, f"{NOVA}/flavors/detail") == {"compute 2.61"}


def test_a_list_of_flavors_without_their_extra_specs_is_refused(
    stub: StubCloud, cloud: OpenStackCloud
) -> None:
    stub.lay_out("GET", f"{NOVA}/flavors/detail", Reply(body={"flavors": [FLAVOR]}))

    with pytest.raises(CloudRefused, match="extra specs"):
        cloud.flavors.list_flavors()


def test_a_lessees_token_is_not_renewed(stub: StubCloud, cloud: OpenStackCloud) -> None:
    stub.lay_out("POST", f"{NOVA}/os-server-groups", Reply(status=401))

    with pytest.raises(CloudUnavailable):
        cloud.compute_for(Lessee(project_id="p", token="old")).create_server_group("g", "affinity")

    assert len(stub.asked("POST", f"{NOVA}/os-server-groups")) == 1


def test_without_a_token_a_lessee_is_refused(stub: StubCloud, cloud: OpenStackCloud) -> None:
    as_lessee = cloud.compute_for(Lessee(project_id="p"))

    with pytest.raises(CloudRefused, match="Keystone token"):
        as_lessee.find_flavor("f")
    with pytest.raises(CloudRefused, match="Keystone token"):
        as_lessee.create_server_group("g", "affinity")

    assert stub.requests == []
