"""The fixture of the contract suite's lab; ``lab.py`` describes how to use another lab."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator

import pytest
from cloud.contract.lab import CloudLab, LabFactory, LabHost

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
