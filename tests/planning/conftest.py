from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from app.http_env import HttpEnv, quiet_settings
from databases import make_database
from planning.running import general, reservable


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sa.Engine]:
    with make_database("sqlite", tmp_path_factory.mktemp("planning")) as found:
        yield found


@pytest.fixture
def env(engine: sa.Engine, tmp_path: Path) -> HttpEnv:
    """Return an environment without hosts."""
    return HttpEnv(engine, tmp_path, quiet_settings())


@pytest.fixture
def racks(env: HttpEnv) -> HttpEnv:
    """Return a service with three racks of two hosts, and four hosts of the general pool."""
    for number in (1, 2, 3):
        names = [f"h{number}{letter}" for letter in "ab"]
        reservable(env, *names, zone="az1", rack=f"r{number}")
    general(env, "g1", "g2", "g3", "g4", zone="az1")
    return env
