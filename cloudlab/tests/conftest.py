"""Fixtures for tests on a running lab."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cloudlab.errors import LabError
from cloudlab.lab import Lab
from cloudlab.tests.actors import Actor, Operator
from cloudlab.tests.stage import Stage, make_stage


@pytest.fixture(scope="session")
def lab() -> Lab:
    """Return the lab; if it is not up, tests are skipped."""
    try:
        lab = Lab.load()
    except LabError as error:
        pytest.exit(f"the lab is not up: {error}", returncode=1)
    if silent := lab.silent_services():
        pytest.exit(f"the lab is not up, make cloud: no answer from {', '.join(silent)}", returncode=1)
    return lab


@pytest.fixture(scope="session")
def _stage(lab: Lab) -> Stage:
    stage = make_stage(lab)
    stage.clear()
    return stage


@pytest.fixture
def stage(_stage: Stage) -> Iterator[Stage]:
    """Return the stage; a test must leave nothing behind."""
    _stage.check_nothing_is_left()
    yield _stage
    _stage.clear()
    _stage.check_nothing_is_left()


@pytest.fixture
def operator(stage: Stage) -> Operator:
    return stage.operator


@pytest.fixture
def lessee(stage: Stage) -> Actor:
    return stage.lessee


@pytest.fixture
def other(stage: Stage) -> Actor:
    return stage.other
