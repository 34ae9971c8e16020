"""Contract of ``Flavors``."""

from __future__ import annotations

from dataclasses import replace

import pytest
from cloud.contract.lab import CloudLab

from blazar.domain.errors import CloudConflict, CloudNotFound, CloudRefused
from blazar.ports.cloud import Cloud
from blazar.ports.compute import Flavor


@pytest.fixture
def cloud(lab: CloudLab) -> Cloud:
    return lab.cloud


@pytest.fixture
def flavor(lab: CloudLab) -> Flavor:
    return Flavor(
        id=lab.name("id"),
        name=lab.name("flavor"),
        vcpus=2,
        memory_mb=1024,
        disk_gb=10,
        ephemeral_gb=5,
        extra_specs={"resources:CUSTOM_RESERVATION_1": "1", "trait:HW_CPU_X86_AVX": "required"},
    )


def test_a_new_flavor_is_found_as_it_was_given(cloud: Cloud, flavor: Flavor) -> None:
    cloud.flavors.create_flavor(flavor)

    found = cloud.flavors.find_flavor(flavor.id)

    assert found == flavor


def test_a_flavor_needs_no_extra_specs_and_may_be_public(cloud: Cloud, flavor: Flavor) -> None:
    plain = replace(flavor, extra_specs={}, is_public=True, disk_gb=0, ephemeral_gb=0)

    cloud.flavors.create_flavor(plain)

    assert cloud.flavors.find_flavor(plain.id) == plain


def test_an_id_nobody_has_finds_nothing(cloud: Cloud, flavor: Flavor) -> None:
    cloud.flavors.create_flavor(flavor)

    assert cloud.flavors.find_flavor(flavor.name) is None


@pytest.mark.parametrize("flavor_id", ["", ".", "..", "a/b", "?", "detail", "ü"])
def test_what_is_no_id_finds_nothing(cloud: Cloud, flavor_id: str) -> None:
    assert cloud.flavors.find_flavor(flavor_id) is None


def test_all_flavors_are_listed_whosever_they_are(cloud: Cloud, lab: CloudLab, flavor: Flavor) -> None:
    of_two = replace(flavor, id=lab.name("two"), name=lab.name("of-two"), extra_specs={})
    public = replace(flavor, id=lab.name("public"), name=lab.name("of-all"), is_public=True)
    for each in (flavor, of_two, public):
        cloud.flavors.create_flavor(each)
    cloud.flavors.add_flavor_access(of_two.id, lab.project_ids[1])

    listed = cloud.flavors.list_flavors()

    mine = {each.id: each for each in listed if each.id.startswith(lab.name(""))}
    assert mine == {each.id: each for each in (flavor, of_two, public)}
    assert len({each.id for each in listed}) == len(listed)


def test_a_deleted_flavor_is_not_listed(cloud: Cloud, flavor: Flavor) -> None:
    cloud.flavors.create_flavor(flavor)

    cloud.flavors.delete_flavor(flavor.id)

    assert flavor.id not in {each.id for each in cloud.flavors.list_flavors()}


def test_an_id_is_given_once(cloud: Cloud, lab: CloudLab, flavor: Flavor) -> None:
    cloud.flavors.create_flavor(flavor)

    with pytest.raises(CloudConflict):
        cloud.flavors.create_flavor(replace(flavor, name=lab.name("other"), vcpus=4))

    assert cloud.flavors.find_flavor(flavor.id) == flavor


def test_a_name_is_given_once(cloud: Cloud, lab: CloudLab, flavor: Flavor) -> None:
    cloud.flavors.create_flavor(flavor)

    with pytest.raises(CloudConflict):
        cloud.flavors.create_flavor(replace(flavor, id=lab.name("other")))

    assert cloud.flavors.find_flavor(lab.name("other")) is None


@pytest.mark.parametrize(("vcpus", "memory_mb", "disk_gb"), [(0, 64, 0), (1, 0, 0), (1, 64, -1)])
def test_a_flavor_of_no_size_is_refused(
    cloud: Cloud, flavor: Flavor, vcpus: int, memory_mb: int, disk_gb: int
) -> None:
    with pytest.raises(CloudRefused):
        cloud.flavors.create_flavor(replace(flavor, vcpus=vcpus, memory_mb=memory_mb, disk_gb=disk_gb))

    assert cloud.flavors.find_flavor(flavor.id) is None


def test_extra_specs_are_added_to_those_there_are(cloud: Cloud, flavor: Flavor) -> None:
    cloud.flavors.create_flavor(replace(flavor, extra_specs={"kept": "1", "changed": "1"}))

    cloud.flavors.set_flavor_extra_specs(flavor.id, {"changed": "2", "added": "2"})

    found = cloud.flavors.find_flavor(flavor.id)
    assert found is not None
    assert dict(found.extra_specs) == {"kept": "1", "changed": "2", "added": "2"}


