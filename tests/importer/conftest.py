from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import old_schema
import pytest
import sqlalchemy as sa
from clocks import EPOCH, ManualClock
from databases import KINDS, empty_tables, make_database, make_empty_database
from installation import OldInstallation
from old_installation import make_example
from reconcile.parts import PLUGINS

from blazar.booking.context import Context
from blazar.cloud.simulated import SimulatedCloud
from blazar.db.old_service.reader import SqlOldService
from blazar.manager.build import build_context
from blazar.manager.plugins import load_plugins
from blazar.settings import LeaseSettings, Settings
from blazar_plugin_testing.service_env import Silent

NOW = EPOCH.replace(tzinfo=None)
"""The current time in the examples, in the format of the existing service."""

ContextOn = Callable[[sa.Engine], Context]


def url_of(engine: sa.Engine) -> str:
    return engine.url.render_as_string(hide_password=False)


@pytest.fixture(scope="session")
def example() -> OldInstallation:
    """Return the example database as rows."""
    return make_example(NOW)


@pytest.fixture(scope="session", params=KINDS)
def there(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, example: OldInstallation
) -> Iterator[sa.Engine]:
    """Yield the example database, on each database backend."""
    folder = tmp_path_factory.mktemp("there")
    with make_empty_database(request.param, folder) as engine:
        old_schema.write(url_of(engine), example.rows)
        yield engine


@pytest.fixture(scope="session")
def here_database(there: sa.Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[sa.Engine]:
    """Yield a database of this service, on the same backend."""
    kinds = {"sqlite": "sqlite", "mysql": "mariadb", "postgresql": "postgresql"}
    with make_database(kinds[there.dialect.name], tmp_path_factory.mktemp("here")) as engine:
        yield engine


@pytest.fixture
def here(here_database: sa.Engine) -> Iterator[sa.Engine]:
    yield here_database
    empty_tables(here_database)


@pytest.fixture(scope="session")
def sqlite_database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sa.Engine]:
    with make_database("sqlite", tmp_path_factory.mktemp("sqlite")) as engine:
        yield engine


@pytest.fixture
def sqlite(sqlite_database: sa.Engine) -> Iterator[sa.Engine]:
    """Yield a database of this service in a file."""
    yield sqlite_database
    empty_tables(sqlite_database)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(EPOCH)


@pytest.fixture
def cloud(clock: ManualClock) -> SimulatedCloud:
    return SimulatedCloud(clock)


@pytest.fixture
def context_on(clock: ManualClock, cloud: SimulatedCloud) -> ContextOn:
    """Return a function that makes contexts on a database of this service."""

    def make(engine: sa.Engine) -> Context:
        settings = Settings(leases=LeaseSettings())
        return build_context(engine, clock, cloud, settings, load_plugins(PLUGINS, settings), Silent())

    return make


@pytest.fixture
def write_old(tmp_path: Path) -> Callable[[OldInstallation], SqlOldService]:
    """Return a function that writes small databases of the existing service."""

    def write(installation: OldInstallation) -> SqlOldService:
        path = tmp_path / f"old-{len(list(tmp_path.iterdir()))}.sqlite"
        old_schema.write(f"sqlite:///{path}", installation.rows)
        return SqlOldService(f"sqlite:///{path}")

    return write


@pytest.fixture
def installation() -> OldInstallation:
    """Return an empty installation."""
    return OldInstallation(NOW)
