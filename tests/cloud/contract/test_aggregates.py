"""Contract of ``Aggregates``."""

from __future__ import annotations

import pytest
from cloud.contract.lab import CloudLab, LabHost

from blazar.domain.errors import CloudConflict, CloudNotFound
from blazar.ports.cloud import Cloud
from blazar.ports.compute import Aggregate

NO_AGGREGATE = 2_000_000_000


@pytest.fixture
def cloud(lab: CloudLab) -> Cloud:
    return lab.cloud


def seen(cloud: Cloud, aggregate: Aggregate) -> Aggregate | None:
    return next((each for each in cloud.aggregates.list_aggregates() if each.id == aggregate.id), None)


def test_a_new_aggregate_is_listed_as_it_was_returned(cloud: Cloud, lab: CloudLab) -> None:
    name, zone, metadata = lab.name("a"), lab.name("zone"), {"blazar:owner": "another"}

    made = cloud.aggregates.create_aggregate(name, zone, metadata)

    assert (made.name, made.availability_zone, made.hosts) == (name, zone, frozenset())
    assert dict(made.metadata) == metadata
    assert seen(cloud, made) == made


def test_an_aggregate_may_have_neither_zone_nor_metadata(cloud: Cloud, lab: CloudLab) -> None:
    made = cloud.aggregates.create_aggregate(lab.name("a"), None, {})

    assert made.availability_zone is None
    assert dict(made.metadata) == {}
    assert seen(cloud, made) == made


def test_a_name_is_given_once(cloud: Cloud, lab: CloudLab) -> None:
    first = cloud.aggregates.create_aggregate(lab.name("a"), None, {})

    with pytest.raises(CloudConflict):
        cloud.aggregates.create_aggregate(lab.name("a"), lab.name("zone"), {"key": "value"})

    assert [each for each in cloud.aggregates.list_aggregates() if each.name == first.name] == [first]


def test_those_of_some_names_are_listed_and_no_others(cloud: Cloud, lab: CloudLab) -> None:
    one, other, _ = (cloud.aggregates.create_aggregate(lab.name(name), None, {}) for name in "abc")

    found = cloud.aggregates.list_aggregates([other.name, one.name, lab.name("d")])
    assert sorted(found, key=lambda each: each.name) == [one, other]
    assert cloud.aggregates.list_aggregates([]) == ()


def test_each_change_returns_the_aggregate_as_it_is_then(cloud: Cloud, lab: CloudLab, host: LabHost) -> None:
    made = cloud.aggregates.create_aggregate(lab.name("a"), lab.name("zone"), {"kept": "1", "gone": "1"})

    marked = cloud.aggregates.set_aggregate_metadata(made.id, {"added": "2", "gone": None})
    assert dict(marked.metadata) == {"kept": "1", "added": "2"}
    assert seen(cloud, made) == marked

    with_host = cloud.aggregates.add_host(made.id, host.service_host)
    assert with_host.hosts == {host.service_host}
    assert seen(cloud, made) == with_host

    without = cloud.aggregates.remove_host(made.id, host.service_host)
    assert without == marked == seen(cloud, made)


def test_metadata_are_added_to_those_there_are(cloud: Cloud, lab: CloudLab) -> None:
    made = cloud.aggregates.create_aggregate(lab.name("a"), None, {"kept": "1", "changed": "1"})

    cloud.aggregates.set_aggregate_metadata(made.id, {"changed": "2", "added": "2"})

    now = seen(cloud, made)
    assert now is not None
    assert dict(now.metadata) == {"kept": "1", "changed": "2", "added": "2"}


def test_metadata_of_a_missing_aggregate_cannot_be_set(cloud: Cloud) -> None:
    with pytest.raises(CloudNotFound):
        cloud.aggregates.set_aggregate_metadata(NO_AGGREGATE, {"key": "value"})


