"""Contract of ``Servers`` and ``ServerGroups``."""

from __future__ import annotations

import uuid
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from cloud.contract.lab import CloudLab, LabHost

from blazar.domain.errors import CloudConflict, CloudNotFound, CloudRefused
from blazar.ports.cloud import Cloud
from blazar.ports.compute import Flavor, Resize

UNKNOWN_ID = str(uuid.UUID(int=1))
EARLY, LATE = (datetime(year, 1, 1, tzinfo=UTC) for year in (2020, 2100))


@pytest.fixture
def cloud(lab: CloudLab) -> Cloud:
    return lab.cloud


def test_a_resize_can_be_reverted_until_it_is_confirmed(cloud: Cloud, lab: CloudLab, host: LabHost) -> None:
    project_id, other_id = lab.project_ids
    server_id = lab.boot_server(lab.name("server"), service_host=host.service_host)
    larger = Flavor(id=lab.name("f"), name=lab.name("f"), vcpus=1, memory_mb=128, disk_gb=1, is_public=True)
    cloud.flavors.create_flavor(larger)
    assert cloud.servers.list_resizes(project_id, EARLY) == ()

    lab.resize(server_id, larger.id)

    assert cloud.servers.list_servers(service_host=host.service_host) == ()
    resize = Resize(server_id=server_id, former_host=host.service_host, is_finished=True)
    assert cloud.servers.list_resizes(project_id, EARLY) == (resize,)
    assert cloud.servers.list_resizes(project_id, LATE) == ()
    assert cloud.servers.list_resizes(other_id, EARLY) == ()

    cloud.servers.confirm_resize(server_id)

    lab.storage.wait_until_active(server_id)
    assert cloud.servers.list_resizes(project_id, EARLY) == ()
    with pytest.raises(CloudConflict):
        cloud.servers.confirm_resize(server_id)


def test_a_server_that_does_not_exist_has_no_resize(cloud: Cloud) -> None:
    with pytest.raises(CloudNotFound):
        cloud.servers.confirm_resize(UNKNOWN_ID)


def test_a_server_is_listed_with_its_host_and_project(cloud: Cloud, lab: CloudLab, host: LabHost) -> None:
    server_id = lab.boot_server(lab.name("server"), service_host=host.service_host)

    (server,) = cloud.servers.list_servers(service_host=host.service_host)

    assert (server.id, server.name) == (server_id, lab.name("server"))
    assert (server.project_id, server.service_host) == (lab.project_ids[0], host.service_host)
    assert not server.is_deleting


def test_all_servers_are_listed_with_their_hosts(cloud: Cloud, lab: CloudLab) -> None:
    first, second = lab.hosts[:2]
    on = {
        lab.boot_server(lab.name("server"), service_host=each.service_host): each.service_host
        for each in (first, second)
    }

    found = {each.id: each.service_host for each in cloud.servers.list_servers()}

    assert {key: found[key] for key in on} == on


def test_a_host_lists_its_own_servers_only(cloud: Cloud, lab: CloudLab) -> None:
    first, second = lab.hosts[:2]
    lab.boot_server(lab.name("server"), service_host=first.service_host)

    assert len(cloud.servers.list_servers(service_host=first.service_host)) == 1
    assert cloud.servers.list_servers(service_host=second.service_host) == ()


def test_servers_are_listed_by_the_zone_in_which_their_host_was_chosen(cloud: Cloud, lab: CloudLab) -> None:
    first, second = lab.hosts[:2]
    aggregate = cloud.aggregates.create_aggregate(lab.name("zone"), lab.name("zone"), {})
    cloud.aggregates.add_host(aggregate.id, first.service_host)
    server_id = lab.boot_server(lab.name("one"), service_host=first.service_host)
    lab.boot_server(lab.name("other"), service_host=second.service_host)

    (server,) = cloud.servers.list_servers(zone=lab.name("zone"))

    assert (server.id, server.service_host) == (server_id, first.service_host)
    assert cloud.servers.list_servers(zone=lab.name("nowhere")) == ()


def test_servers_are_listed_by_flavor(cloud: Cloud, lab: CloudLab, host: LabHost) -> None:
    extra_specs = {"blazar:preemptible": "true"}
    flavor = Flavor(
        id=lab.name("f"), name=lab.name("f"), vcpus=1, memory_mb=64, disk_gb=0, extra_specs=extra_specs
    )
    cloud.flavors.create_flavor(flavor)
    cloud.flavors.add_flavor_access(flavor.id, lab.project_ids[0])
    server_id = lab.boot_server(lab.name("one"), service_host=host.service_host, flavor_id=flavor.id)
    lab.boot_server(lab.name("other"), service_host=host.service_host)

    (server,) = cloud.servers.list_servers(flavor_id=flavor.id)

    assert (server.id, server.flavor_extra_specs) == (server_id, extra_specs)
    assert cloud.servers.list_servers(flavor_id=flavor.id, service_host=lab.hosts[1].service_host) == ()


def test_a_server_outlives_its_flavor_and_is_not_found_by_it_any_more(
    cloud: Cloud, lab: CloudLab, host: LabHost
) -> None:
    name, extra_specs = lab.name("f"), {"blazar:preemptible": "true"}
    flavor = Flavor(
        id=name, name=name, vcpus=1, memory_mb=64, disk_gb=0, is_public=True, extra_specs=extra_specs
    )
    cloud.flavors.create_flavor(flavor)
    server_id = lab.boot_server(lab.name("server"), service_host=host.service_host, flavor_id=name)

    cloud.flavors.delete_flavor(name)
    without = cloud.servers.list_servers(flavor_id=name)
    cloud.flavors.create_flavor(flavor)

    (server,) = cloud.servers.list_servers(service_host=host.service_host)
    assert (server.id, server.flavor_extra_specs) == (server_id, extra_specs)
    assert without == ()
    assert cloud.servers.list_servers(flavor_id=name) == ()


