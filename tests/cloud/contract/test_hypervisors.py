"""Contract of ``Hypervisors``."""

from __future__ import annotations

import json
import uuid

import pytest
from cloud.contract.lab import CloudLab, LabHost

from blazar.ports.compute import Compute


@pytest.fixture
def compute(lab: CloudLab) -> Compute:
    return lab.cloud.compute


def test_a_hypervisor_is_found_by_its_exact_name(compute: Compute, host: LabHost) -> None:
    found = compute.find_hypervisor(host.hypervisor_hostname)

    assert found is not None
    assert found.hypervisor_hostname == host.hypervisor_hostname
    assert found.service_host == host.service_host


def test_a_hypervisor_is_found_by_its_id(compute: Compute, host: LabHost) -> None:
    by_name = compute.find_hypervisor(host.hypervisor_hostname)

    assert by_name is not None
    assert compute.find_hypervisor(by_name.id) == by_name


def test_a_part_of_a_name_finds_nothing(compute: Compute, host: LabHost) -> None:
    assert compute.find_hypervisor(host.hypervisor_hostname[:-1]) is None
    assert compute.find_hypervisor(host.hypervisor_hostname + "-too") is None


def test_a_name_that_is_a_part_of_another_finds_its_own_host(compute: Compute, lab: CloudLab) -> None:
    names = lab.similar_names
    assert names[0] in names[1]

    found = tuple(compute.find_hypervisor(name) for name in names)

    assert tuple(each and each.hypervisor_hostname for each in found) == names


@pytest.mark.parametrize("name", ["", ".", "..", "%", "_", "a/b", "0", str(uuid.UUID(int=1))])
def test_what_is_no_name_or_id_finds_nothing(compute: Compute, name: str) -> None:
    assert compute.find_hypervisor(name) is None


def test_a_name_nobody_has_finds_nothing(compute: Compute, lab: CloudLab) -> None:
    assert compute.find_hypervisor(lab.name("missing")) is None


def test_all_hypervisors_are_listed_by_id(compute: Compute, lab: CloudLab) -> None:
    listed = compute.list_hypervisors()

    assert [each.id for each in listed] == sorted(each.id for each in listed)
    assert {each.hypervisor_hostname for each in lab.hosts} <= {each.hypervisor_hostname for each in listed}


def test_a_hypervisor_says_how_big_it_is_and_that_it_works(compute: Compute, host: LabHost) -> None:
    found = compute.find_hypervisor(host.hypervisor_hostname)

    assert found is not None
    assert min(found.vcpus, found.memory_mb, found.local_gb) > 0
    assert found.is_up
    assert found.is_enabled
    assert found.hypervisor_type
    assert found.hypervisor_version >= 0
    json.loads(found.cpu_info)


def test_listing_and_finding_tell_the_same(compute: Compute, host: LabHost) -> None:
    listed = [e for e in compute.list_hypervisors() if e.hypervisor_hostname == host.hypervisor_hostname]

    assert listed == [compute.find_hypervisor(host.hypervisor_hostname)]


def test_a_host_in_no_aggregate_is_in_the_default_zone(compute: Compute, host: LabHost) -> None:
    assert compute.list_availability_zones()[host.service_host] == "nova"


def test_an_unknown_host_is_in_no_zone(compute: Compute, lab: CloudLab) -> None:
    assert lab.name("missing") not in compute.list_availability_zones()


def test_a_disabled_host_says_so_and_is_still_in_its_zone(
    compute: Compute, lab: CloudLab, host: LabHost
) -> None:
    lab.disable(host.service_host)

    found = compute.find_hypervisor(host.hypervisor_hostname)
    assert found is not None
    assert (found.is_up, found.is_enabled, found.disabled_reason) == (True, False, "")
    assert compute.list_availability_zones()[host.service_host] == "nova"


def test_the_reason_for_which_a_host_was_disabled_is_told_until_it_is_enabled(
    compute: Compute, lab: CloudLab, host: LabHost
) -> None:
    before = compute.find_hypervisor(host.hypervisor_hostname)
    lab.disable(host.service_host, "new disks")

    found = compute.find_hypervisor(host.hypervisor_hostname)
    listed = [e for e in compute.list_hypervisors() if e.hypervisor_hostname == host.hypervisor_hostname]

    assert before is not None
    assert before.disabled_reason == ""
    assert found is not None
    assert (found.is_enabled, found.disabled_reason) == (False, "new disks")
    assert listed == [found]


def test_a_host_is_in_the_zone_of_its_aggregate(compute: Compute, lab: CloudLab, host: LabHost) -> None:
    zone = lab.name("zone")
    aggregate = compute.create_aggregate(lab.name("aggregate"), zone, {})

    compute.add_host(aggregate.id, host.service_host)
    inside = compute.list_availability_zones()[host.service_host]
    compute.remove_host(aggregate.id, host.service_host)
    outside = compute.list_availability_zones()[host.service_host]

    assert (inside, outside) == (zone, "nova")