def test_a_deleted_aggregate_is_gone_and_its_name_is_free(cloud: Cloud, lab: CloudLab) -> None:
    made = cloud.aggregates.create_aggregate(lab.name("a"), None, {})

    cloud.aggregates.delete_aggregate(made.id)

    assert seen(cloud, made) is None
    with pytest.raises(CloudNotFound):
        cloud.aggregates.delete_aggregate(made.id)
    cloud.aggregates.create_aggregate(made.name, None, {})


def test_an_aggregate_with_hosts_is_not_deleted(cloud: Cloud, lab: CloudLab, host: LabHost) -> None:
    made = cloud.aggregates.create_aggregate(lab.name("a"), None, {})
    cloud.aggregates.add_host(made.id, host.service_host)

    with pytest.raises(CloudConflict):
        cloud.aggregates.delete_aggregate(made.id)

    assert seen(cloud, made) is not None


def test_a_host_goes_in_and_out(cloud: Cloud, lab: CloudLab, host: LabHost) -> None:
    made = cloud.aggregates.create_aggregate(lab.name("a"), None, {})

    cloud.aggregates.add_host(made.id, host.service_host)
    inside = seen(cloud, made)
    cloud.aggregates.remove_host(made.id, host.service_host)
    outside = seen(cloud, made)

    assert inside is not None
    assert inside.hosts == {host.service_host}
    assert outside is not None
    assert outside.hosts == frozenset()


def test_a_host_cannot_go_in_twice(cloud: Cloud, lab: CloudLab, host: LabHost) -> None:
    made = cloud.aggregates.create_aggregate(lab.name("a"), None, {})
    cloud.aggregates.add_host(made.id, host.service_host)

    with pytest.raises(CloudConflict):
        cloud.aggregates.add_host(made.id, host.service_host)


def test_a_host_that_is_not_inside_cannot_be_taken_out(cloud: Cloud, lab: CloudLab, host: LabHost) -> None:
    made = cloud.aggregates.create_aggregate(lab.name("a"), None, {})

    with pytest.raises(CloudNotFound):
        cloud.aggregates.remove_host(made.id, host.service_host)


def test_an_unknown_host_cannot_go_in(cloud: Cloud, lab: CloudLab) -> None:
    made = cloud.aggregates.create_aggregate(lab.name("a"), None, {})

    with pytest.raises(CloudNotFound):
        cloud.aggregates.add_host(made.id, lab.name("missing"))


def test_nothing_goes_into_or_out_of_a_missing_aggregate(cloud: Cloud, host: LabHost) -> None:
    with pytest.raises(CloudNotFound):
        cloud.aggregates.add_host(NO_AGGREGATE, host.service_host)
    with pytest.raises(CloudNotFound):
        cloud.aggregates.remove_host(NO_AGGREGATE, host.service_host)


def test_a_host_may_be_in_several_aggregates_without_zone(cloud: Cloud, lab: CloudLab, host: LabHost) -> None:
    zoned = cloud.aggregates.create_aggregate(lab.name("zoned"), lab.name("zone"), {})
    plain = [cloud.aggregates.create_aggregate(lab.name(each), None, {}) for each in ("a", "b")]

    for aggregate in (plain[0], zoned, plain[1]):
        cloud.aggregates.add_host(aggregate.id, host.service_host)

    assert cloud.hypervisors.list_availability_zones()[host.service_host] == lab.name("zone")


def test_a_host_may_be_in_two_aggregates_of_one_zone(cloud: Cloud, lab: CloudLab, host: LabHost) -> None:
    first, second = (
        cloud.aggregates.create_aggregate(lab.name(each), lab.name("zone"), {})
        for each in ("first", "second")
    )
    cloud.aggregates.add_host(first.id, host.service_host)

    cloud.aggregates.add_host(second.id, host.service_host)
    cloud.aggregates.remove_host(first.id, host.service_host)

    assert cloud.hypervisors.list_availability_zones()[host.service_host] == lab.name("zone")


