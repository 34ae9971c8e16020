"""Fixtures for tests on a running lab."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cloudlab.errors import LabError
from cloudlab.lab import OpenStackLab
from cloudlab.tests.actors import Actor, Operator
from cloudlab.tests.end_to_end_lab import EndToEndLab, make_lab
from cloudlab.tests.floatingips import AddressPool
from cloudlab.tests.networks import Segments
from cloudlab.tests.storage import POOL, Storage


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "long: takes about a minute or more; runs first, while others run")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Move long tests to the front: with several labs, none is still running when all others are done."""
    items.sort(key=lambda each: each.get_closest_marker("long") is None)


@pytest.fixture(scope="session")
def openstack() -> OpenStackLab:
    """Return the lab as it is; if it is not up, the run fails."""
    try:
        openstack = OpenStackLab.of_this_process()
    except LabError as error:
        pytest.exit(f"the lab is not up: {error}", returncode=1)
    if silent := openstack.silent_services():
        pytest.exit(f"the lab is not up, make cloud: no answer from {', '.join(silent)}", returncode=1)
    return openstack


@pytest.fixture(scope="session")
def _lab(openstack: OpenStackLab) -> EndToEndLab:
    lab = make_lab(openstack)
    lab.clear()
    lab.check_nothing_is_left()
    return lab


@pytest.fixture
def lab(_lab: EndToEndLab) -> Iterator[EndToEndLab]:
    """Return the lab with the expected hosts; a test must leave nothing behind."""
    yield _lab
    _lab.clear()
    _lab.check_nothing_is_left()


@pytest.fixture
def operator(lab: EndToEndLab) -> Operator:
    return lab.operator


@pytest.fixture
def lessee(lab: EndToEndLab) -> Actor:
    return lab.lessee


@pytest.fixture
def other(lab: EndToEndLab) -> Actor:
    return lab.other


@pytest.fixture
def pool(lab: EndToEndLab) -> Iterator[AddressPool]:
    """Return registered addresses, which are removed after the test."""
    pool = AddressPool(lab)
    pool.register()
    yield pool
    lab.clear()
    pool.deregister()


@pytest.fixture
def segments(lab: EndToEndLab) -> Iterator[Segments]:
    """Return registered VLANs, which are removed after the test."""
    segments = Segments(lab)
    segments.register()
    yield segments
    lab.clear()
    segments.deregister()


@pytest.fixture
def storage(lab: EndToEndLab) -> Iterator[Storage]:
    """Return a registered storage pool, which is removed after the test with all volumes and backups."""
    storage = Storage(lab)
    storage.register(POOL)
    yield storage
    lab.clear()
    storage.deregister()
    for each in storage.volumes():
        storage.delete_volume(each)
    storage.delete_backups()


@pytest.fixture
def places(lab: EndToEndLab) -> Iterator[None]:
    """Put the hosts of the lab into three host aggregates, two in each, and read them again."""
    aggregates = {
        "place-1": ("node-1", "node-2"),
        "place-2": ("node-3", "node-10"),
        "place-3": ("node-4", "node-5"),
    }
    compute, made = lab.operator.compute, {}
    for name, members in aggregates.items():
        answer = compute.post("/os-aggregates", json={"aggregate": {"name": name}})
        made[f"/os-aggregates/{answer.json()['aggregate']['id']}"] = members
    for path, members in made.items():
        for host in members:
            compute.post(f"{path}/action", json={"add_host": {"host": host}})
    lab.refresh_hosts()
    yield
    for path, members in made.items():
        for host in members:
            compute.post(f"{path}/action", json={"remove_host": {"host": host}})
        compute.delete(path)
    lab.refresh_hosts()
