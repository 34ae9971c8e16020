from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa
from app.floatingips import Pool, make_pool
from app.stage import Stage
from app.world import World, quiet_settings
from databases import make_database

from blazar.settings import Settings

WorldWith = Callable[[Settings], World]


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sa.Engine]:
    with make_database("sqlite", tmp_path_factory.mktemp("service")) as found:
        yield found


class Failures(logging.Handler):
    """Log handler that collects the service's errors: requests answered with 500, failed passes."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.found.append(self.format(record))


@contextmanager
def without_failures() -> Iterator[list[str]]:
    """Fail if the service logs an error inside the block."""
    failures = Failures()
    logger = logging.getLogger("blazar")
    logger.addHandler(failures)
    try:
        yield failures.found
    finally:
        logger.removeHandler(failures)
    assert failures.found == []


@pytest.fixture
def failures() -> Iterator[list[str]]:
    """Return the errors that the service has logged; the test fails unless it removes them."""
    with without_failures() as found:
        yield found


@pytest.fixture
def world_with(engine: sa.Engine, tmp_path: Path, failures: list[str]) -> WorldWith:
    """Return a factory for worlds."""
    return lambda settings: World(engine, tmp_path, settings)


@pytest.fixture
def world(world_with: WorldWith) -> World:
    """Return a world without hosts."""
    return world_with(quiet_settings())


@pytest.fixture
def hosts(world: World) -> list[str]:
    """Return the ids of four hosts, two in each rack."""
    return [*world.register("h1", "h2", rack="r1", slots=8), *world.register("h3", "h4", rack="r2", slots=10)]


@pytest.fixture
def pool(world: World) -> Pool:
    """Return an external network without registered addresses."""
    return make_pool(world)


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Return a stage shared by all tests of a module; each test leaves it unchanged."""
    folder = tmp_path_factory.mktemp("stage")
    with make_database("sqlite", folder) as engine, without_failures():
        yield Stage(World(engine, folder))