def test_a_host_is_not_in_two_zones(cloud: Cloud, lab: CloudLab, host: LabHost) -> None:
    first, second = (
        cloud.aggregates.create_aggregate(lab.name(each), lab.name(f"zone-{each}"), {}) for each in ("a", "b")
    )
    cloud.aggregates.add_host(first.id, host.service_host)

    with pytest.raises(CloudConflict):
        cloud.aggregates.add_host(second.id, host.service_host)

    assert cloud.hypervisors.list_availability_zones()[host.service_host] == lab.name("zone-a")


def test_a_host_with_servers_does_not_enter_another_zone(cloud: Cloud, lab: CloudLab, host: LabHost) -> None:
    zoned = cloud.aggregates.create_aggregate(lab.name("a"), lab.name("zone"), {})
    lab.boot_server(lab.name("server"), service_host=host.service_host)

    with pytest.raises(CloudConflict):
        cloud.aggregates.add_host(zoned.id, host.service_host)

    assert cloud.hypervisors.list_availability_zones()[host.service_host] == "nova"


def test_a_host_with_servers_does_not_leave_its_zone(cloud: Cloud, lab: CloudLab, host: LabHost) -> None:
    zoned = cloud.aggregates.create_aggregate(lab.name("a"), lab.name("zone"), {})
    cloud.aggregates.add_host(zoned.id, host.service_host)
    server_id = lab.boot_server(lab.name("server"), service_host=host.service_host)

    with pytest.raises(CloudConflict):
        cloud.aggregates.remove_host(zoned.id, host.service_host)

    cloud.servers.delete_server(server_id)
    lab.wait_until_gone(server_id)
    cloud.aggregates.remove_host(zoned.id, host.service_host)
    assert cloud.hypervisors.list_availability_zones()[host.service_host] == "nova"


def test_servers_are_what_forbids_to_take_out_a_host_that_is_not_inside(
    cloud: Cloud, lab: CloudLab, host: LabHost
) -> None:
    zoned = cloud.aggregates.create_aggregate(lab.name("zoned"), lab.name("zone"), {})
    plain = cloud.aggregates.create_aggregate(lab.name("plain"), None, {})
    lab.boot_server(lab.name("server"), service_host=host.service_host)

    with pytest.raises(CloudConflict):
        cloud.aggregates.remove_host(zoned.id, host.service_host)
    with pytest.raises(CloudNotFound):
        cloud.aggregates.remove_host(plain.id, host.service_host)


def test_a_host_with_servers_moves_freely_where_its_zone_stays(
    cloud: Cloud, lab: CloudLab, host: LabHost
) -> None:
    plain = cloud.aggregates.create_aggregate(lab.name("plain"), None, {})
    lab.boot_server(lab.name("server"), service_host=host.service_host)

    cloud.aggregates.add_host(plain.id, host.service_host)
    cloud.aggregates.remove_host(plain.id, host.service_host)

    assert cloud.hypervisors.list_availability_zones()[host.service_host] == "nova"


def test_metadata_that_are_not_there_may_be_removed(cloud: Cloud, lab: CloudLab) -> None:
    made = cloud.aggregates.create_aggregate(lab.name("a"), None, {"kept": "1"})

    cloud.aggregates.set_aggregate_metadata(made.id, {"absent": None})

    assert seen(cloud, made) == made


def test_metadata_are_removed_by_none(cloud: Cloud, lab: CloudLab) -> None:
    aggregate = cloud.aggregates.create_aggregate(lab.name("aggregate"), None, {"kept": "1", "removed": "2"})

    cloud.aggregates.set_aggregate_metadata(aggregate.id, {"removed": None, "never-there": None, "new": "3"})

    (found,) = [each for each in cloud.aggregates.list_aggregates() if each.id == aggregate.id]
    assert found.metadata == {"kept": "1", "new": "3"}
