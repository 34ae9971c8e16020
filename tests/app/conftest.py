from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa
from app.floatingips import Pool, make_pool
from app.http_env import HttpEnv, quiet_settings
from app.networks import Vlans, make_vlans
from app.prepared_env import PreparedEnv
from app.storage import Storage, make_storage
from databases import make_database

from blazar.settings import Settings

EnvWith = Callable[[Settings], HttpEnv]


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
def env_with(engine: sa.Engine, tmp_path: Path, failures: list[str]) -> EnvWith:
    """Return a factory for environments."""
    return lambda settings: HttpEnv(engine, tmp_path, settings)


@pytest.fixture
def env(env_with: EnvWith) -> HttpEnv:
    """Return an environment without hosts."""
    return env_with(quiet_settings())


@pytest.fixture
def hosts(env: HttpEnv) -> list[str]:
    """Return the ids of four hosts, two in each rack."""
    return [*env.register("h1", "h2", rack="r1", slots=8), *env.register("h3", "h4", rack="r2", slots=10)]


@pytest.fixture
def pool(env: HttpEnv) -> Pool:
    """Return an external network without registered addresses."""
    return make_pool(env)


@pytest.fixture
def storage(engine: sa.Engine, tmp_path: Path, failures: list[str]) -> Storage:
    """Return a service with two storage pools, of which none is registered."""
    return make_storage(engine, tmp_path)


@pytest.fixture
def vlans(engine: sa.Engine, tmp_path: Path, failures: list[str]) -> Vlans:
    """Return a service with a physical network, of which no segment is registered."""
    return make_vlans(engine, tmp_path)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PreparedEnv]:
    """Return an environment shared by all tests of a module; each test leaves it unchanged."""
    folder = tmp_path_factory.mktemp("prepared")
    with make_database("sqlite", folder) as engine, without_failures():
        yield PreparedEnv(HttpEnv(engine, folder))
