"""The fixtures of the contract suite; ``lab.py`` describes how to use another lab."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator

import pytest
from cloud.contract.lab import CloudLab, LabFactory, LabHost, LabStorage

from blazar.ports.block_storage import BlockStorage, StoragePool, VolumeType

LABS = "cloud.simulated_lab:simulated_lab cloud.served_lab:served_lab"


@pytest.fixture(scope="session", params=os.environ.get("BLAZAR_CLOUD_LAB", LABS).split())
def lab_factory(request: pytest.FixtureRequest) -> LabFactory:
    module, _, name = request.param.partition(":")
    factory: LabFactory = getattr(importlib.import_module(module), name)
    return factory


@pytest.fixture
def lab(lab_factory: LabFactory) -> Iterator[CloudLab]:
    with lab_factory() as lab:
        yield lab


@pytest.fixture
def host(lab: CloudLab) -> LabHost:
    return lab.hosts[0]


@pytest.fixture
def storage(lab: CloudLab) -> LabStorage:
    return lab.storage


@pytest.fixture
def cinder(lab: CloudLab, storage: LabStorage) -> BlockStorage:
    return lab.cloud.block_storage


@pytest.fixture
def pool(cinder: BlockStorage, storage: LabStorage) -> StoragePool:
    return next(each for each in cinder.list_pools() if each.name == storage.pools[0])


@pytest.fixture
def private(lab: CloudLab, cinder: BlockStorage, pool: StoragePool) -> VolumeType:
    """A type that only the first project may use, with room for 3 GiB in the first pool."""
    specs = {
        "volume_backend_name": pool.backend_name,
        "pool_name": pool.pool_name,
        "blazar:reservation": "of a test",
    }
    made = cinder.create_type(lab.name("reservation:1"), "for a test", specs)
    cinder.set_quotas(lab.project_ids[0], {made.name: 3})
    cinder.add_type_access(made.id, lab.project_ids[0])
    return made
