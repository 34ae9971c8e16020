from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
import sqlalchemy as sa
from databases import make_database
from reconcile.reconciler_env import EnvOn, ReconcilerEnv
from reconcile.unexpected import UnexpectedErrors

EngineOf = Callable[[str], sa.Engine]


@pytest.fixture(scope="session")
def engine_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EngineOf]:
    """Return a function that returns the database of a kind; each is created on first use."""
    with ExitStack() as stack:

        @functools.cache
        def make(kind: str) -> sa.Engine:
            return stack.enter_context(make_database(kind, tmp_path_factory.mktemp("engine")))

        yield make


@pytest.fixture
def unexpected_errors() -> Iterator[list[str]]:
    """Return the unexpected errors logged so far; the test fails unless it removes them."""
    handler = UnexpectedErrors()
    logger = logging.getLogger("blazar")
    logger.addHandler(handler)
    yield handler.found
    logger.removeHandler(handler)
    assert handler.found == []


@pytest.fixture
def env_on(engine_of: EngineOf, unexpected_errors: list[str]) -> EnvOn:
    """Return a function that returns a new environment on a kind of database."""
    return lambda kind: ReconcilerEnv(engine_of(kind))


@pytest.fixture
def env(env_on: EnvOn) -> ReconcilerEnv:
    return env_on("sqlite")