def test_a_deletion_may_be_asked_for_again(cloud: Cloud, lab: CloudLab, host: LabHost) -> None:
    server_id = lab.boot_server(lab.name("server"), service_host=host.service_host)

    cloud.servers.delete_server(server_id)
    with suppress(CloudNotFound):
        cloud.servers.delete_server(server_id)

    lab.wait_until_gone(server_id)
    assert cloud.servers.list_servers(service_host=host.service_host) == ()


def test_a_server_that_is_deleted_goes(cloud: Cloud, lab: CloudLab, host: LabHost) -> None:
    server_id = lab.boot_server(lab.name("server"), service_host=host.service_host)

    cloud.servers.delete_server(server_id)
    lab.wait_until_gone(server_id)

    assert cloud.servers.list_servers(service_host=host.service_host) == ()
    with pytest.raises(CloudNotFound):
        cloud.servers.delete_server(server_id)


def test_a_server_that_is_still_listed_after_its_deletion_says_so(
    cloud: Cloud, lab: CloudLab, host: LabHost
) -> None:
    server_id = lab.boot_server(lab.name("server"), service_host=host.service_host)

    cloud.servers.delete_server(server_id)

    assert all(each.is_deleting for each in cloud.servers.list_servers(service_host=host.service_host))


def test_a_missing_server_cannot_be_deleted(cloud: Cloud) -> None:
    with pytest.raises(CloudNotFound):
        cloud.servers.delete_server(UNKNOWN_ID)


def test_metadata_of_a_server_are_added_to(cloud: Cloud, lab: CloudLab, host: LabHost) -> None:
    server_id = lab.boot_server(lab.name("server"), service_host=host.service_host)

    cloud.servers.set_server_metadata(server_id, {"first": "1", "second": "2"})
    cloud.servers.set_server_metadata(server_id, {"second": "3"})

    (server,) = cloud.servers.list_servers(service_host=host.service_host)
    assert server.metadata == {"first": "1", "second": "3"}


def test_a_missing_server_gets_no_metadata(cloud: Cloud) -> None:
    with pytest.raises(CloudNotFound):
        cloud.servers.set_server_metadata(UNKNOWN_ID, {"key": "value"})


def test_an_image_of_a_server_is_found_by_its_properties(cloud: Cloud, lab: CloudLab, host: LabHost) -> None:
    server_id = lab.boot_server(lab.name("server"), service_host=host.service_host)
    properties = {
        "blazar_lease": lab.name("lease"),
        "blazar_server": server_id,
        "blazar_before_end": "2031-01-01T00:00:00+00:00",
    }

    image_id = cloud.images.create_image(server_id, lab.name("image"), properties)
    assert [each.is_of_service for each in cloud.images.list_images(properties)] == [True]
    cloud.images.set_image_owner(image_id, lab.project_ids[1])

    (image,) = cloud.images.list_images(properties)
    assert not image.is_of_service
    assert cloud.images.list_images({"blazar_lease": lab.name("lease")}) == (image,)
    assert (image.id, image.name) == (image_id, lab.name("image"))
    assert image.owner_project_id == lab.project_ids[1]
    assert properties.items() <= image.properties.items()


def test_images_without_all_the_properties_are_not_listed(cloud: Cloud, lab: CloudLab, host: LabHost) -> None:
    server_id = lab.boot_server(lab.name("server"), service_host=host.service_host)
    cloud.images.create_image(server_id, lab.name("image"), {"blazar_lease": lab.name("lease")})

    assert cloud.images.list_images({"blazar_lease": lab.name("other")}) == ()
    assert cloud.images.list_images({"blazar_lease": lab.name("lease"), "blazar_server": server_id}) == ()


def test_there_is_no_image_of_a_missing_server(cloud: Cloud, lab: CloudLab) -> None:
    with pytest.raises(CloudNotFound):
        cloud.images.create_image(UNKNOWN_ID, lab.name("image"), {})


def test_a_missing_image_cannot_be_given_away(cloud: Cloud, lab: CloudLab) -> None:
    with pytest.raises(CloudNotFound):
        cloud.images.set_image_owner(UNKNOWN_ID, lab.project_ids[0])


@pytest.mark.parametrize("policy", ["affinity", "anti-affinity"])
def test_a_server_group_is_listed_until_it_is_deleted(cloud: Cloud, lab: CloudLab, policy: str) -> None:
    name = lab.name("group")

    made = lab.cloud.compute_for(lab.lessee).create_server_group(name, policy)
    listed = [each for each in cloud.server_groups.list_server_groups() if each.name == name]
    cloud.server_groups.delete_server_group(made.id)

    assert (made.name, made.policy, made.project_id) == (name, policy, lab.project_ids[0])
    assert listed == [made]
    assert made not in cloud.server_groups.list_server_groups()


def test_two_server_groups_may_have_one_name(cloud: Cloud, lab: CloudLab) -> None:
    first, second = (
        lab.cloud.compute_for(lab.lessee).create_server_group(lab.name("group"), "affinity") for _ in range(2)
    )

    assert first.id != second.id
    assert {first, second} <= set(cloud.server_groups.list_server_groups())


def test_a_server_group_needs_a_known_policy(lab: CloudLab) -> None:
    with pytest.raises(CloudRefused):
        lab.cloud.compute_for(lab.lessee).create_server_group(lab.name("group"), "sympathy")


def test_a_missing_server_group_cannot_be_deleted(cloud: Cloud) -> None:
    with pytest.raises(CloudNotFound):
        cloud.server_groups.delete_server_group(UNKNOWN_ID)