def test_a_deleted_flavor_is_gone_and_its_id_and_name_are_free(cloud: Cloud, flavor: Flavor) -> None:
    cloud.flavors.create_flavor(flavor)

    cloud.flavors.delete_flavor(flavor.id)

    assert cloud.flavors.find_flavor(flavor.id) is None
    cloud.flavors.create_flavor(flavor)


def test_a_new_private_flavor_is_for_nobody(cloud: Cloud, flavor: Flavor) -> None:
    cloud.flavors.create_flavor(flavor)

    assert cloud.flavors.list_flavor_access(flavor.id) == frozenset()


def test_access_is_given_and_taken_per_project(cloud: Cloud, lab: CloudLab, flavor: Flavor) -> None:
    one, two = lab.project_ids
    cloud.flavors.create_flavor(flavor)

    cloud.flavors.add_flavor_access(flavor.id, one)
    cloud.flavors.add_flavor_access(flavor.id, two)
    both = cloud.flavors.list_flavor_access(flavor.id)
    cloud.flavors.remove_flavor_access(flavor.id, one)

    assert both == {one, two}
    assert cloud.flavors.list_flavor_access(flavor.id) == {two}


def test_access_is_not_given_twice(cloud: Cloud, lab: CloudLab, flavor: Flavor) -> None:
    cloud.flavors.create_flavor(flavor)
    cloud.flavors.add_flavor_access(flavor.id, lab.project_ids[0])

    with pytest.raises(CloudConflict):
        cloud.flavors.add_flavor_access(flavor.id, lab.project_ids[0])


def test_access_that_was_not_given_is_not_taken(cloud: Cloud, lab: CloudLab, flavor: Flavor) -> None:
    cloud.flavors.create_flavor(flavor)

    with pytest.raises(CloudNotFound):
        cloud.flavors.remove_flavor_access(flavor.id, lab.project_ids[0])


def test_access_ends_with_the_flavor(cloud: Cloud, lab: CloudLab, flavor: Flavor) -> None:
    cloud.flavors.create_flavor(flavor)
    cloud.flavors.add_flavor_access(flavor.id, lab.project_ids[0])

    cloud.flavors.delete_flavor(flavor.id)
    cloud.flavors.create_flavor(flavor)

    assert cloud.flavors.list_flavor_access(flavor.id) == frozenset()


def test_access_to_a_public_flavor_cannot_be_changed(cloud: Cloud, lab: CloudLab, flavor: Flavor) -> None:
    cloud.flavors.create_flavor(replace(flavor, is_public=True))

    with pytest.raises(CloudConflict):
        cloud.flavors.add_flavor_access(flavor.id, lab.project_ids[0])
    with pytest.raises(CloudNotFound):
        cloud.flavors.remove_flavor_access(flavor.id, lab.project_ids[0])
    with pytest.raises(CloudNotFound):
        cloud.flavors.list_flavor_access(flavor.id)


def test_nothing_can_be_done_with_a_missing_flavor(cloud: Cloud, lab: CloudLab) -> None:
    missing, project_id = lab.name("missing"), lab.project_ids[0]

    with pytest.raises(CloudNotFound):
        cloud.flavors.delete_flavor(missing)
    with pytest.raises(CloudNotFound):
        cloud.flavors.set_flavor_extra_specs(missing, {"key": "value"})
    with pytest.raises(CloudNotFound):
        cloud.flavors.list_flavor_access(missing)
    with pytest.raises(CloudNotFound):
        cloud.flavors.add_flavor_access(missing, project_id)
    with pytest.raises(CloudNotFound):
        cloud.flavors.remove_flavor_access(missing, project_id)


def test_a_lessee_finds_a_flavor_only_if_the_project_may_use_it(cloud: Cloud, lab: CloudLab) -> None:
    flavor = Flavor(
        id=lab.name("f"), name=lab.name("f"), vcpus=1, memory_mb=64, disk_gb=0, extra_specs={"key": "value"}
    )
    cloud.flavors.create_flavor(flavor)
    as_lessee = lab.cloud.compute_for(lab.lessee)

    before = as_lessee.find_flavor(flavor.id)
    cloud.flavors.add_flavor_access(flavor.id, lab.lessee.project_id)

    assert before is None
    assert as_lessee.find_flavor(flavor.id) == flavor
    assert as_lessee.find_flavor(lab.name("nothing")) is None


def test_a_lessee_lists_the_flavors_that_the_project_may_use(cloud: Cloud, lab: CloudLab) -> None:
    private, public = (
        Flavor(id=name, name=name, vcpus=1, memory_mb=64, disk_gb=0, is_public=is_public)
        for name, is_public in ((lab.name("f"), False), (lab.name("g"), True))
    )
    cloud.flavors.create_flavor(private)
    cloud.flavors.create_flavor(public)
    as_lessee = lab.cloud.compute_for(lab.lessee)

    before = as_lessee.list_flavors()
    cloud.flavors.add_flavor_access(private.id, lab.lessee.project_id)

    assert public in before
    assert private not in before
    after = as_lessee.list_flavors()
    assert private in after
    assert public in after
