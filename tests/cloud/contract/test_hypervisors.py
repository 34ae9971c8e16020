"""Contract of ``Hypervisors``."""

from __future__ import annotations

import json
import uuid

import pytest
from cloud.contract.lab import CloudLab, LabHost

from blazar.ports.cloud import Cloud


@pytest.fixture
def cloud(lab: CloudLab) -> Cloud:
    return lab.cloud


def test_a_hypervisor_is_found_by_its_exact_name(cloud: Cloud, host: LabHost) -> None:
    found = cloud.hypervisors.find_hypervisor(host.hypervisor_hostname)

    assert found is not None
    assert found.hypervisor_hostname == host.hypervisor_hostname
    assert found.service_host == host.service_host


def test_a_hypervisor_is_found_by_its_id(cloud: Cloud, host: LabHost) -> None:
    by_name = cloud.hypervisors.find_hypervisor(host.hypervisor_hostname)

    assert by_name is not None
    assert cloud.hypervisors.find_hypervisor(by_name.id) == by_name


def test_a_part_of_a_name_finds_nothing(cloud: Cloud, host: LabHost) -> None:
    assert cloud.hypervisors.find_hypervisor(host.hypervisor_hostname[:-1]) is None
    assert cloud.hypervisors.find_hypervisor(host.hypervisor_hostname + "-too") is None


def test_a_name_that_is_a_part_of_another_finds_its_own_host(cloud: Cloud, lab: CloudLab) -> None:
    names = lab.similar_names
    assert names[0] in names[1]

    found = tuple(cloud.hypervisors.find_hypervisor(name) for name in names)

    assert tuple(each and each.hypervisor_hostname for each in found) == names


@pytest.mark.parametrize("name", ["", ".", "..", "%", "_", "a/b", "0", str(uuid.UUID(int=1))])
def test_what_is_no_name_or_id_finds_nothing(cloud: Cloud, name: str) -> None:
    assert cloud.hypervisors.find_hypervisor(name) is None


def test_a_name_nobody_has_finds_nothing(cloud: Cloud, lab: CloudLab) -> None:
    assert cloud.hypervisors.find_hypervisor(lab.name("missing")) is None


def test_all_hypervisors_are_listed_by_id(cloud: Cloud, lab: CloudLab) -> None:
    listed = cloud.hypervisors.list_hypervisors()

    assert [each.id for each in listed] == sorted(each.id for each in listed)
    assert {each.hypervisor_hostname for each in lab.hosts} <= {each.hypervisor_hostname for each in listed}


def test_a_hypervisor_says_how_big_it_is_and_that_it_works(cloud: Cloud, host: LabHost) -> None:
    found = cloud.hypervisors.find_hypervisor(host.hypervisor_hostname)

    assert found is not None
    assert min(found.vcpus, found.memory_mb, found.local_gb) > 0
    assert found.is_up
    assert found.is_enabled
    assert found.hypervisor_type
    assert found.hypervisor_version >= 0
    json.loads(found.cpu_info)


def test_listing_and_finding_tell_the_same(cloud: Cloud, host: LabHost) -> None:
    listed = [
        e for e in cloud.hypervisors.list_hypervisors() if e.hypervisor_hostname == host.hypervisor_hostname
    ]

    assert listed == [cloud.hypervisors.find_hypervisor(host.hypervisor_hostname)]


def test_a_host_in_no_aggregate_is_in_the_default_zone(cloud: Cloud, host: LabHost) -> None:
    assert cloud.hypervisors.list_availability_zones()[host.service_host] == "nova"


def test_an_unknown_host_is_in_no_zone(cloud: Cloud, lab: CloudLab) -> None:
    assert lab.name("missing") not in cloud.hypervisors.list_availability_zones()


def test_a_disabled_host_says_so_and_is_still_in_its_zone(cloud: Cloud, lab: CloudLab, host: LabHost) -> None:
    lab.disable(host.service_host)

    found = cloud.hypervisors.find_hypervisor(host.hypervisor_hostname)
    assert found is not None
    assert (found.is_up, found.is_enabled, found.disabled_reason) == (True, False, "")
    assert cloud.hypervisors.list_availability_zones()[host.service_host] == "nova"


def test_the_reason_for_which_a_host_was_disabled_is_told_until_it_is_enabled(
    cloud: Cloud, lab: CloudLab, host: LabHost
) -> None:
    before = cloud.hypervisors.find_hypervisor(host.hypervisor_hostname)
    lab.disable(host.service_host, "new disks")

    found = cloud.hypervisors.find_hypervisor(host.hypervisor_hostname)
    listed = [
        e for e in cloud.hypervisors.list_hypervisors() if e.hypervisor_hostname == host.hypervisor_hostname
    ]

    assert before is not None
    assert before.disabled_reason == ""
    assert found is not None
    assert (found.is_enabled, found.disabled_reason) == (False, "new disks")
    assert listed == [found]


def test_a_host_is_in_the_zone_of_its_aggregate(cloud: Cloud, lab: CloudLab, host: LabHost) -> None:
    zone = lab.name("zone")
    aggregate = cloud.aggregates.create_aggregate(lab.name("aggregate"), zone, {})

    cloud.aggregates.add_host(aggregate.id, host.service_host)
    inside = cloud.hypervisors.list_availability_zones()[host.service_host]
    cloud.aggregates.remove_host(aggregate.id, host.service_host)
    outside = cloud.hypervisors.list_availability_zones()[host.service_host]

    assert (inside, outside) == (zone, "nova")
