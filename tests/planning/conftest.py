from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from app.http_env import HttpEnv, quiet_settings
from databases import make_database


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sa.Engine]:
    with make_database("sqlite", tmp_path_factory.mktemp("planning")) as found:
        yield found


@pytest.fixture
def env(engine: sa.Engine, tmp_path: Path) -> HttpEnv:
    """Return an environment without hosts."""
    return HttpEnv(engine, tmp_path, quiet_settings())
